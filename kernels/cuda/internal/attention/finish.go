package attention

import (
	"math"
	"math/bits"

	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// piece is consecutive elements of a value, of one of the thread's rows.
type piece struct {
	column ptx.Uint
	sums   []ptx.Float
}

// outputPlace is where the value of a row is written: the output's row, and its first column.
func (c *block) outputPlace(row ptx.Uint) (at, column ptx.Uint) {
	head, query := c.headOf(row)
	if c.flat {
		return c.Mad(c.batchAt, ptx.U(c.queries), query), c.Mul(head, ptx.U(c.sizeV))
	}
	return c.Mad(c.Mad(c.batchAt, ptx.U(c.heads), head), ptx.U(c.queries), query), ptx.U(0)
}

// inside runs body for what of a piece the value has, so many elements at a time at most.
func (c *block) inside(p piece, most int, body func(column ptx.Uint, sums []ptx.Float)) {
	n := min(len(p.sums), most, 1<<bits.TrailingZeros(uint(c.sizeV)))
	whole := c.sizeV%len(p.sums) == 0 // a piece is inside or outside as a whole
	store := func() {
		for i := 0; i < len(p.sums); i += n {
			column := c.Add(p.column, ptx.U(i))
			one := func() { body(column, p.sums[i:i+n]) }
			if whole {
				one()
			} else {
				c.If(c.Lt(column, ptx.U(c.sizeV)), one)
			}
		}
	}
	if whole && c.sizeV%32 != 0 {
		c.If(c.Lt(p.column, ptx.U(c.sizeV)), store)
	} else {
		store()
	}
}

// finish divides the sums, and writes outputs.
func (c *block) finish(out *emit.RowOutput, pieces func(row int) []piece) {
	for i := range c.mine {
		row := c.rowOf(i)
		factor := c.share(c.acrossRow(c.sum[i], (*ptx.K).AddF), c.top[i], row)
		list := pieces(i)
		c.If(c.Lt(row, ptx.U(c.rows())), func() {
			at, first := c.outputPlace(row)
			for _, p := range list {
				c.inside(p, out.Vector, func(column ptx.Uint, sums []ptx.Float) {
					y := make([]ptx.Float, len(sums))
					for j, v := range sums {
						y[j] = c.MulF(v, factor)
					}
					out.Store(c.K, at, c.Add(first, column), y)
				})
			}
		})
	}
}

// share is by what the sums of a row are multiplied: one by the sum of their shares, and that of a sink; 0 of a row for which no key
// counts.
func (c *block) share(sum, top ptx.Float, row ptx.Uint) ptx.Float {
	whole := sum
	if c.sinks != nil {
		head, _ := c.headOf(row)
		sink := c.sinks.LoadOne(c.K, c.Offset(c.sinks.Base, head, c.sinks.Type.Size()))
		below := c.MulF(c.finite(top), ptx.F(c.exponent()))
		whole = c.AddF(sum, c.Ex2Flush(c.SubF(c.MulF(sink, ptx.F(math.Log2E)), below)))
	}
	return c.SelectF(c.EqF(sum, ptx.F(0)), ptx.F(0), c.RcpApprox(whole))
}
