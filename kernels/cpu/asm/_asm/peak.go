package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// peakChains is the number of independent accumulators: more than latency times issue width on every
// CPU with two 512-bit FMA ports.
const peakChains = 24

// peak emits the loops that measure what the core can do at most.
func peak(c *build.Context) {
	function(c, "peakFMAAVX512", "func(n int)",
		"peakFMAAVX512 issues 24*n independent VFMADD231PS on ZMM registers.")
	n := c.Load(c.Param("n"), c.GP64())
	var acc [peakChains]reg.VecVirtual
	for i := range acc {
		acc[i] = c.ZMM()
		c.VPXORD(acc[i], acc[i], acc[i])
	}
	a, b := c.ZMM(), c.ZMM()
	c.VPXORD(a, a, a)
	c.VPXORD(b, b, b)
	c.Label("loop")
	for i := range acc {
		c.VFMADD231PS(a, b, acc[i])
	}
	c.SUBQ(operand.Imm(1), n)
	c.JNE(operand.LabelRef("loop"))
	c.VZEROUPPER()
	c.RET()
}
