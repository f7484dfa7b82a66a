package poolings

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/quantised"
)

// TacticsInt8 are the poolings of bytes for one instruction set.
func TacticsInt8(isa asm.Features, workers int) []kernels.Tactic {
	tactic := func(name string, op *graph.Op, compute func(kernels.Binding, asm.Features, int) (quantised.Computation, error)) kernels.Tactic {
		return quantised.Tactic(name, "", op, isa, func(b kernels.Binding, _ bool) (quantised.Computation, error) { return compute(b, isa, workers) })
	}
	return []kernels.Tactic{
		tactic("maxpool", graph.MaxPool, poolInt8),
		tactic("avgpool", graph.AveragePool, poolInt8),
		tactic("reduce_mean", graph.ReduceMean, meanInt8),
	}
}

// poolInt8 is a pooling. A maximum keeps its input's scale; an average may change it.
func poolInt8(b kernels.Binding, isa asm.Features, workers int) (quantised.Computation, error) {
	s, mode, err := poolVolume(b)
	if err != nil {
		return quantised.Computation{}, err
	}
	x, y := b.Layer.Inputs[0], b.Layer.Outputs[0]
	if mode == MaxPool && (x.Type != y.Type || !x.Range.Equal(y.Range) || b.Layer.Epilogue.Args > 0) {
		return quantised.Computation{}, fmt.Errorf("the maximum keeps type and scale, and has no epilogue")
	}
	scale, zero := x.Range.ScaleAt(0), quantised.Offset(x)
	if global(s) {
		return globalInt8(mode, s.Batch, s.Channels, s.Depth.OrNone().In*s.Height, s.Width, scale, zero, isa, workers)
	}
	p, err := NewPoolInt8(s, mode, scale, zero, isa, workers)
	if err != nil {
		return quantised.Computation{}, err
	}
	return quantised.Computation{Workspace: p.Workspace(), Run: p.Run}, nil
}

func globalInt8(mode PoolMode, batch, channels, h, w int, scale float32, zero int32, isa asm.Features, workers int) (quantised.Computation, error) {
	g, err := NewGlobalInt8(mode, batch, channels, h, w, scale, zero, isa, workers)
	if err != nil {
		return quantised.Computation{}, err
	}
	return quantised.Computation{Run: g.Run}, nil
}

// meanInt8 is a mean over all spatial axes.
func meanInt8(b kernels.Binding, isa asm.Features, workers int) (quantised.Computation, error) {
	n, c, pixels, err := spatialMean(b)
	if err != nil {
		return quantised.Computation{}, err
	}
	x := b.Layer.Inputs[0]
	return globalInt8(AveragePool, n, c, 1, pixels, x.Range.ScaleAt(0), quantised.Offset(x), isa, workers)
}

// spatialMean returns the geometry of a mean over exactly the spatial axes.
func spatialMean(b kernels.Binding) (n, c, pixels int, err error) {
	a := b.Layer.Attrs.(graph.ReduceAttrs)
	dims := b.In[0].Dims
	if len(b.Layer.OpInputs()) != 1 || len(dims) < 3 || len(a.Axes) != len(dims)-2 {
		return 0, 0, 0, fmt.Errorf("axes %v of %v are not the spatial ones", a.Axes, b.In[0])
	}
	seen := make([]bool, len(dims))
	for _, axis := range a.Axes {
		if axis < 0 {
			axis += len(dims)
		}
		if axis < 2 || axis >= len(dims) || seen[axis] {
			return 0, 0, 0, fmt.Errorf("axes %v of %v are not the spatial ones", a.Axes, b.In[0])
		}
		seen[axis] = true
	}
	pixels = numeric.Count(dims[2:])
	if dims[0] == 0 || dims[1] == 0 || pixels == 0 {
		return 0, 0, 0, fmt.Errorf("%v is empty", b.In[0])
	}
	return dims[0], dims[1], pixels, nil
}
