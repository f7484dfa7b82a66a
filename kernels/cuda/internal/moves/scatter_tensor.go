package moves

import (
	"fmt"
	"math/bits"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// tensorScatterTactic is TensorScatter.
func tensorScatterTactic() emit.Tactic {
	return emit.Tactic{
		Name: "tensor_scatter_linear", Op: graph.TensorScatter, In: kernels.Linear, Out: kernels.Linear,
		Match: func(b kernels.Binding) error {
			x := b.Layer.Inputs[0]
			if b.Layer.Epilogue.Args > 0 || x.Range.PerChannel() {
				return fmt.Errorf("the kernel has no epilogue, and no scale for each channel")
			}
			for _, t := range []*graph.Tensor{b.Layer.Inputs[1], b.Layer.Outputs[0]} {
				if t.Type != x.Type || !t.Range.Equal(x.Range) {
					return fmt.Errorf("%s and %s differ in type or range", x.Name, t.Name)
				}
			}
			return nil
		},
		Emit: emitTensorScatter,
	}
}

// emitTensorScatter emits a kernel in which each thread copies a piece of a row, of the update or of the data.
func emitTensorScatter(b kernels.Binding) (*emit.Work, error) {
	w := emit.NewWork()
	a, x, size := b.Layer.Attrs.(graph.TensorScatterAttrs), b.In[0].Dims, b.In[0].Type.Size()
	axis := a.Axis
	if axis < 0 {
		axis += len(x)
	}
	rows := b.In[1].Dims[axis]
	row := numeric.Count(x[axis+1:])
	n := min(16/size, 1<<bits.TrailingZeros(uint(row)))
	size, row = size*n, row/n
	total := numeric.Count(x) / n
	k, l := w.Threads("scatter", total)
	data, update := l.Operand(k, w, b, 0), l.Operand(k, w, b, 1)
	var places ptx.GlobalPtr
	given := b.Layer.Input(2) != nil
	if given {
		places = l.Operand(k, w, b, 2)
	}
	y := l.Output(k, 0)
	index := emit.ThreadIndex(k, total)
	line, column := k.DivRem(index, row)
	outer, i := k.DivRem(line, x[axis])
	behind := i // how far the element is behind the first one that is written, around the end
	if given {
		p := k.Offset(places, k.Div(outer, numeric.Count(x[1:axis])), b.In[2].Type.Size())
		place := ptx.Uint{}
		if a.Circular {
			_, place = k.DivRem(k.Load(p, 1)[0].Uint(), x[axis])
		} else {
			place = emit.IndexAt(k, p, x[axis]-rows+1)
		}
		behind = k.Sub(i, place)
		behind = k.Select(k.Lt(i, place), k.Add(behind, ptx.U(x[axis])), behind)
	}
	k.IfElse(k.Lt(behind, ptx.U(rows)), func() {
		from := k.Mad(k.Mad(outer, ptx.U(rows), behind), ptx.U(row), column)
		emit.CopyElement(k, k.Offset(y, index, size), k.Offset(update, from, size), size, nil, nil)
	}, func() {
		emit.CopyElement(k, k.Offset(y, index, size), k.Offset(data, index, size), size, nil, nil)
	})
	w.End(k, l)
	return w, nil
}
