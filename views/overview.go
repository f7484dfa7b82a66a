package views

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// slowestView shows the layers that take the most time.
type slowestView struct{ in input }

func (v *slowestView) Title() string { return "Slowest layers" }

func (v *slowestView) Note() (string, ui.Style) { return v.in.note("") }

func (v *slowestView) Keys() []ui.Key {
	return []ui.Key{ui.K("enter", "timings", "open the timings")}
}

func (v *slowestView) Update(msg tea.Msg) tea.Cmd {
	if !v.in.take(msg) && isKey(msg, "enter") {
		return ui.Goto("3")
	}
	return nil
}

func (v *slowestView) Render(w, h int) string {
	return v.in.look.Render(w, h, func(c *ui.Canvas) {
		if v.in.snap.Timings == nil {
			v.in.wait(c, "layer times")
			return
		}
		value := func(l *report.LayerTiming) string {
			if w < 48 {
				return ui.Duration(l.Median)
			}
			return fmt.Sprintf("%s %6s", ui.Duration(l.Median), percent(l.Share))
		}
		layers := slices.Clone(v.in.snap.Timings.Layers)
		slices.SortStableFunc(layers, func(a, b report.LayerTiming) int { return cmp.Compare(b.Median, a.Median) })
		var bars ui.Bars
		for _, l := range layers[:min(len(layers), h)] {
			bars = append(bars, ui.LabelledBar{
				Label: shortName(l.Name), Value: value(&l),
				Bar: ui.Bar{Value: float64(l.Median), Max: float64(layers[0].Median), Style: precisionStyle(l.Precision)},
			})
		}
		bars.Draw(c)
	})
}

// compositionView splits the time by number format, and the source layers by what became of them.
type compositionView struct{ in input }

func (v *compositionView) Title() string { return "Composition" }

func (v *compositionView) Note() (string, ui.Style) { return v.in.note("") }

func (v *compositionView) Keys() []ui.Key {
	return []ui.Key{ui.K("enter", "graph", "open the graph")}
}

func (v *compositionView) Update(msg tea.Msg) tea.Cmd {
	if !v.in.take(msg) && isKey(msg, "enter") {
		return ui.Goto("2")
	}
	return nil
}

func (v *compositionView) Render(w, h int) string {
	return v.in.look.Render(w, h, func(c *ui.Canvas) {
		o, p := v.in.snap.Overview, v.in.snap.Passes
		if p == nil || o == nil && !v.in.snap.Refused() {
			v.in.wait(c, "fusion")
			return
		}
		y := 0
		if o != nil {
			y = drawSplit(c, o)
		}
		if h > 5 {
			c.FitClauses(1, y, w-2, ui.Muted, ledgerText(p))
			y++
		}
		ledger := ui.Proportions{Unit: " "}
		for _, e := range []struct {
			name  string
			n     int
			style ui.Style
		}{{"kept", p.Kept, ui.Series(7)}, {"fused", p.Fused, ui.Series(0)}, {"folded", p.Folded, ui.Series(2)}, {"eliminated", p.Eliminated, ui.Series(1)}} {
			if e.n > 0 {
				ledger.Parts = append(ledger.Parts, ui.Part{Name: e.name, Value: float64(e.n), Style: e.style})
			}
		}
		ledger.Draw(c.Sub(ui.Rect{X: 0, Y: y, W: w, H: h - y}))
	})
}

// drawSplit draws the shares of the time by number format, and returns the line behind them.
func drawSplit(c *ui.Canvas, o *report.Overview) int {
	y := 0
	if c.H > 4 {
		c.Fit(1, 0, c.W-2, ui.Muted, "time by precision")
		y = 1
	}
	var split ui.Proportions
	for _, e := range o.Split {
		split.Parts = append(split.Parts, ui.Part{Name: e.Precision, Value: float64(e.Time), Style: precisionStyle(e.Precision)})
	}
	split.Draw(c.Sub(ui.Rect{X: 0, Y: y, W: c.W, H: 2}))
	y += 2
	if c.H > 6 {
		y++
	}
	return y
}

// ledgerText says how many layers the passes left of how many, and what that saves.
func ledgerText(p *report.Passes) string {
	noun := "engine layer"
	if slices.ContainsFunc(p.Source, func(l report.Layer) bool { return l.Unsupported != "" }) { // there is no engine
		noun = "layer"
	}
	text := fmt.Sprintf("%d source to %s", len(p.Source), plural(len(p.Engine), noun))
	if p.BytesSaved > 0 {
		text += ", saves " + ui.Bytes(p.BytesSaved) + " of traffic"
	}
	return text
}

// footprintView compares the arena's size with what no reuse would need and with what is the least possible.
type footprintView struct{ in input }

func (v *footprintView) Title() string { return "Arena memory" }

func (v *footprintView) Note() (string, ui.Style) { return v.in.note("") }

func (v *footprintView) Keys() []ui.Key {
	return []ui.Key{ui.K("enter", "memory", "open the memory plan")}
}

func (v *footprintView) Update(msg tea.Msg) tea.Cmd {
	if !v.in.take(msg) && isKey(msg, "enter") {
		return ui.Goto("4")
	}
	return nil
}

func (v *footprintView) Render(w, h int) string {
	return v.in.look.Render(w, h, func(c *ui.Canvas) {
		if v.in.snap.Memory == nil {
			v.in.wait(c, "memory plan")
			return
		}
		footprintBars(v.in.snap.Memory.MemoryNumbers, w).Draw(c)
	})
}

// footprintBars are the planner's three numbers, then what lies outside the arena, for a pane of w columns.
func footprintBars(m report.MemoryNumbers, w int) ui.Bars {
	top := float64(max(m.Naive, m.Peak, 1))
	bar := func(label string, n int, s ui.Style, note string) ui.LabelledBar {
		return ui.LabelledBar{Label: label, Value: fmt.Sprintf("%9s %s", ui.Bytes(int64(n)), note), Bar: ui.Bar{Value: float64(n), Max: top, Style: s}}
	}
	ratio := func(n, of int) string {
		if of == 0 || w < 44 {
			return ""
		}
		return fmt.Sprintf("%6s ", fmt.Sprintf("%.2fx", float64(n)/float64(of)))
	}
	bars := ui.Bars{
		bar("no reuse", m.Naive, ui.Series(7), ratio(m.Naive, m.Peak)),
		bar("peak", m.Peak, ui.Series(0), ratio(m.Peak, m.Peak)),
		bar("lower bound", m.LowerBound, ui.Series(2), ratio(m.LowerBound, m.Peak)),
	}
	if m.Workspace > 0 {
		bars = append(bars, bar("workspace", m.Workspace, ui.Series(1), ratio(m.Workspace, m.Peak)))
	}
	return append(bars,
		bar("inputs, outputs", m.IO, ui.Series(4), ratio(m.IO, m.Peak)),
		bar("weights", m.Weights, ui.Series(5), ratio(m.Weights, m.Peak)))
}

// latencyView shows the newest latencies as they come in.
type latencyView struct{ in input }

func (v *latencyView) Title() string { return "Latency, newest runs" }

func (v *latencyView) Keys() []ui.Key { return nil }

func (v *latencyView) Update(msg tea.Msg) tea.Cmd { v.in.take(msg); return nil }

func (v *latencyView) Note() (string, ui.Style) {
	text := ""
	if t := v.in.snap.Timings; t != nil {
		text = aboveText(t.RecentE2E)
	}
	if !live(v.in.snap) {
		return v.in.note(text)
	}
	if text != "" {
		text = ", " + text
	}
	return v.in.note("LIVE" + text)
}

func (v *latencyView) Render(w, h int) string {
	return v.in.look.Render(w, h, func(c *ui.Canvas) {
		t := v.in.snap.Timings
		if t == nil || len(t.RecentE2E) == 0 {
			v.in.wait(c, "latency")
			return
		}
		latencyChart(t).Draw(c)
	})
}

// chartTop returns where the axis of latencies ends so that a few that are far above the others do not press those flat: a bit
// above the 95th percentile; 0 where all have room.
func chartTop(latencies []time.Duration) time.Duration {
	const few, far = 8, 2 // how many there must be, and how many times the percentile is far
	if len(latencies) < few {
		return 0
	}
	sorted := slices.Sorted(slices.Values(latencies))
	most := sorted[(len(sorted)-1)*19/20]
	if sorted[len(sorted)-1] <= far*most {
		return 0
	}
	return most + most/4
}

// aboveText says how many latencies are above the axis, and how far.
func aboveText(latencies []time.Duration) string {
	top, n, most := chartTop(latencies), 0, time.Duration(0)
	for _, d := range latencies {
		if top > 0 && d > top {
			n, most = n+1, max(most, d)
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s above the axis, to %s", ui.Count(n), ui.Duration(most))
}

func latencyChart(t *report.Timings) ui.Chart {
	line := ui.Line2D{Name: "latency", Style: ui.Accent}
	first := t.Samples - len(t.RecentE2E)
	for i, d := range t.RecentE2E {
		line.X = append(line.X, float64(first+i+1))
		line.Y = append(line.Y, float64(d))
	}
	return ui.Chart{
		Lines:  []ui.Line2D{line},
		Top:    float64(chartTop(t.RecentE2E)),
		XLabel: func(x float64) string { return fmt.Sprintf("run %.0f", x) },
		YLabel: durationLabel,
	}
}
