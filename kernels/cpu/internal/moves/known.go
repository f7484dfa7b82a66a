package moves

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// extentsTactic writes the extents of a tensor, which are known when it is bound.
var extentsTactic = kernels.Tactic{
	Name: "shape_known", Op: graph.ShapeOf,
	Match: func(b kernels.Binding) error {
		if b.Out[0].Type != numeric.I64 || b.Layer.Epilogue.Args > 0 {
			return fmt.Errorf("to %v with epilogue %s", b.Out[0], b.Layer.Epilogue)
		}
		return nil
	},
	Bind: func(b kernels.Binding) (kernels.Kernel, error) {
		a := b.Layer.Attrs.(graph.ShapeAttrs)
		v := numeric.NewValue(numeric.I64, a.End-a.Start)
		for i, n := range b.In[0].Dims[a.Start:a.End] {
			v.I64()[i] = int64(n)
		}
		return work.Launcher(func(_ kernels.Stream, _, out []kernels.Mem, _ kernels.Mem) error {
			copy(out[0].Host, v.Data)
			return nil
		}), nil
	},
}

// fillTactic repeats one element.
var fillTactic = kernels.Tactic{
	Name: "fill", Op: graph.ConstantOfShape, In: kernels.Linear, Out: kernels.Linear,
	Match: func(b kernels.Binding) error {
		if b.Layer.Epilogue.Args > 0 {
			return fmt.Errorf("an epilogue follows, %s", b.Layer.Epilogue)
		}
		return nil
	},
	Bind: func(b kernels.Binding) (kernels.Kernel, error) {
		element := b.Layer.Attrs.(graph.FillAttrs).Value
		size := b.Out[0].Bytes()
		return work.Launcher(func(_ kernels.Stream, _, out []kernels.Mem, _ kernels.Mem) error {
			y := out[0].Host[:size]
			if element == nil {
				clear(y)
				return nil
			}
			for n := copy(y, element); n < size; n *= 2 {
				copy(y[n:], y[:n])
			}
			return nil
		}), nil
	},
}
