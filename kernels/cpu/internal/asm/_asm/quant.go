package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Byte offsets of the fields of asm.quantArgs.
const (
	aScaleA, aZeroA, aScaleB, aZeroB = 0, 4, 8, 12
	aLow, aHigh, aScale, aZero       = 16, 20, 24, 28
	aFlipA, aFlipB, aFlip, aInverse  = 32, 36, 40, 44
	aInverseLow                      = 48
)

// quant emits the conversions between float32 and bytes, 16 or 8 elements at a time.
func quant(c *build.Context) {
	for _, set := range []*isa{avx512, avx2} {
		quantSlices(c, set)
		mapBytes(c, set)
		quantizePixels(c, set)
		joinPixels(c, set)
		quantizeBlock(c, set)
		dequantizeBlock(c, set)
	}
}

// quantSlices emits the conversions of slices.
func quantSlices(c *build.Context, set *isa) {
	quantLoop(c, set, "quantize", "func(dst *byte, src *float32, n int, args *float32)", "Quantize",
		func(q *quantiser) {
			v := q.loadFloats("src")
			q.quantise(v)
			q.storeBytes(v)
		})
	quantLoop(c, set, "dequantize", "func(dst *float32, src *byte, n int, args *float32)", "Dequantize",
		func(q *quantiser) {
			v := q.loadBytes("src", aFlipA)
			q.dequantise(v, aScaleA, aZeroA)
			q.storeFloats(v)
		})
	quantLoop(c, set, "requantize", "func(dst, src *byte, n int, args *float32)", "Requantize",
		func(q *quantiser) {
			v := q.loadBytes("src", aFlipA)
			q.dequantise(v, aScaleA, aZeroA)
			q.quantise(v)
			q.storeBytes(v)
		})
	quantLoop(c, set, "addBytes", "func(dst, a, b *byte, n int, args *float32)", "Add",
		func(q *quantiser) {
			v, w := q.loadBytes("a", aFlipA), q.loadBytes("b", aFlipB)
			q.dequantise(v, aScaleA, aZeroA)
			q.dequantise(w, aScaleB, aZeroB)
			c.VADDPS(w, v, v)
			q.quantise(v)
			q.storeBytes(v)
		})
}

// quantiser emits the pieces of one function; every constant is loaded before the loop.
type quantiser struct {
	c         *build.Context
	isa       *isa
	args, n   reg.GPVirtual
	pointers  map[string]reg.GPVirtual
	constants map[int]reg.VecVirtual
	top       reg.VecVirtual // the low byte of each 32-bit lane
	at        reg.GPVirtual  // elements done
}

// quantLoop emits a function whose body handles one register of elements.
func quantLoop(c *build.Context, set *isa, name, signature, method string, body func(*quantiser)) {
	name += set.name
	function(c, name, signature, fmt.Sprintf("%s is QuantKernel.%s for n elements, a multiple of 16.", name, method))
	q := newQuantiser(c, set, signature)
	c.Label("loop")
	body(q)
	q.endLoop()
}

// newQuantiser loads the pointers and every constant.
func newQuantiser(c *build.Context, set *isa, signature string) *quantiser {
	q := &quantiser{c: c, isa: set, pointers: map[string]reg.GPVirtual{}, constants: map[int]reg.VecVirtual{}}
	q.args = c.Load(c.Param("args"), c.GP64()).(reg.GPVirtual)
	q.n = c.Load(c.Param("n"), c.GP64()).(reg.GPVirtual)
	for _, name := range []string{"dst", "src", "a", "b"} {
		if hasParam(signature, name) {
			q.pointers[name] = c.Load(c.Param(name), c.GP64()).(reg.GPVirtual)
		}
	}
	for offset := aScaleA; offset <= aInverseLow; offset += 4 {
		v := q.register()
		c.VPBROADCASTD(operand.Mem{Base: q.args, Disp: offset}, v)
		q.constants[offset] = v
	}
	q.top = q.register()
	if set == avx512 {
		c.VPTERNLOGD(operand.Imm(0xff), q.top, q.top, q.top)
	} else {
		c.VPCMPEQD(q.top, q.top, q.top)
	}
	c.VPSRLD(operand.Imm(24), q.top, q.top) // 255
	q.at = c.GP64().(reg.GPVirtual)
	c.XORQ(q.at, q.at)
	return q
}

// elements is the number of elements in a register.
func (q *quantiser) elements() int { return q.isa.width / 4 }

func (q *quantiser) register() reg.VecVirtual { return q.isa.register(q.c) }

// flip exchanges the signs of bytes, one in each 32-bit lane.
func (q *quantiser) flip(offset int, v reg.VecVirtual) {
	if q.isa == avx512 {
		q.c.VPXORD(q.constants[offset], v, v)
	} else {
		q.c.VPXOR(q.constants[offset], v, v)
	}
}

func (q *quantiser) loadFloats(name string) reg.VecVirtual {
	v := q.register()
	q.c.VMOVUPS(operand.Mem{Base: q.pointers[name], Index: q.at, Scale: 4}, v)
	return v
}

// loadBytes loads 16 bytes as unsigned integers.
func (q *quantiser) loadBytes(name string, flip int) reg.VecVirtual {
	v := q.register()
	q.c.VPMOVZXBD(operand.Mem{Base: q.pointers[name], Index: q.at, Scale: 1}, v)
	q.flip(flip, v)
	return v
}

// dequantise turns unsigned integers into real values.
func (q *quantiser) dequantise(v reg.VecVirtual, scale, zero int) {
	q.c.VCVTDQ2PS(v, v)
	q.c.VSUBPS(q.constants[zero], v, v)
	q.c.VMULPS(q.constants[scale], v, v)
}

// quantise turns real values into the destination's bytes, one in each 32-bit lane. The limits are within what bytes stand for,
// so that the low bits of the integer are the byte. NaN becomes an integer whose low bits are 0, and so the zero point.
func (q *quantiser) quantise(v reg.VecVirtual) {
	c := q.c
	c.VMAXPS(v, q.constants[aLow], v)
	c.VMINPS(v, q.constants[aHigh], v)
	if q.isa == avx512 {
		divideBy(c, q.constants[aScale], q.constants[aInverse], q.constants[aInverseLow], v, q.register())
	} else {
		c.VDIVPS(q.constants[aScale], v, v)
	}
	toInteger(c, q.isa, v)
	c.VPADDD(q.constants[aZero], v, v)
	if q.isa == avx512 {
		const lowFlipped = 0x6a // v and the second, exclusive or the third
		c.VPTERNLOGD(operand.Imm(lowFlipped), q.constants[aFlip], q.top, v)
		return
	}
	c.VPAND(q.top, v, v)
	q.flip(aFlip, v)
}

func (q *quantiser) storeBytes(v reg.VecVirtual) {
	c, to := q.c, operand.Mem{Base: q.pointers["dst"], Index: q.at, Scale: 1}
	if q.isa == avx512 {
		c.VPMOVDB(v, to)
		return
	}
	storeSaturated8(c, v, v.AsX(), c.XMM(), to)
}

func (q *quantiser) storeFloats(v reg.VecVirtual) {
	q.c.VMOVUPS(v, operand.Mem{Base: q.pointers["dst"], Index: q.at, Scale: 4})
}
