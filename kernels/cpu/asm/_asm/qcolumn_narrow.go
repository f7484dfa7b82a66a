package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// qcolumnNarrowRows is the most output rows of a column in registers of 32 bytes.
const qcolumnNarrowRows = 6

// qcolumnNarrow emits the columns of three kernel rows in registers of 32 bytes, 8 channels after the other 8: so the
// weights of all kernel rows fit beside the sums.
func qcolumnNarrow(c *build.Context) {
	order, pairs := dwords(c, "qcolumnOrder8", orderBytes), dwords(c, "qcolumnPairs", pairsOfPixels)
	for _, d := range dots(c, "qcolumn") {
		for stride := 1; stride <= 2; stride++ {
			name := fmt.Sprintf("qcolumn3x4S%d%s", stride, d.name())
			function(c, name, "func(rows, columns int, in *byte, inRow, inColumn int, weights *int8, start *int32, requant *byte)",
				fmt.Sprintf("%s computes columns of 1 to %d pixels x 16 channels; see QColumnCall.", name, qcolumnNarrowRows))
			c.VMOVDQU(pairs, ymm[12])
			rows := c.Load(c.Param("rows"), c.GP64())
			for p := qcolumnNarrowRows; p > 1; p-- {
				c.CMPQ(rows, operand.U32(uint32(p)))
				c.JEQ(operand.LabelRef(fmt.Sprintf("p%d", p)))
			}
			for p := 1; p <= qcolumnNarrowRows; p++ {
				k := qcolumnNarrowTile{qcolumnTile{c: c, shape: qcolumnShape{3, 1, stride}, p: p}, d, order}
				k.emit()
			}
		}
	}
}

// qcolumnNarrowTile emits the loop over columns for one number of output rows.
type qcolumnNarrowTile struct {
	qcolumnTile
	dot   dot
	order operand.Mem
}

func (k *qcolumnNarrowTile) emit() {
	c := k.c
	for p := range k.p {
		k.acc = append(k.acc, ymm[p:p+1])
	}
	columns, err := c.Param("columns").Resolve()
	if err != nil {
		panic(err)
	}
	c.Label(k.label(""))
	in, requant := k.param("in"), k.param("requant")
	out, res := loadField(c, requant, rOut), loadField(c, requant, rRes)
	c.Label(k.label("tile"))
	for half := range 2 {
		k.column(in, half)
		at, from := c.GP64().(reg.GPVirtual), c.GP64().(reg.GPVirtual)
		c.MOVQ(out, at)
		c.MOVQ(res, from)
		e := requantTile{c: c, isa: avx2, args: requant, acc: k.acc, first: half, out: at, res: from, spare: ymm[13:],
			label: func(s string) string { return fmt.Sprintf("%s%d", k.label(s), half) }}
		e.emit()
	}
	c.ADDQ(k.param("inColumn"), in)
	k.nextColumn(requant, out, res)
	c.SUBQ(operand.Imm(1), columns.Addr)
	c.JNE(operand.LabelRef(k.label("tile")))
	c.VZEROUPPER()
	c.RET()
}

// column sums 8 channels of one column of output pixels.
func (k *qcolumnNarrowTile) column(in reg.GPVirtual, half int) {
	c, s, n := k.c, k.shape, k.dot.weights()
	start, weights := k.param("start"), k.param("weights")
	for _, row := range k.acc {
		c.VMOVDQU(operand.Mem{Base: start, Disp: 32 * half}, row[0])
	}
	w := ymm[qcolumnNarrowRows:]
	for kh := range s.rows {
		k.dot.load(operand.Mem{Base: weights, Disp: kh*lane + 32*half}, w[kh*n:])
	}
	gather, x, odd, t := ymm[12], ymm[13], ymm[14], ymm[15]
	row, inRow := c.GP64().(reg.GPVirtual), k.param("inRow")
	c.MOVQ(in, row)
	last := (k.p-1)*s.stride + s.rows - 1
	for y := 0; y <= last; y++ {
		c.VPERMD(operand.Mem{Base: row}, gather, x)
		c.VPERMD(operand.Mem{Base: row, Disp: 32}, gather, t)
		if half == 0 {
			c.VPUNPCKLQDQ(t, x, x)
		} else {
			c.VPUNPCKHQDQ(t, x, x)
		}
		c.VPSHUFB(k.order, x, x)
		k.dot.split(x, odd)
		for p := range k.p {
			if kh := y - p*s.stride; kh >= 0 && kh < s.rows {
				k.dot.add(x, odd, t, t, w[kh*n:], k.acc[p][0])
			}
		}
		if y < last {
			c.ADDQ(inRow, row)
		}
	}
}
