package sessions

import (
	"context"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/describe"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// preview shows what a configuration is before it is tried how weights are best rounded and channels equalised, which takes many
// times as long as what collecting found does for a first engine.
func preview(ctx context.Context, w *worker, cfg config.Config) error {
	st := w.stages
	first, ok := st.Precisions.Preview(cfg)
	if !ok {
		return nil
	}
	return st.Told.Log.AsOne("first figures, by the nearest integers; roundings and equalisations not yet tried,", func() error {
		o, err := st.Passes.Optimize(ctx, first)
		if err != nil {
			return err
		}
		l, err := st.Precisions.Lower(ctx, first)
		if err != nil {
			return err
		}
		passes, err := st.Rewritten(first, o, l)
		if err != nil {
			return err
		}
		w.board.preview(report.PartPasses, func(snap *report.Snapshot) { snap.Passes = passes })
		loaded, err := st.Engines.Load(ctx, first)
		if err != nil {
			return err
		}
		plan := loaded.Plan
		tactics, memory := st.Tuning.Report(first, st.Place.CacheError, plan), describe.Memory(plan)
		w.board.preview(report.PartTactics|report.PartMemory, func(snap *report.Snapshot) { snap.Tactics, snap.Memory = tactics, memory })
		quick := run.Profiling{Iterations: quickIterations, PerStep: true}
		times, err := st.Timing.Time(ctx, loaded, describe.NewTimes(plan, model.BatchOf(plan)), quick)
		if err != nil {
			return err
		}
		overview := st.SumUp(first, plan, times)
		w.board.preview(report.PartTimings|report.PartOverview, func(snap *report.Snapshot) { snap.Timings, snap.Overview = times, overview })
		if st.Place.Data == nil {
			return nil
		}
		accuracy, err := st.Accuracy.Of(ctx, first, false)
		if err == nil {
			w.board.preview(report.PartAccuracy, func(snap *report.Snapshot) { snap.Accuracy = accuracy })
		}
		return err
	})
}
