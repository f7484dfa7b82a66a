package stages

import (
	"context"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/describe"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// Stages are the parts that a configuration passes through on the way to a report: each sees its part of the configuration
// (orders.go) and remembers what it made, so that a toggle repeats only those that read what it changed. A part has the parts
// that it goes on from, and none has the stages.
type Stages struct {
	Place Workplace
	Model *model.Model
	Told  *Audience

	Orders      *orders
	Device      *device
	Passes      *passes
	Calibration *calibration
	Precisions  *precisions
	Tuning      *tuning
	Engines     *engines
	Inferences  *inferences
	Timing      *timing
	Sweeps      *sweeps
	References  *references
	Accuracy    *accuracy
	Survey      *survey
	Sensitivity *sensitivity
	Search      *search
}

// New returns the stages of a model at a workplace.
func New(m *model.Model, w Workplace, told *Audience) *Stages { return wire(m, w, told, nil) }

// wire connects the stages with each other; c is the calibration that they share with others, nil for one of their own.
func wire(m *model.Model, w Workplace, told *Audience, c *calibration) *Stages {
	s := &Stages{Place: w, Model: m, Told: told}
	s.Device = &device{Backend: w.Backend, told: told, wanted: w.Rounds, more: w.More, Busy: turn{machine: w.Machine, told: told}, ceilings: ceilings{file: w.Peaks}}
	s.Orders = &orders{
		m, &stored{model: m, backend: w.Backend, calData: w.CalData, recalibrate: w.Recalibrate},
		&itemShapes{model: m, data: w.Data}, &itemShapes{model: m, data: w.CalData},
	}
	s.Passes = newPasses(m, w.Backend, s.Orders, told)
	if s.Calibration = c; c == nil {
		s.Calibration = newCalibration(m, w, s.Orders, told, s.Device)
	}
	s.Precisions = newPrecisions(m, w.Backend, s.Orders, told, s.Passes, s.Calibration)
	s.Tuning = newTuning(m, w, s.Orders, told, s.Device, s.Precisions)
	s.Engines = newEngines(s.Orders, told, s.Device, s.Tuning)
	s.Inferences = &inferences{m, told, s.Device, w.Data}
	s.Timing = &timing{told, s.Device, s.Engines, s.Inferences}
	s.Sweeps = &sweeps{m, told, s.Device, s.Tuning, s.Engines, s.Inferences, s.Timing}
	s.References = newReferences(m, w, s.Orders, told, s.Engines, s.Inferences)
	s.Accuracy = newAccuracy(m, w, s.Orders, told, s.Engines, s.References, s.Inferences)
	s.Survey = newSurvey(m, s.Orders, s.Precisions, newUnseen(s.Calibration, w.Data))
	t := &studies{m, s.Orders, told, s.Calibration, s.Precisions, s.Tuning, w.Data, false}
	s.Sensitivity = &sensitivity{t, s.Tuning, s.Timing, s.Accuracy}
	s.Search = &search{t, s.Timing, s.Accuracy}
	return s
}

// Beside returns the stages of another backend, which share the calibration of these.
func (s *Stages) Beside(b run.Backend) *Stages {
	w := s.Place
	w.Backend = b
	other := wire(s.Model, w, w.Told(s.Told.Progress), s.Calibration)
	other.Tuning.Unknown = s.Tuning.Unknown
	return other
}

// NameOf names a configuration.
func (s *Stages) NameOf(cfg config.Config) string { return cfg.Label(s.Model.Quantized) }

// Retime measures the tactics of a layer again, and makes the plan of the configuration anew. What was made with the old
// plan is forgotten.
func (s *Stages) Retime(ctx context.Context, cfg config.Config, layer string) error {
	in, err := s.Tuning.again(ctx, cfg, layer)
	if err != nil {
		return err
	}
	s.Engines.kept.forget(in)
	for _, perLayer := range []bool{true, false} {
		examined, err := s.Orders.examining(cfg, perLayer)
		if err != nil {
			return err
		}
		s.Accuracy.kept.forget(examined)
	}
	return nil
}

// Release closes the engines that are loaded. They are loaded anew when they are needed.
func (s *Stages) Release() {
	s.Engines.kept.kept.shrink(0)
	s.References.onHost.kept.shrink(0)
}

// LookAt describes the source network under a configuration.
func (s *Stages) LookAt(cfg config.Config) (*report.Model, error) {
	env, err := s.Model.SymbolsIfAny(cfg)
	if err != nil {
		return nil, err
	}
	return s.Described(env), nil
}

// Described describes the source network at values of its symbols, where there are none without shapes, and the data.
func (s *Stages) Described(env map[string]int) *report.Model {
	r := describe.Model(s.Model, s.Place.Data, s.Calibration.Items(), env)
	r.Shared = s.Calibration.Shared()
	return r
}

// Rewritten tells how the source network became the engine's.
func (s *Stages) Rewritten(cfg config.Config, o *build.Optimized, l *build.Lowered) (*report.Passes, error) {
	env, err := s.Model.SymbolsIfAny(cfg)
	if err != nil {
		return nil, err
	}
	return describe.Passes(s.Model, env, cfg, o, l), nil
}

// SumUp sums up an engine and its times.
func (s *Stages) SumUp(cfg config.Config, p *run.Plan, t *report.Timings) *report.Overview {
	o := overview(s.Orders.Stored, cfg, p, t, s.Precisions.UnchangedBy(cfg))
	if why := s.Precisions.notFinite(); why != "" {
		o.Badges = append(o.Badges, report.Badge{Text: report.WeightsNotFinite, Why: why})
	}
	if usual := s.Place.UsualShapes; usual.have(cfg) {
		o.Badges = append(o.Badges, report.Badge{Text: report.UsualShapes, Why: "no shapes were given: the times are of " + usual.String()})
	}
	return o
}
