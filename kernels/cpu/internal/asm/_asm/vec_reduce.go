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
	emitNormalizeRows(v)
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

// emitSums emits a sum, of elements or of the squares of their differences from a number.
func emitSums(v vector, squares bool) {
	c, method, args := v.c, "Sum", ""
	if squares {
		method, args = "SumSquares", ", less float32"
	}
	name := "vec" + method + v.isa.name
	function(c, name, "func(lanes, src *float32, n int"+args+")", fmt.Sprintf("%s leaves 16 partial sums; see VecKernel.%s.", name, method))
	var less vreg
	if squares {
		less = v.splatParam("less")
	}
	v.storeLanes(v.sums("", v.param("src"), v.param("n"), less), 0)
	c.VZEROUPPER()
	c.RET()
}

// sums emits the loops over n elements from src on, which both move: 16 partial sums of the elements or, with less, of the squares of
// their differences from it. Four accumulators hide the latency of the addition.
func (v vector) sums(label string, src, n reg.GPVirtual, less vreg) []reg.VecVirtual {
	c := v.c
	add := func(x vreg, _ reg.Register, acc vreg) { c.VADDPS(x, acc, acc) }
	if less != nil {
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
	var acc [4][]reg.VecVirtual
	for i := range acc {
		acc[i] = v.lanes()
	}
	c.Label(label + "four")
	c.CMPQ(n, operand.Imm(64))
	c.JLT(operand.LabelRef(label + "rest"))
	for i := range acc {
		for part, a := range acc[i] {
			add(v.load(operand.Mem{Base: src, Disp: i*lane + part*v.isa.width}, nil), nil, a)
		}
	}
	c.ADDQ(operand.U32(4*lane), src)
	c.SUBQ(operand.Imm(64), n)
	c.JMP(operand.LabelRef(label + "four"))
	c.Label(label + "rest")
	v.overVectorsOf(label, n, func(mask reg.Register, at int) {
		add(v.load(operand.Mem{Base: src, Disp: at}, mask), mask, acc[0][at/v.isa.width])
	}, func() { c.ADDQ(operand.Imm(lane), src) })
	for part := range acc[0] {
		c.VADDPS(acc[1][part], acc[0][part], acc[0][part])
		c.VADDPS(acc[3][part], acc[2][part], acc[2][part])
		c.VADDPS(acc[2][part], acc[0][part], acc[0][part])
	}
	return acc[0]
}

// emitNormalizeRows emits the three passes of a normalisation over rows of n elements, of which length is the number as float32 and
// count as float64; scale and bias advance by so many bytes with each 16 elements of a row.
func emitNormalizeRows(v vector) {
	c := v.c
	name := "vecNormalizeRows" + v.isa.name
	function(c, name, "func(dst, src, scale, bias *float32, rows, n, scaleStep, biasStep int, length float32, count, epsilon float64, centered bool)",
		name+" is VecKernel.NormalizeRows of at least one row.")
	of := func(name string) operand.Mem {
		p, err := c.Param(name).Resolve()
		if err != nil {
			panic(err)
		}
		return p.Addr
	}
	dst, src, rows := v.param("dst"), v.param("src"), v.param("rows")
	less, factor, one := v.z(), v.z(), c.XMM()
	bits := c.GP64()
	c.MOVQ(operand.U64(math.Float64bits(1)), bits)
	c.VMOVQ(bits, one)
	row := func() reg.GPVirtual {
		at := c.GP64().(reg.GPVirtual)
		c.MOVQ(src, at)
		return at
	}
	sum := func(x, y vreg) { c.VADDPS(x, y, y) }
	c.Label("row")
	c.VXORPS(less, less, less)
	centered := c.Load(c.Param("centered"), c.GP8())
	c.TESTB(centered, centered)
	c.JEQ(operand.LabelRef("squares"))
	mean := v.acrossLanes(v.sums("sum", row(), v.param("n"), nil), sum).AsX()
	c.VDIVSS(of("length"), mean, mean)
	c.VBROADCASTSS(mean, less)
	c.Label("squares")
	square, wide := v.acrossLanes(v.sums("squares", row(), v.param("n"), less), sum).AsX(), c.XMM()
	c.VCVTSS2SD(square, square, wide)
	c.VDIVSD(of("count"), wide, wide)
	c.VADDSD(of("epsilon"), wide, wide)
	c.VSQRTSD(wide, wide, wide)
	c.VDIVSD(wide, one, wide)
	c.VCVTSD2SS(wide, wide, square)
	c.VBROADCASTSS(square, factor)
	n, scale, bias, scaleStep, biasStep := v.param("n"), v.param("scale"), v.param("bias"), v.param("scaleStep"), v.param("biasStep")
	from, to := row(), c.GP64().(reg.GPVirtual)
	c.LEAQ(operand.Mem{Base: src, Index: n, Scale: 4}, src)
	c.MOVQ(dst, to)
	c.LEAQ(operand.Mem{Base: dst, Index: n, Scale: 4}, dst)
	v.overVectorsOf("apply", n, func(mask reg.Register, at int) {
		x := v.load(operand.Mem{Base: from, Disp: at}, mask)
		c.VSUBPS(less, x, x)
		c.VMULPS(factor, x, x)
		c.VMULPS(v.load(operand.Mem{Base: scale, Disp: at}, mask), x, x)
		c.VADDPS(v.load(operand.Mem{Base: bias, Disp: at}, mask), x, x)
		v.store(x, mask, operand.Mem{Base: to, Disp: at})
	}, func() {
		c.ADDQ(operand.Imm(lane), from)
		c.ADDQ(operand.Imm(lane), to)
		c.ADDQ(scaleStep, scale)
		c.ADDQ(biasStep, bias)
	})
	c.SUBQ(operand.Imm(1), rows)
	c.JNE(operand.LabelRef("row"))
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

// emitRange emits the minima and maxima of each lane. NaN is ignored: the accumulator is the second source. Four of each hide the latency.
func emitRange(v vector) {
	c := v.c
	name := "vecRange" + v.isa.name
	function(c, name, "func(lanes, src *float32, n int)", name+" leaves 16 minima and 16 maxima; see VecKernel.Range.")
	src, n := c.Load(c.Param("src"), c.GP64()).(reg.GPVirtual), c.Load(c.Param("n"), c.GP64()).(reg.GPVirtual)
	var low, high []reg.VecVirtual
	for range 4 {
		low, high = append(low, v.splat(math.Inf(1))), append(high, v.splat(math.Inf(-1)))
	}
	c.Label("four")
	c.CMPQ(n, operand.Imm(uint64(v.isa.width))) // numbers in four registers
	c.JLT(operand.LabelRef("few"))
	for i := range low {
		x := v.load(operand.Mem{Base: src, Disp: i * v.isa.width}, nil)
		c.VMINPS(low[i], x, low[i])
		c.VMAXPS(high[i], x, high[i])
	}
	c.ADDQ(operand.U32(uint32(4*v.isa.width)), src)
	c.SUBQ(operand.Imm(uint64(v.isa.width)), n)
	c.JMP(operand.LabelRef("four"))
	c.Label("few")
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
	for parts := v.isa.parts(); len(low) > parts; low, high = low[:len(low)/2], high[:len(high)/2] {
		for i := range len(low) / 2 {
			c.VMINPS(low[len(low)/2+i], low[i], low[i])
			c.VMAXPS(high[len(high)/2+i], high[i], high[i])
		}
	}
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
