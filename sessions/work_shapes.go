package sessions

import (
	"context"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
)

// serve tells which shapes the engine serves, before it is measured there: where that is known they can be changed.
func serve(w *worker, l *run.Loaded) {
	r := w.stages.Sweeps.Served(l.Plan, report.Latency{})
	w.board.update(func(snap *report.Snapshot) {
		if snap.Runtime == nil || !snap.Runtime.Serves(r.Axes) { // what was measured at the same shapes is shown until it is measured anew
			snap.Runtime = r
			snap.Stale &^= report.PartRuntime
		}
	})
}

// overShapes measures the engine over the shapes that it serves: at the ends of ranges, and along the widest axis.
func overShapes(ctx context.Context, w *worker, cfg config.Config, l *run.Loaded) error {
	r, err := w.stages.Sweeps.Runtime(ctx, cfg, l, w.board.newest().Timings.EndToEnd)
	if err != nil {
		return err
	}
	w.board.publish(report.PartRuntime, func(snap *report.Snapshot) { snap.Runtime = r })
	_, err = alongAxis(ctx, w, cfg, l)
	return err
}

// alongAxis measures the engine along the widest axis along which it was not; more says whether there was one.
func alongAxis(ctx context.Context, w *worker, cfg config.Config, l *run.Loaded) (more bool, err error) {
	r, err := w.stages.Sweeps.Curve(ctx, cfg, l, w.board.newest().Runtime)
	if err != nil || r == nil {
		return false, err
	}
	w.board.publish(report.PartRuntime, func(snap *report.Snapshot) { snap.Runtime = r })
	return true, nil
}

// overGrids measures the engine over pairs of axes, once it was along each.
func overGrids(ctx context.Context, w *worker, cfg config.Config, l *run.Loaded) error {
	for {
		r, err := w.stages.Sweeps.Grid(ctx, cfg, l, w.board.newest().Runtime)
		if err != nil || r == nil {
			return err
		}
		w.board.publish(report.PartRuntime, func(snap *report.Snapshot) { snap.Runtime = r })
	}
}

// inOthers measures the engine in the profiles behind the first.
func inOthers(ctx context.Context, w *worker, cfg config.Config) error {
	for {
		r, err := w.stages.Sweeps.Other(ctx, cfg, w.board.newest().Runtime)
		if err != nil || r == nil {
			return err
		}
		w.board.publish(report.PartRuntime, func(snap *report.Snapshot) { snap.Runtime = r })
	}
}

// split measures whether two profiles serve the range of an axis better than one, and shows what is known as it comes. Why nothing is is in
// the log: what is built stays as it is.
func (w *worker) split(ctx context.Context, cfg config.Config, axis string) error {
	show := func(s *report.Split) {
		w.board.publish(report.PartSplit, func(snap *report.Snapshot) { snap.Split = s })
	}
	s, err := (&Runner{w.stages}).Split(ctx, cfg, axis, nil, stages.SplitProfiling, show)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		w.board.logError(err)
		return nil
	}
	show(s)
	return nil
}
