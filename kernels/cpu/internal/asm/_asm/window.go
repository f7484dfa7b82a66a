package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// windowSets are the instruction sets with the most output pixels of a tile.
var windowSets = []struct {
	isa    *isa
	pixels int
}{{avx512, 14}, {avx2, 6}}

// windowOp is what a kernel does in each channel lane over the taps of a window.
type windowOp int

const (
	opDepthwise windowOp = iota // multiply-add with the tap's weights
	opMax
	opAverage // sum, times a factor for each pixel
)

const windowShape = "pixels, tiles, rows int, in *float32, inRow int, taps *int32, ntaps int, out *float32, outRow int"

// depthwise emits the depthwise convolution.
func depthwise(c *build.Context) {
	for _, s := range windowSets {
		window(c, s.isa, s.pixels, opDepthwise, "depthwise", "DepthwiseCall", ", outPixel int, w, bias, res *float32, resRow int, lo, hi float32")
	}
}

// pool emits the pooling kernels.
func pool(c *build.Context) {
	for _, s := range windowSets {
		window(c, s.isa, s.pixels, opMax, "poolMax", "PoolCall", "")
		window(c, s.isa, s.pixels, opAverage, "poolAverage", "PoolCall", ", factors *float32, factorRow int")
		poolSum(c, s.isa)
	}
}

// window emits the function of an operation with further parameters.
func window(c *build.Context, set *isa, most int, op windowOp, name, contract, params string) {
	name += set.name
	function(c, name, "func("+windowShape+params+")",
		fmt.Sprintf("%s computes tiles of 1 to %d pixels x 16 channels; see %s.", name, most, contract))
	pixels := c.Load(c.Param("pixels"), c.GP64())
	for p := most; p > 1; p-- {
		c.CMPQ(pixels, operand.U32(uint32(p)))
		c.JEQ(operand.LabelRef(fmt.Sprintf("p%d", p)))
	}
	for p := 1; p <= most; p++ {
		n := set.parts()
		rest := set.regs[p*n:]
		t := windowTile{c: c, isa: set, op: op, p: p, acc: set.regs[:p*n], weight: rest[:n], lo: rest[n], hi: rest[n+1]}
		t.emit()
	}
}

// windowTile emits the loops over rows, tiles and taps for one number of pixels.
type windowTile struct {
	c      *build.Context
	isa    *isa
	op     windowOp
	p      int
	acc    []reg.VecPhysical // of each pixel one or more
	weight []reg.VecPhysical
	lo, hi reg.VecPhysical
	extra  reg.GPVirtual // residual or factors of the tile
}

func (t *windowTile) label(s string) string { return fmt.Sprintf("p%d%s", t.p, s) }

func (t *windowTile) gp(param string) reg.GPVirtual {
	return t.c.Load(t.c.Param(param), t.c.GP64()).(reg.GPVirtual)
}

// walk is a pointer to the current tile and to the current row.
type walk struct {
	at, row reg.GPVirtual
	step    string // parameter that holds the elements between rows
}

func (t *windowTile) emit() {
	c := t.c
	c.Label(t.label(""))
	if t.op == opDepthwise {
		broadcastParam(c, "lo", t.lo)
		broadcastParam(c, "hi", t.hi)
	}
	if t.op == opMax && t.isa == avx512 {
		table := c.GP32()
		c.MOVL(operand.U32(keepNaNTable), table)
		c.VPBROADCASTD(table, t.lo)
	}
	rows := t.gp("rows")
	walks := []walk{{row: t.gp("in"), step: "inRow"}, {row: t.gp("out"), step: "outRow"}}
	switch t.op {
	case opDepthwise:
		walks = append(walks, walk{row: t.gp("res"), step: "resRow"})
	case opAverage:
		walks = append(walks, walk{row: t.gp("factors"), step: "factorRow"})
	}
	for i := range walks {
		walks[i].at = c.GP64().(reg.GPVirtual)
	}
	c.Label(t.label("row"))
	for _, w := range walks {
		c.MOVQ(w.row, w.at)
	}
	tiles := t.gp("tiles")
	c.Label(t.label("tile"))
	if len(walks) > 2 {
		t.extra = walks[2].at
	}
	t.taps(walks[0].at)
	t.finish(walks[1].at)
	c.ADDQ(operand.U32(uint32(t.p*lane)), walks[0].at)
	c.SUBQ(operand.Imm(1), tiles)
	c.JNE(operand.LabelRef(t.label("tile")))
	for _, w := range walks {
		if w.step == "resRow" {
			c.TESTQ(w.row, w.row)
			c.JEQ(operand.LabelRef(t.label("next")))
		}
		step := t.gp(w.step)
		c.LEAQ(operand.Mem{Base: w.row, Index: step, Scale: 4}, w.row)
	}
	c.Label(t.label("next"))
	c.SUBQ(operand.Imm(1), rows)
	c.JNE(operand.LabelRef(t.label("row")))
	c.VZEROUPPER()
	c.RET()
}

// taps reduces the windows of a tile. The first tap starts the maximum and the sum.
func (t *windowTile) taps(in reg.GPVirtual) {
	c := t.c
	tap, n, at := t.gp("taps"), t.gp("ntaps"), c.GP64()
	var w reg.GPVirtual
	next := func() operand.Mem {
		c.MOVLQSX(operand.Mem{Base: tap}, at)
		c.ADDQ(operand.Imm(8), tap)
		return operand.Mem{Base: in, Index: at, Scale: 4}
	}
	if t.op == opDepthwise {
		w = t.gp("w")
		bias := t.gp("bias")
		for i, a := range t.acc {
			if part := i % len(t.weight); i == part {
				c.VMOVUPS(operand.Mem{Base: bias, Disp: part * t.isa.width}, a)
			} else {
				c.VMOVAPS(t.acc[part], a)
			}
		}
	} else {
		x := next()
		for i, a := range t.acc {
			c.VMOVUPS(x.Offset(i*t.isa.width), a)
		}
		c.SUBQ(operand.Imm(1), n)
		c.JEQ(operand.LabelRef(t.label("reduced")))
	}
	c.Label(t.label("tap"))
	x := next()
	if t.op == opDepthwise {
		for part, v := range t.weight {
			c.VMOVUPS(operand.Mem{Base: w, Disp: part * t.isa.width}, v)
		}
		c.ADDQ(operand.Imm(lane), w)
	}
	for i, a := range t.acc {
		switch m := x.Offset(i * t.isa.width); t.op {
		case opDepthwise:
			c.VFMADD231PS(m, t.weight[i%len(t.weight)], a)
		case opMax:
			t.maximum(m, a, t.weight[i%len(t.weight)])
		case opAverage:
			c.VADDPS(m, a, a)
		}
	}
	c.SUBQ(operand.Imm(1), n)
	c.JNE(operand.LabelRef(t.label("tap")))
	c.Label(t.label("reduced"))
}

// keepNaNTable is VFIXUPIMMPS's for each element: what is NaN, quiet or not, replaces the destination, made quiet.
const keepNaNTable = 0x22

// maximum makes a the greater of a and the elements at m, NaN being the greatest; x is overwritten. NaN in a stays, since it is
// VMAXPS's second source.
func (t *windowTile) maximum(m operand.Mem, a, x reg.VecPhysical) {
	c := t.c
	c.VMOVUPS(m, x)
	c.VMAXPS(a, x, a)
	if t.isa == avx512 {
		c.VFIXUPIMMPS(operand.Imm(0), t.lo, x, a)
		return
	}
	c.VCMPPS(operand.Imm(compareUnordered), x, x, x)
	c.VORPS(x, a, a)
}

// finish stores the tile, after the residual and clamp, or the factors, and leaves out and those at the next tile.
func (t *windowTile) finish(out reg.GPVirtual) {
	c := t.c
	if t.op != opDepthwise {
		t.store(out, nil)
		if t.op == opAverage {
			c.ADDQ(operand.U32(uint32(4*t.p)), t.extra)
		}
		return
	}
	step := t.gp("outPixel")
	c.CMPQ(step, operand.Imm(lane/4))
	c.JNE(operand.LabelRef(t.label("apart")))
	t.store(out, nil)
	c.JMP(operand.LabelRef(t.label("stored")))
	c.Label(t.label("apart"))
	t.store(out, &step)
	c.Label(t.label("stored"))
}

// store finishes the tile where pixels are adjacent or, if it is set, step elements apart.
func (t *windowTile) store(out reg.GPVirtual, step *reg.GPVirtual) {
	c := t.c
	if t.op == opDepthwise {
		clamp := "clamp"
		if step != nil {
			clamp = "clampapart"
		}
		c.TESTQ(t.extra, t.extra)
		c.JEQ(operand.LabelRef(t.label(clamp)))
		t.outputs(t.extra, step, func(i int, at operand.Mem) { c.VADDPS(at, t.acc[i], t.acc[i]) })
		c.Label(t.label(clamp))
	}
	t.outputs(out, step, func(i int, at operand.Mem) {
		a := t.acc[i]
		switch t.op {
		case opDepthwise:
			c.VMAXPS(a, t.lo, a)
			c.VMINPS(a, t.hi, a)
		case opAverage:
			t.scale(i, a)
		}
		c.VMOVUPS(a, at)
	})
}

// outputs calls f with the address of each accumulator in a tensor of the output's shape, and leaves base at the next tile.
func (t *windowTile) outputs(base reg.GPVirtual, step *reg.GPVirtual, f func(i int, at operand.Mem)) {
	if step == nil {
		for i := range t.acc {
			f(i, operand.Mem{Base: base, Disp: i * t.isa.width})
		}
		t.c.ADDQ(operand.U32(uint32(t.p*lane)), base)
		return
	}
	for i := range t.acc {
		part := i % len(t.weight)
		f(i, operand.Mem{Base: base, Disp: part * t.isa.width})
		if part == len(t.weight)-1 {
			t.c.LEAQ(operand.Mem{Base: base, Index: *step, Scale: 4}, base)
		}
	}
}

// scale multiplies an accumulator by its pixel's factor.
func (t *windowTile) scale(i int, a reg.VecPhysical) {
	factor := operand.Mem{Base: t.extra, Disp: 4 * (i / len(t.weight))}
	if t.isa == avx512 {
		t.c.VMULPS_BCST(factor, a, a)
		return
	}
	if i%len(t.weight) == 0 {
		t.c.VBROADCASTSS(factor, t.weight[0])
	}
	t.c.VMULPS(t.weight[0], a, a)
}

// poolSum emits the sum of consecutive vectors, for averages over whole planes.
func poolSum(c *build.Context, set *isa) {
	name := "poolSum" + set.name
	function(c, name, "func(in *float32, n int, factor float32, out *float32)",
		name+" sets out[0:16] to factor times the sum of n vectors of 16; n may be 0.")
	in := c.Load(c.Param("in"), c.GP64()).(reg.GPVirtual)
	n := c.Load(c.Param("n"), c.GP64())
	out := c.Load(c.Param("out"), c.GP64()).(reg.GPVirtual)
	parts := set.parts()
	acc := set.regs[:8]
	vectors := len(acc) / parts // in turn
	for _, a := range acc {
		set.zero(c, a)
	}
	c.SUBQ(operand.Imm(uint64(vectors)), n)
	c.JLT(operand.LabelRef("tail"))
	c.Label("several")
	for i, a := range acc {
		c.VADDPS(operand.Mem{Base: in, Disp: i * set.width}, a, a)
	}
	c.ADDQ(operand.U32(uint32(vectors*lane)), in)
	c.SUBQ(operand.Imm(uint64(vectors)), n)
	c.JGE(operand.LabelRef("several"))
	c.Label("tail")
	c.ADDQ(operand.Imm(uint64(vectors)), n)
	c.JEQ(operand.LabelRef("sum"))
	c.Label("one")
	for i, a := range acc[:parts] {
		c.VADDPS(operand.Mem{Base: in, Disp: i * set.width}, a, a)
	}
	c.ADDQ(operand.Imm(lane), in)
	c.SUBQ(operand.Imm(1), n)
	c.JNE(operand.LabelRef("one"))
	c.Label("sum")
	for half := vectors / 2; half > 0; half /= 2 {
		for i, a := range acc[:half*parts] {
			c.VADDPS(acc[i+half*parts], a, a)
		}
	}
	factor := set.regs[len(acc)]
	broadcastParam(c, "factor", factor)
	for i, a := range acc[:parts] {
		c.VMULPS(factor, a, a)
		c.VMOVUPS(a, operand.Mem{Base: out, Disp: i * set.width})
	}
	c.VZEROUPPER()
	c.RET()
}
