package calibration

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// measure is a quality by which calibrators are compared.
type measure struct {
	name   string
	value  func(*report.CalibratorResult) float64
	write  func(float64) string
	higher bool // comes first when the column is sorted
	best   bool // is what a calibrator is called the best by
}

// markRoom is what stands behind texts of a column so that they are under each other where the best has a mark.
func (m *measure) markRoom() string {
	if m.best {
		return " "
	}
	return ""
}

var measures = []measure{
	{name: "SQNR dB", value: func(r *report.CalibratorResult) float64 { return r.SQNR }, write: words.Decibels, higher: true},
	{name: "KL nats", value: func(r *report.CalibratorResult) float64 { return r.KL }, write: small},
	{name: "held out dB", value: heldOut, write: decibels, higher: true, best: true},
	{name: "clip error", value: func(r *report.CalibratorResult) float64 { return r.Loss }, write: words.Percent},
	{name: "clipped", value: func(r *report.CalibratorResult) float64 { return r.Clip }, write: clipText},
	{name: "amax", value: func(r *report.CalibratorResult) float64 { return float64(r.Amax) }, write: ui.Number},
	{name: "scale", value: func(r *report.CalibratorResult) float64 { return float64(r.Scale) }, write: ui.Number},
}

// heldOut returns the SQNR of items that calibration did not see; NaN where there are none.
func heldOut(r *report.CalibratorResult) float64 {
	if r.HeldOut == nil {
		return math.NaN()
	}
	return *r.HeldOut
}

// decibels writes a ratio that may be none.
func decibels(v float64) string {
	if v != v {
		return "·"
	}
	return words.Decibels(v)
}

// small writes a number that is mostly near zero.
func small(v float64) string {
	if v != 0 && math.Abs(v) < 1e-4 {
		return fmt.Sprintf("%.0e", v)
	}
	return fmt.Sprintf("%.4f", v)
}

// clipText writes the share of elements outside a range.
func clipText(share float64) string {
	if v := 100 * share; v != 0 && v < 0.001 {
		return "<.001%"
	}
	return fmt.Sprintf("%.3f%%", 100*share)
}

// tensorsView lists the tensors with one column for each calibrator.
type tensorsView struct {
	in      pane.Input
	desk    pane.Desk
	replay  bool
	table   ui.Table
	measure int
	report  *report.Calibration // that the columns are made for
	log     bool                // of the histogram
}

func newTensorsView(look *ui.Look, d pane.Desk, replay bool) *tensorsView {
	v := &tensorsView{in: pane.NewInput(look, report.PartCalibration), desk: d, replay: replay, log: true}
	v.table.Empty = "no tensors were observed"
	return v
}

func (v *tensorsView) Title() string {
	return "Tensors: " + measures[v.measure].name + " by calibrator"
}

func (v *tensorsView) Note() (string, ui.Style) {
	r := v.report
	if r == nil {
		return "", ui.Muted
	}
	text := fmt.Sprintf("%s of data", words.Plural(r.Batches, "item"))
	if r.Random {
		text = "random input, " + text
	}
	switch {
	case r.Shared > 0 && r.Shared == r.Batches:
		text += ", evaluated, too"
	case r.Shared > 0:
		text += fmt.Sprintf(", %d evaluated, too", r.Shared)
	}
	if r.HeldOut > 0 {
		text += fmt.Sprintf(", best on %d others", r.HeldOut)
	}
	return v.in.Note(text)
}

// shared are the keys of all panes of the screen. In a replay, which has only what was recorded, comma and
// period step through its states, as they do on every screen.
func (v *tensorsView) shared() []ui.Key {
	keys := []ui.Key{
		ui.K("C", "measure", "compare by SQNR, KL, SQNR of items held out, share of the error that is clipping, share clipped, amax, scale"),
		ui.K("L", "log", "histogram on a logarithmic / linear scale"),
	}
	if !v.replay {
		keys = append(keys, percentileKey(v.desk))
	}
	return keys
}

func percentileKey(d pane.Desk) ui.Key {
	return pane.When(d, pane.NeedsPercentile, ui.Key{Keys: []string{",", "."}, Short: "parameter", Long: "lower / higher percentile, or bins, of that calibrator"})
}

func (v *tensorsView) Keys() []ui.Key { return append(v.shared(), v.table.Keys()...) }

func (v *tensorsView) Update(msg tea.Msg) tea.Cmd {
	if v.in.Take(msg) {
		v.build()
		return nil
	}
	if v.table.Update(msg) {
		return nil
	}
	return v.press(msg)
}

// press handles the keys of all panes of the screen.
func (v *tensorsView) press(msg tea.Msg) tea.Cmd {
	switch {
	case pane.IsKey(msg, "C"):
		v.measure = (v.measure + 1) % len(measures)
		v.columns()
	case pane.IsKey(msg, "L"):
		v.log = !v.log
	case pane.IsKey(msg, ","):
		return v.parameter(-1)
	case pane.IsKey(msg, "."):
		return v.parameter(1)
	}
	return nil
}

// parameter moves that of the calibrator by a step.
func (v *tensorsView) parameter(by int) tea.Cmd {
	calibrator := v.desk.Want().Calibrator
	for _, p := range parameters {
		last := p.steps[len(p.steps)-1]
		now := last
		if text, ok := strings.CutPrefix(calibrator, p.of); ok {
			var err error
			if now, err = strconv.ParseFloat(text, 64); err != nil {
				return pane.Say(ui.Bad, err.Error())
			}
		} else if !strings.HasPrefix(p.of, calibrator+":") {
			continue
		}
		next := now
		for _, step := range p.steps {
			if by > 0 && step > now {
				next = step
				break
			}
			if by < 0 && step < now {
				next = step
			}
		}
		text := p.of + strconv.FormatFloat(next, 'g', -1, 64)
		if p.bare && next == last {
			text, _, _ = strings.Cut(p.of, ":")
		}
		return v.desk.Change(func(c *config.Config) { c.Calibrator = text })
	}
	return nil
}

func (v *tensorsView) build() {
	if v.report == v.in.Snap.Calibration {
		return
	}
	v.report = v.in.Snap.Calibration
	v.table.Rows = 0
	if v.report != nil {
		v.table.Rows = len(v.report.Tensors)
		v.columns()
	}
	v.table.Refresh()
}

// columns makes a column for each calibrator; the best is marked.
func (v *tensorsView) columns() {
	m := &measures[v.measure]
	at := func(r int) *report.TensorCalibration { return &v.report.Tensors[r] }
	columns := []ui.Column{
		{Title: "tensor", Name: true, Width: 14, Flex: 3, Cell: func(r int) ui.Cell {
			t := at(r)
			style := ui.Plain
			if !t.Used {
				style = ui.Muted
			}
			return ui.Cell{Text: words.TensorName(t.Tensor), Style: style}
		}},
		{Title: "int8", Width: 4, Priority: 2, Cell: func(r int) ui.Cell {
			if at(r).Used {
				return ui.Cell{Text: string(v.in.Look.Glyphs.Good), Style: ui.Good}
			}
			return ui.Cell{}
		}},
		{Title: "min", Width: 8, Priority: 5, Align: ui.AlignRight, Cell: func(r int) ui.Cell { return ui.Cell{Text: ui.Number(float64(at(r).Min)), Style: ui.Muted} }},
		{Title: "max", Width: 8, Priority: 4, Align: ui.AlignRight, Down: true,
			Cell:  func(r int) ui.Cell { return ui.Cell{Text: ui.Number(float64(at(r).Max)), Style: ui.Muted} },
			Order: func(a, b int) int { return cmp.Compare(at(a).Max, at(b).Max) }},
		{Title: "zeros", Width: 6, Priority: 6, Align: ui.AlignRight, Cell: func(r int) ui.Cell { return ui.Cell{Text: words.Percent(at(r).Zeros), Style: ui.Muted} }},
		{Title: "values", Width: 16, Flex: 1, Priority: 7, Cell: func(r int) ui.Cell {
			return ui.Cell{Spark: logs(shrink(at(r).Histogram.Counts, 16)), Style: ui.Series1}
		}},
	}
	if v.report == nil {
		return
	}
	if slices.ContainsFunc(v.report.Tensors, func(t report.TensorCalibration) bool { return t.Reach != nil && len(t.Reach.Outliers) > 0 }) {
		bits := func(r int) float64 {
			if at(r).Reach == nil {
				return 0
			}
			return at(r).Reach.Bits
		}
		columns = append(columns, ui.Column{Title: "widest", Width: 16, Priority: 4, Align: ui.AlignRight, Down: true, Cell: func(r int) ui.Cell {
			if bits(r) == 0 {
				return ui.Cell{}
			}
			style := ui.Warn
			if bits(r) >= 2 {
				style = ui.Bad
			}
			return ui.Cell{Text: fmt.Sprintf("ch %d, %.1f bits", at(r).Reach.Outliers[0], bits(r)), Style: style}
		}, Order: func(a, b int) int { return cmp.Compare(bits(a), bits(b)) }})
	}
	for i, name := range v.report.Calibrators {
		title, _, _ := strings.Cut(name, ":") // the pane of its ranges has the parameter
		if slices.ContainsFunc(v.report.Calibrators, func(other string) bool { return other != name && strings.HasPrefix(other, title) }) {
			title = name
		}
		title += m.markRoom()
		columns = append(columns, ui.Column{Title: title, Width: max(ui.Width(title), 9), Align: ui.AlignRight, Down: !m.higher,
			Cell: func(r int) ui.Cell {
				t := at(r)
				return v.cell(m, t, i)
			},
			Order: func(a, b int) int { return cmp.Compare(m.value(&at(a).By[i]), m.value(&at(b).By[i])) }})
	}
	if v.report.HasOwn() {
		value := func(r int) float64 {
			if own := at(r).Own; own != nil {
				return m.value(&own.CalibratorResult)
			}
			return math.NaN()
		}
		title := report.OwnName + m.markRoom()
		columns = append(columns, ui.Column{Title: title, Width: ui.Width(title), Align: ui.AlignRight, Down: !m.higher,
			Cell:  func(r int) ui.Cell { return v.cell(m, at(r), len(v.report.Calibrators)) },
			Order: func(a, b int) int { return cmp.Compare(value(a), value(b)) }})
	}
	v.table.Columns = columns
	v.table.SortBy(-1, false)
}

// cell writes result i of a tensor; where it is by how much of what was held out is lost, the best has a mark. The active
// one is bold.
func (v *tensorsView) cell(m *measure, t *report.TensorCalibration, i int) ui.Cell {
	all := t.Results()
	if i >= len(all) {
		return ui.Cell{}
	}
	c := ui.Cell{Text: m.write(m.value(all[i])) + m.markRoom()}
	if m.best && t.Best(i) {
		c.Text = strings.TrimSuffix(c.Text, " ") + string(v.in.Look.Glyphs.Good)
		c.Style = ui.Good
	}
	if v.report.Name(i) == v.report.Active {
		c.Style |= ui.Bold
	}
	return c
}

// shrink sums counts into at most n bins.
func shrink(counts []int64, n int) []float64 {
	n = min(n, len(counts))
	out := make([]float64, n)
	for i, c := range counts {
		out[i*n/len(counts)] += float64(c)
	}
	return out
}

func logs(values []float64) []float64 {
	for i, v := range values {
		values[i] = math.Log1p(v)
	}
	return values
}

func (v *tensorsView) Render(w, h int) string {
	return v.in.Look.Render(w, h, func(c *ui.Canvas) {
		if v.report == nil {
			v.in.Wait(c, "comparison of calibrators")
			return
		}
		v.table.Draw(c)
	})
}

// Layer implements pointing: it is the source layer that makes the tensor.
func (v *tensorsView) Layer() (pane.LayerRef, bool) {
	if t := v.tensor(); t != nil && t.Layer != "" {
		return pane.LayerRef{Name: t.Layer, From: []string{t.Layer}}, true
	}
	return pane.LayerRef{}, false
}

// ToLayer implements following: of the source layers of a fused one, the last makes what it does.
func (v *tensorsView) ToLayer(l pane.LayerRef) bool {
	if v.report == nil {
		return false
	}
	for i := len(v.report.Tensors) - 1; i >= 0; i-- {
		if slices.Contains(l.From, v.report.Tensors[i].Layer) {
			return v.table.Select(i)
		}
	}
	return false
}

// tensor returns the tensor under the cursor, or nil.
func (v *tensorsView) tensor() *report.TensorCalibration {
	if v.report == nil {
		return nil
	}
	if r := v.table.Row(); r >= 0 && r < len(v.report.Tensors) {
		return &v.report.Tensors[r]
	}
	return nil
}
