package quant

import (
	"slices"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestUnrepeated quantises a concatenation once, in its parts, where a clamp reads it, and leaves it quantised for a convolution: the
// results are the same to the bit.
func TestUnrepeated(t *testing.T) {
	for _, clamped := range []bool{true, false} {
		b := newNet(t, "branches")
		x := b.n.AddInput("image", numeric.F32, symbolic.Shape(1, 3, 8, 8)...)
		cat := b.add("cat", graph.Concat, graph.ConcatAttrs{Axis: 1}, b.conv("left", x, 4, 3, nil), b.conv("right", x, 4, 3, nil))
		y := cat
		if clamped {
			y = b.add("relu", graph.Pointwise, graph.Elementwise{Program: elementwise.Unary(elementwise.Relu)}, cat)
		}
		b.n.MarkOutput(b.conv("head", y, 5, 1, nil))
		twice, _ := place(t, b.n, MinMax{}, Policy{})
		n := twice.Clone()
		Unrepeated(n)
		if err := n.Verify(); err != nil {
			t.Fatal(err)
		}
		want := len(twice.Layers)
		if clamped {
			want -= 2
		}
		if len(n.Layers) != want {
			t.Errorf("clamped %t: %d of %d layers are left, want %d:\n%s", clamped, len(n.Layers), len(twice.Layers), want, n)
		}
		if !slices.Equal(eval(t, twice), eval(t, n)) {
			t.Errorf("clamped %t: the results differ", clamped)
		}
	}
}
