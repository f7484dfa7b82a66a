package products

import (
	"github.com/trtui/trtui/kernels/cuda/emit"
	"github.com/trtui/trtui/kernels/cuda/ptx"
)

// batchedBlock is the code of a block of a batch of products; it is the source of both matrices.
type batchedBlock struct {
	*batched
	*block
	left, right           ptx.GlobalPtr // this thread's first piece of each side, at the next step
	depthLeft, depthRight ptx.Uint      // their places in the sum
	slotLeft, slotRight   ptx.SharedPtr
	insideLeft            []ptx.Cond // by row that it copies of the left side
	insideRight           ptx.Cond
	rowsRight, linesRight int // rows of the right side in a stage, and how many the block copies at once
}

// place finds the block's matrix of the batch and the tile's first row and column in it.
func (c *batchedBlock) place() (matrix ptx.Uint, grid [3]int) {
	t, k := c.tile, c.K
	x, y, matrix, grid := emit.BlockIndices(k, [3]int{emit.CeilDiv(c.m, t.BM), emit.CeilDiv(c.n, t.BN), c.batch})
	c.pixel, c.column = k.Mul(x, ptx.U(t.BM)), k.Mul(y, ptx.U(t.BN))
	return matrix, grid
}

// begin finds what the thread copies.
func (c *batchedBlock) begin(matrix ptx.Uint) {
	t, k := c.tile, c.K
	row, piece := k.DivRem(c.thread, t.pieces())
	c.slotLeft = k.OffsetShared(c.ring, k.Mad(row, ptx.U(t.BK), t.swizzled(k, row, piece)), 1)
	first := k.Add(c.pixel, row)
	at := k.Add(emit.RowOffset(k, matrix, c.batched.left.batch), k.Mad(first, ptx.U(c.batched.k), k.Shl(piece, 3)))
	c.left = k.VarGlobal(k.Offset(c.batched.left.Base, at, 2))
	for r := 0; r < t.BM; r += t.rowsAtOnce() {
		c.insideLeft = append(c.insideLeft, k.Lt(k.Add(first, ptx.U(r)), ptx.U(c.m)))
	}
	perLine := t.BN / 8
	c.rowsRight, c.linesRight = t.BK/2, t.threads()/perLine
	line, chunk := k.DivRem(c.thread, perLine)
	place := k.Shl(k.Xor(chunk, k.And(line, ptx.U(7))), 4)
	c.slotRight = k.OffsetShared(c.ring, k.Mad(line, ptx.U(2*t.BN), place), 1).At(t.BM * t.BK)
	column := k.Mad(chunk, ptx.U(8), c.column)
	c.insideRight = k.Lt(column, ptx.U(c.n))
	at = k.Add(emit.RowOffset(k, matrix, c.batched.right.batch), k.Mad(line, ptx.U(c.n), column))
	c.right = k.VarGlobal(k.Offset(c.batched.right.Base, at, 2))
	if c.tail() {
		c.depthLeft, c.depthRight = k.Var(k.Shl(piece, 3)), k.Var(line)
	}
}

// tail reports whether the last step is shorter than the others.
func (c *batchedBlock) tail() bool { return c.batched.k%(c.tile.BK/2) != 0 }

// copies returns the copies of both sides.
func (c *batchedBlock) copies(stage ptx.Uint, _ int, more *ptx.Cond) (list []func()) {
	t := c.tile
	one := func(to ptx.SharedPtr, from ptx.GlobalPtr, inside ptx.Cond) {
		list = append(list, func() {
			size := c.Select(inside, ptx.U(16), ptx.U(0))
			c.when(more, func() { c.CopyAsync(to, from, size) })
		})
	}
	to := c.OffsetShared(c.slotLeft, stage, 1)
	for i, inside := range c.insideLeft {
		if c.tail() {
			inside = c.Both(inside, c.Lt(c.depthLeft, ptx.U(c.batched.k)))
		}
		r := i * t.rowsAtOnce()
		one(to.At(r*t.BK), c.left.At(2*r*c.batched.k), inside)
	}
	to = c.OffsetShared(c.slotRight, stage, 1)
	for r := 0; r < c.rowsRight; r += c.linesRight {
		inside := c.insideRight
		if c.tail() {
			inside = c.Both(inside, c.Lt(c.Add(c.depthRight, ptx.U(r)), ptx.U(c.batched.k)))
		}
		one(to.At(2*r*t.BN), c.right.At(2*r*c.n), inside)
	}
	return append(list, func() {
		c.SetGlobal(c.left, c.left.At(t.BK))
		c.SetGlobal(c.right, c.right.At(t.BK*c.n))
		if c.tail() {
			c.Set(c.depthLeft, c.Add(c.depthLeft, ptx.U(t.BK/2)))
			c.Set(c.depthRight, c.Add(c.depthRight, ptx.U(t.BK/2)))
		}
	})
}

func (c *batchedBlock) advance(int) {}

// turned are the fragments of a right side whose rows are along the sum: ldmatrix transposes its 8x8 matrices.
type turned struct {
	*block
	first []ptx.SharedPtr // addresses of this lane's first pieces in stage 0, by 16 columns
}

func newTurned(w warpTile) turned {
	// Lanes 0 to 15 give the addresses of 16 rows at 8 columns, the others of the same rows at the next 8.
	row := w.And(w.lane, ptx.U(15))
	first := w.Xor(w.Add(w.Shr(w.column, 3), w.Shr(w.lane, 4)), w.And(row, ptx.U(7)))
	at := w.Add(w.Mad(row, ptx.U(2*w.t.BN), w.ring.Uint), w.Mad(first, ptx.U(16), ptx.U(w.t.BM*w.t.BK)))
	f := turned{block: w.block}
	for j := range w.columns / 16 {
		f.first = append(f.first, w.flipped(at, 2*j))
	}
	return f
}

func (f turned) place(stage ptx.Uint, slice, j int) (ptx.SharedPtr, bool) {
	return f.OffsetShared(f.first[j], stage, 1).At(slice * mmaBytes * f.t.BN), true
}
