package sessions

import (
	"context"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// ablationDuration is how long each engine without a rule is measured in a session.
const ablationDuration = 600 * time.Millisecond

// ablate measures what each rule is worth, and shows what is known as it comes. Why nothing is is in the log: what is built stays as
// it is.
func (w *worker) ablate(ctx context.Context, cfg config.Config) error {
	show := func(a *report.Ablation) {
		w.board.publish(report.PartAblation, func(snap *report.Snapshot) { snap.Ablation = a })
	}
	a, err := (&Runner{w.stages}).Ablate(ctx, cfg, run.Profiling{Duration: ablationDuration}, show)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		w.board.logError(err)
		return nil
	}
	show(a)
	return nil
}
