package main

import (
	"strings"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// hasParam reports whether a signature names a parameter.
func hasParam(signature, name string) bool {
	for _, f := range strings.FieldsFunc(signature, func(r rune) bool { return strings.ContainsRune("(), ", r) }) {
		if f == name {
			return true
		}
	}
	return false
}

const blockSignature = "func(dst *byte, src *float32, plane, channels, n int, args *float32)"

// channelWalk moves through the channels of an NCHW tensor, staying at the last one when they end.
type channelWalk struct {
	c                     *build.Context
	at, next, plane, left reg.GPVirtual
}

// newChannelWalk begins at element index of base.
func newChannelWalk(c *build.Context, base, index, plane reg.GPVirtual, channels operand.Op) *channelWalk {
	w := &channelWalk{c: c, at: c.GP64().(reg.GPVirtual), next: c.GP64().(reg.GPVirtual), plane: plane, left: c.GP64().(reg.GPVirtual)}
	c.LEAQ(operand.Mem{Base: base, Index: index, Scale: 4}, w.at)
	c.MOVQ(channels, w.left)
	return w
}

// step goes to the next channel.
func (w *channelWalk) step() {
	w.c.LEAQ(operand.Mem{Base: w.at, Index: w.plane, Scale: 4}, w.next)
	w.c.SUBQ(operand.Imm(1), w.left)
	w.c.CMOVQGT(w.next, w.at)
}

// quantizePixels emits QuantKernel.QuantizePixels: the bytes of four channels meet in the 32-bit lanes.
func quantizePixels(c *build.Context) {
	function(c, "quantizePixelsAVX512", blockSignature,
		"quantizePixelsAVX512 is QuantKernel.QuantizePixels for n pixels, a multiple of 16.")
	q := newQuantiser(c, blockSignature)
	plane := c.Load(c.Param("plane"), c.GP64()).(reg.GPVirtual)
	channels := c.Load(c.Param("channels"), c.GP64()).(reg.GPVirtual)
	c.Label("loop")
	v := q.fourChannels(newChannelWalk(c, q.pointers["src"], q.at, plane, channels))
	c.VMOVDQU32(v, operand.Mem{Base: q.pointers["dst"], Index: q.at, Scale: 4})
	q.endLoop()
}

func (q *quantiser) endLoop() {
	q.c.ADDQ(operand.Imm(16), q.at)
	q.c.CMPQ(q.at, q.n)
	q.c.JLT(operand.LabelRef("loop"))
	q.c.VZEROUPPER()
	q.c.RET()
}

// fourChannels quantises 16 pixels of the next four channels into the four bytes of each lane.
func (q *quantiser) fourChannels(w *channelWalk) reg.VecVirtual {
	c := q.c
	var all reg.VecVirtual
	for i := range 4 {
		v := c.ZMM().(reg.VecVirtual)
		c.VMOVUPS(operand.Mem{Base: w.at}, v)
		w.step()
		q.quantise(v)
		if i == 0 {
			all = v
			continue
		}
		c.VPSLLD(operand.Imm(uint64(8*i)), v, v)
		c.VPORD(v, all, all)
	}
	return all
}

// transpose4 transposes the 4x4 matrix of 32-bit elements in each 128-bit lane of four registers.
func transpose4(c *build.Context, v [4]reg.VecVirtual) [4]reg.VecVirtual {
	var t, out [4]reg.VecVirtual
	for i := range 4 {
		t[i], out[i] = c.ZMM().(reg.VecVirtual), c.ZMM().(reg.VecVirtual)
	}
	c.VPUNPCKLDQ(v[1], v[0], t[0])
	c.VPUNPCKHDQ(v[1], v[0], t[1])
	c.VPUNPCKLDQ(v[3], v[2], t[2])
	c.VPUNPCKHDQ(v[3], v[2], t[3])
	c.VPUNPCKLQDQ(t[2], t[0], out[0])
	c.VPUNPCKHQDQ(t[2], t[0], out[1])
	c.VPUNPCKLQDQ(t[3], t[1], out[2])
	c.VPUNPCKHQDQ(t[3], t[1], out[3])
	return out
}

// quantizeBlock emits QuantKernel.QuantizeBlock: four times four channels, transposed to pixels.
func quantizeBlock(c *build.Context) {
	function(c, "quantizeBlockAVX512", blockSignature,
		"quantizeBlockAVX512 is QuantKernel.QuantizeBlock for n pixels, a multiple of 16.")
	q := newQuantiser(c, blockSignature)
	plane := c.Load(c.Param("plane"), c.GP64()).(reg.GPVirtual)
	channels := c.Load(c.Param("channels"), c.GP64()).(reg.GPVirtual)
	dst := q.pointers["dst"]
	c.Label("loop")
	w := newChannelWalk(c, q.pointers["src"], q.at, plane, channels)
	var quads [4]reg.VecVirtual
	for i := range quads {
		quads[i] = q.fourChannels(w)
	}
	for k, v := range transpose4(c, quads) { // lane l of v is pixel 4*l+k
		c.VMOVDQU32(v.AsX(), operand.Mem{Base: dst, Disp: 16 * k})
		for l := 1; l < 4; l++ {
			c.VEXTRACTI32X4(operand.Imm(uint64(l)), v, operand.Mem{Base: dst, Disp: 16 * (4*l + k)})
		}
	}
	c.ADDQ(operand.U32(256), dst)
	q.endLoop()
}

// dequantizeBlock emits QuantKernel.DequantizeBlock, the way back.
func dequantizeBlock(c *build.Context) {
	const signature = "func(dst *float32, src *byte, plane, channels, n int, args *float32)"
	function(c, "dequantizeBlockAVX512", signature,
		"dequantizeBlockAVX512 is QuantKernel.DequantizeBlock for n pixels, a multiple of 16.")
	q := newQuantiser(c, signature)
	plane := c.Load(c.Param("plane"), c.GP64()).(reg.GPVirtual)
	channels := c.Load(c.Param("channels"), c.GP64()).(reg.GPVirtual)
	src := q.pointers["src"]
	c.Label("loop")
	var pixels [4]reg.VecVirtual
	for k := range pixels {
		v := c.ZMM().(reg.VecVirtual)
		c.VMOVDQU32(operand.Mem{Base: src, Disp: 16 * k}, v.AsX())
		for l := 1; l < 4; l++ {
			c.VINSERTI32X4(operand.Imm(uint64(l)), operand.Mem{Base: src, Disp: 16 * (4*l + k)}, v, v)
		}
		pixels[k] = v
	}
	w := newChannelWalk(c, q.pointers["dst"], q.at, plane, channels)
	for i, quad := range transpose4(c, pixels) { // channels 4*i to 4*i+3 of 16 pixels
		for j := range 4 {
			v := c.ZMM().(reg.VecVirtual)
			c.VPSRLD(operand.Imm(uint64(8*j)), quad, v)
			c.VPANDD(q.top, v, v)
			c.VPXORD(q.constants[aFlipA], v, v)
			q.dequantise(v, aScaleA, aZeroA)
			c.VMOVUPS(v, operand.Mem{Base: w.at})
			if 4*i+j < 15 {
				w.step()
				c.JLE(operand.LabelRef("stored")) // no channel is left
			}
		}
	}
	c.Label("stored")
	c.ADDQ(operand.U32(256), src)
	q.endLoop()
}
