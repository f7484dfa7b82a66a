package trials

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/trtui/trtui/sessions/config"
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
