package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// requantTile emits the epilogue of a tile of int32 accumulators: asm.Requant in registers. out and res are
// left at the next tile's first pixel. It needs six spare registers.
type requantTile struct {
	c        *build.Context
	args     reg.GPVirtual
	acc      [][]reg.VecPhysical // [pixel][block]
	out, res reg.GPVirtual
	label    func(string) string
	spare    []reg.VecPhysical
}

func (e *requantTile) field(offset int) reg.GPVirtual { return loadField(e.c, e.args, offset) }

func (e *requantTile) broadcast(offset int, to reg.VecPhysical) {
	e.c.VBROADCASTSS(operand.Mem{Base: e.args, Disp: offset}, to)
}

// each calls f for every accumulator.
func (e *requantTile) each(f func(block int, a reg.VecPhysical)) {
	for _, row := range e.acc {
		for b, a := range row {
			f(b, a)
		}
	}
}

func (e *requantTile) emit() {
	e.dequantise()
	e.clampInner()
	e.addResidual()
	e.clamp(rOuter)
	e.store()
}

// dequantise rounds after the multiplication and again after the addition: no fused multiply-add.
func (e *requantTile) dequantise() {
	c, blocks := e.c, len(e.acc[0])
	scale, bias := e.spare[:blocks], e.spare[blocks:2*blocks]
	from, to := e.field(rScale), e.field(rBias)
	for b := range blocks {
		c.VMOVUPS(operand.Mem{Base: from, Disp: b * lane}, scale[b])
		c.VMOVUPS(operand.Mem{Base: to, Disp: b * lane}, bias[b])
	}
	e.each(func(b int, a reg.VecPhysical) {
		c.VCVTDQ2PS(a, a)
		c.VMULPS(scale[b], a, a)
		c.VADDPS(bias[b], a, a)
	})
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

func (e *requantTile) addResidual() {
	c := e.c
	c.TESTQ(e.res, e.res)
	c.JEQ(operand.LabelRef(e.label("outer")))
	scale, zero := e.spare[0], e.spare[1]
	e.broadcast(rResScale, scale)
	e.broadcast(rResZero, zero)
	pixel, block := e.field(rResPixel), e.field(rResBlock)
	for _, row := range e.acc {
		for b, a := range row {
			x := e.spare[2+b]
			c.VPMOVZXBD(e.at(e.res, block, b), x)
			c.VCVTDQ2PS(x, x)
			c.VSUBPS(zero, x, x)
			c.VMULPS(scale, x, x)
			c.VADDPS(x, a, a)
		}
		c.ADDQ(pixel, e.res)
	}
	c.Label(e.label("outer"))
}

// at is the address of block 0 or 1 of a pixel.
func (e *requantTile) at(base, block reg.GPVirtual, b int) operand.Mem {
	if b == 0 {
		return operand.Mem{Base: base}
	}
	return operand.Mem{Base: base, Index: block, Scale: 1}
}

// store writes float32, or divides, rounds to even, adds the zero point and saturates to bytes.
func (e *requantTile) store() {
	c := e.c
	pixel, block := e.field(rOutPixel), e.field(rOutBlock)
	c.CMPL(operand.Mem{Base: e.args, Disp: rStoreFloat}, operand.Imm(0))
	c.JEQ(operand.LabelRef(e.label("bytes")))
	for _, row := range e.acc {
		for b, a := range row {
			c.VMOVUPS(a, e.at(e.out, block, b))
		}
		c.ADDQ(pixel, e.out)
	}
	c.JMP(operand.LabelRef(e.label("done")))
	c.Label(e.label("bytes"))
	scale, zero, none := e.spare[0], e.spare[1], e.spare[2]
	e.broadcast(rOutScale, scale)
	c.VPBROADCASTD(operand.Mem{Base: e.args, Disp: rOutZero}, zero)
	c.VPXORD(none, none, none)
	e.each(func(_ int, a reg.VecPhysical) {
		c.VDIVPS(scale, a, a)
		c.VCVTPS2DQ_RN_SAE(a, a)
		c.VPADDD(zero, a, a)
		c.VPMAXSD(none, a, a)
	})
	for _, row := range e.acc {
		for b, a := range row {
			c.VPMOVUSDB(a, e.at(e.out, block, b))
		}
		c.ADDQ(pixel, e.out)
	}
	c.Label(e.label("done"))
}
