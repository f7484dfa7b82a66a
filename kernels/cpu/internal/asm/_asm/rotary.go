package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rotary emits the turn of heads whose pairs are in two halves.
func rotary(c *build.Context) {
	for _, set := range []*isa{avx512, avx2} {
		turn(c, set)
	}
}

// turn emits loops over heads and over the pairs of one, 16 at a time.
func turn(c *build.Context, set *isa) {
	name := "turn" + set.name
	function(c, name, "func(dst, src, cos, sin *float32, n, half, size, heads int)",
		name+" turns the first n > 0 pairs of heads > 0 heads, n a multiple of 16; see RotaryKernel.")
	gp := func(name string) reg.GPVirtual { return c.Load(c.Param(name), c.GP64()).(reg.GPVirtual) }
	dst, src, cos, sin := gp("dst"), gp("src"), gp("cos"), gp("sin")
	n, half, size, heads := gp("n"), gp("half"), gp("size"), gp("heads")
	for _, bytes := range []reg.GPVirtual{n, half, size} {
		c.SHLQ(operand.Imm(2), bytes)
	}
	first, second, at := c.GP64(), c.GP64(), c.GP64().(reg.GPVirtual)
	c.Label("head")
	c.LEAQ(operand.Mem{Base: src, Index: half, Scale: 1}, first)
	c.LEAQ(operand.Mem{Base: dst, Index: half, Scale: 1}, second)
	c.XORQ(at, at)
	c.Label("pairs")
	r := set.regs
	for p := range set.parts() {
		place := func(base reg.Register) operand.Mem {
			return operand.Mem{Base: base, Index: at, Scale: 1, Disp: p * set.width}
		}
		c.VMOVUPS(place(src), r[0])
		c.VMOVUPS(place(first), r[1])
		c.VMOVUPS(place(cos), r[2])
		c.VMOVUPS(place(sin), r[3])
		c.VMULPS(r[2], r[0], r[4])
		c.VMULPS(r[3], r[1], r[5])
		c.VMULPS(r[3], r[0], r[6])
		c.VMULPS(r[2], r[1], r[7])
		c.VSUBPS(r[5], r[4], r[4])
		c.VADDPS(r[7], r[6], r[6])
		c.VMOVUPS(r[4], place(dst))
		c.VMOVUPS(r[6], place(second))
	}
	c.ADDQ(operand.Imm(lane), at)
	c.CMPQ(at, n)
	c.JLT(operand.LabelRef("pairs"))
	c.ADDQ(size, src)
	c.ADDQ(size, dst)
	c.SUBQ(operand.Imm(1), heads)
	c.JNE(operand.LabelRef("head"))
	c.VZEROUPPER()
	c.RET()
}
