package accuracy

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// searchView lists the engines that a search for the precision of layers has built, as they come.
type searchView struct {
	in    pane.Input
	desk  pane.Desk
	table ui.Table
}

func newSearchView(look *ui.Look, d pane.Desk) *searchView {
	v := &searchView{in: pane.NewInput(look, report.PartSearch), desk: d}
	at := func(r int) *report.SearchPoint { return &v.in.Snap.Search.Points[r] }
	number := func(title string, width, priority int, text func(*report.SearchPoint) string) ui.Column {
		return ui.Column{Title: title, Width: width, Priority: priority, Align: ui.AlignRight, Cell: func(r int) ui.Cell { return ui.Cell{Text: text(at(r))} }}
	}
	share := func(s *float64) string {
		if s == nil {
			return "-"
		}
		return words.Percent(*s)
	}
	v.table.Columns = []ui.Column{
		number("raised", 6, 0, func(p *report.SearchPoint) string { return fmt.Sprint(p.Raised) }),
		{Title: "time", Width: 12, Flex: 2, Cell: func(r int) ui.Cell {
			b := &ui.Bar{Value: float64(at(r).Tuned), Style: ui.Good}
			if !at(r).Meets {
				b.Style = ui.Warn
			}
			for i := range v.in.Snap.Search.Points {
				b.Max = max(b.Max, float64(at(i).Tuned))
			}
			return ui.Cell{Bar: b}
		}},
		number("tuned", 9, 0, func(p *report.SearchPoint) string { return ui.Duration(p.Tuned) }),
		number("median", 9, 3, func(p *report.SearchPoint) string { return ui.Duration(p.Latency) }),
		number("SQNR dB", 8, 0, func(p *report.SearchPoint) string {
			if p.SQNR == nil {
				return "-"
			}
			return words.Decibels(*p.SQNR)
		}),
		number("predicted", 9, 4, func(p *report.SearchPoint) string { return words.Decibels(p.Predicted) }),
		number("top-1", 7, 1, func(p *report.SearchPoint) string { return share(p.Top1) }),
		number("agree", 7, 2, func(p *report.SearchPoint) string { return share(p.Agreement) }),
		{Title: "", Width: 8, Cell: func(r int) ui.Cell {
			s := v.in.Snap.Search
			switch {
			case s.Best != nil && *s.Best == r:
				return ui.Cell{Text: "best", Style: ui.Good}
			case at(r).Meets:
				return ui.Cell{Text: "meets it", Style: ui.Muted}
			case s.Nearest != nil && *s.Nearest == r:
				return ui.Cell{Text: "nearest", Style: ui.Warn}
			}
			return ui.Cell{}
		}},
	}
	v.table.Label = func(r int) string { return at(r).Config.Label(false) }
	v.table.Empty = "no engine has been built yet"
	return v
}

func (v *searchView) Title() string { return "Layers: search for their precisions" }

func (v *searchView) Note() (string, ui.Style) {
	s := v.in.Snap.Search
	if s == nil {
		return "", ui.Muted
	}
	return s.Goal.String() + fmt.Sprintf(": %s, %s", words.Plural(len(s.Points), "engine"), words.Plural(s.Predictions, "prediction")), ui.Muted
}

func (v *searchView) Keys() []ui.Key {
	return append(v.table.Keys(), pane.When(v.desk, pane.NeedsModel, ui.K("enter", "take", "take the configuration under the cursor; undo takes it back")))
}

func (v *searchView) Update(msg tea.Msg) tea.Cmd {
	if v.in.Take(msg) {
		v.table.Rows = 0
		if s := v.in.Snap.Search; s != nil {
			v.table.Rows = len(s.Points)
		}
		v.table.Refresh()
		return nil
	}
	if v.in.Snap.Search == nil {
		return nil
	}
	if r := v.table.Row(); pane.IsKey(msg, "enter") && r >= 0 && r < len(v.in.Snap.Search.Points) {
		taken := v.in.Snap.Search.Points[r].Config
		return v.desk.Change(func(c *config.Config) { *c = taken.Clone() })
	}
	v.table.Update(msg)
	return nil
}

func (v *searchView) Render(w, h int) string {
	return v.in.Look.Render(w, h, func(c *ui.Canvas) {
		if v.in.Snap.Search == nil {
			v.in.Unmeasured(c, v.desk, pane.NeedsChoice, "the precision of every layer that together meets a goal: the points that a search has tried", "{Accuracy B} chooses a goal and searches")
			return
		}
		if s := v.in.Snap; s.Search.Live && len(s.Search.Points) == 0 && s.Busy != nil {
			v.in.Wait(c, "the engines that are built")
			return
		}
		v.table.Draw(c)
	})
}
