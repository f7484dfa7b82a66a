package trials

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// recordedFilm is a film that says what came of its configurations.
type recordedFilm struct {
	panetest.Film
	tried []report.RecordedConfig
}

func (l *recordedFilm) Tried() []report.RecordedConfig { return l.tried }

func recorded(cfg config.Config, runs int, median time.Duration) report.RecordedConfig {
	share, weights := 0.991, 350_000
	c := report.RecordedConfig{Config: cfg, Settled: median > 0}
	if median > 0 {
		c.Runs, c.Median, c.Top1, c.Agreement, c.Weights = runs, &median, &share, &share, &weights
	}
	return c
}

// triedRows returns what the pane lists, a line a row, and which of them is marked.
func triedRows(v *Table) (rows []string, marked int) {
	marked = -1
	for r := range v.trials {
		if v.table.Ground(r) == ui.Selected {
			marked = r
		}
	}
	lines := strings.Split(ansi.Strip(v.Render(110, 2+len(v.trials))), "\n")
	for _, l := range lines[1 : 1+len(v.trials)] {
		rows = append(rows, regexp.MustCompile(` {2,}`).ReplaceAllString(strings.TrimSpace(l), " "))
	}
	return rows, marked
}

// TestTriedInReplay lists every recorded configuration from the start with its final numbers, and keeps them while one
// steps through states with others.
func TestTriedInReplay(t *testing.T) {
	fp32 := config.Config{Precision: config.FP32, Calibrator: "minmax"}
	int8 := config.Config{Precision: config.INT8, Calibrator: "mse"}
	l := &recordedFilm{panetest.Film{Timeline: panetest.Timeline{At: 23}, Snap: panetest.Fixture(t)}, []report.RecordedConfig{
		recorded(fp32, 2761, 700*time.Microsecond),
		recorded(config.Config{Precision: config.FP32, Calibrator: "entropy"}, 20, 900*time.Microsecond), // as an older program wrote it
		recorded(int8, 1000, 350*time.Microsecond),
		recorded(config.Config{Precision: config.INT8, Calibrator: "minmax"}, 0, 0),
	}}
	look := ui.NewLook(ui.Options{NoColor: true})
	v := NewTable(look, &panetest.Desk{}, Recorded(l.tried, false), nil, nil, nil)
	want := []string{"fp32 ", "int8/mse ", "int8/minmax, not finished "}
	for _, at := range []int{23, 2, 0, 14} {
		l.Seek(at)
		v.Update(l.State())
		rows, marked := triedRows(v)
		if len(rows) != len(want) {
			t.Fatalf("state %d: %d rows: %q", at+1, len(rows), rows)
		}
		for i, row := range rows {
			if !strings.HasPrefix(row, want[i]) {
				t.Errorf("state %d: row %d is %q", at+1, i+1, row)
			}
		}
		if !strings.Contains(rows[0], "700.0 µs 1.00x 99.1% 99.1%") || !strings.Contains(rows[1], "350.0 µs 2.00x") || !strings.Contains(rows[2], "· · · ·") {
			t.Errorf("state %d: %q", at+1, rows)
		}
		if wants := map[bool]int{true: 1, false: 0}[at >= 12]; marked != wants {
			t.Errorf("state %d: row %d is marked, want %d", at+1, marked, wants)
		}
	}
	if out := ansi.Strip(NewTable(look, &panetest.Desk{}, Recorded(nil, false), nil, nil, nil).Render(80, 5)); !strings.Contains(out, "no configuration was recorded") || strings.Contains(out, "press") {
		t.Errorf("nothing was recorded:\n%s", out)
	}
}

// TestTriedInSession keeps one row for each engine: the better measurement, until a newer one is over.
func TestTriedInSession(t *testing.T) {
	tried := &List{}
	v := NewTable(ui.NewLook(ui.Options{NoColor: true}), &panetest.Desk{}, tried, nil, nil, nil)
	show := func(cfg config.Config, samples int, median time.Duration, over bool) {
		s, timings := *panetest.Fixture(t), report.Timings{Samples: samples}
		timings.EndToEnd.Median = median
		s.Config, s.Timings = cfg, &timings
		if !over {
			s.Busy = &report.Progress{Phase: "measuring"}
		}
		tried.Add(&s)
		v.Update(&s)
	}
	wants := func(what string, texts ...string) {
		t.Helper()
		rows, _ := triedRows(v)
		if len(rows) != len(texts) {
			t.Fatalf("%s: %q", what, rows)
		}
		for i := range rows {
			if !strings.Contains(rows[i], texts[i]) {
				t.Errorf("%s: row %d is %q, want %q in it", what, i+1, rows[i], texts[i])
			}
		}
	}
	fp32 := config.Config{Precision: config.FP32, Calibrator: "mse", Batch: 1}
	show(fp32, 2761, 700*time.Microsecond, true)
	show(fp32, 20, 800*time.Microsecond, false)
	wants("a quick look", "700.0 µs")
	other := fp32
	other.Calibrator, other.Constraints = "entropy", config.Obey
	show(other, 20, 800*time.Microsecond, false)
	wants("what has no say", "fp32 ")
	show(fp32, 2500, 710*time.Microsecond, true)
	wants("measured again", "710.0 µs")
	one, two := fp32, fp32
	one.Pin, two.Pin = map[string]string{"a": "gemm"}, map[string]string{"b": "gemm"}
	show(one, 20, 500*time.Microsecond, false)
	wants("a pin", "710.0 µs", "fp32, 1 pin ")
	show(two, 20, 600*time.Microsecond, false)
	wants("another pin", "710.0 µs", "fp32, gemm pinned to a ", "fp32, gemm pinned to b ")
}

// TestLeads marks as the fastest what is so by rounds, and what cannot be told from it, whatever the medians are.
func TestLeads(t *testing.T) {
	fp32 := config.Config{Precision: config.FP32}
	of := func(calibrator string, median time.Duration, ratio float64) trial {
		cfg := config.Config{Precision: config.INT8, Calibrator: calibrator}
		return trial{measured: report.Measured{Config: cfg, Median: median, Beside: &report.Beside{Config: fp32, Speed: report.NewSpeed(ratio, ratio*0.99, ratio*1.01, true)}}}
	}
	list := []trial{{measured: report.Measured{Config: fp32, Median: 1000}}, of("mse", 600, 2.5), of("minmax", 500, 2), of("entropy", 700, 2.49), {}}
	if got := leads(list, false); !slices.Equal(got, []bool{false, true, false, true, false}) {
		t.Errorf("%v", got)
	}
	if got := leads([]trial{list[1], list[3]}, false); slices.Contains(got, true) {
		t.Errorf("of those that are alike %v", got)
	}
}

// TestTriedBrokenOff lists a configuration from its first times on, also where another was asked for before all was known of it, and
// with the rest of its measurement once that was made beside the other.
func TestTriedBrokenOff(t *testing.T) {
	tried := &List{}
	v := NewTable(ui.NewLook(ui.Options{NoColor: true}), &panetest.Desk{}, tried, nil, nil, nil)
	fp32, int8 := config.Config{Precision: config.FP32}, config.Config{Precision: config.INT8, Calibrator: "mse"}
	times := func(samples int, median time.Duration) *report.Timings {
		return &report.Timings{Samples: samples, EndToEnd: report.Latency{Median: median}}
	}
	s := *panetest.Fixture(t)
	s.Config, s.Timings, s.Stale = fp32, times(20, time.Millisecond), report.Derived()&^(report.PartTimings|report.PartMemory)
	tried.Add(&s)
	s.Config, s.Timings, s.Stale = int8, times(1000, 400*time.Microsecond), 0
	s.Timings.Beside = &report.Beside{Config: fp32, Speed: report.NewSpeed(2.01, 1.98, 2.04, true)}
	s.Timings.Reference = times(900, 800*time.Microsecond)
	tried.Add(&s)
	v.Update(&s)
	rows, _ := triedRows(v)
	if len(rows) != 2 || !strings.HasPrefix(rows[0], "fp32 ") || !strings.Contains(rows[0], "800.0 µs 1.00x · ·") || !strings.Contains(rows[1], "400.0 µs 2.01x ") {
		t.Errorf("%q", rows)
	}
	if l, m := tried.Took(&report.Snapshot{Config: fp32, Timings: times(20, time.Millisecond)}, &s); l.Median != 800*time.Microsecond || m.Median != l.Median {
		t.Errorf("fp32 took %v, %v", l.Median, m.Median)
	}
	known := tried.list[0].latency
	tried.list[0].latency = report.Latency{} // as a recording has what was measured side by side
	if l, _ := tried.Took(&report.Snapshot{Config: fp32, Timings: times(20, time.Millisecond)}, &s); l.Median != time.Millisecond {
		t.Errorf("fp32 took %+v where the table has no latency", l)
	}
	tried.list[0].latency = known
	s.Timings.Beside = &report.Beside{Config: fp32, Speed: report.NewSpeed(2.5, 2.4, 2.6, true)} // the machine was slower in these rounds
	tried.Add(&s)
	v.Update(&s)
	if rows, _ := triedRows(v); !strings.Contains(rows[1], "320.0 µs 2.50x ") {
		t.Errorf("median and speed disagree: %q", rows)
	}
	tried = &List{} // nothing was shown of fp32
	v = NewTable(ui.NewLook(ui.Options{NoColor: true}), &panetest.Desk{}, tried, nil, nil, nil)
	tried.Add(&s)
	v.Update(&s)
	if rows, _ := triedRows(v); len(rows) != 2 || !strings.HasPrefix(rows[0], "fp32 ") || !strings.Contains(rows[0], "800.0 µs 1.00x · ·") || !strings.Contains(rows[1], "2.50x") {
		t.Errorf("%q", rows)
	}
}

// TestRunsOfAState names the runs behind a median that is not what came of its configuration in the end.
func TestRunsOfAState(t *testing.T) {
	cfg, whole := config.Config{Precision: config.FP32}, 2*time.Millisecond
	replay := &recordedFilm{tried: []report.RecordedConfig{{Config: cfg, Median: &whole, Runs: 400}}}
	for _, c := range []struct {
		latency report.Latency
		want    string
	}{
		{report.Latency{Count: 400, Median: whole}, "2.00 ms"},
		{report.Latency{Count: 20, Median: 3 * time.Millisecond}, "3.00 ms after 20 runs"},
	} {
		if got := MedianText(replay, false, cfg, c.latency); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if got := MedianText(nil, false, cfg, report.Latency{Count: 20, Median: 3 * time.Millisecond}); got != "3.00 ms" {
		t.Errorf("%q in a session", got)
	}
}
