package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// mapBytes emits the look-up of bytes in a table of 256, a register of them at a time: in each sixteenth of the table by VPSHUFB, which
// takes what it is not to look up, with the highest bit set, for zero.
func mapBytes(c *build.Context, set *isa) {
	function(c, "mapBytes"+set.name, "func(dst, src *byte, n int, table *byte)", "mapBytes"+set.name+" is QuantKernel.Map for n bytes, a multiple of 64.")
	gp := func(param string) reg.GPVirtual { return c.Load(c.Param(param), c.GP64()).(reg.GPVirtual) }
	dst, src, n, table := gp("dst"), gp("src"), gp("n"), gp("table")
	splat := func(b uint32) reg.VecVirtual {
		v, at := set.register(c), c.GP32()
		c.MOVL(operand.U32(b*0x01010101), at)
		if set == avx512 {
			c.VPBROADCASTD(at, v)
			return v
		}
		x := c.XMM()
		c.VMOVD(at, x)
		c.VPBROADCASTD(x, v)
		return v
	}
	sixteen, beyond := splat(0x10), splat(0x70)
	part := func(i int) operand.Mem { return operand.Mem{Base: table, Disp: 16 * i} }
	var parts []reg.VecVirtual
	for i := 0; i < 16 && set == avx512; i++ {
		parts = append(parts, set.register(c))
		c.VBROADCASTI32X4(part(i), parts[i])
	}
	c.Label("loop")
	index, found, result := set.register(c), set.register(c), set.register(c)
	if set == avx512 {
		c.VMOVDQU32(operand.Mem{Base: src}, index)
	} else {
		c.VMOVDQU(operand.Mem{Base: src}, index)
	}
	set.zero(c, result)
	for i := range 16 {
		c.VPADDUSB(beyond, index, found) // 0x70 to 0x7f for what is in this part, and beyond 0x7f for all else
		if set == avx512 {
			c.VPSHUFB(found, parts[i], found)
			c.VPORD(found, result, result)
		} else {
			p := set.register(c)
			c.VBROADCASTI128(part(i), p)
			c.VPSHUFB(found, p, found)
			c.VPOR(found, result, result)
		}
		c.VPSUBB(sixteen, index, index)
	}
	if set == avx512 {
		c.VMOVDQU32(result, operand.Mem{Base: dst})
	} else {
		c.VMOVDQU(result, operand.Mem{Base: dst})
	}
	c.ADDQ(operand.Imm(uint64(set.width)), src)
	c.ADDQ(operand.Imm(uint64(set.width)), dst)
	c.SUBQ(operand.Imm(uint64(set.width)), n)
	c.JNE(operand.LabelRef("loop"))
	c.VZEROUPPER()
	c.RET()
}
