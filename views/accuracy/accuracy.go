package accuracy

import (
	"cmp"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// stripKey is the key that chooses the error in the strip of heat.
func stripKey() ui.Key {
	return ui.K("e", "own/accumulated", "error map below: own error / accumulated error")
}

// errorsView lists the layers with the error that each makes by itself, and the error that has piled up by then.
type errorsView struct {
	in        pane.Input
	desk      pane.Desk
	table     ui.Table
	metric    int
	tolerance float64 // dB; 0: the report's
	own       bool    // the map below is of the layer's own error, not of the accumulated one
	mapped    bool    // below is where the error sits, not why it is there
}

func newErrorsView(look *ui.Look, d pane.Desk) *errorsView {
	v := &errorsView{in: pane.NewInput(look, report.PartAccuracy), desk: d}
	at := func(r int) *report.LayerError { return &v.in.Snap.Accuracy.Layers[r] }
	column := func(title string, of func(*report.LayerError) *report.Errors) []ui.Column {
		value := func(r int) float64 { return v.by().value(of(at(r))) }
		return []ui.Column{
			{Title: title, Width: 11, Flex: 2, Cell: func(r int) ui.Cell { return v.bar(of(at(r))) }},
			{Title: "", Width: 8, Align: ui.AlignRight, Cell: func(r int) ui.Cell {
				e := of(at(r))
				return ui.Cell{Text: v.by().write(v.by().value(e)), Style: v.grade(e)}
			}, Order: func(a, b int) int {
				if v.by().higher { // the worst first
					a, b = b, a
				}
				return cmp.Compare(value(a), value(b))
			}, Down: true},
		}
	}
	v.table.Columns = []ui.Column{
		{Title: "layer", Name: true, Width: 20, Flex: 3, Cell: func(r int) ui.Cell {
			return pane.RulesOf(v.desk, v.in.Snap).Cell(at(r).Name, at(r).From, at(r).Precision, ui.Plain)
		}},
		{Title: "type", Width: 5, Priority: 2, Cell: func(r int) ui.Cell {
			return ui.Cell{Text: at(r).Precision, Style: pane.PrecisionStyle(at(r).Precision)}
		}, Order: func(a, b int) int { return cmp.Compare(at(a).Precision, at(b).Precision) }},
	}
	v.table.Columns = append(v.table.Columns, column("own error", func(l *report.LayerError) *report.Errors { return &l.Local })...)
	v.table.Columns = append(v.table.Columns, ui.Column{Title: "adds", Width: 6, Priority: 1, Align: ui.AlignRight, Cell: func(r int) ui.Cell {
		return ui.Cell{Text: words.Decibels(at(r).AddedSQNR()), Style: v.graded(at(r).AddedSQNR()) | v.emphasis(r)}
	}, Order: func(a, b int) int { return cmp.Compare(at(b).AddedSQNR(), at(a).AddedSQNR()) }, Down: true})
	v.table.Columns = append(v.table.Columns, column("accumulated", func(l *report.LayerError) *report.Errors { return &l.Accumulated })...)
	v.table.Columns = append(v.table.Columns,
		ui.Column{Title: "max abs", Width: 8, Priority: 5, Align: ui.AlignRight, Cell: func(r int) ui.Cell { return ui.Cell{Text: ui.Number(at(r).Accumulated.MaxAbs), Style: ui.Muted} }},
		ui.Column{Title: "cosine", Width: 8, Priority: 4, Align: ui.AlignRight, Cell: func(r int) ui.Cell {
			return ui.Cell{Text: fmt.Sprintf("%.6f", at(r).Accumulated.Cosine), Style: ui.Muted}
		}},
		ui.Column{Title: "tensor", Name: true, Width: 14, Flex: 1, Priority: 6, Cell: func(r int) ui.Cell { return ui.Cell{Text: words.TensorName(at(r).Tensor), Style: ui.Muted} }})
	v.table.Label = func(r int) string { return at(r).Name + " " + at(r).Op + " " + at(r).Precision }
	v.table.Empty = "no layer's output can be compared"
	return v
}

func (v *errorsView) by() *metric { return &metrics[v.metric] }

// limit is the SQNR under which a layer counts as bad.
func (v *errorsView) limit() float64 {
	if v.tolerance > 0 {
		return v.tolerance
	}
	if a := v.in.Snap.Accuracy; a != nil {
		return a.Tolerance
	}
	return 0
}

// grade is good, a warning within 10 dB of the tolerance, or bad under it.
func (v *errorsView) grade(e *report.Errors) ui.Style { return v.graded(e.SQNR) }

func (v *errorsView) graded(sqnr float64) ui.Style {
	switch limit := v.limit(); {
	case sqnr < limit:
		return ui.Bad
	case sqnr < limit+10:
		return ui.Warn
	case sqnr >= words.ExactSQNR:
		return ui.Muted
	}
	return ui.Good
}

// emphasis marks the layer that adds most error.
func (v *errorsView) emphasis(r int) ui.Style {
	if v.in.Snap.Accuracy.WorstLayer() == r {
		return ui.Bold | ui.Underline
	}
	return ui.Plain
}

// fullSQNR is the SQNR, in dB, at which a bar is full: no more than rounding of FP32 is left.
const fullSQNR = 80

// bar draws the metric: quality in decibels up to fullSQNR with the tolerance as a mark, errors up to the largest of all,
// local or accumulated, so that the bars of one column compare with those of the other.
func (v *errorsView) bar(e *report.Errors) ui.Cell {
	m := v.by()
	b := &ui.Bar{Value: m.value(e), Style: v.grade(e)}
	if m.higher {
		b.Max = fullSQNR
		if m.name == "SQNR dB" {
			b.Marks = []ui.BarMark{{Value: v.limit(), Style: ui.Bad}}
		}
		return ui.Cell{Bar: b}
	}
	for i := range v.in.Snap.Accuracy.Layers {
		l := &v.in.Snap.Accuracy.Layers[i]
		b.Max = max(b.Max, m.value(&l.Local), m.value(&l.Accumulated))
	}
	return ui.Cell{Bar: b}
}

// Named implements ui.Named.
func (v *errorsView) Named() string {
	if a := v.in.Snap.Accuracy; a != nil {
		if r := a.WorstLayer(); r >= 0 {
			return words.ShortName(a.Layers[r].Name)
		}
	}
	return ""
}

func (v *errorsView) Title() string {
	return "Layers: " + v.by().name + " against " + v.in.Snap.Accuracy.LayersAgainst()
}

func (v *errorsView) Note() (string, ui.Style) {
	a := v.in.Snap.Accuracy
	if a == nil {
		return "", ui.Muted
	}
	if len(a.Layers) == 0 { // that of the reference, before they are asked for
		return v.in.Note("")
	}
	bad := 0
	for i := range a.Layers {
		if a.Layers[i].Accumulated.SQNR < v.limit() {
			bad++
		}
	}
	text := fmt.Sprintf("%d of %d below %.0f dB on %s", bad, len(a.Layers), v.limit(), words.Plural(a.TapItems, "item"))
	if r := a.WorstLayer(); r >= 0 && a.Layers[r].Cause != nil && a.Layers[r].Cause.Adds < words.ExactSQNR {
		text += fmt.Sprintf(" %c most is added by %s", v.in.Look.Glyphs.Dot, words.ShortName(a.Layers[r].Name))
	}
	return v.in.Note(text)
}

func (v *errorsView) Keys() []ui.Key {
	return append([]ui.Key{
		ui.K("s", "metric", "SQNR, absolute and relative errors, L2, cosine, PSNR"),
		ui.K("F", "first bad", "first layer that adds so much error that its SQNR is below the tolerance; else the one that adds most"),
		{Keys: []string{"<", ">"}, Short: "tolerance", Long: "tolerance lower / higher by 5 dB"},
		pane.PrecisionKey(v.desk),
	}, append(v.below(), v.table.Keys()...)...)
}

// below are the keys of what is shown below the layers.
func (v *errorsView) below() []ui.Key {
	keys := v.shared()
	if raised(v.in.Snap, v.table.Row()) != nil {
		keys = append([]ui.Key{raiseKey(v.desk)}, keys...)
	}
	return keys
}

// shared are those of them that are there for every layer.
func (v *errorsView) shared() []ui.Key {
	return []ui.Key{equalizeKey(v.desk), ui.K("V", "why/where", "below: why the layer errs / where in its output"), stripKey()}
}

// press handles them.
func (v *errorsView) press(msg tea.Msg) tea.Cmd {
	switch {
	case pane.IsKey(msg, "e"):
		v.own, v.mapped = !v.own, true
	case pane.IsKey(msg, "V"):
		v.mapped = !v.mapped
	case pane.IsKey(msg, "E"):
		return equalize(v.in.Look, v.desk, v.equalizedBy())
	case pane.IsKey(msg, "A"):
		if names := raised(v.in.Snap, v.table.Row()); names != nil {
			return raise(v.in.Look, v.desk, names)
		}
	}
	return nil
}

// equalizedBy returns the way of equalising that helps the layer under the cursor, or any.
func (v *errorsView) equalizedBy() string {
	a := v.in.Snap.Accuracy
	way := func(i int) string {
		if i < 0 || a == nil || i >= len(a.Layers) {
			return ""
		}
		if why := a.Layers[i].Cause; why != nil && why.Reach != nil && why.Reach.Cure != nil {
			return why.Reach.Cure.Equalization
		}
		return ""
	}
	found := way(v.table.Row())
	for i := 0; a != nil && found == "" && i < len(a.Layers); i++ {
		found = way(i)
	}
	return cmp.Or(found, "weights")
}

func (v *errorsView) Update(msg tea.Msg) tea.Cmd {
	was, at := v.Layer()
	if v.in.Take(msg) {
		v.table.Rows = 0
		if a := v.in.Snap.Accuracy; a != nil {
			v.table.Rows = len(a.Layers)
		}
		v.table.Refresh()
		if at {
			v.ToLayer(was)
		}
		return nil
	}
	if v.in.Snap.Accuracy == nil || v.table.Update(msg) {
		return nil
	}
	switch {
	case pane.IsKey(msg, "s"):
		v.metric = (v.metric + 1) % len(metrics)
		v.table.Refresh()
	case pane.IsKey(msg, "e"), pane.IsKey(msg, "V"), pane.IsKey(msg, "E"), pane.IsKey(msg, "A"):
		return v.press(msg)
	case pane.IsKey(msg, "F"):
		return v.firstBad()
	case pane.IsKey(msg, "P"):
		if r := v.table.Row(); r >= 0 {
			return pane.ChoosePrecision(v.desk, v.in.Snap, v.in.Snap.Accuracy.Layers[r].Name, v.in.Snap.Accuracy.Layers[r].From)
		}
	case pane.IsKey(msg, "<"):
		v.tolerance = max(v.limit()-5, 5)
	case pane.IsKey(msg, ">"):
		v.tolerance = min(v.limit()+5, 100)
	}
	return nil
}

// Layer implements pointing.
func (v *errorsView) Layer() (pane.LayerRef, bool) {
	if a, r := v.in.Snap.Accuracy, v.table.Row(); a != nil && r >= 0 && r < len(a.Layers) {
		return pane.LayerRef{Name: a.Layers[r].Name, From: a.Layers[r].From}, true
	}
	return pane.LayerRef{}, false
}

// ToLayer implements following.
func (v *errorsView) ToLayer(l pane.LayerRef) bool {
	a := v.in.Snap.Accuracy
	return a != nil && pane.ToRow(&v.table, l, len(a.Layers), func(i int) pane.LayerRef { return pane.LayerRef{Name: a.Layers[i].Name, From: a.Layers[i].From} })
}

func (v *errorsView) firstBad() tea.Cmd {
	a := v.in.Snap.Accuracy
	at := slices.IndexFunc(a.Layers, func(l report.LayerError) bool { return l.AddedSQNR() < v.limit() })
	bad := at >= 0
	if !bad {
		at = a.WorstLayer()
	}
	switch {
	case at >= 0 && !v.table.Select(at):
		return pane.Say(ui.Warn, a.Layers[at].Name+" is hidden by the filter")
	case bad:
		return nil
	case at < 0 || a.Layers[at].AddedSQNR() >= words.ExactSQNR:
		return pane.Say(ui.Good, fmt.Sprintf("no layer is below %.0f dB", v.limit()))
	}
	return pane.Say(ui.Good, fmt.Sprintf("no layer by itself is below %.0f dB; this one adds most", v.limit()))
}

func (v *errorsView) Render(w, h int) string {
	return v.in.Look.Render(w, h, func(c *ui.Canvas) {
		if v.in.Snap.Accuracy == nil {
			v.in.Wait(c, "comparison with FP32")
			return
		}
		if v.in.Snap.Accuracy.Alone {
			drawAlone(c)
			return
		}
		if a := v.in.Snap.Accuracy; a.Reference && len(a.Layers) == 0 {
			v.drawReference(c)
			return
		}
		if v.in.Snap.Accuracy.Reference {
			c.FitClauses(1, 0, w-2, ui.Muted, "outputs are compared with this engine itself, layers with the model's: "+rounded)
			c = c.Sub(ui.Rect{Y: 1, W: w, H: h - 1})
		}
		v.table.Draw(c)
	})
}

// drawAlone says why nothing is compared with FP32, and what would change that.
func drawAlone(c *ui.Canvas) {
	c.Fit(1, 0, c.W-2, ui.Muted, report.WhyAlone)
	for i, line := range ui.Wrap("Open that model instead, or build the engine again with its source kept.", c.W-4) {
		c.Text(3, 1+i, ui.Plain, line)
	}
}

// rounded is why layers of the engine that others are compared with are not exact.
const rounded = "they differ by what fusion rounds"

// drawReference says why there are no errors of layers yet: the engine is what others are compared with.
func (v *errorsView) drawReference(c *ui.Canvas) {
	v.in.Unmeasured(c, v.desk, pane.NeedsRun, "This engine is what others are compared with: "+v.in.Snap.Accuracy.Against()+". Its layers are compared with the model's: "+rounded+".", "their errors follow")
}
