package compare

import (
	"math"
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/sessions/report"
)

func TestDifference(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct {
		name         string
		a, b         []float32
		tolerance    report.Tolerance
		over, differ int
		notFinite    int
		worst        []int // index of the worst elements, in order
	}{
		{"equal", []float32{1, -2, 0}, []float32{1, -2, 0}, report.Tolerance{}, 0, 0, 0, nil},
		{"absolute", []float32{1, 2, 3}, []float32{1.5, 2.25, 3}, report.Tolerance{Abs: 0.25}, 1, 2, 0, []int{0, 1}},
		{"relative to b", []float32{1, 100}, []float32{2, 101}, report.Tolerance{Rel: 0.25}, 1, 2, 0, []int{0, 1}},
		{"both", []float32{0, 10}, []float32{0.5, 11}, report.Tolerance{Abs: 0.5, Rel: 0.125}, 0, 2, 0, []int{1, 0}}, // by how much they differ
		{"one fails", []float32{0, 10, 0}, []float32{0.5, 12, 1}, report.Tolerance{Abs: 0.5, Rel: 0.25}, 1, 3, 0, []int{2, 1, 0}},
		{"none allowed", []float32{1, 2, 3}, []float32{1, 2.25, 4}, report.Tolerance{}, 2, 2, 0, []int{2, 1}},
		{"not finite, alike", []float32{inf, nan, -inf}, []float32{inf, nan, -inf}, report.Tolerance{}, 0, 0, 3, nil},
		{"not finite", []float32{inf, nan, 1, 2}, []float32{-inf, 1, inf, 2.5}, report.Tolerance{Abs: 1}, 3, 4, 0, []int{0, 1, 2, 3}},
	} {
		d := difference{tolerance: c.tolerance}
		if err := d.add(0, Axis{axis: -1}, numeric.Values(numeric.F32, c.a, len(c.a)), numeric.Values(numeric.F32, c.b, len(c.b)), numeric.Value{}); err != nil {
			t.Fatal(err)
		}
		r := d.report(c.name)
		if r.Over != c.over || r.Differ != c.differ || r.BothNotFinite != c.notFinite || r.Passed != (c.over == 0) || len(r.Worst) != len(c.worst) {
			t.Errorf("%s: %+v", c.name, r)
			continue
		}
		for i, e := range r.Worst {
			if e.Index[0] != c.worst[i] {
				t.Errorf("%s: worst %d is element %d, want %d", c.name, i, e.Index[0], c.worst[i])
			}
		}
		sum := 0
		for _, b := range r.Histogram {
			sum += b.Count
		}
		if sum != len(c.a) {
			t.Errorf("%s: the histogram counts %d of %d elements: %+v", c.name, sum, len(c.a), r.Histogram)
		}
	}
}

func TestDifferenceKeepsTheWorst(t *testing.T) {
	d := difference{tolerance: report.Tolerance{Abs: 1}}
	for item := range 10 {
		a := numeric.Values(numeric.I64, []int64{int64(item * 7 % 10), 0}, 1, 2)
		if err := d.add(item, Axis{axis: -1}, a, numeric.NewValue(numeric.I64, 1, 2), numeric.Value{}); err != nil {
			t.Fatal(err)
		}
	}
	r := d.report("x")
	for i, want := range []float64{9, 8, 7, 6, 5} {
		if e := r.Worst[i]; e.Abs != want || e.Item*7%10 != int(want) {
			t.Errorf("worst %d is %+v, want %g", i, e, want)
		}
	}
	if r.MaxAt.Item != 7 || r.Count != 20 || r.Over != 8 {
		t.Errorf("%+v", r)
	}
}

// Relative differences count where b is not far below its largest, whichever comes first.
func TestMaxRelative(t *testing.T) {
	for _, c := range []struct {
		name         string
		a, b         []float32
		want, toPass float64
	}{
		{"tiny last", []float32{101, 1e-3}, []float32{100, 1e-5}, 0.01, 99},
		{"tiny first", []float32{1e-3, 101}, []float32{1e-5, 100}, 0.01, 99},
		{"the largest is equal", []float32{2, 1e-7}, []float32{2, 1e-8}, 0, 9},
		{"large enough", []float32{100, 0.3}, []float32{100, 0.2}, 0.5, 0.5},
		{"zero", []float32{1, 1.5}, []float32{0, 1}, 0.5, 0},
		{"only zeros", []float32{1}, []float32{0}, 0, 0},
		{"equal", []float32{1}, []float32{1}, 0, 0},
	} {
		d := difference{}
		for i := range c.a {
			if err := d.add(i, Axis{axis: -1}, numeric.Values(numeric.F32, c.a[i:i+1], 1), numeric.Values(numeric.F32, c.b[i:i+1], 1), numeric.Value{}); err != nil {
				t.Fatal(err)
			}
		}
		near := func(x, y float64) bool { return math.Abs(x-y) <= 1e-5*y }
		if r := d.report(c.name); !near(r.MaxRel, c.want) || !near(r.RelToPass, c.toPass) {
			t.Errorf("%s: max %g, to pass %g, want %g and %g", c.name, r.MaxRel, r.RelToPass, c.want, c.toPass)
		}
	}
}

// Tensors in 16 bits have a tolerance of their own, whichever run has them so.
func TestToleranceByType(t *testing.T) {
	c := Options{Check: Check{Tolerance: report.Tolerance{Abs: 1}}, Half: report.Tolerance{Abs: 2}}
	for _, k := range []struct {
		types [2]numeric.DataType
		want  float64
	}{
		{[2]numeric.DataType{numeric.F32, numeric.F32}, 1}, {[2]numeric.DataType{numeric.F16, numeric.F16}, 2},
		{[2]numeric.DataType{numeric.F32, numeric.BF16}, 2}, {[2]numeric.DataType{numeric.I8, numeric.I8}, 1},
	} {
		if got := c.tolerance(k.types[0], k.types[1]).Abs; got != k.want {
			t.Errorf("%v: %g, want %g", k.types, got, k.want)
		}
	}
}

// Tensors of different shapes differ, whatever the others do; what FP32 has in another shape explains nothing.
func TestDifferenceOfShapes(t *testing.T) {
	two, three := numeric.Values(numeric.F32, []float32{1, 2}, 2), numeric.Values(numeric.F32, []float32{1, 2, 3}, 3)
	d := difference{tolerance: report.Tolerance{Abs: 1}}
	for _, b := range []numeric.Value{two, three} {
		if err := d.add(0, Axis{axis: -1}, two, b, numeric.Value{}); err != nil {
			t.Fatal(err)
		}
	}
	if r := d.report("x"); r.Passed || r.Over != 0 || r.Count != 2 || r.Unlike == nil || r.Unlike.Inferences != 1 || r.Unlike.First[0] != 2 || r.Unlike.Second[0] != 3 {
		t.Errorf("%+v", r)
	}
	for _, c := range []struct {
		by     float32
		passed bool
	}{{0.0001, true}, {0.5, false}} {
		d = difference{rounding: &rounding{factors: report.RoundingFactors{RMS: 1.5, Peak: 2}}}
		if err := d.add(0, Axis{axis: -1}, numeric.Values(numeric.F32, []float32{1 + c.by, 2}, 2), two, three); err != nil {
			t.Fatal(err)
		}
		if r := d.report("x"); r.Passed != c.passed {
			t.Errorf("%g: %+v", c.by, r)
		}
	}
}
