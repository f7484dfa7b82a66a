package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// engineReport is what an engine file tells of its making, so that it can be looked at as a model is.
type engineReport struct {
	Schema  int
	Config  config.Config
	Backend string                 `json:",omitempty"` // that its plan is for; older engines do not say it
	Ranges  map[string]graph.Range `json:",omitempty"` // of the source network's tensors, as they were calibrated
	Data    string                 `json:",omitempty"` // what they were calibrated on
	Random  bool                   `json:",omitempty"` // that was random input
}

// engineReport returns the report part of an engine file.
func (s *stages) engineReport(ctx context.Context, cfg config.Config) (json.RawMessage, error) {
	r := engineReport{Schema: report.Schema, Config: cfg, Backend: s.Backend.Info().Name}
	if s.model.Stripped {
		return s.model.Engine.Report, nil // its ranges and data, which are not found anew
	}
	if s.needsCalibration(cfg) {
		var err error
		if r.Ranges, err = s.rangesFor(ctx, cfg); err != nil {
			return nil, err
		}
		r.Data, r.Random = s.calibrationData(cfg.Calibrator), s.randomRanges(cfg.Calibrator)
	}
	return graph.MarshalStored(r)
}

// BuiltWith returns the configuration that an engine file was built with.
func (m *Model) BuiltWith() (config.Config, error) {
	if m.Engine == nil {
		return config.Config{}, fmt.Errorf("%s is not an engine", m.Path)
	}
	r, err := m.report()
	return r.Config, err
}

// needsSource returns an error that wraps [run.ErrNoSource] where the model is an engine without its source: what says what
// needs that.
func (m *Model) needsSource(what string) error {
	if !m.Stripped {
		return nil
	}
	return fmt.Errorf("%s: %s needs the source network: %w", m.Path, what, run.ErrNoSource)
}

// planned returns the lowered network that an engine has for a configuration, whatever its batch, shapes and tactics are; nil
// where it has none and the configuration must be built from the source.
func (m *Model) planned(cfg config.Config) *graph.Network {
	if m.Engine == nil || !m.Stripped && len(m.Engine.Report) > 0 {
		return nil
	}
	built, err := m.BuiltWith()
	if err != nil {
		return nil
	}
	cfg.Batch, cfg.Shapes, cfg.Pin, cfg.Forbid = built.Batch, built.Shapes, built.Pin, built.Forbid
	if key(built) != key(cfg) {
		return nil
	}
	return m.Engine.Any().Network
}

// BuiltOn returns the name of the backend that an engine file's plan is for; "" for a model, and where the file does not
// say it.
func (m *Model) BuiltOn() string {
	if m.Engine == nil {
		return ""
	}
	r, err := m.report()
	if err != nil {
		return ""
	}
	return r.Backend
}

// report reads what the engine file tells of its making.
func (m *Model) report() (engineReport, error) {
	var r engineReport
	if len(m.Engine.Report) == 0 {
		return m.described(), nil
	}
	if err := graph.UnmarshalStored(m.Engine.Report, &r); err != nil {
		return r, fmt.Errorf("engine %s: report: %w", m.Path, err)
	}
	return r, nil
}

// described returns what an engine that tells nothing of its making tells by its plan: its precision, batch and shapes.
func (m *Model) described() engineReport {
	p := m.Engine.Any()
	cfg := config.Config{Precision: config.FP32, Calibrator: "entropy", Batch: 1}
	for _, s := range p.Steps {
		switch build.PrecisionOf(s.Layer) {
		case graph.I8, graph.U8:
			cfg.Precision = config.INT8
		case graph.F16:
			if cfg.Precision != config.INT8 {
				cfg.Precision = config.FP16
			}
		}
	}
	env := p.Env()
	for _, t := range p.Network.Inputs {
		if compare.IsBatched(t) {
			cfg.Batch = t.Dims[0].Eval(env)
		}
	}
	for _, t := range m.free(nil) {
		if cfg.Shapes == nil {
			cfg.Shapes = map[string][]int{}
		}
		cfg.Shapes[t.Name] = graph.EvalDims(t.Dims, env)
	}
	r := engineReport{Schema: report.Schema, Config: cfg}
	r.Backend, _, _ = strings.Cut(p.Target, " ")
	return r
}

// randomCalibration reports whether the ranges that a configuration uses come from random input.
func (s *stages) randomCalibration(cfg config.Config) bool {
	return s.needsCalibration(cfg) && s.randomRanges(cfg.Calibrator)
}

// randomRanges reports whether the ranges of a calibrator come from random input.
func (s *stages) randomRanges(calibrator string) bool {
	if s.storedRanges(calibrator) != nil {
		r, _ := s.model.report()
		return r.Random
	}
	return s.CalData.Random()
}

// calibrationData names what the ranges of a calibrator come from.
func (s *stages) calibrationData(calibrator string) string {
	if s.storedRanges(calibrator) != nil {
		r, _ := s.model.report()
		return r.Data
	}
	return s.CalData.Name()
}

// rangesFrom says where the ranges of a calibrator come from.
func (s *stages) rangesFrom(calibrator string) string {
	from := s.calibrationData(calibrator)
	if s.storedRanges(calibrator) != nil {
		return "the engine's own, found on " + from
	}
	return "found on " + from
}

// rangesFor returns the ranges that lowering uses: those of an engine file, or what its calibrator finds.
func (s *stages) rangesFor(ctx context.Context, cfg config.Config) (map[string]graph.Range, error) {
	in, err := s.ranging(cfg, cfg.Calibrator)
	if err != nil {
		return nil, err
	}
	return s.ranges.of(ctx, in)
}

// stored returns the plan that an engine file has for a configuration, or nil: what it was built with, on a backend
// with the same tactics and with the ranges that are still in use.
func (s *stages) stored(cfg config.Config) *run.Plan {
	e := s.model.Engine
	if e == nil {
		return nil
	}
	built, err := s.model.BuiltWith()
	if err != nil || key(built) != key(cfg) || s.outdated || s.recalibrated(cfg) {
		return nil
	}
	return s.storedPlan()
}

// storedPlan returns the plan that the engine file has for the backend, or nil.
func (s *stages) storedPlan() *run.Plan {
	p, _ := s.model.Engine.PlanFor(s.Backend.Info().Fingerprint, nil) // nil: there is none for this backend
	return p
}

// replanned tells why the plan that an engine file has for a configuration is not the one in use; "" where it is, and where
// there is none.
func (s *stages) replanned(cfg config.Config) string {
	e := s.model.Engine
	if e == nil {
		return ""
	}
	if built, err := s.model.BuiltWith(); err != nil || key(built) != key(cfg) {
		return ""
	}
	switch target := s.Backend.Info().Fingerprint; {
	case s.recalibrated(cfg) && s.Recalibrate:
		return fmt.Sprintf("the engine was recalibrated on %s and its tactics were chosen again, as requested", s.CalData.Name())
	case s.recalibrated(cfg):
		return fmt.Sprintf("the engine was calibrated on random input: it was calibrated on %s and its tactics chosen again", s.CalData.Name())
	case !slices.ContainsFunc(e.Plans, func(p *run.Plan) bool { return p.Target == target }):
		return fmt.Sprintf("the engine was built for %s: its tactics were chosen again for %s", e.Targets(), target)
	case s.outdated:
		return "the engine was built by another version of the program: its tactics were chosen again"
	}
	return ""
}

// storedRanges returns the ranges that an engine file brings for a calibrator; nil where they are to be found anew.
func (s *stages) storedRanges(calibrator string) map[string]graph.Range {
	if s.model.Engine == nil {
		return nil
	}
	r, err := s.model.report()
	if err != nil || !sameCalibrator(r.Config.Calibrator, calibrator) || s.anew(r) {
		return nil
	}
	return r.Ranges
}

// anew reports whether the ranges in an engine file are replaced: because that was asked for, or because the data at hand
// is worth more than the random input that they come from.
func (s *stages) anew(r engineReport) bool {
	return s.CalData != nil && (s.Recalibrate || r.Random && !s.CalData.Random())
}

// recalibrated reports whether the ranges of the engine file's plan are replaced by better ones.
func (s *stages) recalibrated(cfg config.Config) bool {
	r, err := s.model.report()
	return err == nil && s.needsCalibration(cfg) && s.anew(r)
}

// sameCalibrator reports whether two texts name one calibrator, as "percentile" and "percentile:99.99" do.
func sameCalibrator(a, b string) bool {
	x, err := quant.ParseCalibrator(a, quant.Scheme{})
	if err != nil {
		return a == b
	}
	y, err := quant.ParseCalibrator(b, quant.Scheme{})
	return err == nil && x.String() == y.String()
}

// batchOf returns how many items one inference of a plan takes.
func (s *stages) batchOf(p *run.Plan) int {
	for _, t := range p.Network.Inputs {
		if compare.IsBatched(t) {
			return t.Dims[0].Eval(p.Env())
		}
	}
	return 1
}
