package sessions

import (
	"context"
	"errors"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/describe"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
)

// worker does the work of a session, in its loop, and shows what comes of it.
type worker struct {
	stages *stages.Stages
	board  *board
	wishes *wishes
	tape   *tape

	reference   *reference      // the first that was measured, beside which others are
	measured    bool            // the newest times are of a measurement that came to its end
	together    stages.Together // what was measured side by side last
	building    string          // the configuration that the log speaks of
	saidOfCache string          // what the log has of the timing cache
}

// reference is a configuration beside which others are measured. Where its own measurement was broken off, the first of these goes on
// with it.
type reference struct {
	config config.Config
	engine *run.Loaded
	times  *describe.Times
	whole  bool // it was measured to its end
}

// announce shows the model, marks every report as older than the configuration, and does to the timing cache what was asked.
func (w *worker) announce(cfg config.Config, once todo) error {
	st := w.stages
	model, err := st.LookAt(cfg)
	if err != nil {
		return err
	}
	w.board.update(func(snap *report.Snapshot) {
		snap.Stale, snap.Preview = report.Derived(), 0
		snap.Config, snap.Model, snap.Err, snap.Busy = w.wishes.named(cfg), model, "", &report.Progress{Phase: "rebuilding"}
		snap.Retiming, snap.Stopped = once.retime, false
	})
	if once.drop != nil {
		n := st.Place.Cache.Drop(once.drop)
		st.Tuning.Save()
		w.board.log("info", "", "dropped %d entries of the timing cache: it has %d", n, len(st.Place.Cache.Entries()))
	}
	if name := st.NameOf(cfg); name != w.building {
		if w.building == "" {
			st.Told.Log.Opened(st.Model)
			w.logRefused()
		}
		w.building = name
		if st.Model.Refused == nil {
			w.board.log("info", "", "building %s", name)
		}
	}
	return nil
}

// logRefused adds to the log why the model cannot be run: a line for each layer to blame.
func (w *worker) logRefused() {
	m := w.stages.Model
	if m.Refused == nil {
		return
	}
	list := describe.UnsupportedLayers(m.Network)
	w.board.log("warning", "", "not runnable: %s; graph and passes are there to be seen", describe.NotRunnable(m.Refused, list, len(m.Network.AllLayers())))
	for _, p := range m.Refused.Problems {
		if p.Node == "" {
			w.board.log("warning", "", "%s", p.Reason)
		}
	}
	const most = 200 // the graph marks them all
	n := 0
	for _, l := range list {
		if l.Behind != "" {
			continue
		}
		if n++; n > most {
			w.board.log("warning", "", "and more; the graph marks them all")
			return
		}
		w.board.log("warning", l.Layer, "%s: %s", l.Op, l.Reason)
	}
}

// rewrite optimises the graph and lowers it to the precision.
func (w *worker) rewrite(ctx context.Context, cfg config.Config) error {
	st := w.stages
	o, err := st.Passes.Optimize(ctx, cfg)
	if err != nil {
		return err
	}
	var l *build.Lowered
	var refused error
	if st.Model.Refused != nil {
		l = describe.UnloweredNetwork(o)
	} else if l, refused = st.Precisions.Lower(ctx, cfg); l == nil {
		return refused
	}
	passes, err := st.Rewritten(cfg, o, l)
	if err != nil {
		return err
	}
	w.board.publish(report.PartPasses, func(snap *report.Snapshot) { snap.Passes = passes })
	if passes.Unchanged != "" {
		w.board.log("warning", "", "%s", passes.Unchanged)
	}
	for _, text := range []string{describe.Ignored(cfg), describe.GivenRanges(cfg, l)} {
		if text != "" && st.Model.Refused == nil {
			w.board.log("warning", "", "%s", text)
		}
	}
	if refused != nil { // by --precision-constraints obey; the graph and the reasons are there to be seen
		return refused
	}
	describe.WarnUnmet(passes.Unmet, func(layer, text string) { w.board.log("warning", layer, "%s", text) })
	return nil
}

// build chooses the tactics, lays out the memory and loads the engine.
func (w *worker) build(ctx context.Context, cfg config.Config, retime string) (*run.Loaded, error) {
	st := w.stages
	p, err := w.plan(ctx, cfg, retime)
	if err != nil {
		return nil, err
	}
	tactics, memory := st.Tuning.Report(cfg, st.Place.CacheError, p), describe.Memory(p)
	w.board.publish(report.PartTactics|report.PartMemory, func(snap *report.Snapshot) { snap.Tactics, snap.Memory = tactics, memory })
	if why := tactics.CacheError; why != "" && why != w.saidOfCache { // each build finds it again
		w.board.log("warning", "", "%s", why)
		w.saidOfCache = why
	}
	loaded, err := st.Engines.Load(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if why := st.Orders.Stored.Replanned(cfg); why != "" {
		w.board.log("warning", "", "%s", why)
	}
	return loaded, nil
}

// Plan plans the engine; first it measures the tactics of a layer again if one is named.
func (w *worker) plan(ctx context.Context, cfg config.Config, retime string) (*run.Plan, error) {
	if retime != "" {
		defer func() { w.board.update(func(snap *report.Snapshot) { snap.Retiming = w.wishes.todo.retime }) }()
		if err := w.stages.Retime(ctx, cfg, retime); err != nil {
			if errors.Is(err, context.Canceled) {
				w.board.log("info", retime, "re-timing was cancelled")
			}
			return nil, err
		}
	}
	p, err := w.stages.Tuning.Plan(ctx, cfg)
	if err == nil && retime != "" {
		w.logRetimed(p, retime)
	}
	return p, err
}

// logRetimed tells what came of measuring a layer's tactics again.
func (w *worker) logRetimed(p *run.Plan, layer string) {
	for _, st := range p.Steps {
		if st.Name != layer {
			continue
		}
		timed := 0
		for _, c := range st.Candidates {
			if c.Timed && c.Reason == "" {
				timed++
			}
		}
		w.board.log("info", layer, "%d tactics timed again: %s takes %v", timed, st.Tactic, st.Time)
	}
}

// compareCalibrators makes the comparison of calibrators, with the one that is set when it is done.
func (w *worker) compareCalibrators(ctx context.Context, cfg config.Config) error {
	for {
		cfg = w.wishes.current(cfg)
		c, err := w.stages.Survey.Of(ctx, cfg)
		if err != nil {
			return err
		}
		done := false
		w.board.update(func(snap *report.Snapshot) {
			if done = w.wishes.named(cfg).Calibrator == cfg.Calibrator; done {
				snap.Calibration = c
				snap.Stale &^= report.PartCalibration
				w.wishes.todo.calibrators = false
			}
		})
		if done {
			return nil
		}
	}
}

// generate makes a language model continue a text. That it cannot be asked to in some configuration ends nothing.
func (w *worker) generate(ctx context.Context, cfg config.Config) error {
	st := w.stages
	show := func(g *report.Generation) {
		w.board.publish(report.PartGeneration, func(snap *report.Snapshot) { snap.Generation = g })
	}
	if st.Place.Language == nil {
		show(nil)
		return nil
	}
	l, err := st.Precisions.Lower(ctx, cfg)
	if err == nil {
		st.Device.Busy.Lock()
		defer st.Device.Busy.Unlock()
		err = st.Place.Language(ctx, cfg, l.Rounded, st.Told.Progress, show)
	}
	if err != nil && ctx.Err() == nil {
		w.board.log("warning", "", "no text: %v", err)
		show(&report.Generation{Refused: err.Error()})
		return nil
	}
	return err
}
