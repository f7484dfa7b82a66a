package sessions

import (
	"context"
	"slices"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// columnsDuration is how long each configuration is measured in a session.
const columnsDuration = time.Second

// measureBeside measures configurations, and their layers, side by side: a first impression, then for longer, and then the accuracy
// of each. Where they are those that were measured so last it adds rounds to what there is. One of which there is no engine has the reason in its column. Why nothing is known is in the log: what is built stays as
// it is.
func measureBeside(ctx context.Context, w *worker, asked []config.Config) error {
	r := &Runner{w.stages}
	var configs []config.Config
	var refused []report.Column
	for i, c := range asked {
		w.stages.Told.Progress(report.Progress{Phase: "building to measure side by side", Item: w.stages.NameOf(c), Done: i, Total: len(asked)})
		_, err := w.stages.Engines.Load(ctx, c)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			refused = append(refused, report.Column{Label: c.Label(w.stages.Model.Quantized), Config: c, Err: err.Error()})
		default:
			configs = append(configs, c)
		}
	}
	if len(configs) == 0 {
		w.board.publish(report.PartColumns, func(snap *report.Snapshot) { snap.Columns = &report.Columns{Columns: refused} })
		return nil
	}
	var c *report.Columns
	impression, whole := run.Profiling{Iterations: quickIterations}, run.Profiling{Duration: columnsDuration, Iterations: quickIterations}
	measurements := []run.Profiling{impression, whole}
	if shown := w.board.newest().Columns; shown != nil && !shown.Live && len(shown.Columns) == len(configs)+len(refused) && shown.OfAll(configs, w.stages.Model.Quantized) {
		measurements = []run.Profiling{whole} // which goes on with what is shown
	}
	for _, p := range measurements {
		kept := &w.together
		if p.Duration == 0 {
			kept = nil
		}
		var err error
		c, err = columnsOn(ctx, r, configs, p, kept)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			w.board.logError(err)
			return nil
		}
		c.Live, c.Columns = p.Duration == 0 && !w.stages.Device.Estimated(), append(c.Columns, refused...)
		w.board.publish(report.PartColumns, func(snap *report.Snapshot) { snap.Columns = c })
		if w.stages.Device.Estimated() {
			break // another sample would be the same
		}
	}
	return judgeColumns(ctx, w, c)
}

// judgeColumns finds memory and accuracy of configurations that were measured side by side, one after the other.
func judgeColumns(ctx context.Context, w *worker, c *report.Columns) error {
	st := w.stages
	for i := range c.Columns {
		cfg := c.Columns[i].Config
		if c.Columns[i].Err != "" {
			continue
		}
		parts := report.PartMemory | report.PartPasses
		if st.Place.Data != nil && st.Accuracy.Possible(false) == nil {
			parts |= report.PartScore
		}
		snap, err := (&Runner{st}).report(ctx, cfg, parts, run.Profiling{})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			w.board.log("warning", "", "%s: %v", c.Columns[i].Label, err)
			continue
		}
		point, _ := report.PointOf(snap)
		judged := *c
		judged.Columns = slices.Clone(c.Columns)
		judged.Columns[i].Point, judged.Columns[i].Accuracy = &point, snap.Accuracy
		c = &judged
		if err := keepBeside(ctx, w, cfg, snap, c.Columns[i].Timings); err != nil {
			return err
		}
		w.board.publish(report.PartColumns, func(snap *report.Snapshot) { snap.Columns = c })
	}
	return nil
}

// keepBeside keeps what was found of a configuration, for recordings, unless it is the one that is shown.
func keepBeside(ctx context.Context, w *worker, cfg config.Config, snap *report.Snapshot, t *report.Timings) error {
	if w.wishes.sameEngine(cfg, w.board.newest().Config) {
		return nil
	}
	plan, err := w.stages.Tuning.Plan(ctx, cfg)
	if err != nil {
		return err
	}
	whole := *snap
	whole.Timings, whole.Overview = t, w.stages.SumUp(cfg, plan, t)
	w.tape.keep(&whole)
	return nil
}
