package moves

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// oneHotTactics are the layers that mark the place along an axis that an index names.
func oneHotTactics() []emit.Tactic {
	return []emit.Tactic{{
		Name: "onehot_linear", Op: graph.OneHot, In: kernels.Linear, Out: kernels.Linear,
		Match: func(b kernels.Binding) error {
			if t := b.In[0].Type; t != numeric.F32 && t != numeric.F16 && !t.IsInteger() {
				return fmt.Errorf("indices are %s, the kernel takes f32, f16 and integers", t)
			}
			if b.Layer.Epilogue.Args > 0 || b.In[1].Type != b.Out[0].Type {
				return fmt.Errorf("the kernel keeps the values' type, and has no epilogue")
			}
			return nil
		},
		Emit: emitOneHot,
	}}
}

// emitOneHot emits a kernel in which each thread writes an element.
func emitOneHot(b kernels.Binding) (*emit.Work, error) {
	w := emit.NewWork()
	a, y, from := b.Layer.Attrs.(graph.OneHotAttrs), b.Out[0].Dims, b.In[0].Type
	axis := a.Axis
	if axis < 0 {
		axis += len(y)
	}
	total, inner, size := numeric.Count(y), numeric.Count(y[axis+1:]), b.Out[0].Type.Size()
	k, l := w.Threads("onehot", total)
	indices, values, to := l.Operand(k, w, b, 0), l.Operand(k, w, b, 1), l.Output(k, 0)
	index := emit.ThreadIndex(k, total)
	line, column := k.DivRem(index, inner)
	outer, place := k.DivRem(line, a.Depth)
	p := k.Offset(indices, k.Mad(outer, ptx.U(inner), column), from.Size())
	var i ptx.Long
	if from.IsFloat() {
		i = emit.Truncated(k, emit.Storage{Type: from}.LoadOne(k, p), numeric.I64)
	} else {
		i = emit.LoadInteger(k, p, from)
	}
	i = k.SelectL(k.LtL(i, ptx.L(0), true), k.AddL(i, ptx.L(int64(a.Depth))), i)
	hit := k.Select(k.EqL(i, k.LongOfUint(place)), ptx.U(1), ptx.U(0))
	emit.CopyElement(k, k.Offset(to, index, size), k.Offset(values, hit, size), size, nil, nil)
	w.End(k, l)
	return w, nil
}
