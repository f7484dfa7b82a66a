package sessions

import (
	"cmp"
	"context"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/describe"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
)

// work runs the stages in the order in which a person wants to see their results: graph, memory, a first impression of
// the times, accuracy, calibration, and then times for as long as they get better.
func (w *worker) work(ctx context.Context, cfg config.Config, once todo) error {
	begin := time.Now()
	if err := w.announce(cfg, once); err != nil {
		return err
	}
	if err := preview(ctx, w, cfg); err != nil {
		return err
	}
	if err := w.rewrite(ctx, cfg); err != nil || w.stages.Model.Refused != nil {
		return err
	}
	loaded, err := w.build(ctx, cfg, once.retime)
	if err != nil {
		return err
	}
	serve(w, loaded)
	built := time.Since(begin)
	m := loaded.Plan.Memory
	w.board.log("info", "", "built %s in %s: weights %s, arena %s", w.stages.NameOf(cfg), report.Duration(built), stages.Size(m.Weights), stages.Size(m.Peak))
	return w.examine(ctx, cfg, loaded, built)
}

// examine measures the engine's times and its accuracy, and compares calibrators.
func (w *worker) examine(ctx context.Context, cfg config.Config, loaded *run.Loaded, built time.Duration) error {
	st := w.stages
	t := describe.NewTimes(loaded.Plan, model.BatchOf(loaded.Plan))
	if err := w.measure(ctx, cfg, loaded, t, built, run.Profiling{Iterations: quickIterations, PerStep: true}); err != nil {
		return err
	}
	if err := w.compare(ctx, cfg); err != nil {
		return err
	}
	if err := overShapes(ctx, w, cfg, loaded); err != nil {
		return err
	}
	if err := w.calibrate(ctx, cfg); err != nil { // last: where activations must be collected first it may take minutes
		return err
	}
	if err := w.generate(ctx, cfg); err != nil {
		return err
	}
	if st.Device.Estimated() {
		return nil // another sample would be the same
	}
	if err := w.measure(ctx, cfg, loaded, t, built, run.Profiling{Iterations: liveIterations, Duration: cmp.Or(st.Place.Live, LiveDuration), PerStep: true}); err != nil {
		return err
	}
	for { // along the other axes: nobody waits for anything else
		more, err := alongAxis(ctx, w, cfg, loaded)
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	if err := inOthers(ctx, w, cfg); err != nil {
		return err
	}
	return overGrids(ctx, w, cfg, loaded)
}

// compare compares the engine with FP32, the layers of FP32 itself only where a person asked for them.
func (w *worker) compare(ctx context.Context, cfg config.Config) error {
	st := w.stages
	if st.Place.Data == nil {
		return nil
	}
	if err := st.Accuracy.Possible(false); err != nil {
		w.board.log("warning", "", "%s", err)
		w.board.publish(report.PartAccuracy, func(snap *report.Snapshot) { snap.Accuracy = nil })
		return nil
	}
	for layers := !st.Accuracy.IsReference(cfg); ; layers = true {
		layers = layers || w.wishes.asks(report.PartAccuracy)
		accuracy, err := st.Accuracy.Of(ctx, cfg, layers)
		if err != nil {
			return err
		}
		w.board.publish(report.PartAccuracy, func(snap *report.Snapshot) { snap.Accuracy = accuracy })
		if layers || accuracy.Alone || !w.wishes.asks(report.PartAccuracy) { // meanwhile
			return nil
		}
	}
}

// calibrate compares calibrators, where that is asked for: of a model that brings its own quantisation, and of one in floating point
// for which there are no data but made-up ones, only where a person asked.
func (w *worker) calibrate(ctx context.Context, cfg config.Config) error {
	st := w.stages
	if st.Place.CalData != nil && !st.Model.Stripped {
		byItself := !st.Model.Quantized && (cfg.Quantizes() || !st.Place.CalData.Random())
		if byItself || w.wishes.asks(report.PartCalibration) {
			return w.compareCalibrators(ctx, cfg)
		}
	}
	w.board.publish(report.PartCalibration, func(snap *report.Snapshot) { snap.Calibration = nil })
	return nil
}
