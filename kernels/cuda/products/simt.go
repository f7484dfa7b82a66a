package products

import "github.com/trtui/trtui/kernels/cuda/ptx"

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
	e.b = w.place(w.Add(ptx.U(w.t.BM), w.Add(w.column, e.laneN)), ptx.U(0))
	for range w.rows / simtRows {
		line := make([]ptx.Float, w.columns/simtColumns)
		for j := range line {
			line[j] = w.VarF(ptx.F(0))
		}
		e.acc = append(e.acc, line)
	}
	return e
}

func (e *simt) run(count ptx.Uint, s source) { e.rolled(count, s, e.step) }

// step adds the products of a stage.
func (e *simt) step(stage ptx.Uint) {
	a, b := e.Add(e.a, stage), e.Add(e.b, stage)
	for piece := range e.t.pieces() {
		var weights [][]ptx.Float
		fromB := e.flipped(b, piece)
		for j := range e.acc[0] {
			weights = append(weights, e.LoadSharedF(fromB.At(j*simtColumns*e.t.BK), 4))
		}
		for i := range e.acc {
			// Rows 4 apart are swizzled differently: in rows of 64 bytes, by two pieces for every other one.
			from := e.flipped(a, piece^e.turn(i))
			pixels := e.LoadSharedF(from.At(i*simtRows*e.t.BK), 4)
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
	if e.t.BK == 64 {
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
