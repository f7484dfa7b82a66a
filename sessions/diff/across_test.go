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
	c := Across([]report.Column{{Label: "fp32"}, {Label: "fp16"}, {Label: "int8"}}, times, false)
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

// TestFastest marks the fastest where rounds tell it from the next, and none where they overlap or are too few.
func TestFastest(t *testing.T) {
	rounds := func(from, by time.Duration) (list []time.Duration) {
		for i := range 10 {
			list = append(list, (from+by*time.Duration(i))*us)
		}
		return list
	}
	layer := func(name string, median time.Duration, rounds []time.Duration) report.LayerTiming {
		return report.LayerTiming{Name: name, From: []string{name}, Latency: report.Latency{Median: median * us}, Rounds: rounds}
	}
	times := []*report.Timings{
		{Layers: []report.LayerTiming{layer("clear", 200, rounds(200, 1)), layer("noise", 100, rounds(100, 10)), layer("few", 200, rounds(200, 1)[:3]), layer("alone", 9, rounds(9, 1))}},
		{Layers: []report.LayerTiming{layer("clear", 100, rounds(100, 1)), layer("noise", 99, rounds(99, 10)), layer("few", 100, rounds(100, 1)[:3])}},
	}
	c := Across([]report.Column{{Label: "fp32"}, {Label: "int8"}}, times, false)
	for i, want := range []string{"int8", "", "", ""} {
		if got := c.Rows[i].Fastest; got != want {
			t.Errorf("%s: %q is fastest, want %q", c.Rows[i].Name, got, want)
		}
	}
	// Of different occasions, what is clear by rounds may be what one start of a program differs by from the next.
	times[0].Layers = append(times[0].Layers, layer("near", 101, rounds(1010, 1)))
	times[1].Layers = append(times[1].Layers, layer("near", 100, rounds(1000, 1)))
	for apart, want := range map[bool]string{false: "int8", true: ""} {
		c := Across([]report.Column{{Label: "fp32"}, {Label: "int8"}}, times, apart)
		if c.Apart != apart || c.Rows[0].Fastest != "int8" || c.Rows[4].Name != "near" || c.Rows[4].Fastest != want {
			t.Errorf("apart %v: %q of a and %q of %s are fastest", apart, c.Rows[0].Fastest, c.Rows[4].Fastest, c.Rows[4].Name)
		}
	}
	for i := range times {
		times[i].Estimated = true
	}
	if c := Across([]report.Column{{Label: "fp32"}, {Label: "int8"}}, times, false); c.Rows[2].Fastest != "int8" || c.Rows[3].Fastest != "" {
		t.Errorf("of estimates %q and %q are fastest", c.Rows[2].Fastest, c.Rows[3].Fastest)
	}
}
