package views

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/timings"
	"github.com/trtui/trtui/views/trials"
)

// studying returns what has the sensitivity of layers found, or with a goal the precision of each searched for.
func studying(w *workbench) func(*report.Goal) tea.Cmd {
	return func(goal *report.Goal) tea.Cmd {
		w.ctl.Study(goal)
		if goal == nil {
			return w.begin("raising one layer after the other; esc stops")
		}
		return w.begin("searching for " + goal.String() + "; esc stops and leaves what was found")
	}
}

// ablating returns what has it measured what each rule is worth.
func ablating(w *workbench) func() tea.Cmd {
	return func() tea.Cmd {
		w.ctl.Ask(report.PartAblation)
		return w.begin("each rule off in turn; esc stops and leaves what was measured")
	}
}

// splitting returns what has it measured whether two profiles serve the range of an axis better than one.
func splitting(w *workbench) func(axis string) tea.Cmd {
	return func(axis string) tea.Cmd {
		w.ctl.Split(axis)
		return w.begin("the range of " + axis + " beside parts of it; esc stops and leaves what was measured")
	}
}

// besides returns what has the configuration measured in every precision side by side.
func besides(w *workbench) func() tea.Cmd {
	return func() tea.Cmd {
		var configs []config.Config
		for _, p := range pane.Precisions {
			c := w.config.want.Clone()
			if c.Precision != p { // what is pinned is of one precision's kernels
				c.Precision, c.Pin, c.Forbid = p, nil, nil
			}
			configs = append(configs, c)
		}
		return sideBySide(w)(configs, 0)
	}
}

// recordedBesides returns what reads for [timings.ColumnsMsg] of a recording of each precision the configuration that has most in common
// with the one that is shown; nil in a session.
func recordedBesides(w *workbench, read trials.Reader) func() tea.Cmd {
	if w.o.Timeline == nil {
		return nil
	}
	return func() tea.Cmd {
		var configs []config.Config
		own := pane.OwnRanges(w.snap)
		for _, p := range pane.Precisions {
			best, most := config.Config{}, -1
			for _, c := range recordedConfigs(w.o.Timeline) {
				n := alike(c, w.config.want)
				if c.SameEngine(w.config.want, own) {
					n++
				}
				if c.Precision == p && n > most {
					best, most = c, n
				}
			}
			if most >= 0 {
				configs = append(configs, best)
			}
		}
		columns := w.tried.Columns(configs, own, read)
		return func() tea.Msg {
			c, err := columns()
			return timings.ColumnsMsg{Columns: c, Err: err}
		}
	}
}

// sideBySide returns what has configurations measured side by side; nil in a replay, which has what was measured.
func sideBySide(w *workbench) trials.Measure {
	if w.o.Timeline != nil {
		return nil
	}
	return func(configs []config.Config, left int) tea.Cmd {
		w.ctl.Beside(configs)
		what := strings.Join(config.Labels(configs, pane.OwnRanges(w.snap)), ", ")
		if left > 0 { // the names of so many would hide how many there are
			what = w.o.Look.Keys(fmt.Sprintf("%d of %d configurations, the other %d at the next {Tried A},", len(configs), len(configs)+left, left))
		}
		begun := w.begin(what + " side by side; esc stops")
		w.work.beside = true
		return begun
	}
}
