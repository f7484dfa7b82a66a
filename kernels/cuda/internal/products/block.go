package products

import "github.com/trtui/trtui/kernels/cuda/internal/ptx"

// block is the code of a block of threads that computes a tile, as all of its parts know it. What it does for a layer is
// put together of four parts:
//
//	source    what threads copy to a stage of shared memory for a step of the sum: pixels.go, weights.go, matrices.go
//	ring      when copies are started and waited for (ring.go)
//	engine    what multiplies a stage: tensor.go, simt.go
//	finisher  what becomes of the sums: split.go, finish.go
type block struct {
	*ptx.K
	t             Tile
	ring          ptx.SharedPtr // its shared memory
	thread        ptx.Uint
	group         ptx.Uint // of channels
	pixel, column ptx.Uint // where the tile begins: its first pixel, or row of the result, and channel of the group
}

// newBlock begins the code of a kernel's blocks.
func newBlock(k *ptx.K, t Tile) *block {
	return &block{K: k, t: t, ring: k.Dynamic(), thread: k.Thread(), group: ptx.U(0)}
}

// pieces returns the pieces of a row of a stage.
func (t Tile) pieces() int { return t.BK / 16 }

// swizzled returns where a piece of a row of the tile lies in the row, in bytes.
func (t Tile) swizzled(k *ptx.K, row, piece ptx.Uint) ptx.Uint {
	if t.BK == 64 {
		row = k.Shr(row, 1)
	}
	return k.Shl(k.Xor(piece, k.And(row, ptx.U(t.pieces()-1))), 4)
}

// warpTile is a warp's part of the tile.
type warpTile struct {
	*block
	lane          ptx.Uint
	rows, columns int      // extents
	row, column   ptx.Uint // where it begins
}

// newWarpTile finds the part of the thread's warp.
func newWarpTile(b *block) warpTile {
	warp, lane := b.Shr(b.thread, 5), b.And(b.thread, ptx.U(31))
	wn, wm := b.DivRem(warp, b.t.WarpsM)
	w := warpTile{block: b, lane: lane, rows: b.t.BM / b.t.WarpsM, columns: b.t.BN / b.t.WarpsN}
	w.row, w.column = b.Mul(wm, ptx.U(w.rows)), b.Mul(wn, ptx.U(w.columns))
	return w
}

// place is the address in stage 0 of a piece of a row of the tile. As pieces are swizzled, and rows are aligned to their
// length, that of piece p^q of the row is the address of piece p with the bits of 16*q flipped.
func (w warpTile) place(row, piece ptx.Uint) ptx.Uint {
	return w.Add(w.Mad(row, ptx.U(w.t.BK), w.ring.Uint), w.t.swizzled(w.K, row, piece))
}

// flipped is the address of piece p^q of a row, given that of piece p.
func (b *block) flipped(at ptx.Uint, q int) ptx.SharedPtr {
	if q > 0 {
		at = b.Xor(at, ptx.U(16*q))
	}
	return ptx.SharedPtr{Uint: at}
}

// both is a and b, where there is an a.
func (b *block) both(a *ptx.Cond, c ptx.Cond) *ptx.Cond {
	if a != nil {
		c = b.Both(*a, c)
	}
	return &c
}

// when puts what body emits under a condition; nil: it holds.
func (b *block) when(c *ptx.Cond, body func()) {
	if c == nil {
		body()
	} else {
		b.When(*c, body)
	}
}
