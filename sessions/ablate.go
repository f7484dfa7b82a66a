package sessions

import (
	"cmp"
	"context"
	"slices"

	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// Ablate measures what each rule that applies somewhere is worth: the engine without it and the one of the configuration, in the
// same rounds, so long in all as p says for each. A rule without which there is no engine has the error in its row. each, if not nil,
// is told what is known after every rule.
func (r *Runner) Ablate(ctx context.Context, cfg config.Config, p run.Profiling, each func(*report.Ablation)) (*report.Ablation, error) {
	snap, err := r.Report(ctx, cfg, report.PartPasses|report.PartTactics, p)
	if err != nil {
		return nil, err
	}
	full, _, err := r.Identity(ctx, cfg)
	if err != nil {
		return nil, err
	}
	rows, idle := firedRules(snap.Passes, len(snap.Tactics.Forks))
	a := &report.Ablation{Base: cfg, Estimated: snap.Device.Estimated, Idle: idle}
	known := func(rows []report.AblationRow, left int) *report.Ablation {
		b := *a
		b.Rows, b.Left = slices.Clone(rows), left
		slices.SortStableFunc(b.Rows, func(a, b report.AblationRow) int { return cmp.Compare(b.Worth.Ratio, a.Worth.Ratio) })
		return &b
	}
	for i := range rows {
		r.stages.Told.Progress(report.Progress{Phase: "without a rule", Item: rows[i].Rule, Done: i, Total: len(rows)})
		if err := r.ablate(ctx, cfg, full, &rows[i], p); err != nil {
			return nil, err
		}
		a.Median = cmp.Or(a.Median, rows[i].With)
		if each != nil {
			each(known(rows[:i+1], len(rows)-i-1))
		}
	}
	return known(rows, 0), nil
}

// ablate fills the row of a rule; full identifies the engine with all of them.
func (r *Runner) ablate(ctx context.Context, cfg config.Config, full string, row *report.AblationRow, p run.Profiling) error {
	without := cfg
	without.Disable = append(slices.Clone(cfg.Disable), row.Rule)
	id, _, err := r.Identity(ctx, without)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		row.Err = err.Error()
		return nil
	case id == full:
		row.Same, row.Worth = true, report.Speed{Ratio: 1, Low: 1, High: 1, SideBySide: true}
		return nil
	}
	a, b, err := Duel(ctx, Rival{r, without}, Rival{r, cfg}, report.PartTimings, p)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		row.Err = err.Error()
		return nil
	}
	row.Without, row.With = a.Timings.EndToEnd.Median, b.Timings.EndToEnd.Median
	measured := func(s *report.Snapshot) report.Measured { return s.Timings.Measured(s.Config) }
	row.Worth = measured(b).Over(measured(a), r.stages.Model.Quantized)
	return nil
}

// firedRules returns a row for each rule that applies somewhere, in the order of the passes and then of the plan, which has so many
// forks, and the names of the others.
func firedRules(p *report.Passes, forks int) (rows []report.AblationRow, idle []string) {
	at := map[string]int{}
	for _, rule := range p.Rules {
		if _, ok := at[rule.Name]; !ok {
			at[rule.Name] = len(rows)
			rows = append(rows, report.AblationRow{Rule: rule.Name, Doc: rule.Doc})
		}
	}
	for _, st := range p.Steps {
		for _, f := range st.Fired {
			i, ok := at[f.Rule]
			if !ok {
				continue // it cannot be switched off
			}
			rows[i].Sites++
			rows[i].LayersSaved += f.KernelsSaved
			rows[i].BytesSaved += f.BytesSaved
		}
	}
	if i, ok := at[pass.SideBySide]; ok {
		rows[i].Sites += forks
	}
	rows = slices.DeleteFunc(rows, func(r report.AblationRow) bool {
		if r.Sites == 0 {
			idle = append(idle, r.Rule)
		}
		return r.Sites == 0
	})
	return rows, idle
}
