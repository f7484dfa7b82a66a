package overview

import (
	"cmp"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/graph"
	"github.com/trtui/trtui/views/memory"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/timings"
	"github.com/trtui/trtui/views/words"
)

// slowestView shows the layers that take the most time.
type slowestView struct {
	in     pane.Input
	of     *report.Timings
	slower []*report.LayerTiming // its layers, the slowest first
}

func (v *slowestView) Title() string { return "Slowest layers" }

func (v *slowestView) Note() (string, ui.Style) { return v.in.Note("") }

func (v *slowestView) Keys() []ui.Key {
	return []ui.Key{ui.K("enter", "timings", "open the timings")}
}

func (v *slowestView) Update(msg tea.Msg) tea.Cmd {
	if layer, ok := msg.(slowLayer); ok {
		return pane.ShowLayer(string(layer))
	}
	if !v.in.Take(msg) && pane.IsKey(msg, "enter") {
		return ui.Goto("3")
	}
	return nil
}

// slowLayer is a click on the bar of a layer.
type slowLayer string

// slowest returns the layers, the slowest first.
func (v *slowestView) slowest() []*report.LayerTiming {
	if t := v.in.Snap.Timings; t != v.of {
		v.of, v.slower = t, make([]*report.LayerTiming, len(t.Layers))
		for i := range t.Layers {
			v.slower[i] = &t.Layers[i]
		}
		slices.SortStableFunc(v.slower, func(a, b *report.LayerTiming) int { return cmp.Compare(b.Median, a.Median) })
	}
	return v.slower
}

func (v *slowestView) Render(w, h int) string {
	return v.in.Look.Render(w, h, func(c *ui.Canvas) {
		if v.in.Snap.Timings == nil {
			v.in.Wait(c, "layer times")
			return
		}
		value := func(l *report.LayerTiming) string {
			if w < 48 {
				return ui.Duration(l.Median)
			}
			return fmt.Sprintf("%s %6s", ui.Duration(l.Median), words.Percent(l.Share))
		}
		layers := v.slowest()
		var bars ui.Bars
		for _, l := range layers[:min(len(layers), h)] {
			bars = append(bars, ui.LabelledBar{
				Label: words.ShortName(l.Name), Value: value(l), Click: slowLayer(l.Name),
				Bar: ui.Bar{Value: float64(l.Median), Max: float64(layers[0].Median), Style: pane.PrecisionStyle(l.Precision)},
			})
		}
		bars.Draw(c)
	})
}

// compositionView splits the time by number format, and the source layers by what became of them.
type compositionView struct{ in pane.Input }

func (v *compositionView) Title() string { return "Composition" }

func (v *compositionView) Note() (string, ui.Style) { return v.in.Note("") }

func (v *compositionView) Keys() []ui.Key {
	return []ui.Key{ui.K("enter", "graph", "open the graph")}
}

func (v *compositionView) Update(msg tea.Msg) tea.Cmd {
	if !v.in.Take(msg) && pane.IsKey(msg, "enter") {
		return ui.Goto("2")
	}
	return nil
}

func (v *compositionView) Render(w, h int) string {
	return v.in.Look.Render(w, h, func(c *ui.Canvas) {
		o, p := v.in.Snap.Overview, v.in.Snap.Passes
		if p == nil || o == nil && !v.in.Snap.Refused() {
			v.in.Wait(c, "fusion")
			return
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
		y, spare := 0, h-ledger.Lines(w) // the legend's lines come first
		if o != nil {
			spare -= 2
			y = drawSplit(c, o, spare)
		}
		if spare > 1 {
			c.FitClauses(1, y, w-2, ui.Muted, graph.Ledger(p, o))
			y++
		}
		ledger.Draw(c.Sub(ui.Rect{X: 0, Y: y, W: w, H: h - y}))
	})
}

// drawSplit draws the shares of the time by number format, with a title and a gap behind them where there are lines to spare, and
// returns the line behind them.
func drawSplit(c *ui.Canvas, o *report.Overview, spare int) int {
	y := 0
	if spare > 0 {
		c.Fit(1, 0, c.W-2, ui.Muted, "time by precision")
		y = 1
	}
	var split ui.Proportions
	for _, e := range o.Split {
		split.Parts = append(split.Parts, ui.Part{Name: e.Precision, Value: float64(e.Time), Style: pane.PrecisionStyle(e.Precision)})
	}
	split.Draw(c.Sub(ui.Rect{X: 0, Y: y, W: c.W, H: 2}))
	y += 2
	if spare > 2 {
		y++
	}
	return y
}

// footprintView compares the arena's size with what no reuse would need and with what is the least possible.
type footprintView struct{ in pane.Input }

func (v *footprintView) Title() string { return "Arena memory" }

func (v *footprintView) Note() (string, ui.Style) { return v.in.Note("") }

func (v *footprintView) Keys() []ui.Key {
	return []ui.Key{ui.K("enter", "memory", "open the memory plan")}
}

func (v *footprintView) Update(msg tea.Msg) tea.Cmd {
	if !v.in.Take(msg) && pane.IsKey(msg, "enter") {
		return ui.Goto("4")
	}
	return nil
}

func (v *footprintView) Render(w, h int) string {
	return v.in.Look.Render(w, h, func(c *ui.Canvas) {
		if v.in.Snap.Memory == nil {
			v.in.Wait(c, "memory plan")
			return
		}
		memory.FootprintBars(v.in.Snap.Memory.MemoryNumbers, w).Draw(c)
	})
}

// latencyView shows the newest latencies as they come in.
type latencyView struct{ in pane.Input }

func (v *latencyView) Title() string { return "Latency, newest runs" }

func (v *latencyView) Keys() []ui.Key { return nil }

func (v *latencyView) Update(msg tea.Msg) tea.Cmd { v.in.Take(msg); return nil }

func (v *latencyView) Note() (string, ui.Style) {
	text := ""
	if t := v.in.Snap.Timings; t != nil {
		text = timings.AboveText(t.RecentE2E)
	}
	if !pane.Live(v.in.Snap) {
		return v.in.Note(text)
	}
	if text != "" {
		text = ", " + text
	}
	return v.in.Note("LIVE" + text)
}

func (v *latencyView) Render(w, h int) string {
	return v.in.Look.Render(w, h, func(c *ui.Canvas) {
		t := v.in.Snap.Timings
		if t == nil || len(t.RecentE2E) == 0 {
			v.in.Wait(c, "latency")
			return
		}
		latencyChart(t).Draw(c)
	})
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
		Top:    float64(timings.ChartTop(t.RecentE2E)),
		XLabel: func(x float64) string { return fmt.Sprintf("run %.0f", x) },
		YLabel: words.Duration,
	}
}
