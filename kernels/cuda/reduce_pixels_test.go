package cuda

import (
	"fmt"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run/suite"
	"github.com/trtui/trtui/kernels"
)

// TestSharedPixels: one image's pixels are shared among blocks where its channels make few, in equal parts; the result is
// the definition's, whatever a part's length is to the rows of threads.
func TestSharedPixels(t *testing.T) {
	b := simulated(t)
	for _, c := range []struct {
		dims    []int
		tiles   int // wanted
		parts   int
		element graph.DataType
	}{
		{[]int{1, 2048, 7, 7}, 64, 1, graph.F16},
		{[]int{1, 2048, 7, 7}, 128, 1, graph.F32},
		{[]int{1, 32, 48, 48}, 1, 32, graph.F16},
		{[]int{2, 20, 45, 31}, 1, 9, graph.F32},
		{[]int{1, 48, 40, 33}, 1, 30, graph.I8},
		{[]int{3, 7, 53, 53}, 1, 1, graph.F16},
		{[]int{200, 64, 8, 8}, 1, 1, graph.F16},
	} {
		for _, op := range []*graph.Op{graph.AveragePool, graph.MaxPool} {
			t.Run(fmt.Sprint(op.Name, c.dims, c.element), func(t *testing.T) {
				x := &graph.Tensor{Name: "x", Type: c.element, Dims: graph.Shape(c.dims...)}
				if c.element == graph.I8 {
					x.Range = graph.PerTensor(0.03, 5)
				}
				l := &graph.Layer{Name: "pool", Op: op, From: []string{"pool"}, Attrs: graph.PoolAttrs{Global: true}}
				l.AddInput(x)
				y := &graph.Tensor{Name: "y", Producer: l}
				l.Outputs = []*graph.Tensor{y}
				if err := l.Infer(); err != nil {
					t.Fatal(err)
				}
				y.Type, y.Range = c.element, x.Range
				e := reduceEmitter("reduce_pixels_nhwc", op, kernels.NHWC)
				binding, _ := bindingOf(l, e)
				r, err := reductionOf(binding)
				if err != nil {
					t.Fatal(err)
				}
				if p := r.pixelBlocks(binding); p.tiles != c.tiles || p.parts != c.parts {
					t.Errorf("%d tiles in %d parts, want %d in %d", p.tiles, p.parts, c.tiles, c.parts)
				}
				run := productRun{name: e.name, emitter: e, layer: l, tol: suite.Tolerance{Real: 1e-3, Step: 1}}
				if err := run.check(b); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
