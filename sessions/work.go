package sessions

import (
	"context"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// work runs the stages in the order in which a person wants to see their results: graph, memory, a first impression of
// the times, accuracy, calibration, and then times for as long as they get better.
func (w *worker) work(ctx context.Context, cfg config.Config, once todo) error {
	begin := time.Now()
	if err := w.announce(cfg, once); err != nil {
		return err
	}
	if err := w.rewrite(ctx, cfg); err != nil || w.stages.model.Refused != nil {
		return err
	}
	loaded, err := w.build(ctx, cfg, once.retime)
	if err != nil {
		return err
	}
	built := time.Since(begin)
	m := loaded.Plan.Memory
	w.board.log("info", "", "built %s in %s: weights %s, arena %s", w.stages.nameOf(cfg), brief(built), size(m.Weights), size(m.Peak))
	return w.examine(ctx, cfg, loaded, built)
}

// examine measures the engine's times and its accuracy, and compares calibrators.
func (w *worker) examine(ctx context.Context, cfg config.Config, loaded *run.Loaded, built time.Duration) error {
	st := w.stages
	t := newTimings(loaded.Plan, batchOf(loaded.Plan))
	if err := w.measure(ctx, cfg, loaded, t, built, run.Profiling{Iterations: quickIterations, PerStep: true}); err != nil {
		return err
	}
	if err := st.model.needsSource("its accuracy"); err != nil {
		w.board.log("warning", "", "%s", err)
		w.board.publish(report.PartAccuracy, func(snap *report.Snapshot) { snap.Accuracy = nil })
	} else if st.place.Data != nil {
		accuracy, err := st.accuracy.of(ctx, cfg, true)
		if err != nil {
			return err
		}
		w.board.publish(report.PartAccuracy, func(snap *report.Snapshot) { snap.Accuracy = accuracy })
	}
	if w.calibrates() {
		if err := w.compareCalibrators(ctx, cfg); err != nil {
			return err
		}
	} else {
		w.board.publish(report.PartCalibration, func(snap *report.Snapshot) { snap.Calibration = nil })
	}
	if err := w.overShapes(ctx, loaded); err != nil {
		return err
	}
	if err := w.generate(ctx, cfg); err != nil {
		return err
	}
	if st.device.estimated() {
		return nil // another sample would be the same
	}
	return w.measure(ctx, cfg, loaded, t, built, run.Profiling{Iterations: liveIterations, Duration: liveDuration, PerStep: true})
}
