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
	size                  uint8 // of an element
}

// newChannelWalk begins at element index of base.
func newChannelWalk(c *build.Context, base, index, plane reg.GPVirtual, channels operand.Op, size uint8) *channelWalk {
	w := &channelWalk{c: c, at: c.GP64().(reg.GPVirtual), next: c.GP64().(reg.GPVirtual), plane: plane, left: c.GP64().(reg.GPVirtual), size: size}
	c.LEAQ(operand.Mem{Base: base, Index: index, Scale: size}, w.at)
	c.MOVQ(channels, w.left)
	return w
}

// step goes to the next channel.
func (w *channelWalk) step() {
	w.c.LEAQ(operand.Mem{Base: w.at, Index: w.plane, Scale: w.size}, w.next)
	w.c.SUBQ(operand.Imm(1), w.left)
	w.c.CMOVQGT(w.next, w.at)
}

// blockFunction starts a function of pixels.
func blockFunction(c *build.Context, set *isa, name, signature, method string) (q *quantiser, plane, channels reg.GPVirtual) {
	name += set.name
	function(c, name, signature, name+" is QuantKernel."+method+" for n pixels, a multiple of 16.")
	q = newQuantiser(c, set, signature)
	return q, c.Load(c.Param("plane"), c.GP64()).(reg.GPVirtual), c.Load(c.Param("channels"), c.GP64()).(reg.GPVirtual)
}

// quantizePixels emits QuantKernel.QuantizePixels: the bytes of four channels meet in the 32-bit lanes.
func quantizePixels(c *build.Context, set *isa) {
	q, plane, channels := blockFunction(c, set, "quantizePixels", blockSignature, "QuantizePixels")
	c.Label("loop")
	v := q.fourChannels(newChannelWalk(c, q.pointers["src"], q.at, plane, channels, 4))
	c.VMOVUPS(v, operand.Mem{Base: q.pointers["dst"], Index: q.at, Scale: 4})
	q.endLoop()
}

func (q *quantiser) endLoop() {
	q.c.ADDQ(operand.Imm(uint64(q.elements())), q.at)
	q.c.CMPQ(q.at, q.n)
	q.c.JLT(operand.LabelRef("loop"))
	q.c.VZEROUPPER()
	q.c.RET()
}

// fourChannels quantises a register of pixels of the next four channels into the four bytes of each lane.
func (q *quantiser) fourChannels(w *channelWalk) reg.VecVirtual {
	c := q.c
	var all reg.VecVirtual
	for i := range 4 {
		v := q.register()
		c.VMOVUPS(operand.Mem{Base: w.at}, v)
		w.step()
		q.quantise(v)
		if i == 0 {
			all = v
			continue
		}
		q.isa.joinByte(c, all, v, i)
	}
	return all
}

// joinByte puts the bytes in the 32-bit lanes of v into byte i of those of all.
func (s *isa) joinByte(c *build.Context, all, v reg.VecVirtual, i int) {
	c.VPSLLD(operand.Imm(uint64(8*i)), v, v)
	if s == avx512 {
		c.VPORD(v, all, all)
	} else {
		c.VPOR(v, all, all)
	}
}

// joinPixels emits QuantKernel.Pixels: a register of pixels at a time.
func joinPixels(c *build.Context, set *isa) {
	name := "joinPixels" + set.name
	function(c, name, "func(dst, src *byte, plane, channels, n int, flip uint32)", name+" is QuantKernel.Pixels for n pixels, a multiple of 16.")
	gp := func(name string) reg.GPVirtual { return c.Load(c.Param(name), c.GP64()).(reg.GPVirtual) }
	dst, src, plane, channels, n := gp("dst"), gp("src"), gp("plane"), gp("channels"), gp("n")
	flip, at := set.register(c), c.GP64().(reg.GPVirtual)
	c.VMOVD(c.Load(c.Param("flip"), c.GP32()), flip.AsX())
	c.VPBROADCASTD(flip.AsX(), flip)
	c.XORQ(at, at)
	c.Label("loop")
	w := newChannelWalk(c, src, at, plane, channels, 1)
	var all reg.VecVirtual
	for i := range 4 {
		v := set.register(c)
		c.VPMOVZXBD(operand.Mem{Base: w.at}, v)
		w.step()
		if i == 0 {
			all = v
			continue
		}
		set.joinByte(c, all, v, i)
	}
	if set == avx512 {
		c.VPXORD(flip, all, all)
	} else {
		c.VPXOR(flip, all, all)
	}
	c.VMOVUPS(all, operand.Mem{Base: dst, Index: at, Scale: 4})
	c.ADDQ(operand.Imm(uint64(set.width/4)), at)
	c.CMPQ(at, n)
	c.JLT(operand.LabelRef("loop"))
	c.VZEROUPPER()
	c.RET()
}

// transpose4 transposes the 4x4 matrix of 32-bit elements in each 128-bit lane of four registers.
func (q *quantiser) transpose4(v [4]reg.VecVirtual) [4]reg.VecVirtual {
	c := q.c
	var t, out [4]reg.VecVirtual
	for i := range 4 {
		t[i], out[i] = q.register(), q.register()
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
func quantizeBlock(c *build.Context, set *isa) {
	q, plane, channels := blockFunction(c, set, "quantizeBlock", blockSignature, "QuantizeBlock")
	dst := q.pointers["dst"]
	c.Label("loop")
	w := newChannelWalk(c, q.pointers["src"], q.at, plane, channels, 4)
	var quads [4]reg.VecVirtual
	for i := range quads {
		quads[i] = q.fourChannels(w)
	}
	for k, v := range q.transpose4(quads) { // 128-bit lane l of v is pixel 4*l+k
		c.VMOVUPS(v.AsX(), operand.Mem{Base: dst, Disp: 16 * k})
		for l := 1; l < q.elements()/4; l++ {
			at := operand.Mem{Base: dst, Disp: 16 * (4*l + k)}
			if set == avx512 {
				c.VEXTRACTI32X4(operand.Imm(uint64(l)), v, at)
			} else {
				c.VEXTRACTI128(operand.Imm(uint64(l)), v, at)
			}
		}
	}
	c.ADDQ(operand.U32(uint32(16*q.elements())), dst)
	q.endLoop()
}

// dequantizeBlock emits QuantKernel.DequantizeBlock, the way back.
func dequantizeBlock(c *build.Context, set *isa) {
	q, plane, channels := blockFunction(c, set, "dequantizeBlock",
		"func(dst *float32, src *byte, plane, channels, n int, args *float32)", "DequantizeBlock")
	src := q.pointers["src"]
	c.Label("loop")
	var pixels [4]reg.VecVirtual
	for k := range pixels {
		v := q.register()
		c.VMOVUPS(operand.Mem{Base: src, Disp: 16 * k}, v.AsX())
		for l := 1; l < q.elements()/4; l++ {
			at := operand.Mem{Base: src, Disp: 16 * (4*l + k)}
			if set == avx512 {
				c.VINSERTI32X4(operand.Imm(uint64(l)), at, v, v)
			} else {
				c.VINSERTI128(operand.Imm(uint64(l)), at, v, v)
			}
		}
		pixels[k] = v
	}
	w := newChannelWalk(c, q.pointers["dst"], q.at, plane, channels, 4)
	for i, quad := range q.transpose4(pixels) { // channels 4*i to 4*i+3 of the pixels
		for j := range 4 {
			v := q.register()
			c.VPSRLD(operand.Imm(uint64(8*j)), quad, v)
			c.VANDPS(q.top, v, v)
			q.flip(aFlipA, v)
			q.dequantise(v, aScaleA, aZeroA)
			c.VMOVUPS(v, operand.Mem{Base: w.at})
			if 4*i+j < 15 {
				w.step()
				c.JLE(operand.LabelRef("stored")) // no channel is left
			}
		}
	}
	c.Label("stored")
	c.ADDQ(operand.U32(uint32(16*q.elements())), src)
	q.endLoop()
}
