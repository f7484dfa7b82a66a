package attention

import (
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// online is what is known of the rows' softmax: the largest score, and the sum of the exponentials below it (Milakov and
// Gimelshein, "Online normalizer calculation for softmax", 2018), the latter of the thread's own keys.
type online struct {
	top, sum []ptx.Float // by row of the thread: variables
}

// start begins the rows.
func (c *block) start() {
	for range c.mine {
		c.top = append(c.top, c.VarF(negativeInfinity))
		c.sum = append(c.sum, c.VarF(ptx.F(0)))
	}
}

// rowLanes returns how many neighbouring lanes share a row.
func (t Tile) rowLanes() int {
	if t.Unit.String() == "f32_simt" {
		return simtLanes
	}
	return 4
}

// acrossRow merges a number of each lane that shares a row.
func (c *block) acrossRow(v ptx.Float, merge func(k *ptx.K, a, b ptx.Float) ptx.Float) ptx.Float {
	for mask := c.t.rowLanes() / 2; mask > 0; mask /= 2 {
		v = merge(c.K, v, c.ShuffleXor(v, mask))
	}
	return v
}

// soften makes shares of a tile's scores: e to the distance from the largest, as a power of 2. Where the tile raises that, the
// sums of before shrink. Only of raw scores is the scaled largest taken off within a multiply-add: those that a mask was added to
// may be so large that they cannot be scaled.
func (c *block) soften(s scores, sums [][]ptx.Float) {
	factor := ptx.F(c.exponent())
	for i, row := range s {
		top := c.MaxF(c.top[i], c.acrossRow(c.tree(row, (*ptx.K).MaxF), (*ptx.K).MaxF))
		below := c.finite(top)
		shrink := c.Ex2Flush(c.MulF(c.SubF(c.top[i], below), factor))
		c.SetF(c.top[i], top)
		scaled := c.NegF(c.MulF(below, factor))
		for _, v := range row {
			if c.raw() {
				c.SetF(v, c.Ex2Flush(c.Fma(v, factor, scaled)))
			} else {
				c.SetF(v, c.Ex2Flush(c.MulF(c.SubF(v, below), factor)))
			}
		}
		c.SetF(c.sum[i], c.Fma(c.sum[i], shrink, c.tree(row, (*ptx.K).AddF)))
		for _, o := range sums[i] {
			c.SetF(o, c.MulF(o, shrink))
		}
	}
}

// finite is the largest score, or 0 as long as no key counts.
func (c *block) finite(top ptx.Float) ptx.Float {
	return c.SelectF(c.EqF(top, negativeInfinity), ptx.F(0), top)
}

// tree merges numbers in pairs.
func (c *block) tree(list []ptx.Float, merge func(k *ptx.K, a, b ptx.Float) ptx.Float) ptx.Float {
	for len(list) > 1 {
		var next []ptx.Float
		for i := 0; i+1 < len(list); i += 2 {
			next = append(next, merge(c.K, list[i], list[i+1]))
		}
		list = append(next, list[len(list)/2*2:]...)
	}
	return list[0]
}
