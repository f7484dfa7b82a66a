package sessions

import (
	"context"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// work runs the stages in the order in which a person wants to see their results: graph, memory, a first impression of
// the times, accuracy, calibration, and then times for as long as they get better.
func (s *Session) work(ctx context.Context, cfg config.Config, once todo) error {
	begin := time.Now()
	if err := s.announce(cfg, once); err != nil {
		return err
	}
	if err := s.rewrite(ctx, cfg); err != nil || s.stages.model.Refused != nil {
		return err
	}
	loaded, err := s.build(ctx, cfg, once.retime)
	if err != nil {
		return err
	}
	built := time.Since(begin)
	m := loaded.Plan.Memory
	s.log("info", "", "built %s in %s: weights %s, arena %s", s.stages.nameOf(cfg), brief(built), size(m.Weights), size(m.Peak))
	return s.examine(ctx, cfg, loaded, built)
}

// announce shows the model, marks every report as older than the configuration, and does to the timing cache what was asked.
func (s *Session) announce(cfg config.Config, once todo) error {
	st := s.stages
	model, err := st.modelReport(cfg)
	if err != nil {
		return err
	}
	s.update(func(snap *report.Snapshot) {
		snap.Stale = report.Derived()
		snap.Config, snap.Model, snap.Err, snap.Busy = s.named(cfg), model, "", &report.Progress{Phase: "rebuilding"}
		snap.Retiming, snap.Stopped = once.retime, false
	})
	if once.drop != nil {
		n := st.Cache.Drop(once.drop)
		st.saveCache()
		s.log("info", "", "dropped %d entries of the timing cache: it has %d", n, len(st.Cache.Entries()))
	}
	if name := st.nameOf(cfg); name != s.building {
		if s.building == "" {
			st.log.opened(st.model)
			s.logRefused()
		}
		s.building = name
		if st.model.Refused == nil {
			s.log("info", "", "building %s", name)
		}
	}
	return nil
}

// rewrite optimises the graph and lowers it to the precision.
func (s *Session) rewrite(ctx context.Context, cfg config.Config) error {
	st := s.stages
	o, err := st.optimize(ctx, cfg)
	if err != nil {
		return err
	}
	var l *build.Lowered
	var refused error
	if st.model.Refused != nil {
		l = unloweredNetwork(o)
	} else if l, refused = st.lower(ctx, cfg); l == nil {
		return refused
	}
	passes, err := st.passesReport(cfg, o, l)
	if err != nil {
		return err
	}
	s.publish(report.PartPasses, func(snap *report.Snapshot) { snap.Passes = passes })
	if passes.Unchanged != "" {
		s.log("warning", "", "%s", passes.Unchanged)
	}
	if text := ignored(cfg); text != "" && st.model.Refused == nil {
		s.log("warning", "", "%s", text)
	}
	if refused != nil { // by --precision-constraints obey; the graph and the reasons are there to be seen
		return refused
	}
	warnUnmet(passes.Unmet, func(layer, text string) { s.log("warning", layer, "%s", text) })
	return nil
}

// build chooses the tactics, lays out the memory and loads the engine.
func (s *Session) build(ctx context.Context, cfg config.Config, retime string) (*run.Loaded, error) {
	st := s.stages
	p, err := s.plan(ctx, cfg, retime)
	if err != nil {
		return nil, err
	}
	tactics, memory := st.tacticsReport(cfg, p), memoryReport(p)
	s.publish(report.PartTactics|report.PartMemory, func(snap *report.Snapshot) { snap.Tactics, snap.Memory = tactics, memory })
	if why := tactics.CacheError; why != "" && why != s.saidOfCache { // each build finds it again
		s.log("warning", "", "%s", why)
		s.saidOfCache = why
	}
	loaded, err := st.load(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if why := st.replanned(cfg); why != "" {
		s.log("warning", "", "%s", why)
	}
	return loaded, nil
}

// examine measures the engine's times and its accuracy, and compares calibrators.
func (s *Session) examine(ctx context.Context, cfg config.Config, loaded *run.Loaded, built time.Duration) error {
	st := s.stages
	t := newTimings(loaded.Plan, st.batchOf(loaded.Plan))
	if err := s.measure(ctx, cfg, loaded, t, built, run.Profiling{Iterations: quickIterations, PerStep: true}); err != nil {
		return err
	}
	if err := st.model.needsSource("its accuracy"); err != nil {
		s.log("warning", "", "%s", err)
		s.publish(report.PartAccuracy, func(snap *report.Snapshot) { snap.Accuracy = nil })
	} else if st.Data != nil {
		accuracy, err := st.accuracy(ctx, cfg, true)
		if err != nil {
			return err
		}
		s.publish(report.PartAccuracy, func(snap *report.Snapshot) { snap.Accuracy = accuracy })
	}
	if s.calibrates() {
		if err := s.compareCalibrators(ctx, cfg); err != nil {
			return err
		}
	} else {
		s.publish(report.PartCalibration, func(snap *report.Snapshot) { snap.Calibration = nil })
	}
	if st.Backend.Info().Estimated {
		return nil // another sample would be the same
	}
	return s.measure(ctx, cfg, loaded, t, built, run.Profiling{Iterations: liveIterations, Duration: liveDuration, PerStep: true})
}
