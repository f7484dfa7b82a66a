package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// windowPixels is the most output pixels of a tile.
const windowPixels = 14

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
	function(c, "depthwiseAVX512",
		"func("+windowShape+", w, bias, res *float32, resRow int, lo, hi float32)",
		"depthwiseAVX512 computes tiles of 1 to 14 pixels x 16 channels; see DepthwiseCall.")
	window(c, opDepthwise)
}

// pool emits the pooling kernels.
func pool(c *build.Context) {
	function(c, "poolMaxAVX512", "func("+windowShape+")",
		"poolMaxAVX512 computes tiles of 1 to 14 pixels x 16 channels; see PoolCall.")
	window(c, opMax)
	function(c, "poolAverageAVX512", "func("+windowShape+", factors *float32, factorRow int)",
		"poolAverageAVX512 computes tiles of 1 to 14 pixels x 16 channels; see PoolCall.")
	window(c, opAverage)
	poolSum(c)
}

func window(c *build.Context, op windowOp) {
	pixels := c.Load(c.Param("pixels"), c.GP64())
	for p := windowPixels; p > 1; p-- {
		c.CMPQ(pixels, operand.U32(uint32(p)))
		c.JEQ(operand.LabelRef(fmt.Sprintf("p%d", p)))
	}
	for p := 1; p <= windowPixels; p++ {
		t := windowTile{c: c, op: op, p: p, acc: zmm[:p], weight: zmm[p], lo: zmm[p+1], hi: zmm[p+2]}
		t.emit()
	}
}

// windowTile emits the loops over rows, tiles and taps for one number of pixels.
type windowTile struct {
	c              *build.Context
	op             windowOp
	p              int
	acc            []reg.VecPhysical
	weight, lo, hi reg.VecPhysical
	extra          reg.GPVirtual // residual or factors of the tile
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
	c.ADDQ(operand.U32(uint32(t.p*lane)), walks[1].at)
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
		c.VMOVUPS(operand.Mem{Base: bias}, t.acc[0])
		for _, a := range t.acc[1:] {
			c.VMOVAPS(t.acc[0], a)
		}
	} else {
		x := next()
		for p, a := range t.acc {
			c.VMOVUPS(x.Offset(p*lane), a)
		}
		c.SUBQ(operand.Imm(1), n)
		c.JEQ(operand.LabelRef(t.label("reduced")))
	}
	c.Label(t.label("tap"))
	x := next()
	if t.op == opDepthwise {
		c.VMOVUPS(operand.Mem{Base: w}, t.weight)
		c.ADDQ(operand.Imm(lane), w)
	}
	for p, a := range t.acc {
		switch m := x.Offset(p * lane); t.op {
		case opDepthwise:
			c.VFMADD231PS(m, t.weight, a)
		case opMax:
			c.VMAXPS(m, a, a)
		case opAverage:
			c.VADDPS(m, a, a)
		}
	}
	c.SUBQ(operand.Imm(1), n)
	c.JNE(operand.LabelRef(t.label("tap")))
	c.Label(t.label("reduced"))
}

// finish stores the tile, after the residual and clamp, or the factors.
func (t *windowTile) finish(out reg.GPVirtual) {
	c := t.c
	if t.op == opDepthwise {
		c.TESTQ(t.extra, t.extra)
		c.JEQ(operand.LabelRef(t.label("clamp")))
		for p, a := range t.acc {
			c.VADDPS(operand.Mem{Base: t.extra, Disp: p * lane}, a, a)
		}
		c.ADDQ(operand.U32(uint32(t.p*lane)), t.extra)
		c.Label(t.label("clamp"))
	}
	for p, a := range t.acc {
		switch t.op {
		case opDepthwise:
			c.VMAXPS(a, t.lo, a)
			c.VMINPS(a, t.hi, a)
		case opAverage:
			c.VMULPS_BCST(operand.Mem{Base: t.extra, Disp: 4 * p}, a, a)
		}
		c.VMOVUPS(a, operand.Mem{Base: out, Disp: p * lane})
	}
	if t.op == opAverage {
		c.ADDQ(operand.U32(uint32(4*t.p)), t.extra)
	}
}

// poolSum emits the sum of consecutive vectors, for averages over whole planes.
func poolSum(c *build.Context) {
	function(c, "poolSumAVX512", "func(in *float32, n int, factor float32, out *float32)",
		"poolSumAVX512 sets out[0:16] to factor times the sum of n vectors of 16; n may be 0.")
	in := c.Load(c.Param("in"), c.GP64()).(reg.GPVirtual)
	n := c.Load(c.Param("n"), c.GP64())
	out := c.Load(c.Param("out"), c.GP64()).(reg.GPVirtual)
	acc := zmm[:8]
	for _, a := range acc {
		c.VPXORD(a, a, a)
	}
	c.SUBQ(operand.Imm(8), n)
	c.JLT(operand.LabelRef("tail"))
	c.Label("eight")
	for i, a := range acc {
		c.VADDPS(operand.Mem{Base: in, Disp: i * lane}, a, a)
	}
	c.ADDQ(operand.U32(8*lane), in)
	c.SUBQ(operand.Imm(8), n)
	c.JGE(operand.LabelRef("eight"))
	c.Label("tail")
	c.ADDQ(operand.Imm(8), n)
	c.JEQ(operand.LabelRef("sum"))
	c.Label("one")
	c.VADDPS(operand.Mem{Base: in}, acc[0], acc[0])
	c.ADDQ(operand.Imm(lane), in)
	c.SUBQ(operand.Imm(1), n)
	c.JNE(operand.LabelRef("one"))
	c.Label("sum")
	for half := 4; half > 0; half /= 2 {
		for i := range half {
			c.VADDPS(acc[i+half], acc[i], acc[i])
		}
	}
	factor := zmm[8]
	broadcastParam(c, "factor", factor)
	c.VMULPS(factor, acc[0], acc[0])
	c.VMOVUPS(acc[0], operand.Mem{Base: out})
	c.VZEROUPPER()
	c.RET()
}
