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

// TestOtherShapes: more items in an inference are no slow-down: speeds are per item, and none where an item is other work.
func TestOtherShapes(t *testing.T) {
	us := func(n int) time.Duration { return time.Duration(n) * time.Microsecond }
	input := func(dims ...int) map[string][]int { return map[string][]int{"input": dims} }
	one := config.Config{Precision: config.FP32, Batch: 1}
	for _, c := range []struct {
		name         string
		batch, items int
		shapes       map[string][]int
		work, took   int
		cell, note   string
		line         string
	}{
		{"batch", 4, 4, nil, 4, 430, "0.93x", "per item", "430.0 µs for 4 items, 9302 items/s, before 100.0 µs for 1, 10k items/s: 1.07x slower per item"},
		{"batch as a shape", 4, 4, input(4, 3, 32, 32), 4, 200, "2.00x", "per item", "2.00x faster per item"},
		{"noise", 4, 4, nil, 4, 402, "noise", "per item", "no significant difference per item"},
		{"longer", 1, 1, input(1, 512), 4, 430, "·", "none at other shapes", "430.0 µs; before 100.0 µs at other shapes, which is other work"},
		{"the same, in other words", 1, 1, input(1, 3, 32, 32), 1, 200, "0.50x", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			tried := &List{}
			v := NewTable(ui.NewLook(ui.Options{NoColor: true}), &panetest.Desk{}, tried, nil, nil, nil)
			snaps := [2]report.Snapshot{}
			for i, cfg := range []config.Config{one, {Precision: config.FP32, Batch: c.batch, Shapes: c.shapes}} {
				items, work, took := []int{1, c.items}[i], []int{1, c.work}[i], us([]int{100, c.took}[i])
				snaps[i] = *panetest.Fixture(t)
				snaps[i].Config = cfg
				r := report.Timings{Samples: 100, EndToEnd: report.Latency{Median: took, Mean: took}, BatchItems: items, Layers: []report.LayerTiming{{Name: "conv", FLOPs: int64(work) * 1000}}}
				if i > 0 {
					ratio := 100 / float64(c.took)
					r.Beside = &report.Beside{Config: one, Speed: report.NewSpeed(ratio, ratio*0.99, ratio*1.01, true)}
				}
				snaps[i].Timings = &r
				tried.Add(&snaps[i])
				v.Update(&snaps[i])
			}
			speed := ""
			for _, column := range v.table.Columns {
				if column.Title == "speed" {
					speed = column.Cell(1).Text
				}
			}
			if note, _ := v.Note(); speed != c.cell || !strings.HasSuffix(strings.TrimPrefix(note, "speed relative to the first, "), c.note) {
				t.Errorf("speed %q, and %q", speed, note)
			}
			lines := Reshaped(&snaps[0], "100.0 µs", &snaps[1], ui.Duration(us(c.took)), snaps[1].Timings.Beside.Speed)
			if (len(lines) == 0) != (c.line == "") || c.line != "" && !strings.Contains(lines[0], c.line) {
				t.Errorf("%q", lines)
			}
		})
	}
}
