package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// gemmRows is the most rows of a tile.
const gemmRows = 14

// gemm emits one function for each panel width.
func gemm(c *build.Context) {
	for _, blocks := range []int{1, 2} {
		name := fmt.Sprintf("gemm%dAVX512", 16*blocks)
		function(c, name,
			"func(rows, tiles int, a *float32, lda, k int, b, bias, out *float32, ldout int, res *float32, ldres int, lo, hi float32, mask uint32, accumulate bool)",
			fmt.Sprintf("%s computes tiles of 1 to %d rows x %d columns; see GemmCall.", name, gemmRows, 16*blocks))
		rows := c.Load(c.Param("rows"), c.GP64())
		mask := c.Load(c.Param("mask"), c.GP32())
		c.KMOVW(mask, reg.K1)
		c.SHRL(operand.Imm(16), mask)
		c.KMOVW(mask, reg.K2)
		for p := gemmRows; p > 1; p-- {
			c.CMPQ(rows, operand.U32(uint32(p)))
			c.JEQ(operand.LabelRef(fmt.Sprintf("r%d", p)))
		}
		for p := 1; p <= gemmRows; p++ {
			t := gemmTile{c: c, blocks: blocks, p: p}
			t.emit()
		}
	}
}

// gemmTile emits the loops for one number of rows. With few rows the steps of k take turns on several sets
// of accumulators, so that the latency of the multiply-add does not bound them.
type gemmTile struct {
	c      *build.Context
	blocks int
	p      int

	acc    [][][]reg.VecPhysical // [set][row][block]
	weight []reg.VecPhysical
	spare  []reg.VecPhysical
	a, lda reg.GPVirtual
	out    reg.GPVirtual
	res    reg.GPVirtual
}

func (t *gemmTile) label(s string) string { return fmt.Sprintf("r%d%s", t.p, s) }

func (t *gemmTile) gp(param string) reg.GPVirtual {
	return t.c.Load(t.c.Param(param), t.c.GP64()).(reg.GPVirtual)
}

func (t *gemmTile) emit() {
	c := t.c
	next := 0
	take := func(n int) []reg.VecPhysical { next += n; return zmm[next-n : next] }
	sets := max(1, min(4, 12/(t.p*t.blocks)))
	for s := range sets {
		t.acc = append(t.acc, nil)
		for range t.p {
			t.acc[s] = append(t.acc[s], take(t.blocks))
		}
	}
	t.weight = take(t.blocks)
	t.spare = zmm[next:]

	c.Label(t.label(""))
	tiles := t.gp("tiles")
	t.a, t.lda, t.out, t.res = t.gp("a"), t.gp("lda"), t.gp("out"), t.gp("res")
	c.SHLQ(operand.Imm(2), t.lda)
	c.Label(t.label("tile"))
	t.start()
	t.multiply()
	t.finish()
	c.SUBQ(operand.Imm(1), tiles)
	c.JNE(operand.LabelRef(t.label("tile")))
	c.VZEROUPPER()
	c.RET()
}

// columns is the mask of a block's columns.
func (t *gemmTile) columns(block int) reg.OpmaskPhysical {
	return []reg.OpmaskPhysical{reg.K1, reg.K2}[block]
}

// start fills the first set of accumulators with the bias, or with what out holds, the others with zeros.
func (t *gemmTile) start() {
	c := t.c
	clearSets(c, t.acc[1:])
	flag := c.Load(c.Param("accumulate"), c.GP8())
	c.TESTB(flag, flag)
	c.JNE(operand.LabelRef(t.label("more")))
	bias := t.gp("bias")
	for b := range t.blocks {
		c.VMOVUPS(operand.Mem{Base: bias, Disp: b * lane}, t.acc[0][0][b])
		for p := 1; p < t.p; p++ {
			c.VMOVAPS(t.acc[0][0][b], t.acc[0][p][b])
		}
	}
	c.JMP(operand.LabelRef(t.label("started")))
	c.Label(t.label("more"))
	row, step := c.GP64(), t.gp("ldout")
	c.MOVQ(t.out, row)
	for p := range t.p {
		for b := range t.blocks {
			c.VMOVUPS_Z(operand.Mem{Base: row, Disp: b * lane}, t.columns(b), t.acc[0][p][b])
		}
		c.LEAQ(operand.Mem{Base: row, Index: step, Scale: 4}, row)
	}
	c.Label(t.label("started"))
}

// multiply runs over k, four steps at a time, then one. Three rows share an address register.
func (t *gemmTile) multiply() {
	c := t.c
	var bases []reg.GPVirtual
	for p := 0; p < t.p; p += 3 {
		base := c.GP64().(reg.GPVirtual)
		if p == 0 {
			c.MOVQ(t.a, base)
		} else {
			c.LEAQ(operand.Mem{Base: bases[len(bases)-1], Index: t.lda, Scale: 2}, base)
			c.ADDQ(t.lda, base)
		}
		bases = append(bases, base)
	}
	at := func(p, k int) operand.Mem {
		m := operand.Mem{Base: bases[p/3], Disp: 4 * k}
		if p%3 > 0 {
			m.Index, m.Scale = t.lda, uint8(p%3)
		}
		return m
	}
	w, k, quads := t.gp("b"), t.gp("k"), c.GP64()
	steps := func(n int) {
		for i := range n {
			t.step(w, i, func(p int) operand.Mem { return at(p, i) })
		}
		for _, base := range bases {
			c.ADDQ(operand.Imm(uint64(4*n)), base)
		}
		c.ADDQ(operand.U32(uint32(n*t.blocks*lane)), w)
	}
	c.MOVQ(k, quads)
	c.ANDQ(operand.Imm(3), k)
	c.SHRQ(operand.Imm(2), quads)
	c.JEQ(operand.LabelRef(t.label("ones")))
	c.Label(t.label("quad"))
	steps(4)
	c.SUBQ(operand.Imm(1), quads)
	c.JNE(operand.LabelRef(t.label("quad")))
	c.Label(t.label("ones"))
	c.TESTQ(k, k)
	c.JEQ(operand.LabelRef(t.label("sum")))
	c.Label(t.label("one"))
	steps(1)
	c.SUBQ(operand.Imm(1), k)
	c.JNE(operand.LabelRef(t.label("one")))
	c.Label(t.label("sum"))
	addSets(c, t.acc)
}

// step is the outer product of one k.
func (t *gemmTile) step(w reg.GPVirtual, k int, at func(p int) operand.Mem) {
	c := t.c
	for b := range t.blocks {
		c.VMOVUPS(operand.Mem{Base: w, Disp: (k*t.blocks + b) * lane}, t.weight[b])
	}
	acc := t.acc[k%len(t.acc)]
	for p := range t.p {
		if t.blocks == 1 {
			c.VFMADD231PS_BCST(at(p), t.weight[0], acc[p][0])
			continue
		}
		v := t.spare[p%2]
		c.VBROADCASTSS(at(p), v)
		for b := range t.blocks {
			c.VFMADD231PS(v, t.weight[b], acc[p][b])
		}
	}
}

// finish adds the residual, clamps (NaN passes, as in conv) and stores the columns of the mask.
func (t *gemmTile) finish() {
	c := t.c
	c.TESTQ(t.res, t.res)
	c.JEQ(operand.LabelRef(t.label("clamp")))
	step := t.gp("ldres")
	for p := range t.p {
		for b := range t.blocks {
			c.VMOVUPS_Z(operand.Mem{Base: t.res, Disp: b * lane}, t.columns(b), t.spare[0])
			c.VADDPS(t.spare[0], t.acc[0][p][b], t.acc[0][p][b])
		}
		c.LEAQ(operand.Mem{Base: t.res, Index: step, Scale: 4}, t.res)
	}
	c.Label(t.label("clamp"))
	lo, hi := t.spare[0], t.spare[1]
	broadcastParam(c, "lo", lo)
	broadcastParam(c, "hi", hi)
	step = t.gp("ldout")
	for p := range t.p {
		for b := range t.blocks {
			a := t.acc[0][p][b]
			c.VMAXPS(a, lo, a)
			c.VMINPS(a, hi, a)
			c.VMOVUPS(a, t.columns(b), operand.Mem{Base: t.out, Disp: b * lane})
		}
		c.LEAQ(operand.Mem{Base: t.out, Index: step, Scale: 4}, t.out)
	}
	for range t.p {
		c.ADDQ(t.lda, t.a)
	}
}
