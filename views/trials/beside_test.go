package trials

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/diff"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// TestMeasureLacking: a configuration that was left before its accuracy was known is counted in words, a key has it measured beside the
// first, and what comes of that is in table and plot, also of configurations that were tried in no other way.
func TestMeasureLacking(t *testing.T) {
	var asked []config.Config
	waiting := 0
	measure := func(list []config.Config, left int) tea.Cmd { asked, waiting = list, left; return nil }
	tried, look := &List{}, ui.NewLook(ui.Options{NoColor: true})
	v := NewTable(look, &panetest.Desk{}, tried, nil, nil, measure)
	plot := newParetoView(look, &panetest.Desk{}, tried, nil, measure)
	fp32, int8 := config.Config{Precision: config.FP32}, config.Config{Precision: config.INT8, Calibrator: "mse"}
	show := func(cfg config.Config, stale report.Parts, columns *report.Columns) {
		s := *panetest.Fixture(t)
		s.Config, s.Stale, s.Columns, s.Search = cfg, stale, columns, nil
		s.Timings = &report.Timings{Samples: 100, EndToEnd: report.Latency{Median: time.Millisecond}}
		tried.Add(&s)
		v.Update(&s)
		plot.Update(&s)
	}
	show(fp32, report.PartAccuracy, nil)
	show(int8, 0, nil)
	if note, _ := v.Note(); !strings.Contains(note, "1 of 2 configurations without accuracy, 1 not side by side (*): A measures") {
		t.Errorf("the table says %q", note)
	}
	if text := ansi.Strip(plot.Render(120, 12)); !strings.Contains(text, "1 of 2 configurations without accuracy, 1 not side by side (*): A measures; until then memory is plotted") {
		t.Errorf("the plot says nothing of it:\n%s", text)
	}
	plot.Update(tea.KeyPressMsg{Code: 's', Text: "s"})
	if note, _ := plot.Note(); note != "1 of 2 left out: no top-1 measured; A measures" {
		t.Errorf("the plot says %q", note)
	}
	v.Update(tea.KeyPressMsg{Code: 'A', Text: "A"})
	if got := config.Labels(asked, false); !slices.Equal(got, []string{"fp32", "int8"}) && !slices.Equal(got, []string{"fp32", "int8/mse"}) {
		t.Errorf("asked for %q", got)
	}
	share, db := 0.97, 40.0
	fp16 := config.Config{Precision: config.FP16}
	point := &report.Point{Top1: &share, Agreement: &share, SQNR: &db, Weights: 7 << 10, Arena: 3 << 10}
	speed := report.NewSpeed(2, 1.98, 2.02, true)
	took := report.Latency{Median: time.Millisecond / 2, Count: 50}
	show(int8, 0, &report.Columns{Columns: []report.Column{
		{Label: "fp32", Config: fp32, Latency: took, Point: point},
		{Label: "int8", Config: int8, Latency: took, Speed: &speed, Point: point},
		{Label: "fp16", Config: fp16, Latency: took, Speed: &speed, Point: point},
		{Label: "none", Config: config.Config{Precision: config.INT8, Calibrator: "entropy"}, Err: "no data"},
	}})
	rows, _ := triedRows(v)
	if len(rows) != 3 || !strings.Contains(rows[0], "1.00x 97.0% 97.0% 40.0") || !strings.Contains(rows[1], "2.00x") || !strings.Contains(rows[2], "500.0 µs 2.00x 97.0%") {
		t.Errorf("%q", rows)
	}
	if note, _ := v.Note(); strings.Contains(note, "measures") {
		t.Errorf("nothing is missing, and the table says %q", note)
	}
	show(fp32, report.PartAccuracy, nil) // it was gone back to, and left before its accuracy was known
	if rows, _ := triedRows(v); !strings.Contains(rows[0], "97.0% 97.0% 40.0") {
		t.Errorf("what was known is lost: %q", rows)
	}
	for i := range mostBeside + 3 { // more than are measured at a press
		cfg := int8
		cfg.Disable = []string{"rule-" + strings.Repeat("x", i+1)}
		show(cfg, report.PartAccuracy, nil)
	}
	v.Update(tea.KeyPressMsg{Code: 'A', Text: "A"})
	if len(asked) != mostBeside || waiting != 4 { // the first of all is measured beside them
		t.Errorf("%d are measured, and %d wait", len(asked), waiting)
	}
}

// TestMeasuredInRounds: what was measured side by side is what a configuration took: in the table, and where it is compared, with what
// these measurements found of accuracy; and it stays so when the configuration at hand is published again.
func TestMeasuredInRounds(t *testing.T) {
	tried, look := &List{}, ui.NewLook(ui.Options{NoColor: true})
	v := NewTable(look, &panetest.Desk{}, tried, ReaderOf(nil, nil, nil), func(string) string { return "" }, nil)
	fp32, fp16, int8 := config.Config{Precision: config.FP32}, config.Config{Precision: config.FP16}, config.Config{Precision: config.INT8, Calibrator: "mse"}
	fixture := panetest.Fixture(t)
	times := func(median time.Duration, samples int) *report.Timings {
		one := *fixture.Timings
		one.EndToEnd = report.Latency{Median: median, Count: samples}
		one.Samples, one.MedianLow, one.MedianHigh = samples, median*3/4, median*4/3
		return &one
	}
	show := func(cfg config.Config, took *report.Timings, stale report.Parts, columns *report.Columns) {
		s := *fixture
		s.Config, s.Stale, s.Columns, s.Search, s.Timings = cfg, stale, columns, nil, took
		tried.Add(&s)
		v.Update(&s)
	}
	column := func(cfg config.Config, median time.Duration, ratio float64) report.Column {
		t := times(median, 300)
		col := report.Column{Label: cfg.Label(false), Config: cfg, Latency: t.EndToEnd, Timings: t, Memory: fixture.Memory, Accuracy: fixture.Accuracy}
		if ratio > 0 {
			speed := report.NewSpeed(ratio, ratio*0.99, ratio*1.01, true)
			col.Speed, t.Beside = &speed, &report.Beside{Config: fp32, Speed: speed}
		}
		return col
	}
	alone := times(53*time.Microsecond, 1000)
	alone.Beside = &report.Beside{Config: fp32, Speed: report.NewSpeed(2.38, 1.9, 2.9, true)}
	show(fp32, times(115*time.Microsecond, 1000), 0, nil)
	show(fp16, times(121*time.Microsecond, 9), report.PartAccuracy, nil)
	show(int8, alone, 0, nil)
	columns := &report.Columns{Columns: []report.Column{column(fp32, 110*time.Microsecond, 0), column(fp16, 111*time.Microsecond, 0.99), column(int8, 40*time.Microsecond, 2.75)}}
	for range 2 { // it is published again, with its own times
		show(int8, alone, 0, columns)
		rows, _ := triedRows(v)
		if len(rows) != 3 || !strings.Contains(rows[0], "110.0 µs 1.00x") || !strings.Contains(rows[2], "40.0 µs 2.75x") {
			t.Errorf("%q", rows)
		}
	}
	var sides [2]diff.Side
	for i, r := range []int{1, 2} {
		m, ok := v.markOf(r)
		if !ok {
			t.Fatal("nothing to mark")
		}
		snap, err := m.Read()
		if err != nil {
			t.Fatal(err)
		}
		sides[i] = diff.Side{Name: m.Name, Snapshot: snap}
	}
	d, err := diff.Of(sides[0], sides[1])
	if err != nil || d.EndToEnd.A != 111*time.Microsecond || d.EndToEnd.B != 40*time.Microsecond || !d.EndToEnd.SideBySide || !d.EndToEnd.Significant || d.EndToEnd.Ratio < 2.7 {
		t.Errorf("%v: %+v", err, d.EndToEnd)
	}
	if d.A.SQNR == nil || d.A.Top1 == nil || d.A.Agreement == nil {
		t.Errorf("the accuracy that the table has is lost: %+v", d.A.Point)
	}
	shown := *fixture
	shown.Config, shown.Timings = int8, alone
	if got := tried.Reports(&shown); got != sides[1].Snapshot {
		t.Errorf("what is shown is compared by %v", got.Timings.EndToEnd.Median)
	}
	if got := tried.BesideOthers(&shown); got != 40*time.Microsecond {
		t.Errorf("53 µs are shown, and in rounds are said to be %v", got)
	}
	shown.Timings = columns.Columns[2].Timings
	if got := tried.BesideOthers(&shown); got != 0 {
		t.Errorf("the latency in rounds is shown, and said again: %v", got)
	}
	retuned := *alone // it has other kernels by now
	retuned.Layers = slices.Clone(alone.Layers)
	retuned.Layers[0].Tactic = "another"
	show(int8, &retuned, 0, columns)
	if rows, _ := triedRows(v); strings.Contains(rows[2], "40.0 µs") {
		t.Errorf("times of other kernels: %q", rows)
	}
}

// stepsOf is a recording of these states.
type stepsOf []report.Step

func (s stepsOf) Steps() []report.Step { return s }

// TestRecordedRounds: what a recording has behind a state, of rounds side by side, is what that state is compared by.
func TestRecordedRounds(t *testing.T) {
	fp32, int8 := config.Config{Precision: config.FP32}, config.Config{Precision: config.INT8, Calibrator: "mse"}
	median := 400 * time.Microsecond
	shown := *panetest.Fixture(t)
	shown.Replay = "a.trtui"
	read := func(_, state string) (*report.Snapshot, error) {
		s := *panetest.Fixture(t)
		s.Config = int8
		if state != "2" {
			t.Errorf("reads state %s", state)
		}
		return &s, nil
	}
	steps := stepsOf{{Config: fp32, Settled: true}, {Config: int8, Settled: true}}
	beside := &report.Beside{Config: fp32, Speed: report.NewSpeed(2, 1.9, 2.1, true)}
	one := recordedTrial(report.RecordedConfig{Config: int8, Settled: true, Median: &median, Timings: &report.Timings{EndToEnd: report.Latency{Median: median}, Beside: beside}})
	m, ok := ReaderOf(steps, read, func() *report.Snapshot { return &shown })(&one)
	if !ok {
		t.Fatal("nothing to compare")
	}
	if s, err := m.Read(); err != nil || s.Timings.Beside != beside || panetest.Fixture(t).Timings.Beside != nil {
		t.Errorf("compared by %+v, %v", s.Timings.Beside, err)
	}
}
