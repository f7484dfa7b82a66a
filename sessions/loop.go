package sessions

import (
	"context"
	"errors"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
)

// loop works on what is wanted until ctx ends.
func (w *worker) loop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.wishes.wake:
		}
		j, ok := w.wishes.take(ctx)
		if !ok {
			continue
		}
		err := w.guarded(j.ctx, j.config, j.once)
		j.cancel()
		if errors.Is(err, context.Canceled) {
			w.stopped()
			continue
		}
		if err != nil {
			w.board.logError(err)
		}
		w.board.update(func(snap *report.Snapshot) {
			snap.Config, snap.Busy, snap.Err = w.wishes.named(j.config), nil, ""
			switch {
			case err != nil:
				snap.Err = err.Error()
			case w.wishes.todo.calibrators:
				snap.Stale, snap.Preview = report.PartCalibration, 0
			default:
				snap.Stale, snap.Preview = 0, 0 // what the model has no data for is not awaited
			}
		})
	}
}

// guarded turns a panic, which is an error in the program, into an error that the log shows.
func (w *worker) guarded(ctx context.Context, cfg config.Config, once todo) (err error) {
	defer func() {
		if e := recover(); e != nil {
			err = stages.Crashed(e)
		}
	}()
	warn := func(text string) { w.board.log("warning", "", "%s", text) }
	return w.stages.Surviving(ctx, cfg, warn, func() error {
		var err error
		switch {
		case once.build:
			err = w.work(ctx, cfg, once)
		case once.study == nil && !once.layers && !once.ablate && once.split == nil && len(once.beside) == 0 || once.calibrators:
			err = w.calibrate(ctx, cfg)
		}
		if err == nil && once.layers {
			err = w.compare(ctx, cfg)
		}
		if err == nil && once.ablate {
			err = w.ablate(ctx, cfg)
		}
		if err == nil && once.split != nil {
			err = w.split(ctx, cfg, once.split.axis)
		}
		if err == nil && len(once.beside) > 0 {
			err = measureBeside(ctx, w, once.beside)
		}
		if err == nil && once.study != nil {
			err = w.study(ctx, cfg, once.study.goal)
		}
		return err
	})
}

// stopped says that work was stopped, unless something else is to be done instead. Times of a measurement that is not over
// stay live, as they are from one impression to the next.
func (w *worker) stopped() {
	if !w.wishes.stopped() {
		return
	}
	w.board.update(func(snap *report.Snapshot) {
		snap.Busy, snap.Retiming, snap.Stopped = nil, "", true
		if snap.Timings != nil && !snap.Stale.Has(report.PartTimings) && !w.measured {
			t := *snap.Timings
			t.Live = true
			snap.Timings = &t
		}
	})
	w.board.log("info", "", "stopped; what is stale belongs to an older configuration")
}
