package graph

import (
	"math"
	"slices"
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
)

// TestAveragePaddingAlone: the average of a window that lies wholly in the padding is 0, as onnxruntime 1.32 has it where it takes
// such a layer at all (the first), and over planes of no elements NaN.
func TestAveragePaddingAlone(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		attrs PoolAttrs
		x     []float32
		want  []float32
	}{
		{PoolAttrs{Kernel: []int{2}, Dilations: []int{2}, Pads: []int{1, 1}}, []float32{1}, []float32{0}},
		{PoolAttrs{Kernel: []int{2}, Dilations: []int{2}, Pads: []int{1, 1}, CountIncludePad: true}, []float32{1}, []float32{0}},
		{PoolAttrs{Kernel: []int{2}, Pads: []int{1, 3}}, []float32{1, 2, 3, 4}, []float32{1, 1.5, 2.5, 3.5, 4, 0, 0}},
		{PoolAttrs{Global: true}, nil, []float32{nan}},
	} {
		v := numeric.NewValue(numeric.F32, 1, 1, len(c.x))
		copy(v.F32(), c.x)
		_, l, _ := single(t, AveragePool, c.attrs, v)
		y := numeric.NewValue(numeric.F32, 1, 1, len(c.want))
		if err := AveragePool.Eval(l, []numeric.Value{v}, []numeric.Value{y}); err != nil {
			t.Fatal(err)
		}
		if got := y.F32(); !slices.EqualFunc(got, c.want, func(a, b float32) bool { return a == b || a != a && b != b }) {
			t.Errorf("%+v of %v: %v, want %v", c.attrs, c.x, got, c.want)
		}
	}
}

// TestOpName: a pooling over whole planes is named as in a model.
func TestOpName(t *testing.T) {
	for want, l := range map[string]*Layer{
		"GlobalAveragePool": {Op: AveragePool, Attrs: PoolAttrs{Global: true}},
		"MaxPool":           {Op: MaxPool, Attrs: PoolAttrs{Kernel: []int{2, 2}}},
		"Relu":              {Op: &Op{Name: "Relu"}},
	} {
		if got := OpName(l); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
