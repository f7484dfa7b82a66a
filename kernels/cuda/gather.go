package cuda

import (
	"fmt"
	"math/bits"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/ptx"
)

// gatherEmitters are the gathers whose indices, or data, are known at run time alone.
func gatherEmitters() []emitter {
	return []emitter{{
		name: "gather_rows_linear", op: graph.Gather, in: kernels.Linear, out: kernels.Linear,
		match: func(b kernels.Binding) error {
			_, err := gatherOf(b)
			return err
		},
		emit: func(b kernels.Binding) (*work, error) {
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
	index                graph.DataType
}

func gatherOf(b kernels.Binding) (*gather, error) {
	x, i := b.In[0], b.In[1]
	if b.Consts[1] != nil {
		return nil, fmt.Errorf("the indices are constants")
	}
	if i.Type != graph.I64 && i.Type != graph.I32 {
		return nil, fmt.Errorf("indices are %s, the kernel takes i32 and i64", i.Type)
	}
	if b.In[0].Type != b.Out[0].Type || b.Layer.Epilogue.Args > 0 {
		return nil, fmt.Errorf("the kernel keeps the type, and has no epilogue")
	}
	if graph.Count(b.Out[0].Dims) == 0 {
		return nil, fmt.Errorf("the output is empty")
	}
	axis := b.Layer.Attrs.(graph.GatherAttrs).Axis
	if axis < 0 {
		axis += len(x.Dims)
	}
	return &gather{
		outer: graph.Count(x.Dims[:axis]), length: x.Dims[axis], count: graph.Count(i.Dims),
		inner: graph.Count(x.Dims[axis+1:]), size: x.Type.Size(), index: i.Type,
	}, nil
}

// emit emits a kernel in which each thread copies a piece of a row. An index out of range takes the nearest row.
func (g *gather) emit(b kernels.Binding) (*work, error) {
	w := &work{module: ptx.New(ptx.SM80)}
	n := min(16/g.size, 1<<bits.TrailingZeros(uint(g.inner)))
	size, inner := g.size*n, g.inner/n
	total := g.outer * g.count * inner
	k, l := w.threads("gather", total)
	var x ptx.GlobalPtr
	if b.Consts[0] != nil {
		x = l.constant(k, "x", w.append(b.Consts[0]))
	} else {
		x = l.input(k, 0)
	}
	indices, y := l.input(k, 1), l.output(k, 0)
	index := threadIndex(k, total)
	line, column := k.DivRem(index, inner)
	block, place := k.DivRem(line, g.count)
	row := k.Load(k.Offset(indices, place, g.index.Size()), 1)[0].Int() // of an i64 the low word
	row = k.Select(k.LtS(row, ptx.I(0)), k.AddS(row, ptx.I(g.length)).Uint(), row.Uint()).Int()
	row = k.MinS(k.MaxS(row, ptx.I(0)), ptx.I(g.length-1))
	from := k.Mad(k.Mad(block, ptx.U(g.length), row.Uint()), ptx.U(inner), column)
	copyElement(k, k.Offset(y, index, size), k.Offset(x, from, size), size, nil, nil)
	w.end(k, l)
	return w, nil
}
