package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// layoutAVX2 emits what AVX-512 does in another way: transpositions of 8x8, and a copy under a mask that reads and
// writes whole vectors.
func layoutAVX2(c *build.Context) {
	function(c, "interleaveAVX2", "func(dst *float32, step int, src *float32, stride, rows, n int)",
		"interleaveAVX2 sets dst[i*step+r] = src[r*stride+i] for r < rows, i < n, and zero for rows <= r < 8; n > 0 is a multiple of 8.")
	interleave8(c)
	function(c, "deinterleaveAVX2", "func(dst *float32, stride int, src *float32, step, rows, n int)",
		"deinterleaveAVX2 sets dst[r*stride+i] = src[i*step+r] for r < rows, 0 < rows <= 8, i < n; n > 0 is a multiple of 8.")
	deinterleave8(c)
	copyBlended(c)
}

// transpose8 transposes the 8x8 matrix of the rows ymm[0:8] into ymm[8:16], by pairs of elements, by pairs of pairs and
// by halves. It overwrites ymm[0:8].
func transpose8(c *build.Context) {
	r, t := ymm[:8], ymm[8:]
	for i := 0; i < 8; i += 2 {
		c.VUNPCKLPS(r[i+1], r[i], t[i])
		c.VUNPCKHPS(r[i+1], r[i], t[i+1])
	}
	// Row 4g+k of r now gets elements k and 4+k of rows 4g..4g+3.
	for g := 0; g < 8; g += 4 {
		c.VUNPCKLPD(t[g+2], t[g], r[g])
		c.VUNPCKHPD(t[g+2], t[g], r[g+1])
		c.VUNPCKLPD(t[g+3], t[g+1], r[g+2])
		c.VUNPCKHPD(t[g+3], t[g+1], r[g+3])
	}
	for k := range 4 {
		c.VPERM2F128(operand.Imm(0x20), r[4+k], r[k], t[k])
		c.VPERM2F128(operand.Imm(0x31), r[4+k], r[k], t[4+k])
	}
}

// rows8 calls f for rows 0 to 7 with a pointer that advances by stride bytes, leaving at row count, if there is one.
func rows8(c *build.Context, label string, base, stride, count reg.GPVirtual, f func(i int, at operand.Mem)) {
	at := c.GP64().(reg.GPVirtual)
	c.MOVQ(base, at)
	for i := range 8 {
		if count != nil {
			c.CMPQ(count, operand.Imm(uint64(i)))
			c.JLE(operand.LabelRef(label))
		}
		f(i, operand.Mem{Base: at})
		if i < 7 {
			c.ADDQ(stride, at)
		}
	}
	c.Label(label)
}

func interleave8(c *build.Context) {
	gp := func(name string) reg.GPVirtual { return c.Load(c.Param(name), c.GP64()).(reg.GPVirtual) }
	dst, step, src, stride, rows, n := gp("dst"), gp("step"), gp("src"), gp("stride"), gp("rows"), gp("n")
	c.SHLQ(operand.Imm(2), step)
	c.SHLQ(operand.Imm(2), stride)
	c.Label("tile")
	for _, r := range ymm[:8] {
		avx2.zero(c, r)
	}
	rows8(c, "loaded", src, stride, rows, func(i int, at operand.Mem) { c.VMOVUPS(at, ymm[i]) })
	transpose8(c)
	rows8(c, "stored", dst, step, nil, func(i int, at operand.Mem) { c.VMOVUPS(ymm[8+i], at) })
	advance8(c, src, dst, step, n)
}

func deinterleave8(c *build.Context) {
	gp := func(name string) reg.GPVirtual { return c.Load(c.Param(name), c.GP64()).(reg.GPVirtual) }
	dst, stride, src, step, rows, n := gp("dst"), gp("stride"), gp("src"), gp("step"), gp("rows"), gp("n")
	c.SHLQ(operand.Imm(2), step)
	c.SHLQ(operand.Imm(2), stride)
	c.Label("tile")
	rows8(c, "loaded", src, step, nil, func(i int, at operand.Mem) { c.VMOVUPS(at, ymm[i]) })
	transpose8(c)
	rows8(c, "stored", dst, stride, rows, func(i int, at operand.Mem) { c.VMOVUPS(ymm[8+i], at) })
	advance8(c, dst, src, step, n)
}

// advance8 moves to the next 8 columns: 8 elements of the planes, 8 steps of the vectors.
func advance8(c *build.Context, planes, vectors, step, n reg.GPVirtual) {
	c.ADDQ(operand.Imm(32), planes)
	c.LEAQ(operand.Mem{Base: vectors, Index: step, Scale: 8}, vectors)
	c.SUBQ(operand.Imm(8), n)
	c.JGT(operand.LabelRef("tile"))
	c.VZEROUPPER()
	c.RET()
}

// copyBlended emits the copy of some bytes of every 64. It reads and writes the others, too: keep selects those of dst
// that stay as they are.
func copyBlended(c *build.Context) {
	function(c, "copyBlendedAVX2", "func(dst, src *byte, distance, n int, load, keep *[64]byte)",
		"copyBlendedAVX2 sets dst[i] = src[i+distance]&load[i%64] | dst[i]&keep[i%64] for i < n, n > 0 and a multiple of 64.")
	gp := func(name string) reg.GPVirtual { return c.Load(c.Param(name), c.GP64()).(reg.GPVirtual) }
	dst, src, n, load, keep := gp("dst"), gp("src"), gp("n"), gp("load"), gp("keep")
	c.ADDQ(c.Load(c.Param("distance"), c.GP64()), src)
	for i := range 2 {
		c.VMOVDQU(operand.Mem{Base: load, Disp: 32 * i}, ymm[4+i])
		c.VMOVDQU(operand.Mem{Base: keep, Disp: 32 * i}, ymm[6+i])
	}
	c.Label("loop")
	for i := range 2 {
		to := operand.Mem{Base: dst, Disp: 32 * i}
		c.VPAND(operand.Mem{Base: src, Disp: 32 * i}, ymm[4+i], ymm[i])
		c.VPAND(to, ymm[6+i], ymm[2+i])
		c.VPOR(ymm[2+i], ymm[i], ymm[i])
		c.VMOVDQU(ymm[i], to)
	}
	c.ADDQ(operand.Imm(lane), src)
	c.ADDQ(operand.Imm(lane), dst)
	c.SUBQ(operand.Imm(lane), n)
	c.JNE(operand.LabelRef("loop"))
	c.VZEROUPPER()
	c.RET()
}
