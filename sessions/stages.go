package sessions

import (
	"context"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/describe"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// stages are the parts that a configuration passes through on the way to a report: each sees its part of the configuration
// (orders.go) and remembers what it made, so that a toggle repeats only those that read what it changed. A part has the parts
// that it goes on from, and none has the stages.
type stages struct {
	place Workplace
	model *model.Model
	told  *audience

	orders      *orders
	device      *device
	passes      *passes
	calibration *calibration
	precisions  *precisions
	tuning      *tuning
	engines     *engines
	inferences  *inferences
	timing      *timing
	references  *references
	accuracy    *accuracy
	survey      *survey
	sensitivity *sensitivity
	search      *search
}

// newStages returns the stages of a model at a workplace.
func newStages(m *model.Model, w Workplace, told *audience) *stages { return wire(m, w, told, nil) }

// wire connects the stages with each other; c is the calibration that they share with others, nil for one of their own.
func wire(m *model.Model, w Workplace, told *audience, c *calibration) *stages {
	s := &stages{place: w, model: m, told: told}
	s.device = &device{backend: w.Backend, told: told, wanted: w.Rounds, busy: turn{machine: w.Machine, told: told}, ceilings: ceilings{file: w.Peaks}}
	s.orders = &orders{m, &stored{model: m, backend: w.Backend, calData: w.CalData, recalibrate: w.Recalibrate}}
	s.passes = newPasses(m, w.Backend, s.orders, told)
	if s.calibration = c; c == nil {
		s.calibration = newCalibration(m, w, s.orders, told, s.device)
	}
	s.precisions = newPrecisions(m, w.Backend, s.orders, told, s.passes, s.calibration)
	s.tuning = newTuning(m, w, s.orders, told, s.device, s.precisions)
	s.engines = newEngines(s.orders, told, s.device, s.tuning)
	s.inferences = &inferences{m, told, s.device, w.Data}
	s.timing = &timing{told, s.device, s.engines, s.inferences}
	s.references = newReferences(m, w, s.orders, told, s.engines, s.inferences)
	s.accuracy = newAccuracy(m, w, s.orders, told, s.engines, s.references, s.inferences)
	s.survey = newSurvey(m, s.orders, s.precisions)
	t := &studies{m, s.orders, told, s.calibration, s.precisions, s.tuning, w.Data}
	s.sensitivity = &sensitivity{t, s.tuning, s.timing, s.accuracy}
	s.search = &search{t, s.timing, s.accuracy}
	return s
}

// beside returns the stages of another backend, which share the calibration of these.
func (s *stages) beside(b run.Backend) *stages {
	w := s.place
	w.Backend = b
	other := wire(s.model, w, w.told(s.told.progress), s.calibration)
	other.tuning.unknown = s.tuning.unknown
	return other
}

// nameOf names a configuration.
func (s *stages) nameOf(cfg config.Config) string { return cfg.Label(s.model.Quantized) }

// retime measures the tactics of a layer again, and makes the plan of the configuration anew. What was made with the old
// plan is forgotten.
func (s *stages) retime(ctx context.Context, cfg config.Config, layer string) error {
	in, err := s.tuning.again(ctx, cfg, layer)
	if err != nil {
		return err
	}
	s.engines.kept.forget(in)
	for _, perLayer := range []bool{true, false} {
		examined, err := s.orders.examining(cfg, perLayer)
		if err != nil {
			return err
		}
		s.accuracy.kept.forget(examined)
	}
	return nil
}

// release closes the engines that are loaded. They are loaded anew when they are needed.
func (s *stages) release() {
	s.engines.kept.kept.shrink(0)
	s.references.onHost.kept.shrink(0)
}

// lookAt describes the source network under a configuration.
func (s *stages) lookAt(cfg config.Config) (*report.Model, error) {
	env, err := s.model.SymbolsIfAny(cfg)
	if err != nil {
		return nil, err
	}
	return describe.Model(s.model, s.place.Data, s.calibration.items(), env), nil
}

// rewritten tells how the source network became the engine's.
func (s *stages) rewritten(cfg config.Config, o *build.Optimized, l *build.Lowered) (*report.Passes, error) {
	env, err := s.model.SymbolsIfAny(cfg)
	if err != nil {
		return nil, err
	}
	return describe.Passes(s.model, env, cfg, o, l), nil
}

// sumUp sums up an engine and its times.
func (s *stages) sumUp(cfg config.Config, p *run.Plan, t *report.Timings) *report.Overview {
	o := overview(s.orders.stored, cfg, p, t, s.precisions.unchangedBy(cfg))
	if why := s.precisions.notFinite(); why != "" {
		o.Badges = append(o.Badges, report.Badge{Text: report.WeightsNotFinite, Why: why})
	}
	if shapes := s.place.UsualShapes; shapes != "" {
		o.Badges = append(o.Badges, report.Badge{Text: report.UsualShapes, Why: "no shapes were given: the times are of a text of the usual length, " + shapes})
	}
	return o
}
