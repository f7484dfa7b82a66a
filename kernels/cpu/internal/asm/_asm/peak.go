package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
)

// peak emits the loops that measure what the core can do at most: with more independent accumulators than latency times
// issue width on every CPU with two ports for them.
func peak(c *build.Context) {
	peakFMA(c, avx512, 24)
	peakFMA(c, avx2, 12)
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
