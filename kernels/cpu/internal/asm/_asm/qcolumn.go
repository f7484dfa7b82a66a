package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// qcolumnRows is the most output rows of a column.
const qcolumnRows = 8

// qcolumnShape is a kernel of rows by up to 4*chunks columns, moving by stride rows.
type qcolumnShape struct{ rows, chunks, stride int }

var qcolumnShapes = []qcolumnShape{{3, 1, 1}, {3, 1, 2}, {5, 2, 1}, {5, 2, 2}}

// qcolumn emits the depthwise convolution of bytes down the columns of a map: an input row, transposed once,
// serves every output row that reads it, and the weights stay in registers.
func qcolumn(c *build.Context) {
	gather := dwords(c, "qcolumnGather", gatherPixels)
	order := dwords(c, "qcolumnOrder", orderBytes)
	for _, s := range qcolumnShapes {
		name := fmt.Sprintf("qcolumn%dx%dS%dVNNI", s.rows, 4*s.chunks, s.stride)
		function(c, name, "func(rows, columns int, in *byte, inRow, inColumn int, weights *int8, start *int32, requant *byte)",
			fmt.Sprintf("%s computes columns of 1 to %d pixels x 16 channels; see QColumnCall.", name, qcolumnRows))
		c.VMOVDQU32(gather, zmm[30])
		c.VMOVDQU32(order, zmm[31])
		rows := c.Load(c.Param("rows"), c.GP64())
		for p := qcolumnRows; p > 1; p-- {
			c.CMPQ(rows, operand.U32(uint32(p)))
			c.JEQ(operand.LabelRef(fmt.Sprintf("p%d", p)))
		}
		for p := 1; p <= qcolumnRows; p++ {
			k := qcolumnTile{c: c, shape: s, p: p}
			k.emit()
		}
	}
}

// gatherPixels collects in each 128-bit lane the same four channels of four pixels.
func gatherPixels(i int) uint32 { return uint32(i%4*4 + i/4) }

// orderBytes transposes them: four pixels of each channel.
func orderBytes(i int) uint32 {
	b := uint32(i % 4)
	return b | (b+4)<<8 | (b+8)<<16 | (b+12)<<24
}

// qcolumnTile emits the loop over columns for one number of output rows.
type qcolumnTile struct {
	c     *build.Context
	shape qcolumnShape
	p     int
	acc   [][]reg.VecPhysical
}

func (k *qcolumnTile) label(s string) string { return fmt.Sprintf("p%d%s", k.p, s) }

// weight is the register of the weights of a kernel row and chunk.
func (k *qcolumnTile) weight(row, chunk int) reg.VecPhysical { return zmm[12+row*k.shape.chunks+chunk] }

func (k *qcolumnTile) param(name string) reg.GPVirtual {
	return k.c.Load(k.c.Param(name), k.c.GP64()).(reg.GPVirtual)
}

func (k *qcolumnTile) emit() {
	c := k.c
	for p := range k.p {
		k.acc = append(k.acc, zmm[p:p+1])
	}
	c.Label(k.label(""))
	weights := k.param("weights")
	for i := range k.shape.rows * k.shape.chunks {
		c.VMOVDQU32(operand.Mem{Base: weights, Disp: lane * i}, zmm[12+i])
	}
	columns, in, inRow := k.param("columns"), k.param("in"), k.param("inRow")
	requant := k.param("requant")
	out, res := loadField(c, requant, rOut), loadField(c, requant, rRes)

	c.Label(k.label("tile"))
	k.column(in, inRow)
	at, from := c.GP64().(reg.GPVirtual), c.GP64().(reg.GPVirtual)
	c.MOVQ(out, at)
	c.MOVQ(res, from)
	e := requantTile{c: c, isa: avx512, args: requant, acc: k.acc, out: at, res: from, label: k.label, spare: zmm[8:12]}
	e.emit()
	c.ADDQ(k.param("inColumn"), in)
	k.nextColumn(requant, out, res)
	c.SUBQ(operand.Imm(1), columns)
	c.JNE(operand.LabelRef(k.label("tile")))
	c.VZEROUPPER()
	c.RET()
}

// nextColumn moves out and, where there is one, res by 16 channels.
func (k *qcolumnTile) nextColumn(requant, out, res reg.GPVirtual) {
	c := k.c
	size := c.GP64()
	c.MOVLQZX(operand.Mem{Base: requant, Disp: rStoreFloat}, size)
	c.IMUL3Q(operand.Imm(48), size, size)
	c.ADDQ(operand.Imm(16), size) // 16 bytes or 16 float32
	c.ADDQ(size, out)
	c.TESTQ(res, res)
	c.JEQ(operand.LabelRef(k.label("next")))
	c.ADDQ(operand.Imm(16), res)
	c.Label(k.label("next"))
}

// column sums one column of output pixels.
func (k *qcolumnTile) column(in, inRow reg.GPVirtual) {
	c, s := k.c, k.shape
	start := k.param("start")
	for p := range k.p {
		c.VMOVDQU32(operand.Mem{Base: start}, k.acc[p][0])
	}
	row := c.GP64().(reg.GPVirtual)
	c.MOVQ(in, row)
	last := (k.p-1)*s.stride + s.rows - 1
	for y := 0; y <= last; y++ {
		for chunk := range s.chunks {
			x := zmm[22+(y*s.chunks+chunk)%8]
			c.VPERMD(operand.Mem{Base: row, Disp: lane * chunk}, zmm[30], x)
			c.VPSHUFB(zmm[31], x, x)
			for p := range k.p {
				if kh := y - p*s.stride; kh >= 0 && kh < s.rows {
					c.VPDPBUSD(k.weight(kh, chunk), x, k.acc[p][0])
				}
			}
		}
		if y < last {
			c.ADDQ(inRow, row)
		}
	}
}
