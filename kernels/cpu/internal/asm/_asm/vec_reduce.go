package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// emitReductions emits the functions that leave 16 partial results, one of each lane, for Go to combine, and
// the passes of calibration.
func emitReductions(v vector) {
	emitSums(v, false)
	emitSums(v, true)
	emitNormalize(v)
	emitRange(v)
	emitExpSum(v)
	emitBins(v)
	emitErrors(v)
}

// lanes returns registers for 16 lanes, cleared.
func (v vector) lanes() []reg.VecVirtual {
	acc := make([]reg.VecVirtual, v.isa.parts())
	for i := range acc {
		acc[i] = v.z()
		v.c.VXORPS(acc[i], acc[i], acc[i])
	}
	return acc
}

// emitSums emits a sum, of elements or of the squares of their differences from a number, with four accumulators, to hide the latency
// of the addition.
func emitSums(v vector, squares bool) {
	c, method, args := v.c, "Sum", ""
	if squares {
		method, args = "SumSquares", ", less float32"
	}
	name := "vec" + method + v.isa.name
	function(c, name, "func(lanes, src *float32, n int"+args+")", fmt.Sprintf("%s leaves 16 partial sums; see VecKernel.%s.", name, method))
	add := func(x vreg, _ reg.Register, acc vreg) { c.VADDPS(x, acc, acc) }
	if squares {
		less := v.splatParam("less")
		add = func(x vreg, mask reg.Register, acc vreg) {
			switch c.VSUBPS(less, x, x); { // lanes that are not there are no difference
			case mask == nil:
				c.VFMADD231PS(x, x, acc)
			case v.isa == avx512:
				c.VFMADD231PS(x, x, mask, acc)
			default:
				c.VANDPS(mask, x, x)
				c.VFMADD231PS(x, x, acc)
			}
		}
	}
	src, n := c.Load(c.Param("src"), c.GP64()).(reg.GPVirtual), c.Load(c.Param("n"), c.GP64()).(reg.GPVirtual)
	var acc [4][]reg.VecVirtual
	for i := range acc {
		acc[i] = v.lanes()
	}
	c.Label("four")
	c.CMPQ(n, operand.Imm(64))
	c.JLT(operand.LabelRef("rest"))
	for i := range acc {
		for part, a := range acc[i] {
			add(v.load(operand.Mem{Base: src, Disp: i*lane + part*v.isa.width}, nil), nil, a)
		}
	}
	c.ADDQ(operand.U32(4*lane), src)
	c.SUBQ(operand.Imm(64), n)
	c.JMP(operand.LabelRef("four"))
	c.Label("rest")
	v.overVectors(n, func(mask reg.Register, at int) {
		add(v.load(operand.Mem{Base: src, Disp: at}, mask), mask, acc[0][at/v.isa.width])
	}, func() { c.ADDQ(operand.Imm(lane), src) })
	for part := range acc[0] {
		c.VADDPS(acc[1][part], acc[0][part], acc[0][part])
		c.VADDPS(acc[3][part], acc[2][part], acc[2][part])
		c.VADDPS(acc[2][part], acc[0][part], acc[0][part])
	}
	v.storeLanes(acc[0], 0)
	c.VZEROUPPER()
	c.RET()
}

// emitNormalize emits the last pass of a normalisation; scale and bias advance by so many bytes with each 16 elements.
func emitNormalize(v vector) {
	c := v.c
	name := "vecNormalize" + v.isa.name
	function(c, name, "func(dst, src, scale, bias *float32, n, scaleStep, biasStep int, less, factor float32)", name+" is VecKernel.Normalize of n elements.")
	dst, src, scale, bias := v.param("dst"), v.param("src"), v.param("scale"), v.param("bias")
	n, scaleStep, biasStep := v.param("n"), v.param("scaleStep"), v.param("biasStep")
	less, factor := v.splatParam("less"), v.splatParam("factor")
	v.overVectors(n, func(mask reg.Register, at int) {
		x := v.load(operand.Mem{Base: src, Disp: at}, mask)
		c.VSUBPS(less, x, x)
		c.VMULPS(factor, x, x)
		c.VMULPS(v.load(operand.Mem{Base: scale, Disp: at}, mask), x, x)
		c.VADDPS(v.load(operand.Mem{Base: bias, Disp: at}, mask), x, x)
		v.store(x, mask, operand.Mem{Base: dst, Disp: at})
	}, func() {
		c.ADDQ(operand.Imm(lane), src)
		c.ADDQ(operand.Imm(lane), dst)
		c.ADDQ(scaleStep, scale)
		c.ADDQ(biasStep, bias)
	})
	c.VZEROUPPER()
	c.RET()
}

// storeLanes stores a vector at element 16*i of parameter lanes.
func (v vector) storeLanes(x []reg.VecVirtual, i int) {
	to := v.c.Load(v.c.Param("lanes"), v.c.GP64()).(reg.GPVirtual)
	for part, r := range x {
		v.c.VMOVUPS(r, operand.Mem{Base: to, Disp: i*lane + part*v.isa.width})
	}
}

// emitRange emits the minima and maxima of each lane. NaN is ignored: the accumulator is the second source.
func emitRange(v vector) {
	c := v.c
	name := "vecRange" + v.isa.name
	function(c, name, "func(lanes, src *float32, n int)", name+" leaves 16 minima and 16 maxima; see VecKernel.Range.")
	src, n := c.Load(c.Param("src"), c.GP64()).(reg.GPVirtual), c.Load(c.Param("n"), c.GP64()).(reg.GPVirtual)
	var low, high []reg.VecVirtual
	for range v.isa.parts() {
		low, high = append(low, v.splat(math.Inf(1))), append(high, v.splat(math.Inf(-1)))
	}
	v.overVectors(n, func(mask reg.Register, at int) {
		least, most := low[at/v.isa.width], high[at/v.isa.width]
		x := v.load(operand.Mem{Base: src, Disp: at}, mask)
		if mask != nil && v.isa == avx512 {
			c.VMINPS(least, x, mask, least)
			c.VMAXPS(most, x, mask, most)
			return
		}
		y := x
		if mask != nil { // lanes that are not there leave what they meet
			y = v.copy(most)
			v.replace(mask, x, y)
			c.VBLENDVPS(mask, x, least, x)
		}
		c.VMINPS(least, x, least)
		c.VMAXPS(most, y, most)
	}, func() { c.ADDQ(operand.Imm(lane), src) })
	v.storeLanes(low, 0)
	v.storeLanes(high, 1)
	c.VZEROUPPER()
	c.RET()
}

// emitExpSum emits the pass of a softmax.
func emitExpSum(v vector) {
	c := v.c
	name := "vecExpSum" + v.isa.name
	function(c, name, "func(lanes, dst, src *float32, n int, less float32)",
		name+" stores exp(src-less) and leaves 16 partial sums; see VecKernel.Softmax.")
	src, n := c.Load(c.Param("src"), c.GP64()).(reg.GPVirtual), c.Load(c.Param("n"), c.GP64()).(reg.GPVirtual)
	dst := c.Load(c.Param("dst"), c.GP64()).(reg.GPVirtual)
	less, sum := v.splatParam("less"), v.lanes()
	v.overVectors(n, func(mask reg.Register, at int) {
		s, x := sum[at/v.isa.width], v.load(operand.Mem{Base: src, Disp: at}, mask)
		c.VSUBPS(less, x, x)
		e := v.exp(x)
		v.store(e, mask, operand.Mem{Base: dst, Disp: at})
		switch {
		case mask == nil:
			c.VADDPS(e, s, s)
		case v.isa == avx512:
			c.VADDPS(e, s, mask, s)
		default:
			c.VANDPS(mask, e, e)
			c.VADDPS(e, s, s)
		}
	}, func() {
		c.ADDQ(operand.Imm(lane), src)
		c.ADDQ(operand.Imm(lane), dst)
	})
	v.storeLanes(sum, 0)
	c.VZEROUPPER()
	c.RET()
}

// emitBins emits the bin numbers of a histogram: NaN, converted to the smallest integer, becomes the largest
// unsigned one and is cut to the number of bins.
func emitBins(v vector) {
	c := v.c
	name := "vecBins" + v.isa.name
	function(c, name, "func(dst *uint32, src *float32, n int, low, perUnit float32, last int32, clearMask uint32)",
		name+" computes the bin of each of n elements; see VecKernel.Histogram.")
	src, n := c.Load(c.Param("src"), c.GP64()).(reg.GPVirtual), c.Load(c.Param("n"), c.GP64()).(reg.GPVirtual)
	dst := c.Load(c.Param("dst"), c.GP64()).(reg.GPVirtual)
	low, perUnit, last, keep := v.splatParam("low"), v.splatParam("perUnit"), v.splatParam("last"), v.splatParam("clearMask")
	top, beyond, none := v.z(), v.z(), v.ones()
	c.VCVTDQ2PS(last, top)
	c.VPSUBD(none, last, beyond) // last + 1
	c.VXORPS(none, none, none)
	v.overVectors(n, func(mask reg.Register, at int) {
		x := v.load(operand.Mem{Base: src, Disp: at}, mask)
		c.VANDPS(keep, x, x)
		c.VSUBPS(low, x, x)
		c.VMULPS(perUnit, x, x)
		c.VMAXPS(x, none, x)
		c.VMINPS(x, top, x)
		c.VCVTTPS2DQ(x, x)
		c.VPMINUD(beyond, x, x)
		v.store(x, mask, operand.Mem{Base: dst, Disp: at})
	}, func() {
		c.ADDQ(operand.Imm(lane), src)
		c.ADDQ(operand.Imm(lane), dst)
	})
	c.VZEROUPPER()
	c.RET()
}

// ones returns a register of which every bit is set.
func (v vector) ones() reg.VecVirtual {
	r := v.z()
	if v.isa == avx512 {
		v.c.VPTERNLOGD(operand.Imm(0xff), r, r, r)
	} else {
		v.c.VPCMPEQD(r, r, r)
	}
	return r
}

// emitErrors emits the comparison of two tensors in float64, eight or four elements at a time.
func emitErrors(v vector) {
	c, name, elements := v.c, "vecErrors"+v.isa.name, v.isa.width/8
	function(c, name, "func(lanes *float64, a, b *float32, n int)", fmt.Sprintf(
		"%s leaves, for n elements, a multiple of 8, %d partial results each of VecErrors' fields, 8 elements apart.", name, elements))
	a, b := c.Load(c.Param("a"), c.GP64()).(reg.GPVirtual), c.Load(c.Param("b"), c.GP64()).(reg.GPVirtual)
	n := c.Load(c.Param("n"), c.GP64()).(reg.GPVirtual)
	var acc [6]reg.VecVirtual // max |d|, sum |d|, sum d*d, dot, a*a, b*b
	for i := range acc {
		acc[i] = v.z()
		c.VXORPD(acc[i], acc[i], acc[i])
	}
	keep := v.ones()
	c.VPSRLQ(operand.Imm(1), keep, keep)
	c.Label("loop")
	x, y, d, size := v.z(), v.z(), v.z(), v.z()
	c.VCVTPS2PD(operand.Mem{Base: a}, x)
	c.VCVTPS2PD(operand.Mem{Base: b}, y)
	c.VSUBPD(y, x, d)
	c.VANDPD(keep, d, size)
	c.VMAXPD(size, acc[0], acc[0])
	c.VADDPD(size, acc[1], acc[1])
	c.VFMADD231PD(d, d, acc[2])
	c.VFMADD231PD(x, y, acc[3])
	c.VFMADD231PD(x, x, acc[4])
	c.VFMADD231PD(y, y, acc[5])
	c.ADDQ(operand.Imm(uint64(4*elements)), a)
	c.ADDQ(operand.Imm(uint64(4*elements)), b)
	c.SUBQ(operand.Imm(uint64(elements)), n)
	c.JG(operand.LabelRef("loop"))
	for i := range acc {
		to := c.Load(c.Param("lanes"), c.GP64()).(reg.GPVirtual)
		c.VMOVUPD(acc[i], operand.Mem{Base: to, Disp: i * lane})
	}
	c.VZEROUPPER()
	c.RET()
}
