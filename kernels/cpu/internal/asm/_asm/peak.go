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
	peakDot(c, 24)
	peakTiles(c)
	for _, d := range dots(c, "peak") {
		peakNarrowDot(c, d)
	}
	peakRead(c, avx512)
	peakRead(c, avx2)
}

// peakRead emits the loop that reads memory, some lines of each of several parts in turn: parts that follow each other are read in one run.
func peakRead(c *build.Context, set *isa) {
	name := "peakRead" + set.name
	function(c, name, "func(p *byte, part int)", fmt.Sprintf("%s reads %d*part bytes; part is a multiple of %d.", name, streams, readTurn))
	p, part := c.Load(c.Param("p"), c.GP64()).(reg.GPVirtual), c.Load(c.Param("part"), c.GP64()).(reg.GPVirtual)
	at, left := []reg.GPVirtual{p}, c.GP64().(reg.GPVirtual)
	c.MOVQ(part, left)
	for i := 1; i < streams; i++ {
		next := c.GP64().(reg.GPVirtual)
		c.LEAQ(operand.Mem{Base: at[i-1], Index: part, Scale: 1}, next)
		at = append(at, next)
	}
	c.Label("loop")
	for _, base := range at {
		for v := range readTurn / set.width {
			c.VMOVUPS(operand.Mem{Base: base, Disp: v * set.width}, set.regs[v%len(set.regs)])
		}
		c.ADDQ(operand.U32(readTurn), base)
	}
	c.SUBQ(operand.U32(readTurn), left)
	c.JNE(operand.LabelRef("loop"))
	c.VZEROUPPER()
	c.RET()
}

// readTurn is the bytes that are read at one place before it is the next one's turn.
const readTurn = 8 * lane

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

// peakDot emits the loop of VPDPBUSD on registers of 64 bytes.
func peakDot(c *build.Context, chains int) {
	function(c, "peakDotAVX512VNNI", "func(n int)", fmt.Sprintf("peakDotAVX512VNNI issues %d*n independent VPDPBUSD on registers of 64 bytes.", chains))
	n := c.Load(c.Param("n"), c.GP64())
	acc, a, b := zmm[:chains], zmm[chains], zmm[chains+1]
	for _, v := range zmm[:chains+2] {
		avx512.zero(c, v)
	}
	c.Label("loop")
	for _, v := range acc {
		c.VPDPBUSD(a, b, v)
	}
	c.SUBQ(operand.Imm(1), n)
	c.JNE(operand.LabelRef("loop"))
	c.VZEROUPPER()
	c.RET()
}

// peakTiles emits the loop of TDPBUSD: four sums of all products of two registers by two.
func peakTiles(c *build.Context) {
	function(c, "peakDotAMX", "func(n int, config *byte)", "peakDotAMX issues 4*n independent TDPBUSD on registers of 16 rows of 64 bytes.")
	n := c.Load(c.Param("n"), c.GP64())
	c.Load(c.Param("config"), tileInputs)
	tile(c, "LDTILECFG (DI)", tilePrefix, 0x49, 7, nil, tileInputs)
	for t := range tileRegisters {
		tileZero(c, t)
	}
	c.Label("loop")
	for acc := range 4 {
		tileMultiply(c, tileSums+acc, tileIn+acc%2, tileOf+acc/2)
	}
	c.SUBQ(operand.Imm(1), n)
	c.JNE(operand.LabelRef("loop"))
	tileRelease(c)
	c.RET()
}

// narrowChains is how many sums of products of bytes the loop on registers of 32 bytes has.
const narrowChains = 10

// peakNarrowDot emits the loop of products of bytes on registers of 32 bytes.
func peakNarrowDot(c *build.Context, d dot) {
	name := "peakDot" + d.name()
	function(c, name, "func(n int)", fmt.Sprintf("%s adds %d*n registers of 32 products of bytes.", name, narrowChains))
	n := c.Load(c.Param("n"), c.GP64())
	acc, x, w, one, t := ymm[:narrowChains], ymm[10], ymm[11], ymm[12], ymm[13]
	for _, v := range ymm {
		avx2.zero(c, v)
	}
	c.Label("loop")
	for _, v := range acc {
		if d.vnni {
			vpdpbusd(c, w, x, v)
			continue
		}
		addFours(c, x, w, one, t, v)
	}
	c.SUBQ(operand.Imm(1), n)
	c.JNE(operand.LabelRef("loop"))
	c.VZEROUPPER()
	c.RET()
}
