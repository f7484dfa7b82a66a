package views

import (
	"reflect"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/exp/golden"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// served is what an engine does that serves batches and lengths of text.
func served() *report.Runtime {
	shape := func(batch, length int) map[string][]int {
		return map[string][]int{"ids": {batch, length}, "mask": {batch, length}}
	}
	point := func(batch, length int) report.SweepPoint {
		l := report.Latency{Count: 40, Median: time.Duration(batch*length) * 10 * time.Microsecond}
		l.Mean, l.P99 = l.Median*21/20, l.Median*5/4
		return report.SweepPoint{Values: []int{length}, Shapes: shape(batch, length), Batch: batch, Latency: l,
			Throughput: float64(batch) / l.Mean.Seconds(), MemoryBytes: batch * length << 10, HeldBytes: 8 * 512 << 10}
	}
	both := func(axis int) []report.RuntimePlace {
		return []report.RuntimePlace{{Input: "ids", Axis: axis}, {Input: "mask", Axis: axis}}
	}
	r := &report.Runtime{Axis: 1, ArenaBytes: 8 * 511 << 10, IOBytes: 8 << 10, Axes: []report.RuntimeAxis{
		{Symbol: "batch", Places: both(0), Min: 1, Opt: 2, Max: 8}, {Symbol: "length", Places: both(1), Min: 1, Opt: 128, Max: 512},
	}, Points: []report.SweepPoint{point(1, 1), point(2, 128), point(8, 512)}}
	for n := 1; n <= 512; n *= 2 {
		r.Curve = append(r.Curve, point(2, n))
	}
	for i, rate := range []float64{400, 760, 790, 770} {
		p := point(2, 128)
		p.Contexts, p.Threads, p.Throughput = i+1, 1, rate
		p.Latency.Median = time.Duration(float64(p.Latency.Median) * []float64{1, 1.05, 1.6, 2.1}[i])
		r.Contexts = append(r.Contexts, p)
	}
	return r
}

// TestRuntime looks at the panes of an engine that serves ranges.
func TestRuntime(t *testing.T) {
	snap := *fixture(t)
	snap.Runtime = served()
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		b := newBench(t, ui.Options{NoColor: true}, &snap)
		b.size(size[0], size[1])
		b.press("8", "tab", "tab", "down")
		b.wants("Profile", "Least, best, largest", "Along an axis", "length 256", "Contexts at a time", "3 best")
		if size[0] == 120 {
			t.Run("120x40", func(t *testing.T) { golden.RequireEqual(t, b.app.Content()) })
		}
		b.press("tab", "=")
		b.wants("2 best", "at most 3.20 ms")
	}
}

// TestRanges changes the ends of an axis, in every input that has it, and goes back to one set of shapes.
func TestRanges(t *testing.T) {
	snap := *fixture(t)
	snap.Runtime = served()
	d := &fakeDesk{}
	v := newProfileView(ui.NewLook(ui.Options{}), d)
	v.Update(&snap)
	press := func(key rune) tea.Cmd { return v.Update(tea.KeyPressMsg{Code: key, Text: string(key)}) }
	at := func(batch, length int) map[string][]int {
		return map[string][]int{"ids": {batch, length}, "mask": {batch, length}}
	}
	for _, c := range []struct {
		row      int
		key      rune
		min, max map[string][]int
	}{
		{0, ']', at(1, 1), at(16, 512)},
		{0, '[', at(1, 1), at(4, 512)},
		{1, ']', at(1, 1), at(8, 1024)},
		{1, ')', at(1, 2), at(8, 512)},
	} {
		v.table.Select(c.row)
		press(c.key)
		if !reflect.DeepEqual(d.want.MinShapes, c.min) || !reflect.DeepEqual(d.want.MaxShapes, c.max) {
			t.Errorf("%c on axis %d: %v to %v", c.key, c.row, d.want.MinShapes, d.want.MaxShapes)
		}
	}
	press('x')
	if d.want.MinShapes != nil || d.want.MaxShapes != nil {
		t.Errorf("best alone: %v to %v", d.want.MinShapes, d.want.MaxShapes)
	}
	v.table.Select(0)
	d.want = config.Config{}
	if cmd := press('('); cmd == nil || d.want.MaxShapes != nil { // 1 is the least there is
		t.Errorf("it asks for %v", d.want)
	}
}
