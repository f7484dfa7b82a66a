package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// layout emits the transpositions between planes and vectors of 16 channels.
func layout(c *build.Context) {
	function(c, "interleaveAVX512", "func(dst *float32, step int, src *float32, stride, rows, n int)",
		"interleaveAVX512 sets dst[i*step+r] = src[r*stride+i] for r < rows <= 16, i < n, and zero for the other r < 16.")
	interleave(c)
	function(c, "deinterleaveAVX512", "func(dst *float32, stride int, src *float32, step, rows, n int)",
		"deinterleaveAVX512 sets dst[r*stride+i] = src[i*step+r] for r < rows <= 16, i < n.")
	deinterleave(c)
	copyMasked(c)
	layoutAVX2(c)
	for _, set := range []*isa{avx512, avx2} {
		gather(c, set)
	}
	evens(c)
	zip(c)
}

// transpose16 transposes the 16x16 matrix of the rows zmm[0:16] in place, by pairs of elements, by pairs of
// pairs, and by quarters twice. It overwrites zmm[16:32].
func transpose16(c *build.Context) {
	r, t := zmm[:16], zmm[16:]
	for i := 0; i < 16; i += 2 {
		c.VUNPCKLPS(r[i+1], r[i], t[i])
		c.VUNPCKHPS(r[i+1], r[i], t[i+1])
	}
	// Row 4g+k of r now gets elements k, 4+k, 8+k, 12+k of rows 4g..4g+3.
	for g := 0; g < 16; g += 4 {
		c.VUNPCKLPD(t[g+2], t[g], r[g])
		c.VUNPCKHPD(t[g+2], t[g], r[g+1])
		c.VUNPCKLPD(t[g+3], t[g+1], r[g+2])
		c.VUNPCKHPD(t[g+3], t[g+1], r[g+3])
	}
	for k := range 4 {
		for half := range 2 {
			a, b := r[8*half+k], r[8*half+4+k]
			c.VSHUFF32X4(operand.Imm(0x88), b, a, t[8*half+k])
			c.VSHUFF32X4(operand.Imm(0xdd), b, a, t[8*half+4+k])
		}
	}
	for k := range 4 {
		for odd := range 2 {
			low, high := t[4*odd+k], t[8+4*odd+k]
			c.VSHUFF32X4(operand.Imm(0x88), high, low, r[4*odd+k])
			c.VSHUFF32X4(operand.Imm(0xdd), high, low, r[8+4*odd+k])
		}
	}
}

// columnMask sets K1 to the lanes of the columns that are left, at most 16.
func columnMask(c *build.Context, left reg.GPVirtual) {
	all, mask := c.GP64(), c.GP64()
	c.MOVQ(left, mask)
	c.MOVQ(operand.U32(16), all)
	c.CMPQ(mask, all)
	c.CMOVQGT(all, mask)
	c.MOVQ(operand.I32(-1), all)
	c.BZHIQ(mask, all, all)
	c.KMOVW(all.(reg.GPVirtual).As32(), reg.K1)
}

// each calls f for rows 0 to 15 with a pointer that advances by stride bytes, leaving at row count.
func each(c *build.Context, label string, base, stride, count reg.GPVirtual, f func(i int, at operand.Mem)) {
	at := c.GP64().(reg.GPVirtual)
	c.MOVQ(base, at)
	for i := range 16 {
		if i > 0 {
			c.CMPQ(count, operand.Imm(uint64(i)))
			c.JLE(operand.LabelRef(label))
			c.ADDQ(stride, at)
		}
		f(i, operand.Mem{Base: at})
	}
	c.Label(label)
}

func interleave(c *build.Context) {
	gp := func(name string) reg.GPVirtual { return c.Load(c.Param(name), c.GP64()).(reg.GPVirtual) }
	dst, step, src, stride, rows, n := gp("dst"), gp("step"), gp("src"), gp("stride"), gp("rows"), gp("n")
	c.SHLQ(operand.Imm(2), step)
	c.SHLQ(operand.Imm(2), stride)
	c.Label("tile")
	columnMask(c, n)
	for _, r := range zmm[:16] {
		c.VPXORD(r, r, r)
	}
	each(c, "loaded", src, stride, rows, func(i int, at operand.Mem) { c.VMOVUPS_Z(at, reg.K1, zmm[i]) })
	transpose16(c)
	each(c, "stored", dst, step, n, func(i int, at operand.Mem) { c.VMOVUPS(zmm[i], at) })
	advance(c, src, dst, step, n)
}

func deinterleave(c *build.Context) {
	gp := func(name string) reg.GPVirtual { return c.Load(c.Param(name), c.GP64()).(reg.GPVirtual) }
	dst, stride, src, step, rows, n := gp("dst"), gp("stride"), gp("src"), gp("step"), gp("rows"), gp("n")
	c.SHLQ(operand.Imm(2), step)
	c.SHLQ(operand.Imm(2), stride)
	c.Label("tile")
	columnMask(c, n)
	each(c, "loaded", src, step, n, func(i int, at operand.Mem) { c.VMOVUPS(at, zmm[i]) })
	transpose16(c)
	each(c, "stored", dst, stride, rows, func(i int, at operand.Mem) { c.VMOVUPS(zmm[i], reg.K1, at) })
	advance(c, dst, src, step, n)
}

// advance moves to the next 16 columns: 16 elements of the planes, 16 steps of the vectors.
func advance(c *build.Context, planes, vectors, step, n reg.GPVirtual) {
	c.ADDQ(operand.Imm(lane), planes)
	by := c.GP64()
	c.MOVQ(step, by)
	c.SHLQ(operand.Imm(4), by)
	c.ADDQ(by, vectors)
	c.SUBQ(operand.Imm(16), n)
	c.JGT(operand.LabelRef("tile"))
	c.VZEROUPPER()
	c.RET()
}

// half emits the conversions between float32 and float16.
func half(c *build.Context) {
	for _, set := range []*isa{avx512, avx2} {
		widen, narrow := "halfToFloat"+set.name, "floatToHalf"+set.name
		halfLoop(c, set, widen, "func(dst *float32, src *uint16, n int)", 2, 4, func(from, to operand.Mem) {
			c.VCVTPH2PS(from, set.regs[0])
			c.VMOVUPS(set.regs[0], to)
		})
		halfLoop(c, set, narrow, "func(dst *uint16, src *float32, n int)", 4, 2, func(from, to operand.Mem) {
			c.VMOVUPS(from, set.regs[0])
			c.VCVTPS2PH(operand.Imm(0), set.regs[0], to)
		})
	}
}

// halfLoop emits a loop over elements of so many bytes.
func halfLoop(c *build.Context, set *isa, name, signature string, from, to int, convert func(from, to operand.Mem)) {
	function(c, name, signature, fmt.Sprintf("%s converts n > 0 values, n a multiple of 16.", name))
	dst := c.Load(c.Param("dst"), c.GP64()).(reg.GPVirtual)
	src := c.Load(c.Param("src"), c.GP64()).(reg.GPVirtual)
	n := c.Load(c.Param("n"), c.GP64())
	c.Label("loop")
	for at := 0; at < 16; at += set.width / 4 {
		convert(operand.Mem{Base: src, Disp: from * at}, operand.Mem{Base: dst, Disp: to * at})
	}
	c.ADDQ(operand.Imm(uint64(16*from)), src)
	c.ADDQ(operand.Imm(uint64(16*to)), dst)
	c.SUBQ(operand.Imm(16), n)
	c.JNE(operand.LabelRef("loop"))
	c.VZEROUPPER()
	c.RET()
}

// gather emits the copy of strided vectors with borders.
func gather(c *build.Context, set *isa) {
	name, parts := "gatherRows"+set.name, set.parts()
	function(c, name, "func(dst *float32, dstRow int, src *float32, srcRow, rows, left, n, right, step int, pad float32)",
		name+" copies rows of vectors of 16; see GatherCall.")
	gp := func(name string) reg.GPVirtual { return c.Load(c.Param(name), c.GP64()).(reg.GPVirtual) }
	dst, dstRow, src, srcRow := gp("dst"), gp("dstRow"), gp("src"), gp("srcRow")
	rows, step := gp("rows"), gp("step")
	for _, bytes := range []reg.GPVirtual{dstRow, srcRow, step} {
		c.SHLQ(operand.Imm(2), bytes)
	}
	border := set.regs[4*parts]
	// load and store move vector i through registers of its own.
	load := func(i int, at operand.Mem) {
		for p, r := range set.regs[i*parts : (i+1)*parts] {
			c.VMOVUPS(at.Offset(p*set.width), r)
		}
	}
	store := func(i int, at operand.Mem) {
		for p, r := range set.regs[i*parts : (i+1)*parts] {
			c.VMOVUPS(r, at.Offset(p*set.width))
		}
	}
	fill := func(at operand.Mem) {
		for p := range parts {
			c.VMOVUPS(border, at.Offset(p*set.width))
		}
	}
	broadcastParam(c, "pad", border)
	to, from, left := c.GP64().(reg.GPVirtual), c.GP64().(reg.GPVirtual), c.GP64()
	loop := func(label, param string, body func()) {
		c.Load(c.Param(param), left)
		c.TESTQ(left, left)
		c.JEQ(operand.LabelRef(label + "done"))
		c.Label(label)
		body()
		c.ADDQ(operand.Imm(lane), to)
		c.SUBQ(operand.Imm(1), left)
		c.JNE(operand.LabelRef(label))
		c.Label(label + "done")
	}
	c.Label("row")
	c.MOVQ(dst, to)
	c.MOVQ(src, from)
	loop("left", "left", func() { fill(operand.Mem{Base: to}) })
	c.Load(c.Param("n"), left)
	c.SUBQ(operand.Imm(4), left)
	c.JLT(operand.LabelRef("few"))
	c.Label("four")
	two := c.GP64().(reg.GPVirtual)
	c.LEAQ(operand.Mem{Base: from, Index: step, Scale: 2}, two)
	load(0, operand.Mem{Base: from})
	load(1, operand.Mem{Base: from, Index: step, Scale: 1})
	load(2, operand.Mem{Base: two})
	load(3, operand.Mem{Base: two, Index: step, Scale: 1})
	for i := range 4 {
		store(i, operand.Mem{Base: to, Disp: i * lane})
	}
	c.LEAQ(operand.Mem{Base: two, Index: step, Scale: 2}, from)
	c.ADDQ(operand.U32(4*lane), to)
	c.SUBQ(operand.Imm(4), left)
	c.JGE(operand.LabelRef("four"))
	c.Label("few")
	c.ADDQ(operand.Imm(4), left)
	c.JEQ(operand.LabelRef("copied"))
	c.Label("one")
	load(0, operand.Mem{Base: from})
	store(0, operand.Mem{Base: to})
	c.ADDQ(step, from)
	c.ADDQ(operand.Imm(lane), to)
	c.SUBQ(operand.Imm(1), left)
	c.JNE(operand.LabelRef("one"))
	c.Label("copied")
	loop("right", "right", func() { fill(operand.Mem{Base: to}) })
	c.ADDQ(dstRow, dst)
	c.ADDQ(srcRow, src)
	c.SUBQ(operand.Imm(1), rows)
	c.JNE(operand.LabelRef("row"))
	c.VZEROUPPER()
	c.RET()
}

// evens emits the copy of every second scalar.
func evens(c *build.Context) {
	index := dwords(c, "evenIndex", func(i int) uint32 { return uint32(2 * i) })
	evensOf(c, avx512, func(src, dst reg.GPVirtual) {
		c.VMOVUPS(operand.Mem{Base: src}, reg.Z0)
		c.VPERMT2PS(operand.Mem{Base: src, Disp: lane}, reg.Z1, reg.Z0)
		c.VMOVUPS(reg.Z0, operand.Mem{Base: dst})
	}, func() { c.VMOVDQU32(index, reg.Z1) })
	evensOf(c, avx2, func(src, dst reg.GPVirtual) {
		for i := range 2 {
			r := ymm[i]
			c.VMOVUPS(operand.Mem{Base: src, Disp: i * lane}, r)
			c.VSHUFPS(operand.Imm(0x88), operand.Mem{Base: src, Disp: i*lane + 32}, r, r) // in each half of both
			c.VPERMPD(operand.Imm(0xd8), r, r)
			c.VMOVUPS(r, operand.Mem{Base: dst, Disp: 32 * i})
		}
	}, func() {})
}

// evensOf emits the loop of one instruction set; body handles 16 results.
func evensOf(c *build.Context, set *isa, body func(src, dst reg.GPVirtual), prepare func()) {
	name := "evens" + set.name
	function(c, name, "func(dst, src *float32, n int)",
		name+" sets dst[i] = src[2*i] for i < n, n > 0 and a multiple of 16; it reads 2*n elements.")
	dst := c.Load(c.Param("dst"), c.GP64()).(reg.GPVirtual)
	src := c.Load(c.Param("src"), c.GP64()).(reg.GPVirtual)
	n := c.Load(c.Param("n"), c.GP64())
	prepare()
	c.Label("loop")
	body(src, dst)
	c.ADDQ(operand.U32(2*lane), src)
	c.ADDQ(operand.Imm(lane), dst)
	c.SUBQ(operand.Imm(16), n)
	c.JNE(operand.LabelRef("loop"))
	c.VZEROUPPER()
	c.RET()
}

// zip emits the alternation of two vectors' scalars.
func zip(c *build.Context) {
	low := dwords(c, "zipLow", func(i int) uint32 { return uint32(i/2 + i%2*16) })
	high := dwords(c, "zipHigh", func(i int) uint32 { return uint32(8 + i/2 + i%2*16) })
	zipOf(c, avx512, func(even, odd, dst reg.GPVirtual) {
		c.VMOVUPS(operand.Mem{Base: even}, reg.Z2)
		c.VMOVUPS(operand.Mem{Base: odd}, reg.Z3)
		c.VMOVAPS(reg.Z2, reg.Z4)
		c.VPERMT2PS(reg.Z3, reg.Z0, reg.Z2)
		c.VPERMT2PS(reg.Z3, reg.Z1, reg.Z4)
		c.VMOVUPS(reg.Z2, operand.Mem{Base: dst})
		c.VMOVUPS(reg.Z4, operand.Mem{Base: dst, Disp: lane})
	}, func() {
		c.VMOVDQU32(low, reg.Z0)
		c.VMOVDQU32(high, reg.Z1)
	})
	zipOf(c, avx2, func(even, odd, dst reg.GPVirtual) {
		for i := range 2 {
			c.VMOVUPS(operand.Mem{Base: even, Disp: 32 * i}, reg.Y0)
			c.VMOVUPS(operand.Mem{Base: odd, Disp: 32 * i}, reg.Y1)
			c.VUNPCKLPS(reg.Y1, reg.Y0, reg.Y2) // of each half
			c.VUNPCKHPS(reg.Y1, reg.Y0, reg.Y3)
			c.VPERM2F128(operand.Imm(0x20), reg.Y3, reg.Y2, reg.Y0)
			c.VPERM2F128(operand.Imm(0x31), reg.Y3, reg.Y2, reg.Y1)
			c.VMOVUPS(reg.Y0, operand.Mem{Base: dst, Disp: lane * i})
			c.VMOVUPS(reg.Y1, operand.Mem{Base: dst, Disp: lane*i + 32})
		}
	}, func() {})
}

// zipOf emits the loop of one instruction set; body handles 16 elements of each source.
func zipOf(c *build.Context, set *isa, body func(even, odd, dst reg.GPVirtual), prepare func()) {
	name := "zip" + set.name
	function(c, name, "func(dst, even, odd *float32, n int)",
		name+" sets dst[2*i] = even[i] and dst[2*i+1] = odd[i] for i < n, n > 0 and a multiple of 16.")
	dst := c.Load(c.Param("dst"), c.GP64()).(reg.GPVirtual)
	even := c.Load(c.Param("even"), c.GP64()).(reg.GPVirtual)
	odd := c.Load(c.Param("odd"), c.GP64()).(reg.GPVirtual)
	n := c.Load(c.Param("n"), c.GP64())
	prepare()
	c.Label("loop")
	body(even, odd, dst)
	c.ADDQ(operand.Imm(lane), even)
	c.ADDQ(operand.Imm(lane), odd)
	c.ADDQ(operand.U32(2*lane), dst)
	c.SUBQ(operand.Imm(16), n)
	c.JNE(operand.LabelRef("loop"))
	c.VZEROUPPER()
	c.RET()
}

// copyMasked emits the copy of some bytes of every 64. Bytes that a mask leaves out are not touched, so the source may
// begin before its memory and end behind it.
func copyMasked(c *build.Context) {
	function(c, "copyMaskedAVX512", "func(dst, src *byte, distance, n int, load, store uint64)",
		"copyMaskedAVX512 sets dst[i] = src[i+distance] where bit i%64 of load is set, and 0 where only that of store is, for i < n, n > 0.")
	dst := c.Load(c.Param("dst"), c.GP64()).(reg.GPVirtual)
	src := c.Load(c.Param("src"), c.GP64()).(reg.GPVirtual)
	n := c.Load(c.Param("n"), c.GP64())
	load := c.Load(c.Param("load"), c.GP64())
	store := c.Load(c.Param("store"), c.GP64())
	c.ADDQ(c.Load(c.Param("distance"), c.GP64()), src)
	c.KMOVQ(load, reg.K1)
	c.KMOVQ(store, reg.K2)
	move := func() {
		c.VMOVDQU8_Z(operand.Mem{Base: src}, reg.K1, reg.Z0)
		c.VMOVDQU8(reg.Z0, reg.K2, operand.Mem{Base: dst})
	}
	c.SUBQ(operand.Imm(lane), n)
	c.JLT(operand.LabelRef("rest"))
	c.Label("loop")
	move()
	c.ADDQ(operand.Imm(lane), src)
	c.ADDQ(operand.Imm(lane), dst)
	c.SUBQ(operand.Imm(lane), n)
	c.JGE(operand.LabelRef("loop"))
	c.Label("rest")
	c.ADDQ(operand.Imm(lane), n)
	c.JEQ(operand.LabelRef("done"))
	c.BZHIQ(n, load, load)
	c.BZHIQ(n, store, store)
	c.KMOVQ(load, reg.K1)
	c.KMOVQ(store, reg.K2)
	move()
	c.Label("done")
	c.VZEROUPPER()
	c.RET()
}
