package calibration

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

// sideView is a place of the calibration screen: it shows activations, or the weights of their layers.
type sideView struct {
	sides                *sides
	activations, weights ui.View
}

func (v *sideView) shown() ui.View {
	if v.sides.weights {
		return v.weights
	}
	return v.activations
}

func (v *sideView) Title() string { return v.shown().Title() }

// Named implements ui.Named.
func (v *sideView) Named() string { return ui.NameOf(v.shown()) }

func (v *sideView) Note() (string, ui.Style) { return v.shown().(ui.Noter).Note() }

func (v *sideView) Keys() []ui.Key {
	swap := ui.K("v", "weights", "the weights of the tensor's layer, channel by channel")
	if v.sides.weights {
		swap = ui.K("v", "values", "the values that the layer produces")
	}
	return slices.Concat([]ui.Key{swap}, v.shown().Keys(), quantizationKeys(v.sides.tensors.desk))
}

// AllKeys returns the keys of both sides.
func (v *sideView) AllKeys() []ui.Key {
	swap := ui.K("v", "weights", "the weights of the tensor's layer, channel by channel; again: the values that the layer produces")
	return slices.Concat([]ui.Key{swap, swap.Called("values"), percentileKey(v.sides.tensors.desk)}, v.activations.Keys(), v.weights.Keys(), quantizationKeys(v.sides.tensors.desk))
}

func (v *sideView) Update(msg tea.Msg) tea.Cmd {
	if pane.IsKey(msg, "v") {
		return v.sides.swap()
	}
	if cmd, ok := pressQuantization(v.sides.tensors, msg); ok {
		return cmd
	}
	if _, ok := msg.(*report.Snapshot); ok {
		return tea.Batch(v.activations.Update(msg), v.weights.Update(msg))
	}
	return v.shown().Update(msg)
}

// Layer implements pointing.
func (v *sideView) Layer() (pane.LayerRef, bool) { return pane.LayerAt(v.shown()) }

// ToLayer implements following.
func (v *sideView) ToLayer(l pane.LayerRef) bool {
	pane, ok := v.shown().(pane.Following)
	return ok && pane.ToLayer(l)
}

func (v *sideView) Render(w, h int) string { return v.shown().Render(w, h) }

// sides are the two sides of the calibration screen.
type sides struct {
	tensors *tensorsView
	layers  *weightsView
	weights bool // shown, not activations
}

// swap shows the other side, with the cursor on what belongs to what it was on.
func (s *sides) swap() tea.Cmd {
	r := s.tensors.report
	if r == nil {
		return pane.Say(ui.Plain, "the weights are shown once the calibrators have been compared")
	}
	if len(r.Weights) == 0 {
		return pane.Say(ui.Warn, "no layer has constant weights, or the recording predates this report")
	}
	s.weights = !s.weights
	if s.weights {
		return s.toWeights(r)
	}
	if l, t := s.layers.layer(), s.tensors.tensor(); l != nil && (t == nil || !slices.Contains(l.From, t.Layer)) {
		s.tensors.ToLayer(pane.LayerRef{Name: l.Layer, From: l.From})
	}
	return nil
}

func (s *sides) toWeights(r *report.Calibration) tea.Cmd {
	t := s.tensors.tensor()
	if t == nil {
		return nil
	}
	i := slices.IndexFunc(r.Weights, func(w report.WeightCalibration) bool { return slices.Contains(w.From, t.Layer) })
	if i < 0 {
		return pane.Say(ui.Plain, t.Tensor+" does not come from a layer with weights")
	}
	if !s.layers.table.Select(i) {
		return pane.Say(ui.Warn, r.Weights[i].Layer+" is hidden by the filter")
	}
	s.layers.choose()
	return nil
}

// weightsView lists the layers with weights, and what 8 bits make of them with one scale per channel or one for all.
type weightsView struct {
	in      pane.Input
	table   ui.Table
	list    []report.WeightCalibration
	chosen  int   // layer that order is of
	order   []int // of its channels, as they are drawn
	sorted  bool  // largest first
	log     bool
	channel int // place in order under the cursor
}

func newWeightsView(look *ui.Look) *weightsView {
	v := &weightsView{in: pane.NewInput(look, report.PartCalibration)}
	at := func(r int) *report.WeightCalibration { return &v.list[r] }
	number := func(title string, width, priority int, value func(*report.WeightCalibration) float64, cell func(*report.WeightCalibration) ui.Cell) ui.Column {
		return ui.Column{Title: title, Width: width, Priority: priority, Align: ui.AlignRight, Down: true,
			Cell:  func(r int) ui.Cell { return cell(at(r)) },
			Order: func(a, b int) int { return cmp.Compare(value(at(a)), value(at(b))) }}
	}
	v.table.Columns = []ui.Column{
		{Title: "layer", Name: true, Width: 14, Flex: 3, Cell: func(r int) ui.Cell {
			if !at(r).Used {
				return ui.Cell{Text: words.ShortName(at(r).Layer), Style: ui.Muted}
			}
			return ui.Cell{Text: words.ShortName(at(r).Layer)}
		}},
		{Title: "int8", Width: 4, Priority: 3, Cell: func(r int) ui.Cell {
			if at(r).Used {
				return ui.Cell{Text: string(v.in.Look.Glyphs.Good), Style: ui.Good}
			}
			return ui.Cell{}
		}},
		{Title: "amax by channel", Width: 16, Flex: 1, Priority: 4, Cell: func(r int) ui.Cell {
			return ui.Cell{Spark: largest(at(r).Amax, 16), Style: ui.Series1}
		}},
		number("channels", 8, 2, func(w *report.WeightCalibration) float64 { return float64(w.Channels) },
			func(w *report.WeightCalibration) ui.Cell { return ui.Cell{Text: fmt.Sprint(w.Channels)} }),
		number("spread", 7, 0, func(w *report.WeightCalibration) float64 { return w.Spread },
			func(w *report.WeightCalibration) ui.Cell {
				return ui.Cell{Text: fmt.Sprintf("%.2fx", w.Spread), Style: spreadStyle(w.Spread)}
			}),
		number("dead", 5, 1, func(w *report.WeightCalibration) float64 { return float64(w.DeadCount) },
			func(w *report.WeightCalibration) ui.Cell { return deadCell(w.DeadCount) }),
		number("per channel", 11, 0, func(w *report.WeightCalibration) float64 { return w.PerChannel },
			func(w *report.WeightCalibration) ui.Cell { return ui.Cell{Text: words.Decibels(w.PerChannel)} }),
		number("per tensor", 10, 0, func(w *report.WeightCalibration) float64 { return w.PerTensor },
			func(w *report.WeightCalibration) ui.Cell { return ui.Cell{Text: words.Decibels(w.PerTensor)} }),
		number("loss dB", 7, 0, weightLoss, func(w *report.WeightCalibration) ui.Cell {
			return ui.Cell{Text: fmt.Sprintf("%.1f", weightLoss(w)), Style: lossStyle(weightLoss(w))}
		}),
	}
	v.table.Label = func(r int) string { return at(r).Layer + " " + at(r).Op }
	v.table.Empty = "no layer has constant weights"
	return v
}

// weightLoss returns what one scale for all channels costs, in dB.
func weightLoss(w *report.WeightCalibration) float64 {
	if w.PerTensor >= words.ExactSQNR {
		return 0
	}
	return min(w.PerChannel, words.ExactSQNR) - w.PerTensor
}

// The spread and the loss from which on one scale for all channels costs a bit of eight, or two.
const (
	oneBit  = 6.02 // dB
	twoBits = 2 * oneBit
)

func lossStyle(db float64) ui.Style {
	switch {
	case db >= twoBits:
		return ui.Bad
	case db >= oneBit:
		return ui.Warn
	}
	return ui.Good
}

func spreadStyle(ratio float64) ui.Style {
	switch {
	case ratio >= 16:
		return ui.Bad
	case ratio >= 4:
		return ui.Warn
	}
	return ui.Plain
}

func deadCell(n int) ui.Cell {
	if n == 0 {
		return ui.Cell{Text: "·", Style: ui.Muted}
	}
	return ui.Cell{Text: fmt.Sprint(n), Style: ui.Warn}
}

// largest returns the largest values of at most n runs.
func largest(values []float32, n int) []float64 {
	n = min(n, len(values))
	out := make([]float64, n)
	for i, a := range values {
		out[i*n/len(values)] = max(out[i*n/len(values)], float64(a))
	}
	return out
}

func (v *weightsView) Title() string {
	return "Weights: SQNR dB with one scale per channel, and per tensor"
}

func (v *weightsView) Note() (string, ui.Style) {
	if len(v.list) == 0 {
		return "", ui.Muted
	}
	return v.in.Note(words.Plural(len(v.list), "layer"))
}

// shared are the keys of all panes of this side.
func (v *weightsView) shared() []ui.Key {
	return []ui.Key{
		ui.K("s", "order", "channels by number / largest first"),
		ui.K("L", "log", "channels on a logarithmic / linear scale"),
	}
}

func (v *weightsView) Keys() []ui.Key { return append(v.shared(), v.table.Keys()...) }

func (v *weightsView) Update(msg tea.Msg) tea.Cmd {
	if v.in.Take(msg) {
		v.list = nil
		if r := v.in.Snap.Calibration; r != nil {
			v.list = r.Weights
		}
		v.table.Rows = len(v.list)
		v.table.Refresh()
		v.choose()
		return nil
	}
	if !v.table.Update(msg) {
		v.press(msg)
	}
	v.choose()
	return nil
}

// press handles the keys of all panes of this side.
func (v *weightsView) press(msg tea.Msg) {
	switch {
	case pane.IsKey(msg, "s"):
		v.sorted = !v.sorted
		v.arrange()
	case pane.IsKey(msg, "L"):
		v.log = !v.log
	}
}

// layer returns the layer under the cursor, or nil.
func (v *weightsView) layer() *report.WeightCalibration {
	if r := v.table.Row(); r >= 0 && r < len(v.list) {
		return &v.list[r]
	}
	return nil
}

// Layer implements pointing.
func (v *weightsView) Layer() (pane.LayerRef, bool) {
	if l := v.layer(); l != nil {
		return pane.LayerRef{Name: l.Layer, From: l.From}, true
	}
	return pane.LayerRef{}, false
}

// ToLayer implements following.
func (v *weightsView) ToLayer(l pane.LayerRef) bool {
	has := pane.ToRow(&v.table, l, len(v.list), func(i int) pane.LayerRef { return pane.LayerRef{Name: v.list[i].Layer, From: v.list[i].From} })
	v.choose()
	return has
}

// choose follows the cursor to another layer.
func (v *weightsView) choose() {
	if l := v.layer(); l != nil && (v.chosen != v.table.Row() || len(v.order) != len(l.Amax)) {
		v.chosen, v.channel = v.table.Row(), 0
		v.arrange()
	}
}

// arrange puts the channels in order.
func (v *weightsView) arrange() {
	v.order = nil
	l := v.layer()
	if l == nil {
		return
	}
	for c := range l.Amax {
		v.order = append(v.order, c)
	}
	if v.sorted {
		slices.SortStableFunc(v.order, func(a, b int) int { return cmp.Compare(l.Amax[b], l.Amax[a]) })
	}
	v.channel = min(v.channel, max(len(v.order)-1, 0))
}

func (v *weightsView) Render(w, h int) string {
	return v.in.Look.Render(w, h, func(c *ui.Canvas) {
		if v.in.Snap.Calibration == nil {
			v.in.Wait(c, "comparison of calibrators")
			return
		}
		v.table.Draw(c)
	})
}
