package run_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// TestCountsInBetween: a layer that counts most between the ends of a range has memory for that, and what is padded to a multiple is at
// every extent.
func TestCountsInBetween(t *testing.T) {
	d := graph.Define("between")
	x := d.Input("x", numeric.F32, symbolic.Symbol("n"))
	number := func(name string, list ...int64) *graph.Tensor {
		return d.Constant(name, numeric.Values(numeric.I64, list, len(list)))
	}
	extent := d.ShapeOf(x)
	most := d.Min(extent, d.Sub(number("twenty", 20), extent)) // of n elements, or of 20-n
	part := d.Layer(graph.Slice, graph.SliceAttrs{}, x, number("zero", 0), most)
	d.Output("y", d.Neg(d.Gather(part, d.Squeeze(d.NonZero(part), 0), 0)))
	end := d.Program(elementwise.FloorMod(), d.Neg(extent), number("four", 4))
	pads := d.Concat(0, number("begin", 1), end)
	d.Output("z", d.Layer(graph.Pad, graph.PadAttrs{Mode: "constant", Value: 3}, x, nil, pads))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(1)
	defer b.Close()
	of := func(n int) map[string]int { return map[string]int{"n": n} }
	p, err := run.NewPlanOf(t.Context(), n, run.Extents{Opt: of(10), Min: of(4), Max: of(16)}, b, run.BestGuess)
	if err != nil {
		t.Fatal(err)
	}
	c := contextOf(t, b, p)
	for _, n := range []int{10, 4, 16, 9, 11, 7} {
		v := numeric.NewValue(numeric.F32, n)
		for i := range v.F32() {
			v.F32()[i] = float32(i + 1)
		}
		if err := c.SetShapes(map[string][]int{"x": {n}}); err != nil {
			t.Fatal(err)
		}
		if err := c.SetInput("x", v); err != nil {
			t.Fatal(err)
		}
		if err := c.Execute(); err != nil {
			t.Fatal(err)
		}
		want, err := p.Network.Eval(t.Context(), map[string]numeric.Value{"x": v}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"y", "z"} {
			got, err := c.Output(name)
			if err != nil || !slices.Equal(got.Dims, want[name].Dims) || !slices.Equal(got.F32(), want[name].F32()) {
				t.Errorf("at %d: %s is %v %v, want %v %v; %v", n, name, got.Dims, got.F32(), want[name].Dims, want[name].F32(), err)
			}
		}
		if z := want["z"]; z.Len() != 1+(n+3)/4*4 || len(want["y"].F32()) != min(n, 20-n) {
			t.Errorf("at %d there are %v and %v", n, want["y"].Dims, z.Dims)
		}
	}
}

// TestCountsOfNothing: of two counts, one of which must not be 0, the other may.
func TestCountsOfNothing(t *testing.T) {
	d := graph.Define("nothing")
	x, z := d.Input("x", numeric.F32, symbolic.Const(3)), d.Input("z", numeric.F32, symbolic.Const(3))
	found := func(t *graph.Tensor) *graph.Tensor { return d.Gather(t, d.Squeeze(d.NonZero(t), 0), 0) }
	list := found(x)
	one := d.Constant("one", numeric.Values(numeric.I64, []int64{1}, 1))
	d.Output("most", d.Reduce(graph.ReduceMax, d.ReshapeTo(list, d.Concat(0, one, d.ShapeOf(list))), false)) // 0 is the extent on an axis that is not there
	d.Output("some", d.Neg(found(z)))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(1)
	defer b.Close()
	p, err := run.NewPlanOf(t.Context(), n, run.Extents{}, b, run.BestGuess)
	if err != nil {
		t.Fatal(err)
	}
	c := contextOf(t, b, p)
	for name, list := range map[string][]float32{"x": {0, 2, 0}, "z": {0, 0, 0}} {
		if err := c.SetInput(name, numeric.Values(numeric.F32, list, 3)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Execute(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]float32{"most": {2}, "some": {}} {
		if got, err := c.Output(name); err != nil || !slices.Equal(got.F32(), want) {
			t.Errorf("%s is %v, want %v; %v", name, got.F32(), want, err)
		}
	}
}

// TestCountsOfParts: a count that is cut into parts of given sizes is their sum, whatever there could be, and another is an error.
func TestCountsOfParts(t *testing.T) {
	d := graph.Define("parts")
	x := d.Input("x", numeric.F32, symbolic.Symbol("rows"), symbolic.Const(2))
	places := d.Named("places").NonZero(d.Reduce(graph.ReduceMax, x, false, 1)) // as a mixture of experts finds those that are chosen
	for i, part := range d.Named("parts").Split(places, 1, 2, 1) {
		d.Output([]string{"y", "z"}[i], d.Gather(x, d.Squeeze(part, 0), 0))
	}
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(1)
	defer b.Close()
	p, err := run.NewPlanOf(t.Context(), n, run.Extents{Opt: map[string]int{"rows": 4}, Min: map[string]int{"rows": 3}, Max: map[string]int{"rows": 6}}, b, run.BestGuess)
	if err != nil {
		t.Fatal(err)
	}
	c := contextOf(t, b, reread(t, p))
	for _, m := range []struct {
		x, y, z []float32
		fail    string
	}{
		{x: []float32{1, 2, 0, 0, 3, 4, 5, 6}, y: []float32{1, 2, 3, 4}, z: []float32{5, 6}},
		{x: []float32{1, 2, 3, 4, 5, 6}, y: []float32{1, 2, 3, 4}, z: []float32{5, 6}},
		{x: []float32{0, 0, 1, 2, 0, 0, 3, 4, 0, 0, 5, 6}, y: []float32{1, 2, 3, 4}, z: []float32{5, 6}},
		{x: []float32{1, 2, 3, 4, 5, 6, 7, 8}, fail: "layer places (NonZero): 4 elements are found, the shape of the result is [1 3]"},
		{x: []float32{1, 2, 3, 4, 0, 0, 0, 0}, fail: "layer parts (Split): sizes [2 1] do not sum to the extent 2 of axis 1"},
	} {
		in := numeric.Values(numeric.F32, m.x, len(m.x)/2, 2)
		want, err := n.Eval(t.Context(), map[string]numeric.Value{"x": in}, nil)
		if m.fail != "" {
			if err == nil || !strings.Contains(err.Error(), m.fail) {
				t.Errorf("%v: %v, want %q", m.x, err, m.fail)
			}
		} else if err != nil || !slices.Equal(want["y"].F32(), m.y) || !slices.Equal(want["z"].F32(), m.z) {
			t.Errorf("%v: %v, %v", m.x, want, err)
		}
		if err := c.SetShapes(map[string][]int{"x": in.Dims}); err != nil {
			t.Fatal(err)
		}
		if err := c.SetInput("x", in); err != nil {
			t.Fatal(err)
		}
		err = c.Execute()
		if m.fail != "" {
			if err == nil || !strings.Contains(err.Error(), m.fail) {
				t.Errorf("%v: %v, want %q", m.x, err, m.fail)
			}
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		for name, want := range want {
			if got, err := c.Output(name); err != nil || !slices.Equal(got.F32(), want.F32()) {
				t.Errorf("%v: %s is %v, want %v; %v", m.x, name, got.F32(), want.F32(), err)
			}
		}
	}
}
