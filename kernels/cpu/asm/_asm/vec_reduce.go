package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// emitReductions emits the functions that leave 16 partial results, one of each lane, for Go to combine, and
// the passes of calibration.
func emitReductions(v vector) {
	emitSums(v, "vecSumAVX512", "VecKernel.Sum", func(x, acc reg.Register) { v.c.VADDPS(x, acc, acc) })
	emitSums(v, "vecSumSquaresAVX512", "VecKernel.SumSquares", func(x, acc reg.Register) { v.c.VFMADD231PS(x, x, acc) })
	emitRange(v)
	emitExpSum(v)
	emitBins(v)
	emitErrors(v)
}

// emitSums emits a sum with four accumulators, to hide the latency of the addition.
func emitSums(v vector, name, contract string, add func(x, acc reg.Register)) {
	c := v.c
	function(c, name, "func(lanes, src *float32, n int)", fmt.Sprintf("%s leaves 16 partial sums; see %s.", name, contract))
	src, n := c.Load(c.Param("src"), c.GP64()).(reg.GPVirtual), c.Load(c.Param("n"), c.GP64()).(reg.GPVirtual)
	var acc [4]reg.VecVirtual
	for i := range acc {
		acc[i] = v.z()
		c.VXORPS(acc[i], acc[i], acc[i])
	}
	c.Label("four")
	c.CMPQ(n, operand.Imm(64))
	c.JLT(operand.LabelRef("rest"))
	for i := range acc {
		x := v.z()
		c.VMOVUPS(operand.Mem{Base: src, Disp: i * lane}, x)
		add(x, acc[i])
	}
	c.ADDQ(operand.U32(4*lane), src)
	c.SUBQ(operand.Imm(64), n)
	c.JMP(operand.LabelRef("four"))
	c.Label("rest")
	overVectors(c, n, func(mask reg.Register) {
		x := v.z()
		load(c, operand.Mem{Base: src}, mask, x)
		add(x, acc[0])
	}, func() { c.ADDQ(operand.Imm(lane), src) })
	c.VADDPS(acc[1], acc[0], acc[0])
	c.VADDPS(acc[3], acc[2], acc[2])
	c.VADDPS(acc[2], acc[0], acc[0])
	storeLanes(c, acc[0], 0)
	c.VZEROUPPER()
	c.RET()
}

// storeLanes stores a vector at element 16*i of parameter lanes.
func storeLanes(c *build.Context, x reg.Register, i int) {
	to := c.Load(c.Param("lanes"), c.GP64()).(reg.GPVirtual)
	c.VMOVUPS(x, operand.Mem{Base: to, Disp: i * lane})
}

// emitRange emits the minima and maxima of each lane. NaN is ignored: the accumulator is the second source.
func emitRange(v vector) {
	c := v.c
	function(c, "vecRangeAVX512", "func(lanes, src *float32, n int)", "vecRangeAVX512 leaves 16 minima and 16 maxima; see VecKernel.Range.")
	src, n := c.Load(c.Param("src"), c.GP64()).(reg.GPVirtual), c.Load(c.Param("n"), c.GP64()).(reg.GPVirtual)
	low, high := v.z(), v.z()
	c.VBROADCASTSS(v.bits(0x7f800000), low)
	c.VBROADCASTSS(v.bits(0xff800000), high)
	overVectors(c, n, func(mask reg.Register) {
		x := v.z()
		load(c, operand.Mem{Base: src}, mask, x)
		if mask == nil {
			c.VMINPS(low, x, low)
			c.VMAXPS(high, x, high)
		} else {
			c.VMINPS(low, x, mask, low)
			c.VMAXPS(high, x, mask, high)
		}
	}, func() { c.ADDQ(operand.Imm(lane), src) })
	storeLanes(c, low, 0)
	storeLanes(c, high, 1)
	c.VZEROUPPER()
	c.RET()
}

// emitExpSum emits the pass of a softmax.
func emitExpSum(v vector) {
	c := v.c
	function(c, "vecExpSumAVX512", "func(lanes, dst, src *float32, n int, less float32)",
		"vecExpSumAVX512 stores exp(src-less) and leaves 16 partial sums; see VecKernel.Softmax.")
	src, n := c.Load(c.Param("src"), c.GP64()).(reg.GPVirtual), c.Load(c.Param("n"), c.GP64()).(reg.GPVirtual)
	dst := c.Load(c.Param("dst"), c.GP64()).(reg.GPVirtual)
	less, sum := splatParam(c, "less"), v.z()
	c.VXORPS(sum, sum, sum)
	overVectors(c, n, func(mask reg.Register) {
		x := v.z()
		load(c, operand.Mem{Base: src}, mask, x)
		c.VSUBPS(less, x, x)
		e := v.exp(x)
		store(c, e, mask, operand.Mem{Base: dst})
		if mask == nil {
			c.VADDPS(e, sum, sum)
		} else {
			c.VADDPS(e, sum, mask, sum)
		}
	}, func() {
		c.ADDQ(operand.Imm(lane), src)
		c.ADDQ(operand.Imm(lane), dst)
	})
	storeLanes(c, sum, 0)
	c.VZEROUPPER()
	c.RET()
}

// emitBins emits the bin numbers of a histogram: NaN, converted to the smallest integer, becomes the largest
// unsigned one and is cut to the number of bins.
func emitBins(v vector) {
	c := v.c
	function(c, "vecBinsAVX512", "func(dst *uint32, src *float32, n int, low, perUnit float32, last int32, clearMask uint32)",
		"vecBinsAVX512 computes the bin of each of n elements; see VecKernel.Histogram.")
	src, n := c.Load(c.Param("src"), c.GP64()).(reg.GPVirtual), c.Load(c.Param("n"), c.GP64()).(reg.GPVirtual)
	dst := c.Load(c.Param("dst"), c.GP64()).(reg.GPVirtual)
	low, perUnit, last, keep := splatParam(c, "low"), splatParam(c, "perUnit"), splatParam(c, "last"), splatParam(c, "clearMask")
	top, beyond, none := v.z(), v.z(), v.z()
	c.VCVTDQ2PS(last, top)
	c.VPTERNLOGD(operand.Imm(0xff), none, none, none)
	c.VPSUBD(none, last, beyond) // last + 1
	c.VXORPS(none, none, none)
	overVectors(c, n, func(mask reg.Register) {
		x := v.z()
		load(c, operand.Mem{Base: src}, mask, x)
		c.VPANDD(keep, x, x)
		c.VSUBPS(low, x, x)
		c.VMULPS(perUnit, x, x)
		c.VMAXPS(x, none, x)
		c.VMINPS(x, top, x)
		c.VCVTTPS2DQ(x, x)
		c.VPMINUD(beyond, x, x)
		store(c, x, mask, operand.Mem{Base: dst})
	}, func() {
		c.ADDQ(operand.Imm(lane), src)
		c.ADDQ(operand.Imm(lane), dst)
	})
	c.VZEROUPPER()
	c.RET()
}

// emitErrors emits the comparison of two tensors in float64, eight elements at a time.
func emitErrors(v vector) {
	c := v.c
	function(c, "vecErrorsAVX512", "func(lanes *float64, a, b *float32, n int)",
		"vecErrorsAVX512 leaves, for n elements, a multiple of 8, eight partial results each of VecErrors' fields.")
	a, b := c.Load(c.Param("a"), c.GP64()).(reg.GPVirtual), c.Load(c.Param("b"), c.GP64()).(reg.GPVirtual)
	n := c.Load(c.Param("n"), c.GP64()).(reg.GPVirtual)
	var acc [6]reg.VecVirtual // max |d|, sum |d|, sum d*d, dot, a*a, b*b
	for i := range acc {
		acc[i] = v.z()
		c.VXORPD(acc[i], acc[i], acc[i])
	}
	keep := v.z()
	c.VPTERNLOGD(operand.Imm(0xff), keep, keep, keep)
	c.VPSRLQ(operand.Imm(1), keep, keep)
	c.Label("loop")
	x, y, d, size := v.z(), v.z(), v.z(), v.z()
	c.VCVTPS2PD(operand.Mem{Base: a}, x)
	c.VCVTPS2PD(operand.Mem{Base: b}, y)
	c.VSUBPD(y, x, d)
	c.VPANDQ(keep, d, size)
	c.VMAXPD(size, acc[0], acc[0])
	c.VADDPD(size, acc[1], acc[1])
	c.VFMADD231PD(d, d, acc[2])
	c.VFMADD231PD(x, y, acc[3])
	c.VFMADD231PD(x, x, acc[4])
	c.VFMADD231PD(y, y, acc[5])
	c.ADDQ(operand.Imm(32), a)
	c.ADDQ(operand.Imm(32), b)
	c.SUBQ(operand.Imm(8), n)
	c.JG(operand.LabelRef("loop"))
	for i := range acc {
		to := c.Load(c.Param("lanes"), c.GP64()).(reg.GPVirtual)
		c.VMOVUPD(acc[i], operand.Mem{Base: to, Disp: i * lane})
	}
	c.VZEROUPPER()
	c.RET()
}
