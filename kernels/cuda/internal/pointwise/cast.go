package pointwise

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// castTactics are the casts from or to integers, truth values and 8-bit floats.
func castTactics() []emit.Tactic {
	return []emit.Tactic{{
		Name: "cast_linear", Op: graph.Cast, In: kernels.Linear, Out: kernels.Linear,
		Match: func(b kernels.Binding) error {
			x, y := b.In[0].Type, b.Out[0].Type
			for _, t := range []numeric.DataType{x, y} {
				if !isReal(t) && t != numeric.Bool && !t.IsInteger() {
					return fmt.Errorf("from %s to %s; the kernel takes f32, f16, 8-bit floats, bool and integers", x, y)
				}
			}
			if b.Consts[0] != nil || b.Layer.Epilogue.Args > 0 {
				return fmt.Errorf("the input is a constant, or there is an epilogue")
			}
			if x.IsFloat() && y.IsFloat() {
				return fmt.Errorf("from %s to %s; the kernel is for integers and 8-bit floats", x, y)
			}
			return nil
		},
		Emit: emitCast,
	}}
}

// emitCast emits a kernel in which each thread converts an element. Integers count as they are stored, quantised or not.
func emitCast(b kernels.Binding) (*emit.Work, error) {
	w := emit.NewWork()
	from, to := b.In[0].Type, b.Out[0].Type
	total := numeric.Count(b.Out[0].Dims)
	k, l := w.Threads("cast", total)
	x, y := l.Input(k, 0), l.Output(k, 0)
	var table ptx.GlobalPtr
	if from.IsFloat8() {
		table = l.Constant(k, "numbers", w.Append(float8Table(from)))
	}
	index := emit.ThreadIndex(k, total)
	p, q := k.Offset(x, index, from.Size()), k.Offset(y, index, to.Size())
	if from == to || !isReal(from) && !isReal(to) {
		emit.StoreInteger(k, q, to, emit.LoadInteger(k, p, from))
		w.End(k, l)
		return w, nil
	}
	var v ptx.Float
	switch {
	case from.IsFloat8():
		v = k.LoadConstF(k.Offset(table, k.LoadByte(p), 4), 1)[0]
	case from.IsFloat():
		v = emit.Storage{Type: from}.LoadOne(k, p)
	default:
		v = k.LongToFloat(emit.LoadInteger(k, p, from), from != numeric.U64)
	}
	switch {
	case to.IsFloat8():
		k.StoreByte(q, float8Of(k, v, to, b.Layer.Attrs.(graph.CastAttrs).Overflow).Word())
	case to.IsFloat():
		emit.Storage{Type: to}.StoreOne(k, q, v)
	case to == numeric.Bool:
		k.StoreByte(q, k.Select(k.NeF(v, ptx.F(0)), ptx.U(1), ptx.U(0)).Word())
	default:
		emit.StoreInteger(k, q, to, emit.Truncated(k, v, to))
	}
	w.End(k, l)
	return w, nil
}

// isReal reports whether a type is a floating one that is cast from and to.
func isReal(t numeric.DataType) bool { return t == numeric.F32 || t == numeric.F16 || t.IsFloat8() }
