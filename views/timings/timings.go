package timings

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// The ways in which rows can be grouped, in the order in which a goes through them.
var groupings = []string{"layer", "type", "precision", "tactic"}

// The units of times, in the order in which t goes through them.
var units = []string{"auto", "µs", "ms"}

// timingsView is a table with a bar for each layer, or for each group of layers.
type timingsView struct {
	in     pane.Input
	desk   pane.Desk
	beside func(*report.Snapshot) time.Duration // the latency in rounds with other configurations, 0 where that is the one shown
	table  ui.Table
	rows   []report.LayerTiming // layers, or sums of them
	count  []int                // layers in each row
	group  int
	unit   int
	share  bool // the column of times shows shares
	means  bool // of layers only means and medians are known
	guess  bool // times are a cost model's, one figure each: there is no column for how samples vary
	forked bool // some run side by side: there is a column for their lanes
	roofed bool // ceilings are known: there are columns for where layers stand
	log    bool
	plot   int // what the samples are shown as
}

// The ways in which samples are shown, in the order in which v goes through them.
var plots = []string{"histogram", "trace", "roofline", "lanes"}

func newTimingsView(look *ui.Look, d pane.Desk, beside func(*report.Snapshot) time.Duration) *timingsView {
	v := &timingsView{in: pane.NewInput(look, report.PartTimings), desk: d, beside: beside}
	v.table.Empty = "nothing was measured"
	v.table.Label = func(r int) string {
		l := v.rows[r]
		return l.Name + " " + l.Op + " " + l.Precision + " " + l.Tactic
	}
	v.table.Columns = v.columns()
	return v
}

func (v *timingsView) columns() []ui.Column {
	text := func(title string, width, flex, priority int, value func(*report.LayerTiming) (string, ui.Style)) ui.Column {
		return ui.Column{Title: title, Width: width, Flex: flex, Priority: priority, Name: true,
			Cell:  func(r int) ui.Cell { s, style := value(&v.rows[r]); return ui.Cell{Text: s, Style: style} },
			Order: func(a, b int) int { x, _ := value(&v.rows[a]); y, _ := value(&v.rows[b]); return cmp.Compare(x, y) }}
	}
	number := func(title string, width, priority int, value func(*report.LayerTiming) float64, write func(float64) string) ui.Column {
		return ui.Column{Title: title, Width: width, Priority: priority, Align: ui.AlignRight, Down: true,
			Cell:  func(r int) ui.Cell { return ui.Cell{Text: write(value(&v.rows[r]))} },
			Order: func(a, b int) int { return cmp.Compare(value(&v.rows[a]), value(&v.rows[b])) }}
	}
	duration := func(title string, priority int, value func(*report.LayerTiming) time.Duration) ui.Column {
		return number(title, 9, priority, func(l *report.LayerTiming) float64 { return float64(value(l)) }, v.duration)
	}
	cv := number("CV", 6, 5, func(l *report.LayerTiming) float64 { return l.CV }, words.Percent)
	cv.Cell = func(r int) ui.Cell { return ui.Cell{Text: words.Percent(v.rows[r].CV), Style: CVStyle(v.rows[r].CV)} }
	median := duration(v.timeTitle(), 0, func(l *report.LayerTiming) time.Duration { return l.Median })
	median.Cell = func(r int) ui.Cell {
		if v.share {
			return ui.Cell{Text: words.Percent(v.rows[r].Share), Style: ui.Bold}
		}
		return ui.Cell{Text: v.duration(float64(v.rows[r].Median)), Style: ui.Bold}
	}
	ofPeak := number("of peak", 7, 3, func(l *report.LayerTiming) float64 { return shareOfPeak(l) }, words.Percent)
	ofPeak.Cell = func(r int) ui.Cell { return peakCell(&v.rows[r]) }
	beside := number("share", 6, 6, func(l *report.LayerTiming) float64 { return l.Share }, words.Percent)
	if v.share { // which stand in the column before
		beside = duration(v.medianTitle(), 6, func(l *report.LayerTiming) time.Duration { return l.Median })
	}
	columns := []ui.Column{
		text("layer", 26, 3, 0, func(l *report.LayerTiming) (string, ui.Style) {
			style := ui.Plain
			if l.Reformat {
				style = ui.Muted
			}
			c := pane.RulesOf(v.desk, v.in.Snap).Cell(l.Name, l.From, l.Precision, style)
			return c.Text, c.Style
		}),
		{Title: v.legend(), Width: 16, Flex: 5, Cell: v.bar},
		median,
		beside,
		duration("avg", 2, func(l *report.LayerTiming) time.Duration { return l.Mean }),
		duration("min", 8, func(l *report.LayerTiming) time.Duration { return l.Min }),
		duration("p90", 10, func(l *report.LayerTiming) time.Duration { return l.P90 }),
		duration("p95", 9, func(l *report.LayerTiming) time.Duration { return l.P95 }),
		duration("p99", 1, func(l *report.LayerTiming) time.Duration { return l.P99 }),
		cv,
		number("GFLOP/s", 7, 4, func(l *report.LayerTiming) float64 { return l.GFLOPS }, orDot),
		number("GB/s", 6, 11, bandwidth, orDot),
		ofPeak,
		text("bound", 5, 0, 10, func(l *report.LayerTiming) (string, ui.Style) { return boundOf(l), ui.Muted }),
		text("lane", 5, 0, 10, func(l *report.LayerTiming) (string, ui.Style) { return laneText(l), ui.Muted }),
		text("type", 6, 0, 3, func(l *report.LayerTiming) (string, ui.Style) { return l.Precision, pane.PrecisionStyle(l.Precision) }),
		text("op", 12, 0, 13, func(l *report.LayerTiming) (string, ui.Style) { return l.Op, ui.Muted }),
		text("tactic", 24, 0, 12, func(l *report.LayerTiming) (string, ui.Style) { return l.How(), ui.Muted }),
		{Title: "newest", Width: 12, Priority: 7, Cell: func(r int) ui.Cell {
			return ui.Cell{Spark: floats(v.rows[r].Recent), Style: ui.Series1}
		}},
	}
	if v.means {
		columns = slices.DeleteFunc(columns, func(c ui.Column) bool { return c.Title != "avg" && slices.Contains(sampled, c.Title) })
	}
	if !v.roofed {
		columns = slices.DeleteFunc(columns, func(c ui.Column) bool { return c.Title == "of peak" || c.Title == "bound" })
	}
	if !v.forked {
		columns = slices.DeleteFunc(columns, func(c ui.Column) bool { return c.Title == "lane" })
	}
	if v.guess {
		columns = slices.DeleteFunc(columns, func(c ui.Column) bool { return slices.Contains(sampled, c.Title) })
	}
	return columns
}

// sampled are the columns that samples are needed for.
var sampled = []string{"avg", "min", "p90", "p95", "p99", "CV", "newest"}

// timeTitle says what the column of times shows.
func (v *timingsView) timeTitle() string {
	if v.share {
		return "share"
	}
	return v.medianTitle()
}

// medianTitle says what is shown for medians.
func (v *timingsView) medianTitle() string {
	if v.guess {
		return "estimate"
	}
	return "median"
}

// orDot writes a number, or a dot for none.
func orDot(n float64) string {
	if n == 0 {
		return "·"
	}
	return ui.Number(n)
}

// bandwidth returns the bytes that a layer moves per nanosecond: GB/s.
func bandwidth(l *report.LayerTiming) float64 {
	if l.Median == 0 {
		return 0
	}
	return float64(l.Bytes) / float64(l.Median)
}

// legend says what a bar is and what its marks are.
func (v *timingsView) legend() string {
	if v.guess {
		return "estimate"
	}
	g := v.in.Look.Glyphs
	if v.means {
		return fmt.Sprintf("median %cavg", g.Mark)
	}
	return fmt.Sprintf("median %cavg %cp99", g.Mark, g.Tail)
}

// bar draws the median, with the mean and the 99th percentile as marks; what is beyond the scale is marked at its end.
func (v *timingsView) bar(r int) ui.Cell {
	l := &v.rows[r]
	top := 0.0
	for i := range v.rows {
		top = max(top, 1.25*float64(v.rows[i].Median))
	}
	g := v.in.Look.Glyphs
	b := &ui.Bar{Value: float64(l.Median), Max: top, Log: v.log, Style: pane.PrecisionStyle(l.Precision)}
	if v.groupBy() == "type" || v.groupBy() == "tactic" {
		b.Style = ui.Series1
	}
	if v.guess {
		return ui.Cell{Bar: b}
	}
	marks := []ui.BarMark{
		{Value: float64(l.Mean), Glyph: g.Mark, Style: ui.Accent},
		{Value: float64(l.P99), Glyph: g.Tail, Style: ui.Warn},
	}
	if v.means {
		marks = marks[:1]
	}
	for _, m := range marks {
		if m.Value > b.Max {
			m.Glyph = g.Right
		}
		b.Marks = append(b.Marks, m)
	}
	return ui.Cell{Bar: b}
}

func (v *timingsView) groupBy() string { return groupings[v.group] }

// duration writes nanoseconds in the unit chosen.
func (v *timingsView) duration(ns float64) string {
	switch units[v.unit] {
	case "µs":
		return fmt.Sprintf("%.1f µs", ns/1e3)
	case "ms":
		return fmt.Sprintf("%.3f ms", ns/1e6)
	}
	return ui.Duration(time.Duration(ns))
}

func (v *timingsView) Title() string {
	if v.groupBy() == "layer" {
		return "Layers"
	}
	return "Layers by " + v.groupBy()
}

func (v *timingsView) Note() (string, ui.Style) {
	t := v.in.Snap.Timings
	if t == nil {
		return "", ui.Muted
	}
	text := words.Plural(len(t.Layers), "step")
	if !t.Estimated {
		text += ", " + words.Plural(t.Samples, "sample")
	}
	if n := pane.CutShort(v.in.Snap); n > 0 {
		text = words.Plural(len(t.Layers), "step") + ", stopped after " + words.Plural(n, "run")
	}
	if v.log {
		text = "log scale " + text
	}
	if pane.Live(v.in.Snap) {
		return string(v.in.Look.Glyphs.Record) + " LIVE " + text, ui.Good
	}
	return v.in.Note(text)
}

// plotKey is one of both sides: the plot below is of the layer under the cursor of either.
var plotKey = ui.K("v", "plot", "below: histogram, trace, roofline, lanes")

func (v *timingsView) Keys() []ui.Key {
	return append(v.table.Keys(),
		ui.K("a", "group", "by layer, type, precision, tactic"),
		plotKey,
		ui.K("%", "share", "share of the layers / time"),
		ui.K("t", "unit", "unit of times: automatic, µs, ms"),
		ui.K("L", "log", "bars on a logarithmic / linear scale"),
		pane.PrecisionKey(v.desk))
}

func (v *timingsView) Update(msg tea.Msg) tea.Cmd {
	if v.in.Take(msg) {
		v.build()
		return nil
	}
	if v.table.Update(msg) {
		return nil
	}
	switch {
	case pane.IsKey(msg, "a"):
		v.group = (v.group + 1) % len(groupings)
		v.build()
	case pane.IsKey(msg, "t"):
		v.unit = (v.unit + 1) % len(units)
	case pane.IsKey(msg, "%"):
		v.share = !v.share
		v.table.Columns = v.columns()
		v.table.Refresh()
	case pane.IsKey(msg, "L"):
		v.log = !v.log
	case pane.IsKey(msg, "P"):
		if r := v.table.Row(); r >= 0 && v.groupBy() == "layer" {
			return pane.ChoosePrecision(v.desk, v.in.Snap, v.rows[r].Name, v.rows[r].From)
		}
		return pane.Say(ui.Warn, v.in.Look.Keys("precisions are set per layer: press {Timings a} until the rows are layers"))
	case pane.IsKey(msg, "v"):
		v.plot = (v.plot + 1) % len(plots)
	}
	return nil
}

// build makes the rows: the layers, or their sums by group.
func (v *timingsView) build() {
	was, _ := v.row()
	v.rows, v.count = nil, nil
	if t := v.in.Snap.Timings; t != nil {
		v.rows, v.count = groupLayers(t.Layers, v.groupBy())
		if roofed := t.Roofline.Last() != nil; v.guess != t.Estimated || v.means != t.Summed || v.roofed != roofed || v.forked != (len(t.Forks) > 0) {
			v.guess, v.means, v.roofed, v.forked = t.Estimated, t.Summed, roofed, len(t.Forks) > 0
			v.table.Columns = v.columns()
			v.table.SortBy(-1, false)
		}
	}
	v.table.Rows = len(v.rows)
	v.table.Refresh()
	pane.ToRow(&v.table, was, len(v.rows), v.ref)
}

func (v *timingsView) ref(r int) pane.LayerRef {
	return pane.LayerRef{Name: v.rows[r].Name, From: v.rows[r].From}
}

// row returns the row under the cursor: a layer, or by its name a group of them.
func (v *timingsView) row() (l pane.LayerRef, ok bool) {
	if r := v.table.Row(); r >= 0 && r < len(v.rows) {
		return v.ref(r), true
	}
	return pane.LayerRef{}, false
}

// Layer implements pointing, where rows are layers.
func (v *timingsView) Layer() (pane.LayerRef, bool) {
	l, ok := v.row()
	return l, ok && v.groupBy() == "layer"
}

// ToLayer implements following.
func (v *timingsView) ToLayer(l pane.LayerRef) bool {
	return v.groupBy() == "layer" && pane.ToRow(&v.table, l, len(v.rows), v.ref)
}

func floats(list []time.Duration) []float64 {
	out := make([]float64, len(list))
	for i, d := range list {
		out[i] = float64(d)
	}
	return out
}

func (v *timingsView) Render(w, h int) string {
	return v.in.Look.Render(w, h, func(c *ui.Canvas) {
		t := v.in.Snap.Timings
		if t == nil {
			v.in.Wait(c, "layer times")
			return
		}
		drawGap(c.Sub(ui.Rect{W: w, H: 2}), t, v.beside(v.in.Snap))
		v.table.Draw(c.Sub(ui.Rect{Y: 2, W: w, H: h - 2}))
	})
}
