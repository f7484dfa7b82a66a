package cuda

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/ptx"
)

// oneHotEmitters are the layers that mark one place along an axis: the one that an index names, and that of the largest
// element.
func oneHotEmitters() []emitter {
	return []emitter{{
		name: "onehot_linear", op: graph.OneHot, in: kernels.Linear, out: kernels.Linear,
		match: func(b kernels.Binding) error {
			if t := b.In[0].Type; t != graph.F32 && t != graph.F16 && !t.IsInteger() {
				return fmt.Errorf("indices are %s, the kernel takes f32, f16 and integers", t)
			}
			if b.Layer.Epilogue.Args > 0 || b.In[1].Type != b.Out[0].Type {
				return fmt.Errorf("the kernel keeps the values' type, and has no epilogue")
			}
			return nil
		},
		emit: emitOneHot,
	}, orderEmitter("hardmax_linear", graph.Hardmax, (*ordering).emitHardmax)}
}

// emitOneHot emits a kernel in which each thread writes an element.
func emitOneHot(b kernels.Binding) (*work, error) {
	w := &work{module: ptx.New(ptx.SM80)}
	a, y, from := b.Layer.Attrs.(graph.OneHotAttrs), b.Out[0].Dims, b.In[0].Type
	axis := a.Axis
	if axis < 0 {
		axis += len(y)
	}
	total, inner, size := graph.Count(y), graph.Count(y[axis+1:]), b.Out[0].Type.Size()
	k, l := w.threads("onehot", total)
	indices, values, to := l.operand(k, w, b, 0), l.operand(k, w, b, 1), l.output(k, 0)
	index := threadIndex(k, total)
	line, column := k.DivRem(index, inner)
	outer, place := k.DivRem(line, a.Depth)
	p := k.Offset(indices, k.Mad(outer, ptx.U(inner), column), from.Size())
	var i ptx.Long
	if from.IsFloat() {
		i = truncated(k, storage{typ: from}.loadOne(k, p), graph.I64)
	} else {
		i = loadInteger(k, p, from)
	}
	i = k.SelectL(k.LtL(i, ptx.L(0), true), k.AddL(i, ptx.L(int64(a.Depth))), i)
	hit := k.Select(k.EqL(i, k.LongOfUint(place)), ptx.U(1), ptx.U(0))
	copyElement(k, k.Offset(to, index, size), k.Offset(values, hit, size), size, nil, nil)
	w.end(k, l)
	return w, nil
}

// emitHardmax emits a kernel that finds the element that counts most, and then writes the whole line.
func (o *ordering) emitHardmax(kernels.Binding) *work {
	w := &work{module: ptx.New(ptx.SM80)}
	t := o.threads()
	total := o.outer * o.inner * t
	k, l := w.threads("hardmax", total)
	x, y := l.input(k, 0), l.output(k, 0)
	line, lane := k.DivRem(threadIndex(k, total), t)
	outer, inner := k.DivRem(line, o.inner)
	size := o.typ.Size()
	first := k.Mad(outer, ptx.U(o.length*o.inner), inner)
	at := o.best(k, k.Offset(x, first, size), lane)
	out := storage{typ: o.typ, base: k.Offset(y, first, size)}
	k.For(lane, ptx.U(o.length), ptx.U(t), func(i ptx.Uint) {
		out.storeOne(k, k.Offset(out.base, i, o.inner*size), k.SelectF(k.Eq(i, at), ptx.F(1), ptx.F(0)))
	})
	w.end(k, l)
	return w
}
