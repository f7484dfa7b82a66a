package cuda

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/ptx"
)

// castEmitters are the casts from or to integers and truth values.
func castEmitters() []emitter {
	return []emitter{{
		name: "cast_linear", op: graph.Cast, in: kernels.Linear, out: kernels.Linear,
		match: func(b kernels.Binding) error {
			x, y := b.In[0].Type, b.Out[0].Type
			for _, t := range []graph.DataType{x, y} {
				if t != graph.F32 && t != graph.F16 && t != graph.Bool && !t.IsInteger() {
					return fmt.Errorf("from %s to %s; the kernel takes f32, f16, bool and integers", x, y)
				}
			}
			if b.Consts[0] != nil || b.Layer.Epilogue.Args > 0 {
				return fmt.Errorf("the input is a constant, or there is an epilogue")
			}
			if x.IsFloat() && y.IsFloat() {
				return fmt.Errorf("from %s to %s; the kernel is for integers", x, y)
			}
			return nil
		},
		emit: emitCast,
	}}
}

// emitCast emits a kernel in which each thread converts an element. Integers count as they are stored, quantised or not.
func emitCast(b kernels.Binding) (*work, error) {
	w := &work{module: ptx.New(ptx.SM80)}
	from, to := b.In[0].Type, b.Out[0].Type
	total := graph.Count(b.Out[0].Dims)
	k, l := w.threads("cast", total)
	x, y := l.input(k, 0), l.output(k, 0)
	index := threadIndex(k, total)
	p, q := k.Offset(x, index, from.Size()), k.Offset(y, index, to.Size())
	switch {
	case !from.IsFloat() && !to.IsFloat():
		storeInteger(k, q, to, loadInteger(k, p, from))
	case to.IsFloat():
		storage{typ: to}.storeOne(k, q, k.LongToFloat(loadInteger(k, p, from), from != graph.U64))
	case to == graph.Bool:
		v := storage{typ: from}.loadOne(k, p)
		k.StoreByte(q, k.Select(k.NeF(v, ptx.F(0)), ptx.U(1), ptx.U(0)).Word())
	default:
		storeInteger(k, q, to, truncated(k, storage{typ: from}.loadOne(k, p), to))
	}
	w.end(k, l)
	return w, nil
}

// truncated is a float rounded toward 0 and saturated to an integer type; 0 of NaN.
func truncated(k *ptx.K, v ptx.Float, t graph.DataType) ptx.Long {
	n := saturated(k, k.FloatToLong(v, t != graph.U64), t)
	return k.SelectL(k.EqF(v, v), n, ptx.L(0))
}

// saturated is a number brought into the range of an integer type of less than 64 bits.
func saturated(k *ptx.K, n ptx.Long, t graph.DataType) ptx.Long {
	if t.Size() == 8 {
		return n
	}
	low, high := int64(0), int64(1)<<(8*t.Size())-1
	if signed(t) {
		high >>= 1
		low = -high - 1
	}
	n = k.SelectL(k.LtL(n, ptx.L(low), true), ptx.L(low), n)
	return k.SelectL(k.LtL(ptx.L(high), n, true), ptx.L(high), n)
}

// roundedLong is a float rounded to the nearest whole number, half to even: no more than 2^40 in magnitude, so that a zero
// point may be added; 0 of NaN.
func roundedLong(k *ptx.K, v ptx.Float) ptx.Long {
	const most = 1 << 40
	v = k.SelectF(k.EqF(v, v), v, ptx.F(0))
	return k.FloatToLong(k.Round(k.MinF(k.MaxF(v, ptx.F(-most)), ptx.F(most))), true)
}
