package attention

import (
	"math/bits"

	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// Blocks that share the keys of a tile write, for each row, sums of values and then what they are relative to:
//
//	[part][row] sizeV sums
//	[part][row] the largest score, the sum of shares
//
// A second kernel adds them up, since a few rows would leave most of a last block idle.

// allRows returns the rows of all heads and batches.
func (p *problem) allRows() int { return p.batch * p.kvHeads * p.rows() }

// partBytes returns the memory of the sums of all parts, and of what they are relative to.
func (p *problem) partBytes(t Tile) (sums, tops int) {
	n := t.Split * p.allRows()
	return emit.RoundUp(4*n*p.sizeV, 256), emit.RoundUp(8*n, 256)
}

// keepParts writes the block's sums of its part of the keys.
func (c *block) keepParts(sums, tops ptx.GlobalPtr, pieces func(row int) []piece) {
	for i := range c.mine {
		row := c.rowOf(i)
		sum := c.acrossRow(c.sum[i], (*ptx.K).AddF)
		list := pieces(i)
		c.If(c.Lt(row, ptx.U(c.rows())), func() {
			all := c.Mad(c.Mad(c.batchAt, ptx.U(c.kvHeads), c.headAt), ptx.U(c.rows()), row)
			at := c.Mad(c.part, ptx.U(c.allRows()), all)
			for _, p := range list {
				c.inside(p, 4, func(column ptx.Uint, x []ptx.Float) {
					c.StoreF(c.Offset(sums, c.Mad(at, ptx.U(c.sizeV), column), 4), x...)
				})
			}
			c.If(c.Eq(c.laneKey, ptx.U(0)), func() {
				c.StoreF(c.Offset(tops, at, 8), c.top[i], sum)
			})
		})
	}
}

// combine emits the kernel that adds parts up: a thread has a vector of a row's value.
func (p *problem) combine(w *emit.Work, t Tile, out *emit.RowOutput) {
	n := min(4, out.Vector, 1<<bits.TrailingZeros(uint(p.sizeV)))
	perRow := p.sizeV / n
	k, l := w.Threads("combine", p.allRows()*perRow)
	size, _ := p.partBytes(t)
	sums, tops := l.Scratch(k, "sums", 0), l.Scratch(k, "tops", size)
	out.Parameters(k, l)
	if p.sinks != nil {
		p.sinks.parameter(k, w, l)
	}
	index := emit.ThreadIndex(k, p.allRows()*perRow)
	all, piece := k.DivRem(index, perRow)
	column := k.Mul(piece, ptx.U(n))
	tops = k.Offset(tops, all, 8)
	sums = k.Offset(sums, k.Mad(all, ptx.U(p.sizeV), column), 4)

	c := &block{K: k, problem: p, t: t}
	top := k.VarF(negativeInfinity)
	k.For(ptx.U(0), ptx.U(t.Split), ptx.U(1), func(part ptx.Uint) {
		k.SetF(top, k.MaxF(top, k.LoadF(k.Offset(tops, part, 8*p.allRows()), 1)[0]))
	})
	below := c.finite(top)
	whole, y := k.VarF(ptx.F(0)), make([]ptx.Float, n)
	for i := range y {
		y[i] = k.VarF(ptx.F(0))
	}
	k.For(ptx.U(0), ptx.U(t.Split), ptx.U(1), func(part ptx.Uint) {
		of := k.LoadF(k.Offset(tops, part, 8*p.allRows()), 2)
		x := k.LoadF(k.Offset(sums, part, 4*p.allRows()*p.sizeV), n)
		weight := k.Ex2Flush(k.MulF(k.SubF(of[0], below), ptx.F(p.exponent())))
		k.FmaTo(whole, of[1], weight)
		for i := range y {
			k.FmaTo(y[i], x[i], weight)
		}
	})
	rest, row := k.DivRem(all, p.rows())
	c.batchAt, c.headAt = k.DivRem(rest, p.kvHeads)
	factor := c.share(whole, top, row)
	for i := range y {
		y[i] = k.MulF(y[i], factor)
	}
	at, first := c.outputPlace(row)
	out.Store(k, at, k.Add(first, column), y)
	w.End(k, l)
}
