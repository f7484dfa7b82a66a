package compare

import (
	"context"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/sessions/report"
)

// TestSteps: of 1000 elements of a quantised tensor ten may be a step of its scale away, and none further. A wrong rounding, two steps
// and a bias fail, and so does all where a tolerance is given.
func TestSteps(t *testing.T) {
	const scale, elements = 0.02, 1000
	d := graph.Define("q")
	q := d.Quantize(d.Input("x", numeric.F32, symbolic.Shape(1, elements)...), numeric.PerTensor(scale, 0), numeric.I8)
	d.Output("q", q)
	d.Output("y", d.Reshape(d.Dequantize(q, numeric.PerTensor(scale, 0), numeric.F32), 1, 10, 100))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	every := func(k int, by float64) func(int) float64 {
		return func(i int) float64 {
			if i%k == k-1 {
				return by
			}
			return 0
		}
	}
	for _, c := range []struct {
		name   string
		by     func(i int) float64 // steps by which the first run is off
		found  int                 // elements
		passed bool
		given  bool
	}{
		{"three", every(300, 1), 3, true, false},
		{"ten", every(100, -1), 10, true, false},
		{"with a tolerance", every(300, 1), 0, false, true},
		{"wrong rounding", every(2, 1), 500, false, false},
		{"two steps", every(elements, 2), 0, false, false},
		{"half a step", every(1, 0.5), 0, false, false},
	} {
		values := func(by func(int) float64) map[string]numeric.Value {
			out := map[string]numeric.Value{"q": numeric.NewValue(numeric.I8, 1, elements), "y": numeric.NewValue(numeric.F32, 1, 10, 100)}
			for i := range elements {
				v := float64(i%101-50) + by(i)
				out["q"].Data[i], out["y"].F32()[i] = byte(int8(v)), float32(v*scale)
			}
			return out
		}
		ours, theirs := NewContestant("cpu", n.Outputs, nil), NewContestant("other", n.Outputs, nil)
		theirs.Outside = func(context.Context, Span, map[string]numeric.Value) (map[string]numeric.Value, error) {
			return nil, nil
		}
		ours.outputs, theirs.outputs = values(c.by), values(every(elements, 0))
		strict := report.Tolerance{Abs: 1e-4}
		p := newPair(ours, theirs, Options{Check: Check{Tolerance: strict}, Scaled: !c.given, Unexplained: strict})
		if err := p.add(Batch{Count: 1, Batches: Batches{size: 1}}, nil); err != nil {
			t.Fatal(err)
		}
		for i, o := range p.report().Outputs {
			step := []float64{1, float64(float32(scale))}[i]
			if c.name == "half a step" && i == 0 {
				continue // no integer is
			}
			if o.Passed != c.passed || (o.Steps != nil) != (c.found > 0) || o.Steps != nil && *o.Steps != (report.Steps{Scale: step, Elements: c.found, Most: 10}) {
				t.Errorf("%s, output %s: passed %v, %+v", c.name, o.Name, o.Passed, o.Steps)
			}
		}
	}
}

// TestStepOf: what is moved from one quantised tensor has its step, what is joined of several scales or computed has none.
func TestStepOf(t *testing.T) {
	d := graph.Define("q")
	x := d.Input("x", numeric.F32, symbolic.Shape(2, 3)...)
	dq := func(scale ...float32) *graph.Tensor {
		r := numeric.Range{Scale: scale, Axis: 1}
		return d.Dequantize(d.Quantize(x, r, numeric.U8), r, numeric.F32)
	}
	a, b := dq(0.5), dq(0.25)
	for i, c := range []struct {
		of   *graph.Tensor
		want float64
	}{{a, 0.5}, {d.Transpose(a, 1, 0), 0.5}, {d.Concat(0, a, d.Reshape(a, 2, 3)), 0.5}, {d.Concat(0, a, b), 0}, {d.Concat(0, a, x), 0}, {d.Neg(a), 0}, {dq(1, 2, 3), 0}, {x, 0}} {
		if got := stepOf(c.of); got != c.want {
			t.Errorf("case %d: %g, want %g", i, got, c.want)
		}
	}
	for range 20 { // as many ways to the first as there are numbers of 20 bits
		a = d.Concat(0, a, a)
	}
	if got := stepOf(a); got != 0.5 {
		t.Errorf("joined and parted it is %g", got)
	}
}
