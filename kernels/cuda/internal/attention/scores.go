package attention

import (
	"math"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// scores are what a thread has of a tile's products: by its rows, by its keys, variables.
type scores [][]ptx.Float

var negativeInfinity = ptx.F(float32(math.Inf(-1)))

// raw reports whether scores stay as they are multiplied, so that their scale is part of the exponential's multiply-add.
func (p *problem) raw() bool { return p.cap == 0 && p.scale > 0 && !p.added() }

// added reports whether the mask is added to scores.
func (p *problem) added() bool { return p.mask != nil && p.mask.Type != numeric.Bool }

// exponent is by what the distance of two scores is multiplied to be an exponent of 2.
func (p *problem) exponent() float32 {
	if p.raw() {
		return p.scale * math.Log2E
	}
	return math.Log2E
}

// weigh scales the scores of the keys from start on, unless they stay raw, and takes out keys that do not count: minus infinity.
// masks are their masks, where these were fetched.
func (c *block) weigh(s scores, start ptx.Uint, masks [][]ptx.Float) {
	switch {
	case c.cap != 0:
		c.capped(s)
	case !c.raw() && !c.added():
		s.each(func(v ptx.Float) { c.SetF(v, c.MulF(v, ptx.F(c.scale))) })
	}
	if c.mask != nil {
		c.masked(s, start, masks)
	}
	if c.bounded() {
		over := c.LtS(c.edge, c.AddS(start.Int(), ptx.I(c.t.BN-1)))
		if c.window > 0 {
			over = c.Either(over, c.LtS(start.Int(), c.lowEdge))
		}
		c.If(over, func() { c.bound(s, start) })
	}
}

// each calls f with each score.
func (s scores) each(f func(v ptx.Float)) {
	for _, row := range s {
		for _, v := range row {
			f(v)
		}
	}
}

// capped makes cap*tanh(x/cap) of scores x: cap - 2*cap/(1 + e^(2x/cap)).
func (c *block) capped(s scores) {
	inside := 2 * math.Log2E * float64(c.scale) / float64(c.cap)
	s.each(func(v ptx.Float) {
		share := c.RcpApprox(c.AddF(c.Ex2Flush(c.MulF(v, ptx.F(float32(inside)))), ptx.F(1)))
		c.SetF(v, c.Fma(share, ptx.F(-2*c.cap), ptx.F(c.cap)))
	})
}

// bound takes out the keys behind the last that a row sees, and those before the first.
func (c *block) bound(s scores, start ptx.Uint) {
	from := c.AddS(start.Int(), c.laneKey.Int())
	for i, row := range s {
		left := c.SubS(c.last[i], from)
		for j, v := range row {
			c.SetF(v, c.SelectF(c.GeS(left, ptx.I(c.laneKeys[j])), v, negativeInfinity))
		}
		if c.window == 0 {
			continue
		}
		least := c.SubS(c.least[i], from)
		for j, v := range row {
			c.SetF(v, c.SelectF(c.GeS(least, ptx.I(c.laneKeys[j]+1)), negativeInfinity, v))
		}
	}
}
