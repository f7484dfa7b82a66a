package sessions

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
)

// engineReport is what an engine file tells of its making, so that it can be looked at as a model is.
type engineReport struct {
	Schema int
	Config Config
	Ranges map[string]graph.Range `json:",omitempty"` // of the source network's tensors, as they were calibrated
	Data   string                 `json:",omitempty"` // what they were calibrated on
	Random bool                   `json:",omitempty"` // that was random input
}

// engineReport returns the report part of an engine file.
func (s *stages) engineReport(ctx context.Context, cfg Config) (json.RawMessage, error) {
	r := engineReport{Schema: Schema, Config: cfg}
	if s.needsCalibration(cfg) {
		var err error
		if r.Ranges, err = s.calibrate(ctx, cfg, cfg.Calibrator); err != nil {
			return nil, err
		}
		r.Data, r.Random = s.CalData.Name(), s.randomCalibration(cfg)
	}
	return json.Marshal(r)
}

// BuiltWith returns the configuration that an engine file was built with.
func (m *Model) BuiltWith() (Config, error) {
	if m.Engine == nil {
		return Config{}, fmt.Errorf("%s is not an engine", m.Path)
	}
	r, err := m.report()
	return r.Config, err
}

// report reads what the engine file tells of its making.
func (m *Model) report() (engineReport, error) {
	var r engineReport
	if err := json.Unmarshal(m.Engine.Report, &r); err != nil {
		return r, fmt.Errorf("engine %s: report: %w", m.Path, err)
	}
	return r, nil
}

// randomCalibration reports whether the ranges that a configuration uses come from random input.
func (s *stages) randomCalibration(cfg Config) bool {
	if !s.needsCalibration(cfg) {
		return false
	}
	if s.storedRanges(cfg.Calibrator) != nil {
		r, _ := s.model.report()
		return r.Random
	}
	return s.CalData.Random()
}

// stored returns the plan that an engine file has for a configuration, or nil: what it was built with, on a backend
// with the same tactics.
func (s *stages) stored(cfg Config) *run.Plan {
	e := s.model.Engine
	if e == nil {
		return nil
	}
	built, err := s.model.BuiltWith()
	if err != nil || key(built) != key(cfg) || e.Plans[0].Target != s.Backend.Info().Fingerprint || s.outdated {
		return nil
	}
	return e.Plans[0]
}

// replanned tells why the plan that an engine file has for a configuration is not the one in use; "" where it is, and where
// there is none.
func (s *stages) replanned(cfg Config) string {
	e := s.model.Engine
	if e == nil {
		return ""
	}
	if built, err := s.model.BuiltWith(); err != nil || key(built) != key(cfg) {
		return ""
	}
	switch target := s.Backend.Info().Fingerprint; {
	case e.Plans[0].Target != target:
		return fmt.Sprintf("the engine was built for %s: its tactics were chosen again for %s", e.Plans[0].Target, target)
	case s.outdated:
		return "the engine was built by another version of the program: its tactics were chosen again"
	}
	return ""
}

// storedRanges returns the ranges that an engine file brings for a calibrator.
func (s *stages) storedRanges(calibrator string) map[string]graph.Range {
	if s.model.Engine == nil {
		return nil
	}
	r, err := s.model.report()
	if err != nil || r.Config.Calibrator != calibrator {
		return nil
	}
	return r.Ranges
}

// batchOf returns how many items one inference of a plan takes.
func (s *stages) batchOf(p *run.Plan) int {
	for _, t := range p.Network.Inputs {
		if isBatched(t) {
			return t.Dims[0].Eval(p.Env())
		}
	}
	return 1
}
