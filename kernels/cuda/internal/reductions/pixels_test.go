package reductions

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit/emittest"
	"github.com/trtui/trtui/kernels/cuda/internal/ptxsim"
)

// TestSharedPixels: one image's pixels are shared among blocks where its channels make few, in equal parts; the result is
// the definition's, whatever a part's length is to the rows of threads.
func TestSharedPixels(t *testing.T) {
	for _, c := range []struct {
		dims    []int
		tiles   int // wanted
		parts   int
		element numeric.DataType
	}{
		{[]int{1, 2048, 7, 7}, 64, 1, numeric.F16},
		{[]int{1, 2048, 7, 7}, 128, 1, numeric.F32},
		{[]int{1, 32, 48, 48}, 1, 32, numeric.F16},
		{[]int{2, 20, 45, 31}, 1, 9, numeric.F32},
		{[]int{1, 48, 40, 33}, 1, 30, numeric.I8},
		{[]int{3, 7, 53, 53}, 1, 1, numeric.F16},
		{[]int{200, 64, 8, 8}, 1, 1, numeric.F16},
	} {
		for _, op := range []*graph.Op{graph.AveragePool, graph.MaxPool} {
			t.Run(fmt.Sprint(op.Name, c.dims, c.element), func(t *testing.T) {
				x := &graph.Tensor{Name: "x", Type: c.element, Dims: symbolic.Shape(c.dims...)}
				if c.element == numeric.I8 {
					x.Range = numeric.PerTensor(0.03, 5)
				}
				l := emittest.LayerOf(t, op, graph.PoolAttrs{Global: true}, x)
				l.Outputs[0].Type, l.Outputs[0].Range = c.element, x.Range
				tr := emittest.NewTrial(t, reduceTactic("reduce_pixels_nhwc", op, kernels.NHWC), l, rand.New(rand.NewPCG(3, 4)))
				tr.Tolerance.Step = 1
				r, err := reductionOf(tr.Binding)
				if err != nil {
					t.Fatal(err)
				}
				if p := r.pixelBlocks(tr.Binding); p.tiles != c.tiles || p.parts != c.parts {
					t.Errorf("%d tiles in %d parts, want %d in %d", p.tiles, p.parts, c.tiles, c.parts)
				}
				if _, right, err := tr.Run(t, tr.Work.Module, ptxsim.Options{}); err != nil || !right {
					t.Error(right, err)
				}
			})
		}
	}
}
