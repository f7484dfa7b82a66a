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

// gatherTactics are the gathers whose indices, or data, are known at run time alone.
func gatherTactics() []emit.Tactic {
	return []emit.Tactic{elementsTactic(), tuplesTactic(), {
		Name: "gather_rows_linear", Op: graph.Gather, In: kernels.Linear, Out: kernels.Linear,
		Match: func(b kernels.Binding) error {
			_, err := gatherOf(b)
			return err
		},
		Emit: func(b kernels.Binding) (*emit.Work, error) {
			g, err := gatherOf(b)
			if err != nil {
				return nil, err
			}
			return g.emit(b)
		},
	}}
}

// gather takes, for each of outer blocks of length rows, the count rows that the indices name.
type gather struct {
	outer, length, count int
	inner                int // elements of a row
	size                 int // bytes of an element
	index                numeric.DataType
}

// gathers returns why the kernels, which copy elements as they are by indices of 32 or 64 bits, do not take a layer.
func gathers(b kernels.Binding) error {
	if b.Layer.Epilogue.Args > 0 || b.In[0].Type != b.Out[0].Type {
		return fmt.Errorf("the kernel keeps the type, and has no epilogue")
	}
	if i := b.In[1].Type; i != numeric.I64 && i != numeric.I32 {
		return fmt.Errorf("indices are %s, the kernel takes i32 and i64", i)
	}
	return nil
}

func gatherOf(b kernels.Binding) (*gather, error) {
	x, i := b.In[0], b.In[1]
	if b.Consts[1] != nil {
		return nil, fmt.Errorf("the indices are constants")
	}
	if err := gathers(b); err != nil {
		return nil, err
	}
	if numeric.Count(b.Out[0].Dims) == 0 {
		return nil, fmt.Errorf("the output is empty")
	}
	axis := b.Layer.Attrs.(graph.GatherAttrs).Axis
	if axis < 0 {
		axis += len(x.Dims)
	}
	return &gather{
		outer: numeric.Count(x.Dims[:axis]), length: x.Dims[axis], count: numeric.Count(i.Dims),
		inner: numeric.Count(x.Dims[axis+1:]), size: x.Type.Size(), index: i.Type,
	}, nil
}

// emit emits a kernel in which each thread copies a piece of a row. An index out of range takes the nearest row.
func (g *gather) emit(b kernels.Binding) (*emit.Work, error) {
	w := emit.NewWork()
	n := min(16/g.size, 1<<bits.TrailingZeros(uint(g.inner)))
	size, inner := g.size*n, g.inner/n
	total := g.outer * g.count * inner
	k, l := w.Threads("gather", total)
	x, indices, y := l.Operand(k, w, b, 0), l.Input(k, 1), l.Output(k, 0)
	index := emit.ThreadIndex(k, total)
	line, column := k.DivRem(index, inner)
	block, place := k.DivRem(line, g.count)
	row := emit.IndexAt(k, k.Offset(indices, place, g.index.Size()), g.length)
	from := k.Mad(k.Mad(block, ptx.U(g.length), row), ptx.U(inner), column)
	emit.CopyElement(k, k.Offset(y, index, size), k.Offset(x, from, size), size, nil, nil)
	w.End(k, l)
	return w, nil
}

// elementsTactic is GatherElements, whose indices are one for each element of the output.
func elementsTactic() emit.Tactic {
	return emit.Tactic{
		Name: "gather_elements_linear", Op: graph.GatherElements, In: kernels.Linear, Out: kernels.Linear,
		Match: gathers, Emit: emitElements,
	}
}

// emitElements emits a kernel in which each thread copies an element.
func emitElements(b kernels.Binding) (*emit.Work, error) {
	w := emit.NewWork()
	x, y := b.In[0].Dims, b.Out[0].Dims
	axis := b.Layer.Attrs.(graph.GatherAttrs).Axis
	if axis < 0 {
		axis += len(x)
	}
	total, size := numeric.Count(y), b.Out[0].Type.Size()
	k, l := w.Threads("elements", total)
	data, indices, to := l.Operand(k, w, b, 0), l.Operand(k, w, b, 1), l.Output(k, 0)
	index := emit.ThreadIndex(k, total)
	from, rest, strides := ptx.U(0), index, emit.StridesOf(x)
	for i := len(y) - 1; i >= 0; i-- {
		var place ptx.Uint
		rest, place = k.DivRem(rest, y[i])
		if i == axis {
			place = emit.IndexAt(k, k.Offset(indices, index, b.In[1].Type.Size()), x[i])
		}
		from = k.Mad(place, ptx.U(strides[i]), from)
	}
	emit.CopyElement(k, k.Offset(to, index, size), k.Offset(data, from, size), size, nil, nil)
	w.End(k, l)
	return w, nil
}

// tuplesTactic is GatherND, whose indices name slices of the data by tuples.
func tuplesTactic() emit.Tactic {
	return emit.Tactic{
		Name: "gather_tuples_linear", Op: graph.GatherND, In: kernels.Linear, Out: kernels.Linear,
		Match: gathers, Emit: emitTuples,
	}
}

// emitTuples emits a kernel in which each thread copies a piece of a slice.
func emitTuples(b kernels.Binding) (*emit.Work, error) {
	w := emit.NewWork()
	x, i, size := b.In[0].Dims, b.In[1], b.Out[0].Type.Size()
	first, last := b.Layer.Attrs.(graph.GatherNDAttrs).BatchDims, len(i.Dims)-1
	tuple := i.Dims[last]
	slice := numeric.Count(x[first+tuple:])
	n := min(16/size, 1<<bits.TrailingZeros(uint(slice)))
	perRow := slice / n
	rows := numeric.Count(i.Dims[:last])
	k, l := w.Threads("tuples", rows*perRow)
	data, indices, to := l.Operand(k, w, b, 0), l.Operand(k, w, b, 1), l.Output(k, 0)
	index := emit.ThreadIndex(k, rows*perRow)
	row, column := k.DivRem(index, perRow)
	strides := emit.StridesOf(x)
	from := k.Mul(k.Div(row, numeric.Count(i.Dims[first:last])), ptx.U(numeric.Count(x[first:])))
	p := k.Offset(indices, row, tuple*i.Type.Size())
	for j := range tuple {
		place := emit.IndexAt(k, p.At(j*i.Type.Size()), x[first+j])
		from = k.Mad(place, ptx.U(strides[first+j]), from)
	}
	source := k.Offset(k.Offset(data, from, size), column, n*size)
	emit.CopyElement(k, k.Offset(to, index, n*size), source, n*size, nil, nil)
	w.End(k, l)
	return w, nil
}
