package stages

import (
	"math"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestNotFinite: weights that are no numbers are named; infinities that a mask adds are none of them.
func TestNotFinite(t *testing.T) {
	n := graph.NewNetwork("n")
	w := n.AddConst("w", numeric.Values(numeric.F32, []float32{1, float32(math.NaN()), 3, float32(math.Inf(1))}, 2, 2))
	mask := n.AddConst("mask", numeric.Values(numeric.F32, []float32{0, float32(math.Inf(-1))}, 2))
	x := n.AddInput("x", numeric.F32, symbolic.Const(1), symbolic.Const(2))
	y, err := n.Add("add", graph.Ops().Named("Add"), graph.Elementwise{Program: elementwise.Binary(elementwise.Add)}, []*graph.Tensor{x, mask}, "y")
	if err != nil {
		t.Fatal(err)
	}
	if got := notFinite(n); got != "" {
		t.Errorf("of a mask: %q", got)
	}
	if _, err := n.Add("product", graph.MatMul, nil, []*graph.Tensor{y.Outputs[0], w}, "z"); err != nil {
		t.Fatal(err)
	}
	if got := notFinite(n); !strings.Contains(got, "layer product") || !strings.Contains(got, "2 of them") {
		t.Errorf("got %q", got)
	}
}
