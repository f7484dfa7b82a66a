package sessions

import (
	"context"
	"slices"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// todo is what a person asks for that is done once, when the loop next begins to work.
type todo struct {
	build       bool                        // the engine, and what is to be known of it
	calibrators bool                        // their comparison, where it lacks the one that is set
	study       *wishedStudy                // of the configuration, when it is built
	layers      bool                        // the errors of the reference's layers
	ablate      bool                        // what each rule is worth
	split       *wishedSplit                // whether two profiles are better than one
	beside      []config.Config             // to measure side by side
	retime      string                      // the layer whose tactics to measure again
	drop        func(build.CacheEntry) bool // the entries of the timing cache to forget
}

// wishedSplit asks for the measurement of a range beside its parts.
type wishedSplit struct{ axis string }

// wishedStudy asks for the sensitivity of layers, or with a goal for a search.
type wishedStudy struct{ goal *report.Goal }

// wishes are what is wanted of a session. What is wanted and what is shown change together: the board's mutex is for both.
type wishes struct {
	board     *board
	quantized bool // the model brings quantisation of its own

	config config.Config      // to work on
	todo   todo               // what to do besides, once
	asked  report.Parts       // reports that are not made by themselves and were asked for
	cancel context.CancelFunc // of the present work
	halted bool               // the present work was stopped, and nothing takes its place
	wake   chan struct{}      // there is something new to do
}

// job is what is worked on until its context ends.
type job struct {
	ctx    context.Context
	cancel context.CancelFunc
	config config.Config
	once   todo
}

// take returns what is to be done now; ok is false where that is nothing.
func (w *wishes) take(ctx context.Context) (j job, ok bool) {
	w.board.mu.Lock()
	defer w.board.mu.Unlock()
	select {
	case <-w.wake: // what woke the loop once more is seen to here
	default:
	}
	j.config, j.once = w.config, w.todo
	w.todo = todo{}
	if !j.once.build && (w.board.snap.Err != "" || w.halted) { // there is nothing that calibrators could be compared beside
		return j, false
	}
	j.ctx, j.cancel = context.WithCancel(ctx)
	w.cancel = j.cancel
	return j, true
}

// interrupt makes the loop look at what is wanted; the board's mutex is held.
func (w *wishes) interrupt() {
	w.halted, w.todo.build = false, true
	if w.cancel != nil {
		w.cancel()
	}
	w.awake()
}

// awake makes the loop look for what is to be done.
func (w *wishes) awake() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// halt stops the present work, if there is any.
func (w *wishes) halt() {
	w.board.mu.Lock()
	defer w.board.mu.Unlock()
	if w.board.snap.Busy == nil || w.cancel == nil {
		return
	}
	w.halted, w.todo.retime = true, ""
	w.cancel()
}

// stopped reports whether work was stopped, and nothing takes its place.
func (w *wishes) stopped() bool {
	w.board.mu.Lock()
	defer w.board.mu.Unlock()
	return w.halted
}

func (w *wishes) sameEngine(a, b config.Config) bool {
	return a.SameEngine(b, w.quantized)
}

// named returns the configuration that is wanted in place of one that builds the same engine; the board's mutex is held.
func (w *wishes) named(cfg config.Config) config.Config {
	if w.sameEngine(cfg, w.config) {
		return w.config
	}
	return cfg
}

// asks reports whether a person asked for a report that is not made by itself.
func (w *wishes) asks(p report.Part) bool {
	w.board.mu.Lock()
	defer w.board.mu.Unlock()
	return w.asked.Has(p)
}

// current is named for who does not hold the mutex.
func (w *wishes) current(cfg config.Config) config.Config {
	w.board.mu.Lock()
	defer w.board.mu.Unlock()
	return w.named(cfg)
}

// rename takes a configuration that builds the same engine for the one that is wanted. Of the reports only the comparison
// of calibrators says which one is set, whether it has a say or not. The board's mutex is held.
func (w *wishes) rename(cfg config.Config) {
	w.config, w.board.snap.Config = cfg, cfg
	name := config.FullCalibrator(cfg.Calibrator)
	switch r := w.board.snap.Calibration; {
	case r == nil || w.board.snap.Stale.Has(report.PartCalibration) || r.Active == name:
	case slices.Contains(r.Calibrators, name):
		c := *r
		c.Active = name
		w.board.snap.Calibration = &c
	default:
		w.board.snap.Stale |= report.PartCalibration
		w.todo.calibrators = true
		w.awake()
	}
	w.board.record(w.board.deliver())
}
