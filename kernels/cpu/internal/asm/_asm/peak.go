package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// peak emits the loops that measure what the core can do at most: with more independent accumulators than latency times
// issue width on every CPU with two ports for them.
func peak(c *build.Context) {
	peakFMA(c, avx512, 24)
	peakFMA(c, avx2, 12)
	peakRead(c, avx512)
	peakRead(c, avx2)
}

// readStreams is in how many places memory is read side by side.
const readStreams = 4

// peakRead emits the loop that reads memory, a line of each of several quarters in turn.
func peakRead(c *build.Context, set *isa) {
	name := "peakRead" + set.name
	function(c, name, "func(p *byte, quarter int)", fmt.Sprintf("%s reads 4*quarter bytes, a multiple of 4*64.", name))
	p, quarter := c.Load(c.Param("p"), c.GP64()).(reg.GPVirtual), c.Load(c.Param("quarter"), c.GP64()).(reg.GPVirtual)
	at, left := []reg.GPVirtual{p}, c.GP64().(reg.GPVirtual)
	c.MOVQ(quarter, left)
	for i := 1; i < readStreams; i++ {
		next := c.GP64().(reg.GPVirtual)
		c.LEAQ(operand.Mem{Base: at[i-1], Index: quarter, Scale: 1}, next)
		at = append(at, next)
	}
	c.Label("loop")
	for i, base := range at {
		for v := range lane / set.width {
			c.VMOVUPS(operand.Mem{Base: base, Disp: v * set.width}, set.regs[i*lane/set.width+v])
		}
		c.ADDQ(operand.Imm(lane), base)
	}
	c.SUBQ(operand.Imm(lane), left)
	c.JNE(operand.LabelRef("loop"))
	c.VZEROUPPER()
	c.RET()
}

func peakFMA(c *build.Context, set *isa, chains int) {
	name := "peakFMA" + set.name
	function(c, name, "func(n int)", fmt.Sprintf("%s issues %d*n independent VFMADD231PS on registers of %d bytes.", name, chains, set.width))
	n := c.Load(c.Param("n"), c.GP64())
	acc, a, b := set.regs[:chains], set.regs[chains], set.regs[chains+1]
	for _, v := range set.regs[:chains+2] {
		set.zero(c, v)
	}
	c.Label("loop")
	for _, v := range acc {
		c.VFMADD231PS(a, b, v)
	}
	c.SUBQ(operand.Imm(1), n)
	c.JNE(operand.LabelRef("loop"))
	c.VZEROUPPER()
	c.RET()
}
