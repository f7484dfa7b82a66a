package trials

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// trial is what came of a configuration. A time or size that is not known is zero, a share or ratio NaN.
type trial struct {
	config     config.Config
	label      string
	samples    int
	median     time.Duration
	latency    report.Latency // with that median; a recording has the median alone
	measured   report.Measured
	top1       float64
	agreement  float64
	sqnr       float64
	arena      int
	weights    int
	unfinished bool
	point      report.Point
	snap       *report.Snapshot // its reports, in a session
}

// snapshotTrial returns what a snapshot with times says of its configuration.
func snapshotTrial(s *report.Snapshot) trial {
	t := trial{
		config: s.Config, samples: s.Timings.Samples, median: s.Timings.EndToEnd.Median, latency: s.Timings.EndToEnd,
		unfinished: pane.CutShort(s) > 0, measured: s.Timings.Measured(s.Config),
		top1: math.NaN(), agreement: math.NaN(), sqnr: math.NaN(),
		snap: &report.Snapshot{ // what is compared; the rest may be large
			Seq: s.Seq, Schema: s.Schema, Config: s.Config, Model: s.Model, Overview: s.Overview, Timings: s.Timings, Memory: s.Memory,
			Accuracy: s.Accuracy, Device: s.Device, Stale: s.Stale,
		},
	}
	t.point, _ = report.PointOf(s)
	if m := s.Memory; m != nil && !s.Stale.Has(report.PartMemory) {
		t.arena, t.weights = m.Peak, m.Weights
	}
	if a := s.Accuracy; a != nil && !s.Stale.Has(report.PartAccuracy) {
		t.top1, t.agreement = knownShare(a.Labels.Top1), knownShare(a.Labels.Agreement)
		if len(a.Outputs) > 0 {
			t.sqnr = a.Outputs[0].SQNR
		}
	}
	return t
}

// knownShare returns a share, NaN for one below zero, which stands for none.
func knownShare(v float64) float64 {
	if v < 0 {
		return math.NaN()
	}
	return v
}

// recordedTrial returns what a recording says of a configuration in the end.
func recordedTrial(c report.RecordedConfig) trial {
	known := func(v *float64) float64 {
		if v == nil {
			return math.NaN()
		}
		return *v
	}
	t := trial{config: c.Config, samples: c.Runs, top1: known(c.Top1), agreement: known(c.Agreement), sqnr: known(c.SQNR), unfinished: !c.Settled}
	if c.Median != nil {
		t.median = *c.Median
	}
	t.measured, t.point = c.Measured(), c.Point()
	if c.ArenaBytes != nil {
		t.arena = *c.ArenaBytes
	}
	if c.Weights != nil {
		t.weights = *c.Weights
	}
	return t
}

// Table compares the configurations that were tried: in a session those that were timed, in a replay all that the recording has,
// with what came of them in the end wherever in it one is.
type Table struct {
	in     pane.Input
	desk   pane.Desk
	tried  *List // the workbench adds to them
	read   Reader
	marked pane.Marked
	table  ui.Table
	trials []trial // as they were with the snapshot that is shown
	leads  []bool  // by trial: none takes less, or its difference from the one that takes least is noise
}

// Reader returns a configuration that was tried as something to compare; ok is false where nothing can be read of it.
type Reader func(*trial) (m pane.Mark, ok bool)

// NewTable returns the table of the configurations that were tried; read is nil where none can be compared.
func NewTable(look *ui.Look, d pane.Desk, tried *List, read Reader, marked pane.Marked) *Table {
	v := &Table{in: pane.NewInput(look, 0), desk: d, tried: tried, read: read, marked: marked}
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
		{Title: "configuration", Width: 18, Flex: 3, Name: true, Cell: func(r int) ui.Cell {
			text := v.trials[r].label
			if v.trials[r].unfinished {
				text += ", not finished"
			}
			if m, ok := v.markOf(r); ok {
				text += v.marked(m.Name)
			}
			return ui.Cell{Text: text, Style: style(r)}
		}},
		{Width: 6, Flex: 4, Cell: func(r int) ui.Cell {
			return ui.Cell{Bar: &ui.Bar{Value: float64(v.trials[r].median), Max: v.slowest(), Style: style(r)}}
		}},
		right("median", 9, 0, func(t *trial) float64 { return words.OrNaN(t.nanoseconds()) }, func(t *trial) string { return ui.Duration(t.median) }),
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
	list := make([]report.Measured, len(trials))
	for i := range trials {
		list[i] = trials[i].measured
	}
	took, _ := report.Took(list, own)
	fastest := -1
	for i, d := range took {
		if d > 0 && (fastest < 0 || d < took[fastest]) {
			fastest = i
		}
	}
	all, is := true, make([]bool, len(trials))
	for i, d := range took {
		is[i] = d > 0 && (i == fastest || list[fastest].Over(list[i], own).Noise())
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

func (t *trial) nanoseconds() float64 { return float64(t.median) }

// speed returns how many times as fast as the first one that was measured a configuration is; NaN where that is not known.
func (v *Table) speed(t *trial) report.Speed {
	i := slices.IndexFunc(v.trials, func(t trial) bool { return t.median > 0 })
	if i < 0 || t.median == 0 {
		return report.Speed{Ratio: math.NaN(), SideBySide: true}
	}
	return t.measured.Over(v.trials[i].measured, pane.OwnRanges(v.in.Snap))
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

func (v *Table) Title() string { return "Configurations tried" }

func (v *Table) Keys() []ui.Key {
	return append(v.table.Keys(), ui.K("enter", "use", "use the configuration under the cursor"))
}

func (v *Table) Note() (string, ui.Style) {
	estimated := ""
	if v.in.Snap.Device.Estimated {
		estimated = "estimated"
	}
	if len(v.trials) < 2 {
		return estimated, ui.Muted
	}
	note := strings.TrimSpace(estimated + " speed relative to the first")
	if slices.ContainsFunc(v.trials, func(t trial) bool { return !v.speed(&t).SideBySide }) {
		note += ", * not measured side by side"
	}
	return note, ui.Muted
}

func (v *Table) Update(msg tea.Msg) tea.Cmd {
	switch {
	case v.in.Take(msg):
		v.name()
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

// List are the configurations that were tried, the oldest first.
type List struct {
	list     []trial
	recorded bool // a recording's: there will be no others
}

// Recorded are those that a recording has; own is as pane.OwnRanges says.
func Recorded(list []report.RecordedConfig, own bool) *List {
	t := &List{recorded: true}
	for _, c := range list {
		t.list = keep(t.list, recordedTrial(c), false, own)
	}
	return t
}

// Add remembers what a snapshot says of a configuration that was timed: what the table shows, and what later ones are compared
// with.
func (t *List) Add(s *report.Snapshot) {
	if s.Timings == nil || s.Stale.Has(report.PartTimings) || s.Timings.EndToEnd.Median == 0 {
		return
	}
	own := pane.OwnRanges(s)
	t.list = keep(t.list, snapshotTrial(s), s.Settled() && s.Busy == nil && pane.CutShort(s) == 0, own)
	b, reference := s.Timings.Beside, s.Timings.Reference
	if b == nil || reference == nil {
		return
	}
	switch i := slices.IndexFunc(t.list, func(t trial) bool { return t.config.SameEngine(b.Config, own) }); {
	case i < 0: // another was asked for before any times of it were shown
		only := report.Snapshot{Seq: s.Seq, Schema: s.Schema, Config: b.Config, Model: s.Model, Device: s.Device, Timings: reference, Stale: report.Derived() &^ report.PartTimings}
		t.list = slices.Insert(t.list, 0, snapshotTrial(&only))
	case t.list[i].samples < reference.Samples:
		t.list[i] = t.list[i].timed(reference)
	}
}

// timed returns a trial of a session with the times of a longer measurement.
func (t trial) timed(r *report.Timings) trial {
	whole := *t.snap
	whole.Timings, whole.Stale = r, whole.Stale&^report.PartTimings
	longer := snapshotTrial(&whole)
	longer.config, longer.label = t.config, t.label
	return longer
}

// Took returns the latency of a configuration, and what it is compared by, as the table has it, or that of the snapshot
// where the table has none or has by now what is compared with it.
func (t *List) Took(was, now *report.Snapshot) (report.Latency, report.Measured) {
	own := pane.OwnRanges(now)
	i := slices.IndexFunc(t.list, func(t trial) bool { return t.config.SameEngine(was.Config, own) })
	if i < 0 || was.Config.SameEngine(now.Config, own) {
		return was.Timings.EndToEnd, was.Timings.Measured(was.Config)
	}
	return t.list[i].latency, t.list[i].measured
}

// keep adds a trial. It takes the place of an earlier one of the same engine, unless that was measured better and this
// measurement is not over.
func keep(trials []trial, t trial, final, own bool) []trial {
	i := slices.IndexFunc(trials, func(old trial) bool { return old.config.SameEngine(t.config, own) })
	switch {
	case i >= 0 && !final && trials[i].median > 0 && t.samples < trials[i].samples:
		return trials
	case i >= 0:
		trials[i] = t
		return trials
	}
	const most = 100
	return append(trials[max(0, len(trials)-most+1):], t)
}

// withSearched adds what a search for precisions built and measured, but for what was tried by itself; own is as pane.OwnRanges says.
func withSearched(trials []trial, points []report.SearchPoint, own bool) []trial {
	tried := len(trials)
	for _, p := range points {
		same := func(t trial) bool { return t.config.SameEngine(p.Config, own) }
		if p.Latency == 0 || slices.ContainsFunc(trials[:tried], same) {
			continue
		}
		trials = append(trials, trial{config: p.Config, median: p.Latency, point: p.Point, latency: report.Latency{Median: p.Latency},
			measured: report.Measured{Config: p.Config, Median: p.Latency, Low: p.Low, High: p.High, Beside: p.Beside, Estimated: p.Estimated}})
	}
	return trials
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
	v.leads = leads(v.trials, own)
	v.table.Rows = len(v.trials)
	v.table.Refresh()
}

func (v *Table) slowest() float64 {
	top := 0.0
	for i := range v.trials {
		top = max(top, v.trials[i].nanoseconds())
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
