package main

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// attendKeys is how many keys a step of Dot multiplies.
const attendKeys = 4

// attend emits the softmax over blocks of keys and the products of few rows; see AttendKernel.
func attend(c *build.Context) {
	tail := c.StaticGlobal("attendTail")
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 32 {
		c.AddDatum(4*i, operand.U32(map[bool]uint32{true: 1<<32 - 1}[i < 16]))
	}
	pool := newConstantPool(c, "attendConstants") // the last table: it grows
	for _, set := range []*isa{avx512, avx2} {
		v := vector{c: c, isa: set, pool: pool, tail: tail}
		for _, bytes := range []bool{false, true} {
			emitAttendSoftmax(v, false, bytes)
			emitAttendSoftmax(v, true, bytes)
			emitAttendFinish(v, bytes)
		}
		emitAttendScale(v)
		emitAttendMask(v)
		for rows := 1; rows <= attendRows(set); rows++ {
			emitAttendDot(v, rows)
			emitAttendMix(v, rows, 4)
			emitAttendMix(v, rows, 1)
		}
	}
}

// attendRows is how many rows a product of few rows has accumulators for.
func attendRows(set *isa) int { return len(set.regs) / 8 }

// emitAttendSoftmax emits two passes over the rows, between which the factors of 16 rows are computed at a time: maxima,
// then exponents, or bytes of them, and their sums.
func emitAttendSoftmax(v vector, masked, bytes bool) {
	c := v.c
	name, args, out := "attendSoftmax", "", reg.GPVirtual(nil)
	if bytes {
		name = "attendShares"
	}
	if masked {
		name, args = name+"Masked", " mask *float32, maskStride int,"
	}
	if name += v.isa.name; bytes {
		args += " out *byte, outStride int,"
	}
	function(c, name, "func(scores *float32, stride, rows, width, visible, grow int, scale, gain float32,"+args+" high, sum, factor *float32)",
		name+" is AttendKernel.Softmax of at least one row; gain is log2(e) times AttendCall.Gain.")
	maskRow := reg.GPVirtual(nil)
	if masked {
		maskRow = c.Load(c.Param("mask"), c.GP64()).(reg.GPVirtual)
	}
	low, none, scale := v.splat(math.Inf(-1)), v.z(), v.splatParam("scale")
	v.isa.zero(c, none)
	reached := func(high operand.Mem) vreg { // what is subtracted of scores
		less := v.z()
		c.VBROADCASTSS(high, less)
		v.replace(v.where(less, compareEqual, low), none, less)
		return less
	}
	v.attendRows("max", func(row, n reg.GPVirtual, state func(string) operand.Mem) {
		most, old := v.attendMaxima("maxima", row, maskRow, n, scale), v.z()
		c.VBROADCASTSS(state("high"), old)
		c.VMAXPS(old, most, most)
		v.storeFirst(most, state("high"))
		c.VSUBPS(reached(state("high")), old, old)
		v.storeFirst(old, state("factor"))
		if masked {
			c.LEAQ(operand.Mem{Base: maskRow, Index: v.param("maskStride"), Scale: 4}, maskRow)
		}
	})
	gain := v.splatParam("gain")
	v.attendFactors(gain)
	if bytes {
		out = v.param("out")
	}
	v.attendRows("exp", func(row, n reg.GPVirtual, state func(string) operand.Mem) {
		total := v.attendExponents("exponents", row, out, n, reached(state("high")), gain)
		sum := c.XMM()
		c.VMOVSS(state("sum"), sum)
		c.VADDSS(total.AsX(), sum, sum)
		c.VMOVSS(sum, state("sum"))
		if bytes {
			c.ADDQ(v.param("outStride"), out)
		} else {
			v.attendClear(row, n, v.param("width"))
		}
	})
	c.VZEROUPPER()
	c.RET()
}

func (v vector) param(name string) reg.GPVirtual {
	return v.c.Load(v.c.Param(name), v.c.GP64()).(reg.GPVirtual)
}

// attendRows emits a loop over the rows: body gets where one begins, how many keys it sees, and its element of a vector of
// states.
func (v vector) attendRows(label string, body func(row, n reg.GPVirtual, state func(string) operand.Mem)) {
	c := v.c
	row, visible, done := v.param("scores"), v.param("visible"), c.GP64().(reg.GPVirtual)
	c.XORQ(done, done)
	c.Label(label + "row")
	body(row, v.between(visible, v.param("width")), func(name string) operand.Mem {
		return operand.Mem{Base: v.param(name), Index: done, Scale: 4}
	})
	c.LEAQ(operand.Mem{Base: row, Index: v.param("stride"), Scale: 4}, row)
	c.ADDQ(v.param("grow"), visible)
	c.ADDQ(operand.Imm(1), done)
	c.CMPQ(done, v.param("rows"))
	c.JNE(operand.LabelRef(label + "row"))
}

// attendFactors emits the factors of all rows, of which the vector has the differences of maxima, and their product with
// the sums.
func (v vector) attendFactors(gain vreg) {
	c := v.c
	sum, factor, left := v.param("sum"), v.param("factor"), v.param("rows")
	v.overVectorsOf("factors", left, func(mask reg.Register, disp int) {
		f, s := v.load(operand.Mem{Base: factor, Disp: disp}, mask), v.load(operand.Mem{Base: sum, Disp: disp}, mask)
		c.VMULPS(gain, f, f)
		f = v.exp2(f)
		c.VMULPS(f, s, s)
		v.store(f, mask, operand.Mem{Base: factor, Disp: disp})
		v.store(s, mask, operand.Mem{Base: sum, Disp: disp})
	}, func() {
		c.ADDQ(operand.Imm(lane), sum)
		c.ADDQ(operand.Imm(lane), factor)
	})
}

// exp2 is 2^x for x <= 0, within 2 units in the last place, and 0 below the exponents that there are: a minimax fit, relative
// error 3e-9.
func (v vector) exp2(x vreg) vreg {
	c := v.c
	r := v.z()
	c.VMAXPS(x, v.splat(-150), r)
	n := v.round(r, roundEven)
	c.VSUBPS(n, r, r)
	p := v.polynomial(r, 1, 0.69314724, 0.24022652, 0.055503104, 0.009617693, 0.0013406643, 0.00015594681)
	v.scale(p, n)
	return p
}

// between returns x, but at least 0 and at most limit.
func (v vector) between(x, limit reg.GPVirtual) reg.GPVirtual {
	c := v.c
	n, zero := v.cursor(x), c.GP64()
	c.XORQ(zero, zero)
	c.CMPQ(n, limit)
	c.CMOVQGT(limit, n)
	c.CMPQ(n, zero)
	c.CMOVQLT(zero, n)
	return n
}

// attendMaxima emits the maximum of n elements of a row, which it returns in every lane; where there is a mask, it scales
// them and adds the mask first.
func (v vector) attendMaxima(label string, row, maskRow, n reg.GPVirtual, scale vreg) vreg {
	c := v.c
	var most []vreg
	for range v.isa.parts() {
		most = append(most, v.splat(math.Inf(-1)))
	}
	at, left := v.cursor(row), v.cursor(n)
	maskAt := reg.GPVirtual(nil)
	if maskRow != nil {
		maskAt = v.cursor(maskRow)
	}
	v.overVectorsOf(label, left, func(mask reg.Register, disp int) {
		m := most[disp/v.isa.width]
		x := v.load(operand.Mem{Base: at, Disp: disp}, mask)
		if maskRow != nil {
			c.VMULPS(scale, x, x)
			c.VADDPS(v.load(operand.Mem{Base: maskAt, Disp: disp}, mask), x, x)
			v.store(x, mask, operand.Mem{Base: at, Disp: disp})
		}
		switch {
		case mask == nil:
			c.VMAXPS(m, x, m)
		case v.isa == avx512:
			c.VMAXPS(m, x, mask, m)
		default: // lanes that are not there leave what they meet
			y := v.copy(m)
			v.replace(mask, x, y)
			c.VMAXPS(m, y, m)
		}
	}, func() {
		c.ADDQ(operand.Imm(lane), at)
		if maskRow != nil {
			c.ADDQ(operand.Imm(lane), maskAt)
		}
	})
	return v.acrossLanes(most, func(x, y vreg) { c.VMAXPS(x, y, y) })
}

// attendExponents emits 2^((x-less)*gain) of n elements of a row, in their place or, where there is an out, 255 times as much
// as bytes there; it returns the sum of what is stored in every lane.
func (v vector) attendExponents(label string, row, out, n reg.GPVirtual, less, gain vreg) vreg {
	c := v.c
	sums := v.lanes()
	at, left := v.cursor(row), v.cursor(n)
	to := reg.GPVirtual(nil)
	if out != nil {
		to = v.cursor(out)
	}
	v.overVectorsOf(label, left, func(mask reg.Register, disp int) {
		s, x := sums[disp/v.isa.width], v.load(operand.Mem{Base: at, Disp: disp}, mask)
		c.VSUBPS(less, x, x)
		c.VMULPS(gain, x, x)
		e := v.exp2(x)
		if out == nil {
			v.store(e, mask, operand.Mem{Base: at, Disp: disp})
		} else {
			v.mulBy(255, e, e)
			e = v.round(e, roundEven)
			v.storeBytes(e, mask, operand.Mem{Base: to, Disp: disp / 4})
		}
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
		c.ADDQ(operand.Imm(lane), at)
		if to != nil {
			c.ADDQ(operand.Imm(lane/4), to)
		}
	})
	return v.acrossLanes(sums, func(x, y vreg) { c.VADDPS(x, y, y) })
}

// attendClear emits the zeros from element n of a row to width.
func (v vector) attendClear(row, n, width reg.GPVirtual) {
	c := v.c
	at, left := c.GP64().(reg.GPVirtual), v.cursor(width)
	c.LEAQ(operand.Mem{Base: row, Index: n, Scale: 4}, at)
	c.SUBQ(n, left)
	c.JEQ(operand.LabelRef("cleared"))
	none := v.z()
	v.isa.zero(c, none)
	v.overVectorsOf("clear", left, func(mask reg.Register, disp int) {
		v.store(none, mask, operand.Mem{Base: at, Disp: disp})
	}, func() { c.ADDQ(operand.Imm(lane), at) })
	c.Label("cleared")
}

// cursor returns a copy of a register that a loop may change.
func (v vector) cursor(x reg.GPVirtual) reg.GPVirtual {
	r := v.c.GP64().(reg.GPVirtual)
	v.c.MOVQ(x, r)
	return r
}

// storeFirst stores lane 0.
func (v vector) storeFirst(x vreg, to operand.Mem) { v.c.VMOVSS(x.AsX(), to) }

// acrossLanes combines 16 lanes pairwise, 8 apart, then 4, 2 and 1, and returns the result in every lane.
func (v vector) acrossLanes(x []vreg, combine func(x, y vreg)) vreg {
	c, r := v.c, x[0]
	t := v.z()
	if v.isa == avx512 {
		for _, half := range []uint64{0x4e, 0xb1} {
			c.VSHUFF32X4(operand.Imm(half), r, r, t)
			combine(t, r)
		}
	} else {
		combine(x[1], r)
		c.VPERM2F128(operand.Imm(0x01), r, r, t)
		combine(t, r)
	}
	for _, half := range []uint64{0x4e, 0xb1} {
		c.VPERMILPS(operand.Imm(half), r, t)
		combine(t, r)
	}
	return r
}

// emitAttendScale emits the products of rows and their factors.
func emitAttendScale(v vector) {
	c := v.c
	name := "attendScale" + v.isa.name
	function(c, name, "func(x *float32, stride, columns int, factors *float32, rows int)", name+" is AttendKernel.Scale of at least one row.")
	gp := func(name string) reg.GPVirtual { return c.Load(c.Param(name), c.GP64()).(reg.GPVirtual) }
	row, stride, factors, rows := gp("x"), gp("stride"), gp("factors"), gp("rows")
	c.SHLQ(operand.Imm(2), stride)
	c.Label("row")
	f, at, left := v.z(), v.cursor(row), gp("columns")
	c.VBROADCASTSS(operand.Mem{Base: factors}, f)
	v.overVectorsOf("scale", left, func(mask reg.Register, disp int) {
		x := v.load(operand.Mem{Base: at, Disp: disp}, mask)
		c.VMULPS(f, x, x)
		v.store(x, mask, operand.Mem{Base: at, Disp: disp})
	}, func() { c.ADDQ(operand.Imm(lane), at) })
	c.ADDQ(stride, row)
	c.ADDQ(operand.Imm(4), factors)
	c.SUBQ(operand.Imm(1), rows)
	c.JNE(operand.LabelRef("row"))
	c.VZEROUPPER()
	c.RET()
}

// emitAttendMask emits the conversion of truths, 16 at a time.
func emitAttendMask(v vector) {
	c := v.c
	name := "attendMask" + v.isa.name
	function(c, name, "func(dst *float32, src *byte, n int)", name+" is AttendKernel.Mask of n > 0 elements, a multiple of 16.")
	gp := func(name string) reg.GPVirtual { return c.Load(c.Param(name), c.GP64()).(reg.GPVirtual) }
	dst, src, n := gp("dst"), gp("src"), gp("n")
	low, none := v.splat(math.Inf(-1)), v.z()
	v.isa.zero(c, none)
	c.Label("loop")
	for at := 0; at < 16; at += v.isa.width / 4 {
		x := v.z()
		c.VPMOVZXBD(operand.Mem{Base: src, Disp: at}, x)
		if v.isa == avx512 {
			k := c.K()
			c.VPTESTNMD(x, x, k)
			c.VMOVAPS_Z(low, k, x)
		} else {
			c.VPCMPEQD(none, x, x)
			c.VANDPS(low, x, x)
		}
		v.store(x, nil, operand.Mem{Base: dst, Disp: 4 * at})
	}
	c.ADDQ(operand.Imm(16), src)
	c.ADDQ(operand.Imm(lane), dst)
	c.SUBQ(operand.Imm(16), n)
	c.JNE(operand.LabelRef("loop"))
	c.VZEROUPPER()
	c.RET()
}
