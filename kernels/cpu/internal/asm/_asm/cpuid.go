package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/reg"
)

// cpuid emits the instruction.
func cpuid(c *build.Context) {
	function(c, "cpuid", "func(leaf uint32) (a, b, c, d uint32)", "cpuid is the instruction, of subleaf 0.")
	c.Load(c.Param("leaf"), reg.EAX)
	c.XORL(reg.ECX, reg.ECX)
	c.CPUID()
	for i, r := range []reg.Register{reg.EAX, reg.EBX, reg.ECX, reg.EDX} {
		c.Store(r, c.ReturnIndex(i))
	}
	c.RET()
}
