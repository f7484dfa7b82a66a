package cuda

import (
	"math"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
)

// A plan of a range runs at its shapes on a device that compiles its kernels: each shape has launches and a graph of its own,
// those used last are kept, and what it does not serve is refused.
func TestShapes(t *testing.T) {
	d := graph.Define("open")
	x := d.Input("x", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(4), symbolic.Symbol("height"), symbolic.Const(6))
	w := make([]float32, 8*4*9)
	for i := range w {
		w[i] = float32(i*i%29)/29 - 0.5
	}
	y := d.Relu(d.Conv(x, d.Weights("w", w, 8, 4, 3, 3), nil, graph.ConvAttrs{Pads: []int{1, 1, 1, 1}}))
	d.Output("y", d.Softmax(d.Reshape(y, 0, 8, -1), -1))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	b := simulated(t)
	values := func(batch, height int) map[string]int { return map[string]int{"batch": batch, "height": height} }
	p, err := run.NewPlanOf(t.Context(), n, run.Extents{Opt: values(2, 6), Min: values(1, 1), Max: values(3, 10)}, b, run.BestGuess)
	if err != nil {
		t.Fatal(err)
	}
	_, c := loaded(t, b, p)
	before, _, err := b.MemoryInfo()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range [][2]int{{2, 6}, {1, 1}, {3, 10}, {2, 6}, {1, 7}, {3, 10}} {
		v := numeric.NewValue(numeric.F32, s[0], 4, s[1], 6)
		for i := range v.F32() {
			v.F32()[i] = float32(i*31%17)/8 - 1
		}
		want, err := n.Eval(t.Context(), map[string]numeric.Value{"x": v}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.SetShapes(map[string][]int{"x": v.Dims}); err != nil {
			t.Fatal(err)
		}
		if err := c.SetInput("x", v); err != nil {
			t.Fatal(err)
		}
		if err := c.Execute(); err != nil {
			t.Fatal(err)
		}
		got, err := c.Output("y")
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range want["y"].F32() {
			if d := math.Abs(float64(got.F32()[i] - f)); !(d <= 1e-5) {
				t.Fatalf("at %v: y[%d] is %v, want %v", s, i, got.F32()[i], f)
			}
		}
		if c.Held() != p.Memory.Peak+p.Memory.IO {
			t.Errorf("at %v it holds %d bytes, the plan has %d", s, c.Held(), p.Memory.Peak+p.Memory.IO)
		}
	}
	if after, _, err := b.MemoryInfo(); err != nil || after != before {
		t.Errorf("%d bytes are taken for other shapes; weights are there already", before-after)
	}
	if err := c.SetShapes(map[string][]int{"x": {2, 4, 11, 6}}); err == nil {
		t.Error("a height of 11 is taken")
	}
}
