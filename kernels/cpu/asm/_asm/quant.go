package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Byte offsets of the fields of asm.quantArgs.
const (
	aScaleA, aZeroA, aScaleB, aZeroB = 0, 4, 8, 12
	aLow, aHigh, aScale, aZero       = 16, 20, 24, 28
	aFlipA, aFlipB, aFlip            = 32, 36, 40
)

// quant emits the conversions between float32 and bytes, 16 elements at a time.
func quant(c *build.Context) {
	quantLoop(c, "quantizeAVX512", "func(dst *byte, src *float32, n int, args *float32)",
		"quantizeAVX512 is QuantKernel.Quantize for n elements, a multiple of 16.",
		func(q *quantiser) {
			v := q.loadFloats("src")
			q.quantise(v)
			q.storeBytes(v)
		})
	quantLoop(c, "dequantizeAVX512", "func(dst *float32, src *byte, n int, args *float32)",
		"dequantizeAVX512 is QuantKernel.Dequantize for n elements, a multiple of 16.",
		func(q *quantiser) {
			v := q.loadBytes("src", aFlipA)
			q.dequantise(v, aScaleA, aZeroA)
			q.storeFloats(v)
		})
	quantLoop(c, "requantizeAVX512", "func(dst, src *byte, n int, args *float32)",
		"requantizeAVX512 is QuantKernel.Requantize for n elements, a multiple of 16.",
		func(q *quantiser) {
			v := q.loadBytes("src", aFlipA)
			q.dequantise(v, aScaleA, aZeroA)
			q.quantise(v)
			q.storeBytes(v)
		})
	quantLoop(c, "addBytesAVX512", "func(dst, a, b *byte, n int, args *float32)",
		"addBytesAVX512 is QuantKernel.Add for n elements, a multiple of 16.",
		func(q *quantiser) {
			v, w := q.loadBytes("a", aFlipA), q.loadBytes("b", aFlipB)
			q.dequantise(v, aScaleA, aZeroA)
			q.dequantise(w, aScaleB, aZeroB)
			c.VADDPS(w, v, v)
			q.quantise(v)
			q.storeBytes(v)
		})
	quantizePixels(c)
	quantizeBlock(c)
	dequantizeBlock(c)
}

// quantiser emits the pieces of one function: constants are loaded on first use, before the loop.
type quantiser struct {
	c         *build.Context
	args, n   reg.GPVirtual
	pointers  map[string]reg.GPVirtual
	constants map[int]reg.VecVirtual
	none, top reg.VecVirtual
	at        reg.GPVirtual // elements done
}

// quantLoop emits a function whose body handles 16 elements; it is emitted once for its constants, in the
// head, and once in the loop.
func quantLoop(c *build.Context, name, signature, doc string, body func(*quantiser)) {
	function(c, name, signature, doc)
	q := newQuantiser(c, signature)
	c.Label("loop")
	body(q)
	c.ADDQ(operand.Imm(16), q.at)
	c.CMPQ(q.at, q.n)
	c.JLT(operand.LabelRef("loop"))
	c.VZEROUPPER()
	c.RET()
}

// newQuantiser loads the pointers and every constant.
func newQuantiser(c *build.Context, signature string) *quantiser {
	q := &quantiser{c: c, pointers: map[string]reg.GPVirtual{}, constants: map[int]reg.VecVirtual{}}
	q.args = c.Load(c.Param("args"), c.GP64()).(reg.GPVirtual)
	q.n = c.Load(c.Param("n"), c.GP64()).(reg.GPVirtual)
	for _, name := range []string{"dst", "src", "a", "b"} {
		if hasParam(signature, name) {
			q.pointers[name] = c.Load(c.Param(name), c.GP64()).(reg.GPVirtual)
		}
	}
	for offset := aScaleA; offset <= aFlip; offset += 4 {
		v := c.ZMM().(reg.VecVirtual)
		c.VPBROADCASTD(operand.Mem{Base: q.args, Disp: offset}, v)
		q.constants[offset] = v
	}
	q.none, q.top = c.ZMM().(reg.VecVirtual), c.ZMM().(reg.VecVirtual)
	c.VPXORD(q.none, q.none, q.none)
	c.VPTERNLOGD(operand.Imm(0xff), q.top, q.top, q.top)
	c.VPSRLD(operand.Imm(24), q.top, q.top) // 255
	q.at = c.GP64().(reg.GPVirtual)
	c.XORQ(q.at, q.at)
	return q
}

func (q *quantiser) loadFloats(name string) reg.VecVirtual {
	v := q.c.ZMM().(reg.VecVirtual)
	q.c.VMOVUPS(operand.Mem{Base: q.pointers[name], Index: q.at, Scale: 4}, v)
	return v
}

// loadBytes loads 16 bytes as unsigned integers.
func (q *quantiser) loadBytes(name string, flip int) reg.VecVirtual {
	v := q.c.ZMM().(reg.VecVirtual)
	q.c.VPMOVZXBD(operand.Mem{Base: q.pointers[name], Index: q.at, Scale: 1}, v)
	q.c.VPXORD(q.constants[flip], v, v)
	return v
}

// dequantise turns unsigned integers into real values.
func (q *quantiser) dequantise(v reg.VecVirtual, scale, zero int) {
	q.c.VCVTDQ2PS(v, v)
	q.c.VSUBPS(q.constants[zero], v, v)
	q.c.VMULPS(q.constants[scale], v, v)
}

// quantise turns real values into the destination's bytes, one in each 32-bit lane.
func (q *quantiser) quantise(v reg.VecVirtual) {
	c := q.c
	c.VMAXPS(v, q.constants[aLow], v)
	c.VMINPS(v, q.constants[aHigh], v)
	c.VDIVPS(q.constants[aScale], v, v)
	c.VCVTPS2DQ_RN_SAE(v, v)
	c.VPADDD(q.constants[aZero], v, v)
	c.VPMAXSD(q.none, v, v)
	c.VPMINSD(q.top, v, v)
	c.VPXORD(q.constants[aFlip], v, v)
}

func (q *quantiser) storeBytes(v reg.VecVirtual) {
	q.c.VPMOVDB(v, operand.Mem{Base: q.pointers["dst"], Index: q.at, Scale: 1})
}

func (q *quantiser) storeFloats(v reg.VecVirtual) {
	q.c.VMOVUPS(v, operand.Mem{Base: q.pointers["dst"], Index: q.at, Scale: 4})
}
