package reductions

import (
	"math"

	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// The logarithm of a sum of exponentials is m + log(sum of exp(x - m)) with m the largest: two passes, so that no exponential
// is larger than 1. A reduction's own arithmetic is that of the first.

// emitRowExponents emits the kernel in which a warp has a row.
func (r *reduction) emitRowExponents(w *emit.Work, out *emit.RowOutput) {
	k, l := w.Threads("exponents", r.outer*32)
	r.x.Base = l.Input(k, 0)
	out.Parameters(k, l)
	index := emit.ThreadIndex(k, r.outer*32)
	row, lane := k.Shr(index, 5), k.And(index, ptx.U(31))
	first := k.Mul(row, ptx.U(r.length))
	each := func(body func(at ptx.Uint)) {
		k.For(lane, ptx.U(r.length), ptx.U(32), func(i ptx.Uint) { body(k.Add(first, i)) })
	}
	largest := r.partial(k)
	each(func(at ptx.Uint) { r.addElement(k, largest, at) })
	top := emit.AcrossWarp(k, largest.FloatRegister(), (*ptx.K).MaxNaN)
	sum := emit.AcrossWarp(k, r.exponents(k, top, each), (*ptx.K).AddF)
	k.Exit(k.Ne(lane, ptx.U(0)))
	r.storeOne(k, out, row, logarithm(k, top, sum))
	w.End(k, l)
}

// emitColumnExponents emits the kernel in which a thread has a column.
func (r *reduction) emitColumnExponents(w *emit.Work, out *emit.RowOutput) {
	total := r.outer * r.inner
	k, l := w.Threads("exponents", total)
	r.x.Base = l.Input(k, 0)
	out.Parameters(k, l)
	index := emit.ThreadIndex(k, total)
	each := func(body func(at ptx.Uint)) { r.eachOf(k, index, body) }
	top := r.partial(k)
	each(func(at ptx.Uint) { r.addElement(k, top, at) })
	sum := r.exponents(k, top.FloatRegister(), each)
	r.storeOne(k, out, index, logarithm(k, top.FloatRegister(), sum))
	w.End(k, l)
}

// exponents is the thread's sum of exp(x - top).
func (r *reduction) exponents(k *ptx.K, top ptx.Float, each func(body func(at ptx.Uint))) ptx.Float {
	sum := k.VarF(ptx.F(0))
	each(func(at ptx.Uint) {
		v := r.x.LoadOne(k, k.Offset(r.x.Base, at, r.x.Type.Size()))
		k.SetF(sum, k.AddF(sum, emit.Exp(k, k.SubF(v, top))))
	})
	return sum
}

// logarithm is top + log(sum), or top where that is infinite.
func logarithm(k *ptx.K, top, sum ptx.Float) ptx.Word {
	finite := k.LtF(k.AbsF(top), ptx.F(float32(math.Inf(1))))
	whole := k.EqF(top, top)
	y := k.AddF(top, emit.Log(k, sum))
	return k.SelectF(k.Both(finite.Not(), whole), top, y).Register()
}
