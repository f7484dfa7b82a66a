package views

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// beside returns the fixture with its layers in three precisions, and a reformat that INT8 alone has.
func beside(t *testing.T) *report.Snapshot {
	snap := *panetest.Fixture(t)
	c := &report.Columns{}
	for i, p := range []config.Precision{config.FP32, config.FP16, config.INT8} {
		cfg := snap.Config.Clone()
		cfg.Precision = p
		c.Columns = append(c.Columns, report.Column{Label: cfg.Label(false), Config: cfg, Latency: panetest.Around(time.Duration(3-i)*time.Millisecond, 20)})
	}
	c.Columns[1].Speed = &report.Speed{Ratio: 1.5, Low: 1.4, High: 1.6, Significant: true, SideBySide: true}
	c.Columns[2].Speed = &report.Speed{Ratio: 1.01, Low: 0.9, High: 1.1, SideBySide: true}
	for i, l := range snap.Timings.Layers {
		row := report.ColumnRow{Name: l.Name, From: l.From, Reformat: l.Reformat, Cells: make([]*report.ColumnCell, 3)}
		for k, p := range []string{"f32", "f16", "i8"} {
			if l.Reformat && k < 2 {
				continue
			}
			row.Cells[k] = &report.ColumnCell{Layers: []string{l.Name}, Precision: p, Median: l.Median * time.Duration(4-k), Ratio: 4 / float64(4-k)}
		}
		if i%2 == 0 {
			row.Fastest = c.Columns[2].Label
		}
		c.Rows = append(c.Rows, row)
	}
	snap.Columns = c
	return &snap
}

// TestColumns keeps the picture of precisions side by side.
func TestColumns(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			b := newBench(t, ui.Options{NoColor: true}, beside(t))
			b.size(size[0], size[1])
			b.press("3", "b", "down")
			golden.RequireEqual(t, b.app.Content())
		})
	}
}

// TestColumnsKeys: every key that the pane of precisions offers does what it says there, as on the layers' side.
func TestColumnsKeys(t *testing.T) {
	b := newBench(t, ui.Options{NoColor: true}, beside(t))
	b.size(200, 60)
	b.press("3", "b", "down", "P")
	b.wants("Precision of ")
	b.press("esc")
	b.lacks("L log", "% share") // of the other side
	b.wants("histogram")
	b.press("v")
	b.lacks("histogram")
}

// TestBesideOthers: where a configuration took another time in rounds beside others, which the table of those tried has, the panes that
// show its own say both.
func TestBesideOthers(t *testing.T) {
	snap := *beside(t)
	alone := *snap.Timings
	snap.Timings = &alone
	alone.EndToEnd.Median = 1234 * time.Microsecond
	columns := *snap.Columns
	snap.Columns = &columns
	columns.Columns[2].Timings = &report.Timings{EndToEnd: report.Latency{Median: 1100 * time.Microsecond, Count: 50}, Layers: alone.Layers, Samples: 50}
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		b := newBench(t, ui.Options{NoColor: true}, &snap)
		b.size(size[0], size[1])
		b.wants("latency", "1.23 ms", "in rounds", "2.97 ms")
		b.press("3")
		b.wants("end to end 1.23 ms (2.97 ms in rounds")
		for _, line := range strings.Split(b.screen(), "\n") {
			if strings.Contains(line, "end to end") && strings.Count(line, "(") != strings.Count(line, ")") {
				t.Errorf("at %d cells a part is cut: %q", size[0], line)
			}
		}
	}
}

// TestColumnsOnDemand asks for precisions side by side, which come when they are measured; the cursor stays on the layer.
func TestColumnsOnDemand(t *testing.T) {
	b := newBench(t, ui.Options{NoColor: true}, panetest.Fixture(t))
	b.size(120, 40)
	b.press("3", "down", "down", "A")
	if asked := b.ctl.asked[len(b.ctl.asked)-1]; asked != "beside fp32 fp16 int8/mse" {
		t.Errorf("asked for %v", asked)
	}
	b.wants("Precisions", "measured in the same rounds")
	b.press("b")
	under := b.under()
	snap := beside(t)
	b.publish(snap)
	b.press("b")
	if got := b.under(); got != under {
		t.Errorf("the cursor went from %q to %q", under, got)
	}
	b.wants("1.50x as fast", "no significant difference", "fastest")
	refused := *snap
	c := *snap.Columns
	c.Columns = append([]report.Column(nil), c.Columns...)
	c.Columns[1] = report.Column{Label: "FP16", Config: c.Columns[1].Config, Err: "no data to calibrate with"}
	refused.Columns, refused.Config.Batch = &c, 7
	b.publish(&refused)
	b.wants("none: no data to calibrate with", "of another configuration")
	if strings.Count(b.screen(), "fp16") > 0 {
		t.Error("a precision without an engine has a column of times")
	}
}

// TestColumnsTold: what the precisions side by side come to is said when they are measured.
func TestColumnsTold(t *testing.T) {
	b := newBench(t, ui.Options{NoColor: true}, panetest.Fixture(t))
	b.size(120, 40)
	b.press("3", "A")
	b.publish(beside(t))
	b.wants("fp32 3.00 ms; fp16 2.00 ms, 1.50x faster; int8/mse 1.00 ms, no significant difference")
}

// TestConversions keeps the picture of what goes from type to type and what that is there for.
func TestConversions(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			b := newBench(t, ui.Options{NoColor: true}, panetest.Fixture(t))
			b.size(size[0], size[1])
			b.press("3", "tab", "tab", "tab")
			golden.RequireEqual(t, b.app.Content())
		})
	}
}

// TestNoColumns says what helps where no columns were measured: to measure them, or in a replay to compare what was tried.
func TestNoColumns(t *testing.T) {
	b := newBench(t, ui.Options{NoColor: true}, panetest.Fixture(t))
	b.size(120, 40)
	b.press("3", "b")
	b.wants("nothing was measured yet: A measures them")
	b, _ = newReplayBench(t, ui.Options{NoColor: true})
	b.size(100, 30)
	b.press("3", "b")
	b.wants("one precision alone was recorded", "m and M mark two")
}

// tried is a film with what came of its configurations.
type tried struct{ *panetest.Film }

func (l tried) Tried() (list []report.RecordedConfig) {
	for _, p := range []config.Precision{config.FP32, config.INT8} {
		c := report.RecordedConfig{Config: config.Config{Precision: p}, Settled: true, Median: new(time.Duration)}
		*c.Median = 3 * time.Millisecond
		if p == config.INT8 {
			c.Config.Calibrator, *c.Median = "mse", time.Millisecond
		}
		list = append(list, c)
	}
	return list
}

// TestRecordedColumns sets precisions side by side in a replay, of the states that were recorded of them one after the other.
func TestRecordedColumns(t *testing.T) {
	l := tried{&panetest.Film{Timeline: panetest.Timeline{At: 23}, Snap: panetest.Fixture(t)}}
	b := &bench{t: t, ctl: &fake{snap: l.State()}, now: l.Moment(0).Time}
	read := func(path, state string) (*report.Snapshot, error) {
		snap, timings := *l.Snap, *l.Snap.Timings
		snap.Config = config.Config{Precision: config.INT8, Calibrator: "mse"}
		if state == "12" {
			snap.Config = config.Config{Precision: config.FP32}
			timings.EndToEnd.Median *= 3
		} else if state != "24" {
			return nil, fmt.Errorf("state %s of %s", state, path)
		}
		snap.Timings = &timings
		return &snap, nil
	}
	var err error
	b.app, err = NewWorkbench(b.ctl, Options{Look: ui.NewLook(ui.Options{NoColor: true}), Timeline: l, Read: read, Now: b.clock, After: b.after})
	if err != nil {
		t.Fatal(err)
	}
	b.size(120, 40)
	b.publish(l.State())
	b.press("3", "b")
	b.wants("recorded one after the other", "fp32", "int8/mse", "end to end")
	l.Seek(11)
	b.publish(l.State())
	b.wants("recorded one after the other", "int8/mse")
}
