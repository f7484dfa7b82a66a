package runtime

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// splitting shows beside a curve whether two profiles serve its axis better than one, and asks for them.
type splitting struct {
	desk pane.Desk
	ask  func(axis string) tea.Cmd // has it measured
	snap *report.Snapshot
}

// of returns what was measured of an axis; nil where nothing was.
func (x *splitting) of(a *report.RuntimeAxis) *report.Split {
	if s := x.snap.Split; s != nil && a != nil && s.Axis == a.Symbol {
		return s
	}
	return nil
}

// current reports whether it was measured of the configuration that is shown.
func (x *splitting) current(s *report.Split) bool {
	return s.Base.SameEngine(x.snap.Config, pane.OwnRanges(x.snap))
}

// note says what was found, and of what.
func (x *splitting) note(s *report.Split) (string, ui.Style) {
	text := s.Short()
	if f := s.Found; f != nil {
		text += ", +" + ui.Bytes(int64(f.MemoryBytes))
	}
	switch {
	case !x.current(s):
		return "of " + s.Base.Label(pane.OwnRanges(x.snap)) + ": " + text, ui.Warn
	case s.Found != nil:
		return text, ui.Good
	}
	return text, ui.Muted
}

// faster returns the extents at which an engine with tactics of its own is shown, how long it takes there and how fast that is: of the part
// that was found, else of the engine that gains most at its best.
func (x *splitting) faster(s *report.Split) (values []int, medians []float64, speeds []report.Speed) {
	if f := s.Found; f != nil {
		for _, m := range f.Medians {
			medians = append(medians, float64(m))
		}
		return f.Values, medians, f.Speeds
	}
	most := 0.0
	for _, t := range s.Elsewhere {
		if len(t.Speeds) == 0 {
			continue
		}
		if best := slices.MaxFunc(t.Speeds, func(a, b report.Speed) int {
			if a.Ratio < b.Ratio {
				return -1
			}
			return 1
		}); best.Ratio > most {
			most, speeds = best.Ratio, t.Speeds
		}
	}
	for i, speed := range speeds {
		medians = append(medians, float64(s.Medians[i])/speed.Ratio)
	}
	return s.Values[:len(speeds)], medians, speeds
}

// columns returns the columns of a table over an axis, the last of which is about a split where that was measured.
func (x *splitting) columns(list []ui.Column, a *report.RuntimeAxis, at func(r int) *report.SweepPoint) []ui.Column {
	const title = "split"
	last := len(list) - 1
	switch has := list[last].Title == title; {
	case has && x.of(a) == nil:
		return list[:last]
	case !has && x.of(a) != nil:
		return append(list, ui.Column{Title: title, Width: 8, Align: ui.AlignRight, Cell: func(r int) ui.Cell { return x.cell(x.snap.Split, at(r)) }})
	}
	return list
}

// cell says how much less time a point takes with tactics of its own.
func (x *splitting) cell(s *report.Split, p *report.SweepPoint) ui.Cell {
	if s == nil {
		return ui.Cell{}
	}
	values, _, speeds := x.faster(s)
	i := slices.Index(values, p.Values[0])
	switch {
	case i < 0:
		return ui.Cell{}
	case !speeds[i].Significant:
		return ui.Cell{Text: "noise", Style: ui.Muted}
	case speeds[i].Ratio < 1:
		return ui.Cell{Text: speeds[i].Change(), Style: ui.Bad}
	}
	return ui.Cell{Text: speeds[i].Change(), Style: ui.Good}
}

// draw adds the curve of the engine with tactics of its own, and where the range is cut.
func (x *splitting) draw(a *report.RuntimeAxis, s *ui.Scatter) {
	of := x.of(a)
	if of == nil {
		return
	}
	scale := scaleOf(a)
	values, medians, _ := x.faster(of)
	for i, v := range values {
		s.Points = append(s.Points, ui.ScatterPoint{X: scale.of(float64(v)), Y: scale.of(medians[i]), Beside: true, Style: ui.Series2})
	}
	if f := of.Found; f != nil {
		cut := scale.of(float64(max(f.Profiles[0].Min, f.Profiles[1].Min)))
		s.Cut = &cut
	}
	click := s.Click
	s.Click = func(i int) tea.Msg {
		if i >= len(a.Curve) {
			i = slices.IndexFunc(a.Curve, func(p report.SweepPoint) bool { return p.Values[0] == values[i-len(a.Curve)] })
		}
		return click(i)
	}
}

// measure has it measured.
func (x *splitting) measure(a *report.RuntimeAxis) tea.Cmd {
	switch {
	case x.desk.Lacks(pane.NeedsRun) != "":
		return nil
	case a == nil:
		return pane.Say(ui.Plain, "no axis has a range: there is nothing to split")
	}
	return x.ask(a.Symbol)
}

// take asks for the two profiles that were found.
func (x *splitting) take(a *report.RuntimeAxis) tea.Cmd {
	s := x.of(a)
	switch {
	case x.desk.Lacks(pane.NeedsModel) != "":
		return nil
	case s == nil || s.Left > 0:
		return pane.Say(ui.Plain, "it is not measured yet whether two profiles are better: A measures it")
	case s.Found == nil:
		return pane.Say(ui.Plain, s.Verdict())
	case !x.current(s):
		return pane.Say(ui.Plain, "the two profiles were found for another configuration")
	}
	to := s.Found.Config.Clone()
	return x.desk.Change(func(c *config.Config) {
		c.Shapes, c.MinShapes, c.MaxShapes, c.Profiles = to.Shapes, to.MinShapes, to.MaxShapes, to.Profiles
	})
}
