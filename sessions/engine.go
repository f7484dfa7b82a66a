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
}

// engineReport returns the report part of an engine file.
func (s *stages) engineReport(ctx context.Context, cfg Config) (json.RawMessage, error) {
	r := engineReport{Schema: Schema, Config: cfg}
	if s.needsCalibration(cfg) {
		var err error
		if r.Ranges, err = s.calibrate(ctx, cfg, cfg.Calibrator); err != nil {
			return nil, err
		}
	}
	return json.Marshal(r)
}

// BuiltWith returns the configuration that an engine file was built with.
func (m *Model) BuiltWith() (Config, error) {
	if m.Engine == nil {
		return Config{}, fmt.Errorf("%s is not an engine", m.Path)
	}
	var r engineReport
	if err := json.Unmarshal(m.Engine.Report, &r); err != nil {
		return Config{}, fmt.Errorf("engine %s: report: %w", m.Path, err)
	}
	return r.Config, nil
}

// stored returns the plan that an engine file has for a configuration, or nil: what it was built with, on a backend
// with the same tactics.
func (s *stages) stored(cfg Config) *run.Plan {
	e := s.model.Engine
	if e == nil {
		return nil
	}
	built, err := s.model.BuiltWith()
	if err != nil || key(built) != key(cfg) || e.Plans[0].Target != s.Backend.Info().Fingerprint {
		return nil
	}
	return e.Plans[0]
}

// storedRanges returns the ranges that an engine file brings for a calibrator.
func (s *stages) storedRanges(calibrator string) map[string]graph.Range {
	if s.model.Engine == nil {
		return nil
	}
	var r engineReport
	if json.Unmarshal(s.model.Engine.Report, &r) != nil || r.Config.Calibrator != calibrator {
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
