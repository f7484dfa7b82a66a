package sessions

import (
	"context"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// columnsDuration is how long each precision is measured in a session.
const columnsDuration = time.Second

// measureColumns measures the layers in every precision side by side: a first impression, and then for longer. A precision in which there is
// no engine has the reason in its column. Why nothing is known is in the log: what is built stays as it is.
func measureColumns(ctx context.Context, w *worker, cfg config.Config) error {
	r := &Runner{w.stages}
	var configs []config.Config
	var refused []report.Column
	for i, p := range []config.Precision{config.FP32, config.FP16, config.INT8} {
		w.stages.Told.Progress(report.Progress{Phase: "precisions side by side", Item: string(p), Done: i, Total: 4})
		c := cfg.Clone()
		if c.Precision != p { // what is pinned is of one precision's kernels
			c.Precision, c.Pin, c.Forbid = p, nil, nil
		}
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
	for _, p := range []run.Profiling{{Iterations: quickIterations}, {Duration: columnsDuration, Iterations: quickIterations}} {
		c, err := Columns(ctx, r, configs, p)
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
	return nil
}
