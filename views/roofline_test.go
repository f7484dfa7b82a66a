package views

import (
	"strings"
	"testing"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// roofed returns the fixture with ceilings: layers reach half of them, all but the first, which stands above.
func roofed(t testing.TB) *report.Snapshot {
	snap := panetest.Fixture(t)
	times := *snap.Timings
	times.Layers = append([]report.LayerTiming(nil), times.Layers...)
	times.Roofline = &report.Roofline{Peaks: []report.Peaks{{Threads: 2, Compute: []report.Peak{{Name: "f32", Rate: 5e11}, {Name: "i8", Rate: 2e12}},
		Memory: []report.Peak{{Name: "L1", Rate: 9e11, Holds: 1 << 16}, {Name: "L2", Rate: 4e11, Holds: 1 << 20}, {Name: "DRAM", Rate: 4e10}}}}}
	for i := range times.Layers {
		l := &times.Layers[i]
		if l.Median < 10 {
			continue
		}
		l.Roof = &report.Roof{Operations: l.FLOPs, Intensity: float64(l.FLOPs) / float64(max(l.Bytes, 1)), Reached: l.GFLOPS, Ceiling: 2 * l.GFLOPS,
			Floor: l.Median / 2, Bound: "L2", OfPeak: 0.5}
		if i == 0 {
			l.Roof.Floor, l.Roof.OfPeak = 2*l.Median, 2
			times.Roofline.Above = []string{l.Name}
		}
	}
	snap.Timings = &times
	return snap
}

// TestRooflineView shows the share of the peak in the table, and the layer of the cursor under the ceilings; both only where ceilings
// are known, and what is in doubt is said.
func TestRooflineView(t *testing.T) {
	b := newBench(t, ui.Options{NoColor: true}, roofed(t))
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		b.size(size[0], size[1])
		b.press("3")
		if size[0] >= 120 {
			b.wants("of peak", "50.0%", "!200.0%")
		}
		b.press("v", "v")
		b.wants("Roofline of", "L1 900 GB/s", "L2 400 GB/s")
		if _, plot, _ := strings.Cut(b.screen(), "Roofline of"); strings.Count(plot, "│") < 7 {
			t.Errorf("a low roofline at %v:\n%s", size, plot)
		}
		if size[1] >= 40 {
			b.wants("DRAM 40 GB/s", "f32 500 Gop/s", "op/B", "1 layer above the ceiling")
		}
		b.press("a")
		b.wants("Layers by type")
		b.press("a", "a", "a", "v", "v")
	}
	plain := newBench(t, ui.Options{NoColor: true}, panetest.Fixture(t))
	plain.size(200, 60)
	plain.press("3", "v", "v")
	plain.wants("no ceilings were measured")
	if s := plain.screen(); strings.Contains(s, "of peak") {
		t.Errorf("a column without ceilings:\n%s", s)
	}
	none := panetest.Fixture(t)
	none.Timings.Roofline = &report.Roofline{Unmeasured: "the peaks of this device are not measured"}
	plain = newBench(t, ui.Options{NoColor: true}, none)
	plain.size(120, 40)
	plain.press("3", "v", "v")
	plain.wants("the peaks of this device are not measured")
}
