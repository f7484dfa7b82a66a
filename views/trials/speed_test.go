package trials

import (
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// TestSpeedIsNotNoise compares configurations by what was measured in the same rounds, whatever their medians are, and says that
// there is no difference where the interval covers none.
func TestSpeedIsNotNoise(t *testing.T) {
	us := func(n int) time.Duration { return time.Duration(n) * time.Microsecond }
	side := func(ratio, low, high float64, significant bool) *report.Beside {
		return &report.Beside{Config: config.Config{Precision: config.FP32},
			Speed: report.Speed{Ratio: ratio, Low: low, High: high, Significant: significant, SideBySide: true}}
	}
	minmax, mse := side(2.0, 1.95, 2.05, true), side(2.02, 1.97, 2.07, true)
	same := side(1, 1, 1, false)
	same.Same = true
	for _, c := range []struct {
		name        string
		was, now    report.Timings // of int8/minmax and int8/mse; fp32 took 800 µs
		cell, words string         // of int8/mse: in the table, over fp32, and beside int8/minmax
	}{
		{"in the same rounds", report.Timings{EndToEnd: panetest.Around(us(400), 2000), Beside: minmax}, report.Timings{EndToEnd: panetest.Around(us(190), 2000), Beside: mse},
			"2.02x ", "190.0 µs, no significant difference from int8/minmax (191.9 µs in rounds)"},
		{"far apart", report.Timings{EndToEnd: panetest.Around(us(400), 2000), Beside: minmax}, report.Timings{EndToEnd: panetest.Around(us(390), 2000), Beside: side(3, 2.9, 3.1, true)},
			"3.00x ", "390.0 µs, 1.50x faster in rounds than int8/minmax (585.0 µs in rounds)"},
		{"on a busy machine", report.Timings{EndToEnd: panetest.Around(us(400), 2000), Beside: minmax}, report.Timings{EndToEnd: panetest.Around(us(390), 2000), Beside: side(114.8, 2.95, 381, true)},
			"~114.80x ", "390.0 µs, at least 1.44x faster in rounds than int8/minmax (400.0 µs alone)"},
		{"as slow as FP32", report.Timings{EndToEnd: panetest.Around(us(400), 2000), Beside: minmax}, report.Timings{EndToEnd: panetest.Around(us(700), 2000), Beside: side(1.08, 0.97, 1.2, false)},
			"noise ", "1.85x slower in rounds than int8/minmax"},
		{"at different times", report.Timings{EndToEnd: panetest.Around(us(400), 2000), MedianLow: us(390), MedianHigh: us(410)},
			report.Timings{EndToEnd: panetest.Around(us(385), 2000), MedianLow: us(375), MedianHigh: us(395)},
			"2.08x*", "385.0 µs, no significant difference from int8/minmax (400.0 µs; not measured side by side)"},
		{"noise of a busy machine", report.Timings{EndToEnd: panetest.Around(us(400), 2000), Beside: minmax}, report.Timings{EndToEnd: panetest.Around(us(700), 2000), Beside: side(3.8, 0.73, 26, false)},
			"noise ", "too noisy to tell, 0.36x to 13.33x as fast as int8/minmax (400.0 µs alone)"},
		{"one engine", report.Timings{EndToEnd: panetest.Around(us(400), 2000), Beside: minmax}, report.Timings{EndToEnd: panetest.Around(us(790), 2000), Beside: same},
			"same ", "1.97x slower than int8/minmax"},
	} {
		t.Run(c.name, func(t *testing.T) {
			snap := panetest.Fixture(t)
			fp32 := report.Timings{EndToEnd: panetest.Around(us(800), 2000), MedianLow: us(790), MedianHigh: us(810)}
			tried := &List{}
			v := NewTable(ui.NewLook(ui.Options{NoColor: true}), &panetest.Desk{}, tried, nil, nil, nil)
			for _, r := range []struct {
				precision  config.Precision
				calibrator string
				report     report.Timings
			}{{config.FP32, "", fp32}, {config.INT8, "minmax", c.was}, {config.INT8, "mse", c.now}} {
				s := *snap
				s.Config = config.Config{Precision: r.precision, Calibrator: r.calibrator, Batch: 1}
				if r.report.Beside != nil {
					beside := *r.report.Beside
					beside.Config.Batch = 1
					r.report.Beside = &beside
				}
				r.report.Samples = r.report.EndToEnd.Count
				s.Timings = &r.report
				tried.Add(&s)
				v.Update(&s)
			}
			if got := v.speedText(&v.trials[2]) + " "; !strings.HasPrefix(got, c.cell) {
				t.Errorf("the table says %q, want %q", got, c.cell)
			}
			for _, column := range v.table.Columns {
				if cell := column.Cell(2); column.Title == "speed" && cell.Text == "noise" && cell.Style != ui.Plain {
					t.Errorf("noise is marked as the best speed")
				}
			}
			note, _ := v.Note()
			if strings.Contains(note, "not measured side by side") != (c.name == "at different times") {
				t.Errorf("the table's note is %q", note)
			}
			was, now := *snap, *snap
			was.Config, now.Config = v.trials[1].config, v.trials[2].config
			was.Timings, now.Timings = &c.was, &c.now
			latency, measured := tried.Took(&was, &now)
			speed := v.trials[2].measured.Over(measured, false)
			if line := Delta(was.Config, ui.Duration(latency.Median), &now, ui.Duration(c.now.EndToEnd.Median), speed, latency.Median)[0]; !strings.Contains(line, c.words) {
				t.Errorf("the status line is %q, want %q in it", line, c.words)
			}
		})
	}
}
