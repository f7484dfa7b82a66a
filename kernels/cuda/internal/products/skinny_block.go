package products

import (
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// skinnyBlock is the code of a block.
type skinnyBlock struct {
	*skinny
	*ptx.K
	x, w               ptx.GlobalPtr
	thread, warp, lane ptx.Uint
	row                ptx.Uint     // of activations, of each eight
	column             ptx.Uint     // its bytes of a piece
	acc                [][]ptx.Word // sums: of 16 channels by eight rows, or of a row by channels
}

// place finds what the thread reads.
func (c *skinnyBlock) place() {
	c.thread = c.Thread()
	c.warp, c.lane = c.Shr(c.thread, 5), c.And(c.thread, ptx.U(31))
	lists, sums := c.eights(), 4
	if c.row, c.column = c.Shr(c.lane, 2), c.Shl(c.And(c.lane, ptx.U(3)), 4); c.unit == emit.SimtF32 {
		c.row, c.column = ptx.U(0), c.Shl(c.lane, 4)
		lists, sums = c.pixels(), c.channels()
	}
	tile := c.Mad(c.BlockX(), ptx.U(c.pieces()), c.warp)
	c.w = c.Offset(c.Offset(c.w, tile, c.pieceBytes()), c.lane, 16)
	c.x = c.Offset(c.Offset(c.x, c.row, c.pitchIn*c.typ.Size()), c.Mad(c.warp, ptx.U(c.piece()), c.column), 1)
	for range lists {
		var list []ptx.Word
		for range sums {
			if c.unit == emit.TensorI8 {
				list = append(list, c.VarS(ptx.I(0)).Word())
			} else {
				list = append(list, c.VarF(ptx.F(0)).Register())
			}
		}
		c.acc = append(c.acc, list)
	}
}

// run multiplies the warp's pieces, those of a few turns read together.
func (c *skinnyBlock) run() {
	if c.straight() {
		c.multiply(c.warp, c.w, c.x, c.turns())
		return
	}
	w, x, step := c.VarGlobal(c.w), c.VarGlobal(c.x), c.ahead()*c.warps
	c.ForRolled(c.warp, ptx.U(c.pieces()), ptx.U(step), func(piece ptx.Uint) {
		c.multiply(piece, w, x, c.ahead())
		c.SetGlobal(w, w.At(step*c.pieceBytes()))
		c.SetGlobal(x, x.At(step*c.piece()))
	})
}

// multiply adds the products of so many turns from a piece on: that piece, and each so many warps on.
func (c *skinnyBlock) multiply(piece ptx.Uint, w, x ptx.GlobalPtr, turns int) {
	left, right := make([][][]ptx.Word, turns), make([][][]ptx.Word, turns) // by turn, what a lane has of weights and of rows
	for i := range turns {
		at := c.Add(piece, ptx.U(i*c.warps))
		inside := c.Lt(at, ptx.U(c.pieces()))
		for n := 0; n < c.pieceBytes(); n += 512 {
			left[i] = append(left[i], c.LoadWhen(inside, w.At(i*c.warps*c.pieceBytes()+n), 4))
		}
		within := c.Lt(c.Mad(at, ptx.U(c.piece()), c.column), ptx.U(emit.RoundUp(c.c*c.typ.Size(), 16)))
		for e := range c.acc {
			live, row := within, e
			if c.unit != emit.SimtF32 {
				if row = 8 * e; c.pixels() < row+8 {
					live = c.Both(within, c.Lt(c.row, ptx.U(c.pixels()-row)))
				}
			}
			right[i] = append(right[i], c.LoadWhen(live, x.At(i*c.warps*c.piece()+row*c.pitchIn*c.typ.Size()), 4))
		}
	}
	for i := range turns {
		for e, sums := range c.acc {
			c.add(sums, left[i], right[i][e])
		}
	}
}

// add adds the products of a piece of weights with what a lane has of rows.
func (c *skinnyBlock) add(sums []ptx.Word, left [][]ptx.Word, right []ptx.Word) {
	for i, a := range left {
		switch b := right; c.unit {
		case emit.TensorF16:
			c.MmaF16([4]ptx.Float{sums[0].FloatRegister(), sums[1].FloatRegister(), sums[2].FloatRegister(), sums[3].FloatRegister()},
				[4]ptx.Word(a), [2]ptx.Word(b[2*i:]))
		case emit.TensorI8:
			o := c.operands(ptx.GlobalPtr{})
			c.MmaI8([4]ptx.Int{sums[0].Int(), sums[1].Int(), sums[2].Int(), sums[3].Int()},
				[4]ptx.Word(a), [2]ptx.Word(b[2*i:]), o.signed[1], o.signed[0])
		default:
			for j, w := range a {
				c.FmaTo(sums[i].FloatRegister(), c.FloatOf(w), c.FloatOf(b[j]))
			}
		}
	}
}

// finish adds up the sums of all warps, in their order, and writes outputs: a thread has a vector of a row.
//
//	[warp][row][channels and a gap]
func (c *skinnyBlock) finish(out *emit.RowOutput) {
	shared := c.Array("sums", 4*c.warps*c.sharedRows()*c.pitch(), 16)
	c.share(shared)
	c.Barrier()
	channels := c.channels()
	n := min(out.Vector, channels)
	c.For(c.thread, ptx.U(c.pixels()*channels/n), ptx.U(32*c.warps), func(i ptx.Uint) {
		row, piece := c.DivRem(i, channels/n)
		in := c.Mul(piece, ptx.U(n))
		channel := c.Mad(c.BlockX(), ptx.U(channels), in)
		c.If(c.Lt(channel, ptx.U(out.Channels)), func() {
			out.Emit(c.K, row, channel, c.total(c.OffsetShared(shared, c.Mad(row, ptx.U(c.pitch()), in), 4), n))
		})
	})
}

// sharedRows returns of how many rows a warp writes sums.
func (s *skinny) sharedRows() int {
	if s.unit == emit.SimtF32 {
		return s.pixels()
	}
	return 8 * s.eights()
}

// share writes the warp's sums.
func (c *skinnyBlock) share(shared ptx.SharedPtr) {
	first := c.Mul(c.warp, ptx.U(c.sharedRows()*c.pitch()))
	if c.unit == emit.SimtF32 {
		to := c.OffsetShared(shared, first, 4)
		for row, sums := range c.acc {
			for channel, s := range sums {
				sum := emit.AcrossWarp(c.K, s.FloatRegister(), (*ptx.K).AddF)
				c.When(c.Eq(c.lane, ptx.U(0)), func() { c.StoreSharedF(to.At(4*(row*c.pitch()+channel)), sum) })
			}
		}
		return
	}
	pair := c.Shl(c.And(c.lane, ptx.U(3)), 1)
	at := c.OffsetShared(shared, c.Add(first, c.Mad(pair, ptx.U(c.pitch()), c.row)), 4)
	for e, sums := range c.acc {
		for i, s := range sums { // of rows 2t and 2t+1, channels g and g+8
			c.StoreShared(at.At(4*((8*e+i%2)*c.pitch()+i/2*8)), s)
		}
	}
}

// total is the sum of all warps' n numbers.
func (c *skinnyBlock) total(from ptx.SharedPtr, n int) []ptx.Word {
	var total []ptx.Word
	for warp := range c.warps {
		at := from.At(4 * warp * c.sharedRows() * c.pitch())
		for i := 0; i < n; i += 4 {
			for j, w := range c.LoadShared(at.At(4*i), min(4, n-i)) {
				switch {
				case warp == 0:
					total = append(total, w)
				case c.unit == emit.TensorI8:
					total[i+j] = c.AddS(total[i+j].Int(), w.Int()).Word()
				default:
					total[i+j] = c.Bits(c.AddF(c.FloatOf(total[i+j]), c.FloatOf(w)))
				}
			}
		}
	}
	return total
}
