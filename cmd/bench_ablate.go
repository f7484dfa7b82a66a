package cmd

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/budget"
	"github.com/trtui/trtui/sessions/exchange"
	"github.com/trtui/trtui/sessions/report"
)

// ablationDuration is how long each engine without a rule is measured where nothing else is said.
const ablationDuration = 600 * time.Millisecond

// ablate measures what each rule is worth.
func (b *benchFlags) ablate(ctx context.Context, stdout, stderr io.Writer, path string, p run.Profiling) error {
	o := b.modelFlags
	o.rounds = budget.Rounds
	if err := o.check(); err != nil {
		return err
	}
	return o.with(path, stderr, func(at *place, r *sessions.Runner) error {
		cfg, err := o.configFor(at.model)
		if err != nil {
			return err
		}
		a, err := r.Ablate(ctx, cfg, p, nil)
		if err != nil {
			return err
		}
		if o.output.csv() {
			return writeCSV(stdout, exchange.AblationCSV, a)
		}
		if o.output.json() {
			return writeReport(stdout, r.Head(&cfg), a)
		}
		writeAblation(stdout, r.Head(&cfg), a)
		return nil
	})
}

// writeAblation prints a bar for each rule: solid as far as it is certain, and shaded to where the interval ends.
func writeAblation(w io.Writer, head report.Head, a *report.Ablation) {
	fmt.Fprintf(w, "%s, %s, on %s (%s)\n", head.Model.Name, head.Config.Precision, head.Device.Backend, head.Device.Device)
	if a.Estimated {
		fmt.Fprintln(w, "times are estimates, computed from what the simulator counted; nothing was measured")
	}
	fmt.Fprintf(w, "each rule off in turn, beside the engine with all of them, %s ms\n\n", ms(a.Median))
	most := 1e-9
	for _, r := range a.Rows {
		most = max(most, r.Worth.High-1, r.Worth.Ratio-1)
	}
	var rows [][]string
	for _, r := range a.Rows {
		with, without := ms(r.With), ms(r.Without)
		if r.Without == 0 {
			with, without = "-", "-"
		}
		rows = append(rows, []string{r.Rule, strconv.Itoa(r.Sites), strconv.Itoa(r.LayersSaved), bytesText(int(r.BytesSaved)), with, without, worthBar(r.Worth, most, 24), worthText(r)})
	}
	writeTable(w, []string{"rule", ">places", "~>layers saved", "~>saved", ">with ms", ">without ms", "~worth", "in rounds"}, rows)
	if n := len(a.Idle); n > 0 {
		fmt.Fprintf(w, "\n%s nowhere in this network\n", count(n, "other rule")+" apply")
	}
}

// worthBar draws how much faster a rule makes an engine: to the lower end of the interval solid, to the upper one shaded.
func worthBar(s report.Speed, most float64, cells int) string {
	if !s.Significant || s.Ratio <= 1 {
		return ""
	}
	low, high := s.Low, s.High
	if !s.Known() {
		low, high = s.Ratio, s.Ratio
	}
	solid := bar((low-1)/most, cells)
	return solid + strings.Repeat("░", max(0, len([]rune(bar((high-1)/most, cells)))-len([]rune(solid))))
}

// worthText says what a rule is worth: nothing where the difference is noise.
func worthText(r report.AblationRow) string {
	s := r.Worth
	switch {
	case r.Err != "":
		return "no engine without it: " + strings.ReplaceAll(r.Err, "\n", " ")
	case r.Same:
		return "the same engine without it"
	case !s.Significant:
		return "no significant difference" + interval(s)
	}
	return fmt.Sprintf("%+.1f %%", 100*(s.Ratio-1)) + interval(s)
}

func interval(s report.Speed) string {
	if !s.Known() || s.Low == s.High {
		return ""
	}
	return fmt.Sprintf(" (%+.1f to %+.1f)", 100*(s.Low-1), 100*(s.High-1))
}
