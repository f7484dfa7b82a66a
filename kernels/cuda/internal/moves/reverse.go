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

// reverseTactic is ReverseSequence.
func reverseTactic() emit.Tactic {
	return emit.Tactic{
		Name: "reverse_sequence_linear", Op: graph.ReverseSequence, In: kernels.Linear, Out: kernels.Linear,
		Match: func(b kernels.Binding) error {
			x, y := b.Layer.Inputs[0], b.Layer.Outputs[0]
			if b.Layer.Epilogue.Args > 0 || x.Range.PerChannel() || x.Type != y.Type || !x.Range.Equal(y.Range) {
				return fmt.Errorf("the kernel keeps type and range, which is not of channels, and has no epilogue")
			}
			return nil
		},
		Emit: emitReverse,
	}
}

// emitReverse emits a kernel in which each thread copies a piece of a place. A length past the axis counts as all of it.
func emitReverse(b kernels.Binding) (*emit.Work, error) {
	w := emit.NewWork()
	a, x, size := b.Layer.Attrs.(graph.ReverseSequenceAttrs), b.In[0].Dims, b.In[0].Type.Size()
	row := numeric.Count(x[2:])
	n := min(16/size, 1<<bits.TrailingZeros(uint(row)))
	size, row = size*n, row/n
	total := numeric.Count(x) / n
	k, l := w.Threads("reverse", total)
	from, lengths := l.Operand(k, w, b, 0), l.Operand(k, w, b, 1)
	to := l.Output(k, 0)
	index := emit.ThreadIndex(k, total)
	line, column := k.DivRem(index, row)
	first, second := k.DivRem(line, x[1])
	item, place := first, second
	if a.Batch == 1 {
		item, place = second, first
	}
	length := k.Load(k.Offset(lengths, item, b.In[1].Type.Size()), 1)[0].Uint() // the lower half of 64 bits
	length = k.Min(length, ptx.U(x[a.Time]))
	turned := k.Select(k.Lt(place, length), k.Sub(k.Sub(length, ptx.U(1)), place), place)
	if a.Batch == 1 {
		line = k.Mad(turned, ptx.U(x[1]), item)
	} else {
		line = k.Mad(item, ptx.U(x[1]), turned)
	}
	emit.CopyElement(k, k.Offset(to, index, size), k.Offset(from, k.Mad(line, ptx.U(row), column), size), size, nil, nil)
	w.End(k, l)
	return w, nil
}
