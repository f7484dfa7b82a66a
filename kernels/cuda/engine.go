package cuda

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels/cuda/ptx"
)

// newEngine returns the unit's engine, its sums zero.
func newEngine(m *implicit) engine {
	w := newWarpTile(m)
	if m.t.unit == simtF32 {
		return newSimt(w)
	}
	return newTensor(w)
}

// newWarpTile finds the part of the thread's warp.
func newWarpTile(m *implicit) warpTile {
	warp, lane := m.Shr(m.thread, 5), m.And(m.thread, ptx.U(31))
	wn, wm := m.DivRem(warp, m.t.warpsM)
	w := warpTile{implicit: m, lane: lane, rows: m.t.bm / m.t.warpsM, columns: m.t.bn / m.t.warpsN}
	w.row, w.column = m.Mul(wm, ptx.U(w.rows)), m.Mul(wn, ptx.U(w.columns))
	return w
}

// warpTile is a warp's part of the tile.
type warpTile struct {
	*implicit
	lane          ptx.Uint
	rows, columns int      // extents
	row, column   ptx.Uint // where it begins
}

// place is the address in stage 0 of a piece of a row of the tile. As pieces are swizzled, and rows are aligned to their
// length, that of piece p^q of the row is the address of piece p with the bits of 16*q flipped.
func (w warpTile) place(row, piece ptx.Uint) ptx.Uint {
	return w.Add(w.Mad(row, ptx.U(w.t.bk), w.ring.Uint), w.t.swizzled(w.K, row, piece))
}

// flipped is the address of piece p^q of a row, given that of piece p.
func (w warpTile) flipped(at ptx.Uint, q int) ptx.SharedPtr {
	if q > 0 {
		at = w.Xor(at, ptx.U(16*q))
	}
	return ptx.SharedPtr{Uint: at}
}

// tensor multiplies on tensor cores, halves or bytes. The fragments of 16 rows by 32 bytes that an instruction takes are
// four 8x8 matrices of ldmatrix, for the pixels and, two at a time, for the weights.
type tensor struct {
	warpTile
	acc  [][][4]ptx.Word // by 16 rows, by 8 columns: variables
	a, b ptx.Uint        // addresses of this lane's first pieces in stage 0

	// Where the weights have a zero point: the sums of this lane's rows of pixels, of row g and g+8 in each 16.
	rowSums [][2]ptx.Int
}

// mmaBytes is how much of a row an instruction multiplies.
const mmaBytes = 32

func newTensor(w warpTile) *tensor {
	e := &tensor{warpTile: w}
	// Of the pixels, lanes 0 to 15 give the rows' addresses at the first 16 bytes, the others at the second. Of the weights,
	// eight lanes give eight rows at the first, eight the same rows at the second, and so on: the two registers of a fragment
	// are neighbours then, as the instruction wants them.
	rowA, halfA := w.And(w.lane, ptx.U(15)), w.Shr(w.lane, 4)
	rowB := w.Add(w.And(w.lane, ptx.U(7)), w.Shl(w.Shr(w.lane, 4), 3))
	halfB := w.And(w.Shr(w.lane, 3), ptx.U(1))
	e.a = w.place(w.Add(w.row, rowA), halfA)
	e.b = w.place(w.Add(ptx.U(w.t.bm), w.Add(w.column, rowB)), halfB)
	e.zero()
	if w.p.weightsHaveZeros() {
		for range e.acc {
			e.rowSums = append(e.rowSums, [2]ptx.Int{w.VarS(ptx.I(0)), w.VarS(ptx.I(0))})
		}
	}
	return e
}

// zero begins the sums.
func (e *tensor) zero() {
	for range e.rows / 16 {
		line := make([][4]ptx.Word, e.columns/8)
		for j := range line {
			for i := range line[j] {
				line[j][i] = e.variable()
			}
		}
		e.acc = append(e.acc, line)
	}
}

// variable is a sum that is zero.
func (e *tensor) variable() ptx.Word {
	if e.t.unit == tensorI8 {
		return e.VarS(ptx.I(0)).Word()
	}
	return e.VarF(ptx.F(0)).Register()
}

func (e *tensor) step(stage ptx.Uint) {
	a, b := e.Add(e.a, stage), e.Add(e.b, stage)
	for piece := 0; piece < e.t.pieces(); piece += mmaBytes / 16 {
		fromA, fromB := e.flipped(a, piece), e.flipped(b, piece)
		var weights [][2]ptx.Word
		for j := 0; j < e.columns; j += 16 {
			f := e.LoadMatrix4(fromB.At(j * e.t.bk))
			weights = append(weights, [2]ptx.Word{f[0], f[1]}, [2]ptx.Word{f[2], f[3]})
		}
		for i := range e.acc {
			pixels := e.LoadMatrix4(fromA.At(16 * i * e.t.bk))
			for j := range e.acc[i] {
				e.multiply(e.acc[i][j], pixels, weights[j])
			}
			if e.rowSums != nil {
				e.addRows(e.rowSums[i], pixels)
			}
		}
	}
}

// multiply adds a 16x8 product to sums.
func (e *tensor) multiply(sums [4]ptx.Word, a [4]ptx.Word, b [2]ptx.Word) {
	if e.t.unit == tensorF16 {
		var c [4]ptx.Float
		for i := range c {
			c[i] = sums[i].FloatRegister()
		}
		e.MmaF16(c, a, b)
		return
	}
	var c [4]ptx.Int
	for i := range c {
		c[i] = sums[i].Int()
	}
	e.MmaI8(c, a, b, e.p.typ == graph.I8, e.p.weight.Type == graph.I8)
}

func (e *tensor) sums() []ptx.Word {
	e.subtractRows()
	var list []ptx.Word
	for i := range e.acc {
		for _, c := range e.acc[i] {
			list = append(list, c[:]...)
		}
	}
	return list
}

// spill writes the fragments: with g = lane/4 and t = lane%4, row g and then g+8 of each 16, columns 2t and 2t+1 of each 8.
func (e *tensor) spill(to ptx.SharedPtr) {
	g, t := e.Shr(e.lane, 2), e.And(e.lane, ptx.U(3))
	at := e.Mad(e.Add(e.row, g), ptx.U(e.t.sumPitch()), e.Add(e.sumPlace(e.column), e.Shl(t, 1)))
	base := e.OffsetShared(to, at, 4)
	for i := range e.acc {
		for j, c := range e.acc[i] {
			p := base.At(4 * (16*i*e.t.sumPitch() + sumPlace(8*j)))
			e.StoreShared(p, c[0], c[1])
			e.StoreShared(p.At(4*8*e.t.sumPitch()), c[2], c[3])
		}
	}
}

// simt multiplies in float32: the lanes of a warp are 4 rows by 8 columns of threads, and each of them has every 4th row
// and every 8th column of the warp's part. Four elements of a row are read at a time.
type simt struct {
	warpTile
	acc          [][]ptx.Float // by row, by column: variables
	a, b         ptx.Uint      // addresses of the first pieces of this lane's first rows in stage 0
	laneM, laneN ptx.Uint
}

const simtRows, simtColumns = 4, 8

func newSimt(w warpTile) *simt {
	e := &simt{warpTile: w, laneM: w.Shr(w.lane, 3), laneN: w.And(w.lane, ptx.U(7))}
	e.a = w.place(w.Add(w.row, e.laneM), ptx.U(0))
	e.b = w.place(w.Add(ptx.U(w.t.bm), w.Add(w.column, e.laneN)), ptx.U(0))
	for range w.rows / simtRows {
		line := make([]ptx.Float, w.columns/simtColumns)
		for j := range line {
			line[j] = w.VarF(ptx.F(0))
		}
		e.acc = append(e.acc, line)
	}
	return e
}

func (e *simt) step(stage ptx.Uint) {
	a, b := e.Add(e.a, stage), e.Add(e.b, stage)
	for piece := range e.t.pieces() {
		var weights [][]ptx.Float
		fromB := e.flipped(b, piece)
		for j := range e.acc[0] {
			weights = append(weights, e.LoadSharedF(fromB.At(j*simtColumns*e.t.bk), 4))
		}
		for i := range e.acc {
			// Rows 4 apart are swizzled differently: in rows of 64 bytes, by two pieces for every other one.
			from := e.flipped(a, piece^e.turn(i))
			pixels := e.LoadSharedF(from.At(i*simtRows*e.t.bk), 4)
			for c := range 4 {
				for j := range e.acc[i] {
					e.FmaTo(e.acc[i][j], pixels[c], weights[j][c])
				}
			}
		}
	}
}

// turn is by what the pieces of this lane's i-th row of pixels lie elsewhere than those of its first.
func (e *simt) turn(i int) int {
	rows := i * simtRows
	if e.t.bk == 64 {
		rows /= 2
	}
	return rows & (e.t.pieces() - 1)
}

func (e *simt) sums() []ptx.Word {
	var list []ptx.Word
	for _, line := range e.acc {
		for _, c := range line {
			list = append(list, c.Register())
		}
	}
	return list
}

func (e *simt) spill(to ptx.SharedPtr) {
	at := e.Mad(e.Add(e.row, e.laneM), ptx.U(e.t.sumPitch()), e.Add(e.sumPlace(e.column), e.laneN))
	base := e.OffsetShared(to, at, 4)
	for i := range e.acc {
		for j, c := range e.acc[i] {
			e.StoreSharedF(base.At(4*(i*simtRows*e.t.sumPitch()+sumPlace(j*simtColumns))), c)
		}
	}
}
