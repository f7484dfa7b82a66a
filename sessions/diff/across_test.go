package diff

import (
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// TestAcross aligns the layers of three engines: one that fuses more, and one with a conversion that the others lack.
func TestAcross(t *testing.T) {
	layer := func(name string, median time.Duration, precision string, from ...string) report.LayerTiming {
		return report.LayerTiming{Name: name, Precision: precision, Tactic: name + "_kernel", From: from, Latency: report.Latency{Median: median}}
	}
	times := []*report.Timings{
		{SumMedian: 60, Layers: []report.LayerTiming{layer("a", 10, "f32", "a"), layer("b", 20, "f32", "b"), layer("c", 30, "f32", "c")}},
		{SumMedian: 45, Layers: []report.LayerTiming{layer("a", 10, "f16", "a"), layer("b+c", 25, "f16", "b", "c"), layer("cast", 10, "f32", "cast")}},
		{SumMedian: 20, Layers: []report.LayerTiming{layer("a", 5, "i8", "a"), layer("b", 5, "i8", "b"), layer("c", 10, "f32", "c")}},
	}
	c := Across([]report.Column{{Label: "fp32"}, {Label: "fp16"}, {Label: "int8"}}, times)
	if len(c.Rows) != 3 || c.Columns[1].SumMedian != 45 {
		t.Fatalf("got %+v", c)
	}
	a, bc, cast := c.Rows[0], c.Rows[1], c.Rows[2]
	if a.Cells[2].Ratio != 2 || a.Cells[1].Ratio != 1 || a.Cells[0].Ratio != 0 {
		t.Errorf("a: %+v", a.Cells[2])
	}
	if x := bc.Cells; x[0].Median != 50 || len(x[0].Layers) != 2 || x[1].Median != 25 || x[1].Ratio != 2 || x[2].Median != 15 || x[2].Precision != "mixed" || x[2].Tactic != "c_kernel" || bc.Name != "b" {
		t.Errorf("b and c: %+v %+v %+v", x[0], x[1], x[2])
	}
	if cast.Cells[0] != nil || cast.Cells[2] != nil || cast.Cells[1].Ratio != 0 {
		t.Errorf("cast: %+v", cast)
	}
	sum := time.Duration(0)
	for _, r := range c.Rows {
		sum += r.Cells[1].Median
	}
	if sum != times[1].SumMedian {
		t.Errorf("rows sum up to %v of %v", sum, times[1].SumMedian)
	}
}
