package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// weightsRows is the most rows of a product with weights that are unpacked in registers: one accumulator for the group and
// one for the sum of each, twice, and eight registers for the rest.
const weightsRows = 6

// weightsAhead is how far ahead a product with weights that are unpacked in registers asks for them: unpacking takes too many
// instructions for a processor to see so far by itself.
const weightsAhead = 4096

// weights emits, for integers of 8 and of 4 bits, what unpacks a panel and what multiplies few rows by it.
func weights(c *build.Context) {
	digits := dwords(c, "weightsDigits", func(i int) uint32 { return math.Float32bits(float32(i)) })
	low := dwords(c, "weightsLow", func(int) uint32 { return 15 })
	for _, bits := range []int{8, 4} {
		for _, set := range []*isa{avx512, avx2} {
			u := weightsCode{c: c, isa: set, bits: bits, digits: digits, low: low}
			u.unpack()
		}
		for _, blocks := range []int{1, 2} {
			name := fmt.Sprintf("weights%dx%dAVX512", bits, 16*blocks)
			function(c, name,
				"func(rows int, a *float32, lda, octets, group int, b *byte, base float32, scale, zero, bias, out *float32, ldout int, mask uint32)",
				fmt.Sprintf("%s multiplies 1 to %d rows by %d columns; see WeightsKernel.Multiply.", name, weightsRows, 16*blocks))
			rows, zero, mask := c.Load(c.Param("rows"), c.GP64()), c.Load(c.Param("zero"), c.GP64()), c.Load(c.Param("mask"), c.GP32())
			c.KMOVW(mask, reg.K1)
			c.SHRL(operand.Imm(16), mask)
			c.KMOVW(mask, reg.K2)
			c.TESTQ(zero, zero)
			c.JNE(operand.LabelRef("zeros"))
			for _, zeros := range []bool{false, true} {
				if zeros {
					c.Label("zeros")
				}
				for p := 2; p <= weightsRows; p++ {
					c.CMPQ(rows, operand.Imm(uint64(p)))
					c.JEQ(operand.LabelRef(weightsLabel(p, zeros, "")))
				}
				for p := 1; p <= weightsRows; p++ {
					t := weightsTile{weightsCode: weightsCode{c: c, isa: avx512, bits: bits, digits: digits}, blocks: blocks, p: p, zeros: zeros}
					t.emit()
				}
			}
		}
	}
}

func weightsLabel(p int, zeros bool, s string) string { return fmt.Sprintf("r%d%v%s", p, zeros, s) }

// weightsCode turns integers into real numbers.
type weightsCode struct {
	c           *build.Context
	isa         *isa
	bits        int
	digits, low operand.Mem
	table       reg.VecPhysical // of 4 bits: the real number of each q; without AVX-512 that of 0
}

// prepare makes the table.
func (w *weightsCode) prepare(table reg.VecPhysical) {
	if w.bits == 8 {
		return
	}
	w.table = table
	broadcastParam(w.c, "base", table)
	if w.isa == avx512 {
		w.c.VADDPS(w.digits, table, table)
	}
}

// real turns row i of the octet at b, the vector of a row at disp, or of packed, into real numbers without scale.
func (w *weightsCode) real(i int, row operand.Mem, packed, to reg.VecPhysical) {
	c := w.c
	if w.bits == 8 {
		c.VPMOVSXBD(row, to)
		c.VCVTDQ2PS(to, to)
		return
	}
	from := packed
	if i > 0 {
		c.VPSRLD(operand.Imm(uint64(4*i)), packed, to)
		from = to
	}
	if w.isa == avx512 {
		c.VPERMPS(w.table, from, to)
		return
	}
	c.VPAND(w.low, from, to)
	c.VCVTDQ2PS(to, to)
	c.VADDPS(w.table, to, to)
}

// unpack emits the function that unpacks 16 columns.
func (w *weightsCode) unpack() {
	c := w.c
	name := fmt.Sprintf("unpack%d%s", w.bits, w.isa.name)
	function(c, name, "func(octets, group int, b *byte, step int, base float32, scale, zero *float32, groupStep int, out *float32, outStep int)",
		fmt.Sprintf("%s stores 16 columns of weights of %d bits as float32; see WeightsKernel.Unpack.", name, w.bits))
	gp := func(param string) reg.GPVirtual { return c.Load(c.Param(param), c.GP64()).(reg.GPVirtual) }
	left, group, b, step, scale, zero := gp("octets"), gp("group"), gp("b"), gp("step"), gp("scale"), gp("zero")
	groupStep, out, outStep, n := gp("groupStep"), gp("out"), gp("outStep"), c.GP64().(reg.GPVirtual)
	parts := w.isa.parts()
	next := 0
	take := func(n int) []reg.VecPhysical { next += n; return w.isa.regs[next-n : next] }
	scales, zeros, packed, x := take(parts), take(parts), take(parts), take(1)[0]
	w.prepare(take(1)[0])
	for _, z := range zeros {
		w.isa.zero(c, z)
	}
	c.Label("group")
	weightsGroup(c, group, left, n)
	for v := range parts {
		c.VMOVUPS(operand.Mem{Base: scale, Disp: v * w.isa.width}, scales[v])
	}
	c.ADDQ(groupStep, scale)
	c.TESTQ(zero, zero)
	c.JEQ(operand.LabelRef("octet"))
	for v := range parts {
		c.VMOVUPS(operand.Mem{Base: zero, Disp: v * w.isa.width}, zeros[v])
	}
	c.ADDQ(groupStep, zero)
	c.Label("octet")
	if w.bits == 4 {
		for v, p := range packed {
			c.VMOVUPS(operand.Mem{Base: b, Disp: v * w.isa.width}, p)
		}
		c.ADDQ(step, b)
	}
	for i := range 8 {
		for v, p := range packed {
			w.real(i, operand.Mem{Base: b, Disp: v * w.isa.width / 4}, p, x)
			c.VSUBPS(zeros[v], x, x)
			c.VMULPS(scales[v], x, x)
			c.VMOVUPS(x, operand.Mem{Base: out, Disp: v * w.isa.width})
		}
		if w.bits == 8 {
			c.ADDQ(step, b)
		}
		c.ADDQ(outStep, out)
	}
	c.SUBQ(operand.Imm(1), n)
	c.JNE(operand.LabelRef("octet"))
	c.TESTQ(left, left)
	c.JNE(operand.LabelRef("group"))
	c.VZEROUPPER()
	c.RET()
}

// weightsGroup takes the octets of the next group, n of those that are left.
func weightsGroup(c *build.Context, group, left, n reg.GPVirtual) {
	c.MOVQ(group, n)
	c.CMPQ(left, n)
	c.CMOVQLT(left, n)
	c.SUBQ(n, left)
}

// weightsTile emits the product of one number of rows.
type weightsTile struct {
	weightsCode
	blocks, p int
	zeros     bool

	total  [][]reg.VecPhysical   // [row][block]
	acc    [][][]reg.VecPhysical // [set][row][block], of a group
	packed []reg.VecPhysical
	x      []reg.VecPhysical // weights of a row of k
	zero   []reg.VecPhysical
	a      reg.VecPhysical
}

func (t *weightsTile) label(s string) string { return weightsLabel(t.p, t.zeros, s) }

func (t *weightsTile) emit() {
	c := t.c
	t.registers()
	gp := func(param string) reg.GPVirtual { return c.Load(c.Param(param), c.GP64()).(reg.GPVirtual) }
	c.Label(t.label(""))
	t.prepare(t.table)
	lda, bias, out, ldout := gp("lda"), gp("bias"), gp("out"), gp("ldout")
	c.SHLQ(operand.Imm(2), lda)
	bases := []reg.GPVirtual{gp("a"), c.GP64().(reg.GPVirtual)}
	c.LEAQ(operand.Mem{Base: bases[0], Index: lda, Scale: 2}, bases[1])
	c.ADDQ(lda, bases[1])
	left, group, n, b, scale, zero := gp("octets"), gp("group"), c.GP64().(reg.GPVirtual), gp("b"), gp("scale"), gp("zero")
	for v := range t.blocks {
		for p := range t.p {
			c.VMOVUPS(operand.Mem{Base: bias, Disp: v * lane}, t.total[p][v])
		}
	}
	c.Label(t.label("group"))
	weightsGroup(c, group, left, n)
	clearSets(c, t.isa, t.acc)
	for v, z := range t.zero {
		c.VMOVUPS(operand.Mem{Base: zero, Disp: v * lane}, z)
	}
	c.Label(t.label("octet"))
	for at := 0; at < 16*t.blocks*t.bits; at += lane {
		c.PREFETCHT0(operand.Mem{Base: b, Disp: weightsAhead + at})
	}
	t.octet(b, func(p, i int) operand.Mem {
		m := operand.Mem{Base: bases[p/3], Disp: 4 * i}
		if p%3 > 0 {
			m.Index, m.Scale = lda, uint8(p%3)
		}
		return m
	})
	c.ADDQ(operand.U32(uint32(16*t.blocks*t.bits)), b)
	for _, base := range bases {
		c.ADDQ(operand.Imm(32), base)
	}
	c.SUBQ(operand.Imm(1), n)
	c.JNE(operand.LabelRef(t.label("octet")))
	addSets(c, t.acc)
	for p, row := range t.total {
		for v, y := range row {
			c.VFMADD231PS(operand.Mem{Base: scale, Disp: v * lane}, t.acc[0][p][v], y)
		}
	}
	c.ADDQ(operand.U32(uint32(t.blocks*lane)), scale)
	c.ADDQ(operand.U32(uint32(t.blocks*lane)), zero)
	c.TESTQ(left, left)
	c.JNE(operand.LabelRef(t.label("group")))
	for _, row := range t.total {
		for v, y := range row {
			c.VMOVUPS(y, []reg.Register{reg.K1, reg.K2}[v], operand.Mem{Base: out, Disp: v * lane})
		}
		c.LEAQ(operand.Mem{Base: out, Index: ldout, Scale: 4}, out)
	}
	c.VZEROUPPER()
	c.RET()
}

// registers lays out the tile. One row has several sets of accumulators, so that the latency of the multiply-add does not
// bound it.
func (t *weightsTile) registers() {
	next := 0
	take := func(n int) []reg.VecPhysical { next += n; return zmm[next-n : next] }
	matrix := func() [][]reg.VecPhysical {
		var m [][]reg.VecPhysical
		for range t.p {
			m = append(m, take(t.blocks))
		}
		return m
	}
	t.total = matrix()
	for range max(1, 4/(t.p*t.blocks)) {
		t.acc = append(t.acc, matrix())
	}
	t.a = take(1)[0]
	t.x = take(t.blocks)
	if t.bits == 4 {
		t.packed, t.table = take(t.blocks), take(1)[0]
	}
	if t.zeros {
		t.zero = take(t.blocks)
	}
}

// octet multiplies eight rows of k.
func (t *weightsTile) octet(b reg.GPVirtual, at func(p, i int) operand.Mem) {
	c := t.c
	for v, w := range t.packed {
		c.VMOVUPS(operand.Mem{Base: b, Disp: v * lane}, w)
	}
	for i := range 8 {
		for v, x := range t.x {
			var packed reg.VecPhysical
			if t.bits == 4 {
				packed = t.packed[v]
			}
			t.real(i, operand.Mem{Base: b, Disp: (i*t.blocks + v) * 16}, packed, x)
			if t.zeros {
				c.VSUBPS(t.zero[v], x, x)
			}
		}
		acc := t.acc[i%len(t.acc)]
		for p := range t.p {
			if t.blocks == 1 {
				c.VFMADD231PS_BCST(at(p, i), t.x[0], acc[p][0])
				continue
			}
			c.VBROADCASTSS(at(p, i), t.a)
			for v, x := range t.x {
				c.VFMADD231PS(t.a, x, acc[p][v])
			}
		}
	}
}
