package comparison

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// changesView lists the groups of layers of a comparison, the largest change first, as bars to the left and to the right.
type changesView struct {
	in    pane.Input
	cmp   *Pair
	table ui.Table
	drawn *report.Diff // whose groups are the rows
	most  float64      // largest of their changes
}

func newChangesView(look *ui.Look, c *Pair) *changesView {
	v := &changesView{in: pane.NewInput(look, 0), cmp: c}
	v.table.Label = func(r int) string {
		g := v.group(r)
		types, tactics := sidesText(g, precisionOfSide), sidesText(g, tacticOfSide)
		return strings.Join([]string{g.Name, g.Kind, g.Verdict(), v.verdict(g).Text, types, tactics}, " ")
	}
	v.table.Empty = "no layer was timed"
	v.table.Columns = v.columns()
	return v
}

func (v *changesView) group(r int) *report.LayerChange { return &v.cmp.diff.Groups[r] }

func (v *changesView) columns() []ui.Column {
	number := func(title string, width, priority int, value func(*report.LayerChange) float64, write func(float64) string) ui.Column {
		return ui.Column{Title: title, Width: width, Priority: priority, Align: ui.AlignRight, Down: true,
			Cell: func(r int) ui.Cell {
				x := value(v.group(r))
				if math.IsNaN(x) {
					return ui.Cell{Text: "·", Style: ui.Muted}
				}
				return ui.Cell{Text: write(x)}
			},
			Order: func(a, b int) int { return cmp.Compare(value(v.group(a)), value(v.group(b))) }}
	}
	text := func(title string, width, flex, priority int, value func(*report.LayerChange) ui.Cell) ui.Column {
		return ui.Column{Title: title, Width: width, Flex: flex, Priority: priority, Name: flex > 0,
			Cell:  func(r int) ui.Cell { return value(v.group(r)) },
			Order: func(a, b int) int { return cmp.Compare(value(v.group(a)).Text, value(v.group(b)).Text) }}
	}
	change := number("change", 10, 0, func(g *report.LayerChange) float64 { return float64(g.Delta) }, func(ns float64) string { return withSign(time.Duration(ns)) })
	change.Cell = func(r int) ui.Cell {
		return ui.Cell{Text: withSign(v.group(r).Delta), Style: verdictStyle(v.group(r)) | ui.Bold}
	}
	return []ui.Column{
		text("layer", 16, 3, 0, func(g *report.LayerChange) ui.Cell { return ui.Cell{Text: words.ShortName(g.Name)} }),
		{Title: v.legend(), Width: 15, Flex: 4, Align: ui.AlignZero, Cell: v.bar, Order: func(a, b int) int { return cmp.Compare(magnitude(v.group(a)), magnitude(v.group(b))) }, Down: true},
		change,
		number("A", 9, 3, func(g *report.LayerChange) float64 { return timeOf(g.A) }, words.Duration),
		number("B", 9, 3, func(g *report.LayerChange) float64 { return timeOf(g.B) }, words.Duration),
		number("B/A", 5, 1, func(g *report.LayerChange) float64 { return words.OrNaN(g.Ratio) }, func(x float64) string { return fmt.Sprintf("%.2f", x) }),
		text("is it real?", 13, 0, 0, v.verdict),
		number("q", 5, 6, func(g *report.LayerChange) float64 { return known(g.Q) }, chance),
		text("kind", 8, 0, 4, func(g *report.LayerChange) ui.Cell { return ui.Cell{Text: g.Kind, Style: ui.Muted} }),
		text("types", 9, 0, 5, func(g *report.LayerChange) ui.Cell {
			return ui.Cell{Text: sidesText(g, precisionOfSide), Style: ui.Muted}
		}),
		number("SQNR dB", 7, 7, func(g *report.LayerChange) float64 { _, b := g.SQNR(); return known(b) }, words.Decibels),
		text("tactics", 24, 1, 8, func(g *report.LayerChange) ui.Cell {
			return ui.Cell{Text: sidesText(g, tacticOfSide), Style: ui.Muted}
		}),
	}
}

// legend says what the sides of a bar are.
func (v *changesView) legend() string {
	return "faster " + string(v.in.Look.Glyphs.Wall) + " slower"
}

// bar draws a change to the left where it is faster and to the right where it is slower; what may be noise is faint.
func (v *changesView) bar(r int) ui.Cell {
	return ui.Cell{Bar: &ui.Bar{Value: float64(v.group(r).Delta), Min: -v.most, Max: v.most, Style: verdictStyle(v.group(r))}}
}

// verdict says whether a change is real, in words and with a mark.
func (v *changesView) verdict(g *report.LayerChange) ui.Cell {
	glyphs, text := v.in.Look.Glyphs, g.Verdict()
	switch text {
	case "slower":
		text = string(glyphs.Bad) + " slower"
	case "faster":
		text = string(glyphs.Good) + " faster"
	case "no significant difference":
		text = "  noise"
	case "too small to count":
		text = "  " + strings.Replace(g.Under(), "under", "<", 1)
	case "too few samples to tell":
		text = "? few samples"
	default:
		text = "  " + text
	}
	return ui.Cell{Text: text, Style: verdictStyle(g)}
}

// verdictStyle is the colour of a change: none where it may be noise.
func verdictStyle(g *report.LayerChange) ui.Style {
	structural := g.Kind == report.KindAdded || g.Kind == report.KindRemoved
	switch {
	case !g.Significant && !structural:
		return ui.Muted
	case g.Delta < 0:
		return ui.Good
	case g.Delta > 0:
		return ui.Bad
	}
	return ui.Muted
}

func (v *changesView) Title() string { return "What B changes of A" }

func (v *changesView) Note() (string, ui.Style) {
	d := v.cmp.diff
	if d == nil {
		return "", ui.Muted
	}
	return fmt.Sprintf("%s of layers, false discoveries %s at most", words.Plural(len(d.Groups), "group"), words.Percent(d.Discoveries)), ui.Muted
}

func (v *changesView) Keys() []ui.Key { return append(v.table.Keys(), v.cmp.keys()...) }

func (v *changesView) Update(msg tea.Msg) tea.Cmd {
	if cmd, ok := v.cmp.take(msg); ok {
		if v.drawn != v.cmp.diff {
			v.drawn = v.cmp.diff
			v.table.Rows, v.most = 0, 1
			if v.drawn != nil {
				v.table.Rows = len(v.drawn.Groups)
				for i := range v.drawn.Groups {
					v.most = max(v.most, magnitude(v.group(i)))
				}
			}
			v.table.Refresh()
			v.table.Top()
		}
		return cmd
	}
	if v.in.Take(msg) {
		return nil
	}
	if cmd, ok := v.cmp.press(msg, v.in.Snap); ok {
		return cmd
	}
	v.table.Update(msg)
	return nil
}

func (v *changesView) ref(r int) pane.LayerRef {
	return pane.LayerRef{Name: v.group(r).Name, From: v.group(r).From}
}

// Layer implements pointing.
func (v *changesView) Layer() (pane.LayerRef, bool) {
	if r := v.table.Row(); v.cmp.diff != nil && r >= 0 && r < len(v.cmp.diff.Groups) {
		return v.ref(r), true
	}
	return pane.LayerRef{}, false
}

// ToLayer implements following.
func (v *changesView) ToLayer(l pane.LayerRef) bool {
	return v.cmp.diff != nil && pane.ToRow(&v.table, l, len(v.cmp.diff.Groups), v.ref)
}

func (v *changesView) Render(w, h int) string {
	return v.in.Look.Render(w, h, func(c *ui.Canvas) {
		if v.cmp.diff == nil {
			v.cmp.draw(c)
			return
		}
		lines := 3
		if h < 8 {
			lines = 1
		}
		drawTotals(c.Sub(ui.Rect{W: w, H: lines}), v.cmp.diff)
		v.table.Draw(c.Sub(ui.Rect{Y: lines, W: w, H: h - lines}))
	})
}

// draw says what is marked, and how to compare.
func (c *Pair) draw(canvas *ui.Canvas) {
	y := 1
	if c.err != nil {
		canvas.Fit(1, y, canvas.W-2, ui.Bad, c.err.Error())
		y += 2
	}
	for i, m := range c.marks {
		text, style := "not marked", ui.Muted
		if m != nil {
			text, style = m.Name, ui.Bold
		}
		x := canvas.Text(1, y+i, ui.Muted, string("AB"[i])+"  ")
		canvas.FitName(x, y+i, canvas.W-x-1, style, text)
	}
	help := "{m} marks A and {M} marks B: a configuration tried or a recording under the cursor on the other pages of this screen, a state of a replay, or what is shown. {d} compares them."
	if c.ReadFile != nil {
		help += " {Compare e} and {Compare E} open a file as B and as A: a recording, what trtexec wrote, a profile of ONNX Runtime."
	}
	help = canvas.Keys(help)
	for i, line := range ui.Wrap(help, canvas.W-2) {
		canvas.Fit(1, y+3+i, canvas.W-2, ui.Muted, line)
	}
}

// drawTotals draws what is compared, what came of the latency, and what the layers make of it, in as many lines as there are.
func drawTotals(c *ui.Canvas, d *report.Diff) {
	e := d.EndToEnd
	style := ui.Plain
	if beyond, ok := d.Beyond(); e.Significant && (!ok || beyond.Significant) {
		style = ui.Good
		if e.Delta > 0 {
			style = ui.Bad
		}
	}
	head, change, verdict := "end to end ", ": "+withSign(e.Delta), ", "+totalWords(d)
	times := ui.Duration(e.A) + " to " + ui.Duration(e.B)
	fits := func() bool { return ui.Width(head+times+change+verdict) <= c.W-2 }
	if !fits() { // what keeps one from believing a figure goes last
		head = ""
	}
	if !fits() {
		verdict = ", " + shortTotalWords(d)
	}
	if !fits() {
		change = ""
	}
	x := c.Text(1, 0, ui.Muted, head)
	x = c.Text(x, 0, ui.Bold, times)
	x = c.Text(x, 0, style|ui.Bold, change)
	c.FitClauses(x, 0, c.W-x-1, style, verdict)
	x = c.Text(1, 1, ui.Muted, "  = ")
	x = c.Text(x, 1, ui.Plain, withSign(d.Layers))
	x = c.Text(x, 1, ui.Muted, " in layers")
	if d.Apart() {
		x = c.Text(x, 1, ui.Warn, " (their medians "+withSign(d.Medians)+")")
	}
	x = c.Text(x, 1, ui.Muted, ", ")
	x = c.Text(x, 1, ui.Plain, withSign(d.Between))
	x = c.Text(x, 1, ui.Muted, " between them")
	if d.Common != nil && math.Abs(d.Common.Ratio-1) >= 0.02 {
		ratio := fmt.Sprintf("%.2fx", d.Common.Ratio)
		for _, text := range []string{"; the same kernels take " + ratio + " as long: so much is the machine", "; same kernels " + ratio + ": the machine", "; machine " + ratio} {
			if ui.Width(text) <= c.W-x-1 {
				c.Text(x, 1, ui.Warn, text)
				break
			}
		}
	}
	var words []string
	counts := map[string]int{}
	for i := range d.Groups {
		counts[d.Groups[i].Verdict()]++
	}
	for _, verdict := range []string{"slower", "faster", "added", "removed", "no significant difference", "too small to count", "too few samples to tell"} {
		if n := counts[verdict]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, verdict))
			if verdict == "no significant difference" && d.Unsettled() {
				words[len(words)-1] += fmt.Sprintf(" in %d rounds", d.Rounds)
			}
		}
	}
	if d.Told != nil {
		words = append(words, fmt.Sprintf("told from noise from %s to %s on", report.ToldText(d.Told.Least), report.ToldText(d.Told.Most)))
	}
	c.FitClauses(1, 2, c.W-2, ui.Muted, strings.Join(words, ", "))
}

// totalWords says how the latencies compare, and how that was found.
func totalWords(d *report.Diff) string {
	e := d.EndToEnd
	apart := ", measured in the same rounds"
	switch {
	case e.LayersApart:
		apart += ", layers not"
	case !e.SideBySide:
		apart = ", not measured side by side"
	}
	return verdictWords(d, "too few samples to tell from noise", apart)
}

// shortTotalWords is totalWords in less room.
func shortTotalWords(d *report.Diff) string {
	apart := ""
	if !d.EndToEnd.SideBySide {
		apart = ", not side by side"
	}
	return verdictWords(d, "too few samples", apart)
}

// verdictWords says how the latencies compare, and behind that apart, how it was found.
func verdictWords(d *report.Diff, few, apart string) string {
	e := d.EndToEnd
	switch {
	case d.A.Estimated && d.B.Estimated:
		return fmt.Sprintf("%.2fx as fast, estimated", e.Ratio)
	case !e.Known():
		return few + apart
	case !e.Significant:
		return e.Undecided() + apart
	}
	switch beyond, ok := d.Beyond(); {
	case ok && !beyond.Significant:
		return beyond.Undecided() + d.Common.Besides() + apart
	case ok:
		return e.Beside(e.A, e.B).Faster() + d.Common.Within() + apart
	}
	return e.Beside(e.A, e.B).Faster() + apart
}

func magnitude(g *report.LayerChange) float64 { return math.Abs(float64(g.Delta)) }

// timeOf sums the layers of a side; NaN where it has none.
func timeOf(side []report.LayerSide) float64 {
	if len(side) == 0 {
		return math.NaN()
	}
	sum := 0.0
	for _, l := range side {
		sum += float64(l.Time)
	}
	return sum
}

func known(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// chance writes a small share.
func chance(v float64) string {
	if v < 0.001 {
		return "<.001"
	}
	return fmt.Sprintf("%.3f", v)
}

// withSign writes a difference of times with its sign, also where it is positive.
func withSign(d time.Duration) string {
	if d > 0 {
		return "+" + ui.Duration(d)
	}
	return ui.Duration(d)
}

func precisionOfSide(l *report.LayerSide) string { return l.Precision }

func tacticOfSide(l *report.LayerSide) string { return l.Tactic }

// sidesText writes what the layers of both sides are, once where that is the same: "f32>i8".
func sidesText(g *report.LayerChange, of func(*report.LayerSide) string) string {
	words := func(side []report.LayerSide) string {
		var list []string
		for i := range side {
			list = append(list, of(&side[i]))
		}
		return strings.Join(slices.Compact(list), "+")
	}
	a, b := words(g.A), words(g.B)
	switch {
	case a == b || b == "":
		return a
	case a == "":
		return b
	}
	return a + ">" + b
}
