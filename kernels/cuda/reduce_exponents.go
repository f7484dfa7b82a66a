package cuda

import (
	"math"

	"github.com/trtui/trtui/kernels/cuda/ptx"
)

// The logarithm of a sum of exponentials is m + log(sum of exp(x - m)) with m the largest: two passes, so that no exponential
// is larger than 1. A reduction's own arithmetic is that of the first.

// emitRowExponents emits the kernel in which a warp has a row.
func (r *reduction) emitRowExponents(w *work, out *rowOutput) {
	k, l := w.threads("exponents", r.outer*32)
	r.x.base = l.input(k, 0)
	out.parameters(k, l)
	index := threadIndex(k, r.outer*32)
	row, lane := k.Shr(index, 5), k.And(index, ptx.U(31))
	first := k.Mul(row, ptx.U(r.length))
	each := func(body func(at ptx.Uint)) {
		k.For(lane, ptx.U(r.length), ptx.U(32), func(i ptx.Uint) { body(k.Add(first, i)) })
	}
	largest := r.partial(k)
	each(func(at ptx.Uint) { r.addElement(k, largest, at) })
	top := acrossWarp(k, largest.FloatRegister(), (*ptx.K).MaxNaN)
	sum := acrossWarp(k, r.exponents(k, top, each), (*ptx.K).AddF)
	k.Exit(k.Ne(lane, ptx.U(0)))
	r.storeOne(k, out, row, logarithm(k, top, sum))
	w.end(k, l)
}

// emitColumnExponents emits the kernel in which a thread has a column.
func (r *reduction) emitColumnExponents(w *work, out *rowOutput) {
	total := r.outer * r.inner
	k, l := w.threads("exponents", total)
	r.x.base = l.input(k, 0)
	out.parameters(k, l)
	index := threadIndex(k, total)
	each := func(body func(at ptx.Uint)) { r.eachOf(k, index, body) }
	top := r.partial(k)
	each(func(at ptx.Uint) { r.addElement(k, top, at) })
	sum := r.exponents(k, top.FloatRegister(), each)
	r.storeOne(k, out, index, logarithm(k, top.FloatRegister(), sum))
	w.end(k, l)
}

// exponents is the thread's sum of exp(x - top).
func (r *reduction) exponents(k *ptx.K, top ptx.Float, each func(body func(at ptx.Uint))) ptx.Float {
	sum := k.VarF(ptx.F(0))
	each(func(at ptx.Uint) {
		v := r.x.loadOne(k, k.Offset(r.x.base, at, r.x.typ.Size()))
		k.SetF(sum, k.AddF(sum, exp(k, k.SubF(v, top))))
	})
	return sum
}

// logarithm is top + log(sum), or top where that is infinite.
func logarithm(k *ptx.K, top, sum ptx.Float) ptx.Word {
	finite := k.LtF(k.AbsF(top), ptx.F(float32(math.Inf(1))))
	whole := k.EqF(top, top)
	y := k.AddF(top, log(k, sum))
	return k.SelectF(k.Both(finite.Not(), whole), top, y).Register()
}
