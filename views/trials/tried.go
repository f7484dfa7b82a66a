package trials

import (
	"cmp"
	"math"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// Table compares the configurations that were tried: in a session those that were timed, in a replay all that the recording has,
// with what came of them in the end wherever in it one is.
type Table struct {
	in     pane.Input
	desk   pane.Desk
	tried  *List // the workbench adds to them
	read   Reader
	more   Measure
	marked pane.Marked
	table  ui.Table
	trials []trial // as they were with the snapshot that is shown
	shapes string  // that all have
	leads  []bool  // by trial: none takes less, or its difference from the one that takes least is noise
}

// Reader returns a configuration that was tried as something to compare; ok is false where nothing can be read of it.
type Reader func(*trial) (m pane.Mark, ok bool)

// NewTable returns the table of the configurations that were tried; read is nil where none can be compared, more where nothing
// is measured.
func NewTable(look *ui.Look, d pane.Desk, tried *List, read Reader, marked pane.Marked, more Measure) *Table {
	v := &Table{in: pane.NewInput(look, 0), desk: d, tried: tried, read: read, marked: marked, more: more}
	v.table = ui.Table{
		Columns: v.columns(),
		Ground: func(r int) ui.Style {
			if v.trials[r].config.SameEngine(v.in.Snap.Config, pane.OwnRanges(v.in.Snap)) {
				return ui.Selected
			}
			return ui.Plain
		},
	}
	v.name()
	return v
}

func (v *Table) columns() []ui.Column {
	right := func(title string, width, priority int, value func(t *trial) float64, write func(t *trial) string) ui.Column {
		timed, less := title == "median" || title == "speed", title == "arena" || title == "weights"
		return ui.Column{Title: title, Width: width, Priority: priority, Align: ui.AlignRight,
			Cell: func(r int) ui.Cell {
				own := value(&v.trials[r])
				if math.IsNaN(own) {
					return ui.Cell{Text: "·", Style: ui.Muted}
				}
				cell := ui.Cell{Text: write(&v.trials[r])}
				if timed && v.leads[r] || !timed && v.best(own, less, value) {
					cell.Style = ui.Good | ui.Bold
				}
				return cell
			},
			Order: func(a, b int) int { return cmp.Compare(value(&v.trials[a]), value(&v.trials[b])) }}
	}
	style := func(r int) ui.Style { return pane.PrecisionStyle(string(v.trials[r].config.Precision)) }
	return []ui.Column{
		{Title: "configuration", Width: 18, Flex: 3, Name: true, Files: true, Cell: func(r int) ui.Cell {
			text := v.trials[r].short
			if v.trials[r].unfinished {
				text += ", not finished"
			}
			if m, ok := v.markOf(r); ok {
				text += v.marked(m.Name)
			}
			return ui.Cell{Text: text, Style: style(r)}
		}},
		{Width: 6, Flex: 4, Cell: func(r int) ui.Cell {
			return ui.Cell{Bar: &ui.Bar{Value: float64(v.trials[r].took), Max: v.slowest(), Style: style(r)}}
		}},
		right("median", 9, 0, func(t *trial) float64 { return words.OrNaN(float64(t.took)) }, func(t *trial) string { return ui.Duration(t.took) }),
		right("speed", 7, 1, func(t *trial) float64 { ratio, _ := v.speed(t).Sure(); return ratio }, v.speedText),
		right("top-1", 6, 3, func(t *trial) float64 { return t.top1 }, func(t *trial) string { return words.Percent(t.top1) }),
		right("agree", 6, 0, func(t *trial) float64 { return t.agreement }, func(t *trial) string { return words.Percent(t.agreement) }),
		right("SQNR dB", 7, 2, func(t *trial) float64 { return t.sqnr }, func(t *trial) string { return words.Decibels(t.sqnr) }),
		right("arena", 9, 4, func(t *trial) float64 { return words.OrNaN(float64(t.arena)) }, func(t *trial) string { return ui.Bytes(int64(t.arena)) }),
		right("weights", 9, 5, func(t *trial) float64 { return words.OrNaN(float64(t.weights)) }, func(t *trial) string { return ui.Bytes(int64(t.weights)) }),
	}
}

// best reports whether a value is the best of a column's, and not of all.
func (v *Table) best(own float64, less bool, value func(t *trial) float64) bool {
	worse := false
	for i := range v.trials {
		other := value(&v.trials[i])
		if other < own && less || other > own && !less {
			return false
		}
		worse = worse || other != own && !math.IsNaN(other)
	}
	return worse
}

// leads says of each trial whether it is the fastest or cannot be told from that one; of none where that is all of them.
func leads(trials []trial, own bool) []bool {
	took, fastest := took(trials, own), -1
	for i, d := range took {
		if d > 0 && (fastest < 0 || d < took[fastest]) {
			fastest = i
		}
	}
	all, is := true, make([]bool, len(trials))
	for i, d := range took {
		is[i] = d > 0 && (i == fastest || trials[fastest].measured.Over(trials[i].measured, own).Noise())
		all = all && (is[i] || d == 0)
	}
	if all {
		clear(is)
	}
	return is
}

// Mark is the configuration under the cursor.
func (v *Table) Mark() (pane.Mark, bool) {
	return v.markOf(v.table.Row())
}

func (v *Table) markOf(r int) (pane.Mark, bool) {
	if r < 0 || v.read == nil {
		return pane.Mark{}, false
	}
	return v.read(&v.trials[r])
}

// speed returns how many times as fast as the first one that was measured a configuration is, per item; NaN where that is not known,
// or where it runs other shapes.
func (v *Table) speed(t *trial) report.Speed {
	i := slices.IndexFunc(v.trials, func(t trial) bool { return t.median > 0 })
	if i < 0 || t.median == 0 {
		return report.Speed{Ratio: math.NaN(), SideBySide: true}
	}
	s := t.measured.Over(v.trials[i].measured, pane.OwnRanges(v.in.Snap))
	switch items, ok := t.load.over(v.trials[i].load); {
	case !ok:
		s.Ratio = math.NaN()
	case items != 1:
		s = s.Per(items)
	}
	return s
}

// reshaped says what speeds are those of configurations that run other shapes than the first.
func (v *Table) reshaped() string {
	i := slices.IndexFunc(v.trials, func(t trial) bool { return t.median > 0 })
	perItem, none := false, false
	for k := range v.trials {
		if i < 0 || v.trials[k].median == 0 {
			continue
		}
		items, ok := v.trials[k].load.over(v.trials[i].load)
		perItem, none = perItem || ok && items != 1, none || !ok
	}
	text := ""
	if perItem {
		text += ", per item"
	}
	if none {
		text += ", none at other shapes"
	}
	return text
}

// speedText writes a speed, or that the difference is noise, marked where it is of different times.
func (v *Table) speedText(t *trial) string {
	s := v.speed(t)
	text := words.Ratio(s)
	switch {
	case t.measured.Beside != nil && t.measured.Beside.Same && s.SideBySide && s.Ratio == 1:
		return "same"
	case s.Noise():
		text = "noise"
	}
	if !s.SideBySide {
		text += "*"
	}
	return text
}

func (v *Table) Title() string { return words.At("Configurations tried", v.shapes) }

func (v *Table) Keys() []ui.Key {
	keys := append(v.table.Keys(), ui.K("enter", "use", "use the configuration under the cursor"))
	if v.more != nil {
		keys = append(keys, measureKey(v.desk))
	}
	return keys
}

func (v *Table) Note() (string, ui.Style) {
	estimated := ""
	if v.in.Snap.Device.Estimated {
		estimated = "estimated"
	}
	if len(v.trials) < 2 {
		return estimated, ui.Muted
	}
	note := strings.TrimSpace(estimated + " speed relative to the first" + v.reshaped())
	if slices.ContainsFunc(v.trials, func(t trial) bool { return !v.speed(&t).SideBySide }) {
		note += ", * not measured side by side"
	}
	if slices.ContainsFunc(v.trials, func(t trial) bool { return t.took != t.median }) {
		note += ", times as in rounds side by side"
	}
	if lacks := lackText(v.trials, pane.OwnRanges(v.in.Snap)); lacks != "" && v.more != nil {
		return lacks + v.in.Look.Keys(": {Tried A} measures"), ui.Accent
	}
	return note, ui.Muted
}

func (v *Table) Update(msg tea.Msg) tea.Cmd {
	switch {
	case v.in.Take(msg):
		v.name()
	case pane.IsKey(msg, "A") && v.more != nil:
		return measureLacking(v.more, v.trials, pane.OwnRanges(v.in.Snap))
	case pane.IsKey(msg, "enter"):
		if r := v.table.Row(); r >= 0 {
			cfg := v.trials[r].config.Clone()
			return v.desk.Change(func(c *config.Config) { *c = cfg })
		}
	default:
		v.table.Refresh() // names grow where they are marked
		v.table.Update(msg)
	}
	return nil
}

// name takes the trials over and labels the rows, so that no two of them read alike.
func (v *Table) name() {
	v.trials = slices.Clone(v.tried.list)
	var list []config.Config
	for _, t := range v.trials {
		list = append(list, t.config)
	}
	own := pane.OwnRanges(v.in.Snap)
	for i, label := range config.Labels(list, own) {
		v.trials[i].label = label
	}
	var labels []string
	labels, v.shapes = config.Beside(list, own)
	for i, label := range labels {
		v.trials[i].short = label
	}
	for i, d := range took(v.trials, own) {
		v.trials[i].took = d
	}
	v.leads = leads(v.trials, own)
	v.table.Rows = len(v.trials)
	v.table.Refresh()
}

func (v *Table) slowest() float64 {
	top := 0.0
	for i := range v.trials {
		top = max(top, float64(v.trials[i].took))
	}
	return top
}

// empty says why no configuration is listed.
func (v *Table) empty() string {
	switch {
	case v.tried.recorded:
		return "no configuration was recorded"
	case v.in.Snap.Refused():
		return "none: the model is not runnable"
	}
	return v.in.Look.Keys("each configuration that you try is listed here: press {f} for another precision, {c} for another calibrator")
}

func (v *Table) Render(w, h int) string {
	v.table.Empty = v.empty()
	return v.in.Look.Render(w, h, v.table.Draw)
}
