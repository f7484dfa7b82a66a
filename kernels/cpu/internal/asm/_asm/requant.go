package main

import (
	"slices"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// requantTile emits the epilogue of a tile of int32 accumulators: asm.Requant in registers. out and res are
// left at the next tile's first pixel. It needs three spare registers, with AVX-512 four, and two and two for each
// block; with rows three for each block and two.
type requantTile struct {
	c        *build.Context
	isa      *isa
	args     reg.GPVirtual
	acc      [][]reg.VecPhysical // [pixel][vector]
	out, res reg.GPVirtual
	label    func(string) string
	spare    []reg.VecPhysical
	rows     bool    // pixels may be rows that have ranges of their own
	math     *vector // for activations, where at least six registers are spare; nil for none
}

func (e *requantTile) field(offset int) reg.GPVirtual { return loadField(e.c, e.args, offset) }

func (e *requantTile) broadcast(offset int, to reg.VecPhysical) {
	e.c.VBROADCASTSS(operand.Mem{Base: e.args, Disp: offset}, to)
}

// each calls f for every accumulator.
func (e *requantTile) each(f func(vector int, a reg.VecPhysical)) {
	for _, row := range e.acc {
		for v, a := range row {
			f(v, a)
		}
	}
}

func (e *requantTile) emit() {
	e.dequantise()
	e.activate()
	e.clampInner()
	e.round()
	e.addResidual()
	e.clamp(rOuter)
	e.store()
}

// dequantise rounds after the multiplication and again after the addition: no fused multiply-add.
func (e *requantTile) dequantise() {
	c, vectors := e.c, len(e.acc[0])
	from, to := e.field(rScale), e.field(rBias)
	constant := func(of reg.GPVirtual, v int) operand.Op { return operand.Mem{Base: of, Disp: v * e.isa.width} }
	if e.isa != avx2 {
		held := map[reg.GPVirtual][]reg.VecPhysical{from: e.spare[:vectors], to: e.spare[vectors : 2*vectors]}
		for v := range vectors {
			c.VMOVUPS(constant(from, v), held[from][v])
			c.VMOVUPS(constant(to, v), held[to][v])
		}
		constant = func(of reg.GPVirtual, v int) operand.Op { return held[of][v] }
	}
	add := func(v int, a reg.VecPhysical) { c.VADDPS(constant(to, v), a, a) }
	e.each(func(v int, a reg.VecPhysical) {
		c.VCVTDQ2PS(a, a)
		c.VMULPS(constant(from, v), a, a)
		if !e.rows {
			add(v, a)
		}
	})
	if e.rows {
		e.byRows()
		e.each(add)
	}
}

// byRows takes back by how much the zero point of each row is less, times the sums of columns, and multiplies by the row's scale. With
// AVX-512 the registers behind those of biases are free, and those of scales; otherwise all are that are spare.
func (e *requantTile) byRows() {
	c, vectors, past := e.c, len(e.acc[0]), e.label("scaled")
	row := e.field(rRows)
	c.TESTQ(row, row)
	c.JEQ(operand.LabelRef(past))
	from := e.field(rSums)
	less, more := e.spare[0], e.spare[1]
	sums := func(v int) operand.Op { return operand.Mem{Base: from, Disp: v * e.isa.width} }
	if e.isa != avx2 {
		free := slices.Concat(e.spare[:vectors], e.spare[2*vectors:])
		less, more = free[0], free[1]
		for v := range vectors {
			c.VMOVUPS(operand.Mem{Base: from, Disp: v * lane}, free[2+v])
		}
		sums = func(v int) operand.Op { return free[2+v] }
	}
	for p, accs := range e.acc {
		c.VBROADCASTSS(operand.Mem{Base: row, Disp: 8 * p}, less)
		for v, a := range accs {
			c.VMULPS(sums(v), less, more)
			c.VADDPS(more, a, a)
		}
		scale := more
		c.VBROADCASTSS(operand.Mem{Base: row, Disp: 8*p + 4}, scale)
		for _, a := range accs {
			c.VMULPS(scale, a, a)
		}
	}
	c.ADDQ(operand.U32(uint32(8*len(e.acc))), row)
	c.MOVQ(row, operand.Mem{Base: e.args, Disp: rRows})
	c.Label(past)
}

// activate applies one of the two forms of GELU, whose tables follow each other. It comes to nothing but a test where there is none.
func (e *requantTile) activate() {
	if e.math == nil {
		return
	}
	c, past, table := e.c, e.label("activated"), e.c.GP64().(reg.GPVirtual)
	c.CMPL(operand.Mem{Base: e.args, Disp: rActivation}, operand.Imm(0))
	c.JEQ(operand.LabelRef(past))
	c.LEAQ(e.math.shares[0], table)
	c.CMPL(operand.Mem{Base: e.args, Disp: rActivation}, operand.Imm(1))
	c.JEQ(operand.LabelRef(e.label("activate")))
	c.LEAQ(e.math.shares[1], table)
	c.Label(e.label("activate"))
	e.each(func(_ int, a reg.VecPhysical) {
		x := e.math.z()
		c.VMOVAPS(a, x)
		c.VMOVAPS(e.math.gelu(x, operand.Mem{Base: table}), a)
	})
	c.Label(past)
}

func (e *requantTile) clampInner() {
	c := e.c
	c.CMPL(operand.Mem{Base: e.args, Disp: rClampInner}, operand.Imm(0))
	c.JEQ(operand.LabelRef(e.label("residual")))
	e.clamp(rInner)
	c.Label(e.label("residual"))
}

// clamp lets NaN pass: it is the second source, which VMAXPS and VMINPS return when operands do not compare.
func (e *requantTile) clamp(limits int) {
	lo, hi := e.spare[0], e.spare[1]
	e.broadcast(limits, lo)
	e.broadcast(limits+4, hi)
	e.each(func(_ int, a reg.VecPhysical) {
		e.c.VMAXPS(a, lo, a)
		e.c.VMINPS(a, hi, a)
	})
}

// round rounds to what bytes stand for, within which the values are before.
func (e *requantTile) round() {
	c, scale := e.c, e.spare[0]
	past := e.label("rounded")
	c.CMPL(operand.Mem{Base: e.args, Disp: rBetween}, operand.Imm(0))
	c.JEQ(operand.LabelRef(past))
	e.clamp(rBetweenLimits)
	e.broadcast(rBetween, scale)
	if e.isa == avx512 {
		e.divide(scale, rBetweenInverse, "Between")
	} else {
		e.each(func(_ int, a reg.VecPhysical) { c.VDIVPS(scale, a, a) })
	}
	e.each(func(_ int, a reg.VecPhysical) {
		if e.isa == avx512 {
			c.VRNDSCALEPS(operand.Imm(0), a, a)
		} else {
			c.VROUNDPS(operand.Imm(0), a, a)
		}
		c.VMULPS(scale, a, a)
	})
	c.Label(past)
}

func (e *requantTile) addResidual() {
	c := e.c
	c.TESTQ(e.res, e.res)
	c.JEQ(operand.LabelRef(e.label("outer")))
	scale, zero := e.spare[0], e.spare[1]
	pixel, block := e.field(rResPixel), e.field(rResBlock)
	c.CMPL(operand.Mem{Base: e.args, Disp: rResFloat}, operand.Imm(0))
	c.JNE(operand.LabelRef(e.label("addend")))
	e.broadcast(rResScale, scale)
	e.broadcast(rResZero, zero)
	for _, row := range e.acc {
		for v, a := range row {
			x := e.spare[2]
			if e.isa == avx512 {
				x = e.spare[2+v]
			}
			c.VPMOVZXBD(e.at(e.res, block, v, 1), x)
			c.VCVTDQ2PS(x, x)
			c.VSUBPS(zero, x, x)
			c.VMULPS(scale, x, x)
			c.VADDPS(x, a, a)
		}
		c.ADDQ(pixel, e.res)
	}
	c.JMP(operand.LabelRef(e.label("outer")))
	c.Label(e.label("addend"))
	for _, row := range e.acc {
		for v, a := range row {
			c.VADDPS(e.at(e.res, block, v, 4), a, a)
		}
		c.ADDQ(pixel, e.res)
	}
	c.Label(e.label("outer"))
}

// at is the address of a vector, of block 0 or 1 of a pixel, of elements of so many bytes.
func (e *requantTile) at(base, block reg.GPVirtual, vector, size int) operand.Mem {
	parts := e.isa.parts()
	m := operand.Mem{Base: base, Disp: vector % parts * (16 / parts) * size}
	if vector >= parts {
		m.Index, m.Scale = block, 1
	}
	return m
}

// store writes float32, or divides, rounds to even and adds the zero point: rOuter is within what bytes stand for, so that
// the low bits of the integer are the byte. NaN becomes an integer whose low bits are 0, and so the zero point.
func (e *requantTile) store() {
	c := e.c
	pixel, block := e.field(rOutPixel), e.field(rOutBlock)
	c.CMPL(operand.Mem{Base: e.args, Disp: rStoreFloat}, operand.Imm(0))
	c.JEQ(operand.LabelRef(e.label("bytes")))
	for _, row := range e.acc {
		for v, a := range row {
			c.VMOVUPS(a, e.at(e.out, block, v, 4))
		}
		c.ADDQ(pixel, e.out)
	}
	c.JMP(operand.LabelRef(e.label("done")))
	c.Label(e.label("bytes"))
	scale, zero := e.spare[0], e.spare[1]
	e.broadcast(rOutScale, scale)
	at := operand.Mem{Base: e.args, Disp: rOutZero}
	if e.isa == avx2 {
		words := e.spare[2]
		c.VPBROADCASTW(at, zero)
		c.VPCMPEQD(words, words, words)
		c.VPSRLD(operand.Imm(16), words, words)
		e.each(func(_ int, a reg.VecPhysical) {
			c.VDIVPS(scale, a, a)
			toInteger(c, e.isa, a)
			c.VPAND(words, a, a)
		})
	} else {
		// The flip of a byte is an addition to it: of what is stored, the low bits of an integer.
		e.divide(scale, rInverse, "")
		flip := e.spare[2]
		c.VPBROADCASTD(at, zero)
		c.VPBROADCASTD(operand.Mem{Base: e.args, Disp: rFlip}, flip)
		c.VPADDD(flip, zero, zero)
		e.each(func(_ int, a reg.VecPhysical) {
			toInteger(c, e.isa, a)
			c.VPADDD(zero, a, a)
		})
	}
	if e.isa == avx2 {
		e.broadcast(rFlip, scale) // which has done its work
	}
	for _, row := range e.acc {
		if e.isa == avx2 {
			storeWords16(c, row[0], row[1], zero, scale, operand.Mem{Base: e.out})
		} else {
			for v, a := range row {
				c.VPMOVDB(a, e.at(e.out, block, v, 1))
			}
		}
		c.ADDQ(pixel, e.out)
	}
	c.Label(e.label("done"))
}

// divide divides the values by a scale: by its inverse, two numbers at an offset, where there is one to divide by. Its labels end with
// what it is for.
func (e *requantTile) divide(scale reg.VecPhysical, at int, of string) {
	c, inverse, low := e.c, e.spare[1], e.spare[2]
	c.CMPL(operand.Mem{Base: e.args, Disp: at}, operand.Imm(0))
	c.JEQ(operand.LabelRef(e.label("divide" + of)))
	e.broadcast(at, inverse)
	e.broadcast(at+4, low)
	e.each(func(_ int, a reg.VecPhysical) { divideBy(c, scale, inverse, low, a, e.spare[3]) })
	c.JMP(operand.LabelRef(e.label("divided" + of)))
	c.Label(e.label("divide" + of))
	e.each(func(_ int, a reg.VecPhysical) { c.VDIVPS(scale, a, a) })
	c.Label(e.label("divided" + of))
}

// divideBy divides a by scale, rounded as VDIVPS does, which takes three times as long. The product with the inverse, the rounded one
// and what that lacks, is off by less than a unit in the last place; corrected by what it leaves it is exact (Markstein), wherever
// inverse and remainder are normal numbers.
func divideBy(c *build.Context, scale, inverse, low, a, quotient reg.Register) {
	c.VMULPS(low, a, quotient)
	c.VFMADD231PS(inverse, a, quotient)
	c.VFNMADD231PS(scale, quotient, a)
	c.VFMADD213PS(quotient, inverse, a)
}

// toInteger rounds to even; NaN becomes the least integer. Without AVX-512 it rounds by the mode that Go never changes.
func toInteger(c *build.Context, set *isa, a reg.Register) {
	if set == avx512 {
		c.VCVTPS2DQ_RN_SAE(a, a)
	} else {
		c.VCVTPS2DQ(a, a)
	}
}

// storeWords16 adds zero to 16 words, each in 32 bits, and stores the sums, which are bytes, flipped; low and high are overwritten.
func storeWords16(c *build.Context, low, high, zero, flip reg.VecPhysical, to operand.Mem) {
	c.VPACKUSDW(high, low, low) // in each half of both
	c.VPERMQ(operand.Imm(0xd8), low, low)
	c.VPADDW(zero, low, low)
	c.VEXTRACTI128(operand.Imm(1), low, high.AsX())
	c.VPACKUSWB(high.AsX(), low.AsX(), low.AsX())
	c.VPXOR(flip.AsX(), low.AsX(), low.AsX())
	c.VMOVDQU(low.AsX(), to)
}

// storeSaturated8 stores 8 int32, below 2^15, as unsigned bytes; low is the first half of v, and spare is overwritten.
func storeSaturated8(c *build.Context, v, low, spare reg.Register, to operand.Mem) {
	c.VEXTRACTI128(operand.Imm(1), v, spare)
	c.VPACKUSDW(spare, low, spare)
	c.VPACKUSWB(spare, spare, spare)
	c.VMOVQ(spare, to)
}
