package sessions

import (
	"context"
	"errors"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
)

// study finds the sensitivity of a configuration's layers, or with a goal searches from it on, and shows what is known as it comes. Why
// there is none is in the log: what is built stays as it is.
func (w *worker) study(ctx context.Context, cfg config.Config, goal *report.Goal) (err error) {
	if goal == nil {
		_, err = w.stages.Sensitivity.Of(ctx, cfg, config.FP32, func(s *report.Sensitivity) {
			w.board.publish(report.PartSensitivity, func(snap *report.Snapshot) { snap.Sensitivity = s })
		})
	} else {
		_, err = w.stages.Search.Of(ctx, cfg, stages.Tuning{Goal: *goal, To: []config.Precision{config.FP32, config.FP16}, Each: func(s *report.Search) {
			w.board.publish(report.PartSearch, func(snap *report.Snapshot) { snap.Search = s })
		}})
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		w.board.logError(err)
		return nil
	}
	return err
}
