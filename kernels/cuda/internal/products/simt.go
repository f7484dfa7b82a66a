package products

import "github.com/trtui/trtui/kernels/cuda/internal/ptx"

// simt multiplies in float32: the lanes of a warp are 4 rows by 8 columns of threads, and each of them has every 4th row
// and every 8th column of the warp's part; where an operand lies across the sum, every 4th four rows, or 8th four columns.
// Four elements are read at a time.
type simt struct {
	warpTile
	acc         [][]ptx.Float // by row, by column: variables
	left, right simtSide
}

const simtRows, simtColumns = 4, 8

// simtSide is an operand as a lane reads it: of lanes lanes, this is one, whose first piece lies at first in stage 0.
type simtSide struct {
	*block
	lane      ptx.Uint
	lanes     int
	first     ptx.Uint
	lineBytes int // of lines across the sum; 0: rows are along it
}

// simtRow is a side of rows of a stage along the sum, from one on.
func (w warpTile) simtRow(lane ptx.Uint, lanes int, row ptx.Uint) simtSide {
	return simtSide{block: w.block, lane: lane, lanes: lanes, first: w.place(w.Add(row, lane), ptx.U(0))}
}

// newSimt returns the engine for rows of both operands along the sum.
func newSimt(w warpTile) *simt {
	e := &simt{warpTile: w}
	m, n := w.simtLanes()
	e.left, e.right = w.simtRow(m, simtRows, w.row), w.simtRow(n, simtColumns, w.Add(ptx.U(w.t.BM), w.column))
	e.zero()
	return e
}

// simtLanes returns the lane's place among the rows and columns of threads.
func (w warpTile) simtLanes() (m, n ptx.Uint) { return w.Shr(w.lane, 3), w.And(w.lane, ptx.U(7)) }

// zero begins the sums.
func (e *simt) zero() {
	for range e.rows / simtRows {
		line := make([]ptx.Float, e.columns/simtColumns)
		for j := range line {
			line[j] = e.VarF(ptx.F(0))
		}
		e.acc = append(e.acc, line)
	}
}

func (e *simt) run(count ptx.Uint, s source) { e.rolled(count, s, e.step) }

// step adds the products of a stage.
func (e *simt) step(stage ptx.Uint) {
	left, right := e.left.in(stage), e.right.in(stage)
	for piece := range e.t.pieces() {
		columns, rows := right(piece), left(piece)
		var weights [][]ptx.Float
		for j := range e.acc[0] {
			weights = append(weights, columns(j))
		}
		for i := range e.acc {
			pixels := rows(i)
			for c := range 4 {
				for j := range e.acc[i] {
					e.FmaTo(e.acc[i][j], pixels[c], weights[j][c])
				}
			}
		}
	}
}

// in returns, for a stage, what reads four elements of the sum, a piece, of this lane's i-th row.
func (s simtSide) in(stage ptx.Uint) func(piece int) func(i int) []ptx.Float {
	at := s.Add(s.first, stage)
	if s.lineBytes > 0 {
		return func(piece int) func(int) []ptx.Float { return s.across(at, piece) }
	}
	return func(piece int) func(int) []ptx.Float {
		flipped := map[int]ptx.SharedPtr{}
		return func(i int) []ptx.Float {
			// Rows may be swizzled differently, such as those 4 apart in rows of 64 bytes: by two pieces for every other one.
			q := piece ^ s.turn(i)
			if _, ok := flipped[q]; !ok {
				flipped[q] = s.flipped(at, q)
			}
			return s.LoadSharedF(flipped[q].At(i*s.lanes*s.t.BK), 4)
		}
	}
}

// across reads four rows of each of the piece's lines at a time.
func (s simtSide) across(at ptx.Uint, piece int) func(i int) []ptx.Float {
	var lines [4][]ptx.Float
	return func(i int) []ptx.Float {
		row := make([]ptx.Float, 4)
		for c := range row {
			if i%4 == 0 {
				lines[c] = s.LoadSharedF(ptx.SharedPtr{Uint: at}.At((4*piece+c)*s.lineBytes+16*s.lanes*(i/4)), 4)
			}
			row[c] = lines[c][i%4]
		}
		return row
	}
}

// turn is by what the pieces of this lane's i-th row lie elsewhere than those of its first.
func (s simtSide) turn(i int) int {
	rows := i * s.lanes
	if s.t.BK == 64 {
		rows /= 2
	}
	return rows & (s.t.pieces() - 1)
}

// begin is the lane's first row, and offset by what the i-th is further on.
func (s simtSide) begin() ptx.Uint {
	if s.lineBytes > 0 {
		return s.Shl(s.lane, 2)
	}
	return s.lane
}

func (s simtSide) offset(i int) int {
	if s.lineBytes > 0 {
		return i/4*4*s.lanes + i%4
	}
	return i * s.lanes
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
	at := e.Mad(e.Add(e.row, e.left.begin()), ptx.U(e.t.sumPitch()), e.Add(e.sumPlace(e.column), e.right.begin()))
	base := e.OffsetShared(to, at, 4)
	together := 1
	if e.right.lineBytes > 0 {
		together = 4
	}
	for i := range e.acc {
		for j := 0; j < len(e.acc[i]); j += together {
			p := base.At(4 * (e.left.offset(i)*e.t.sumPitch() + sumPlace(e.right.offset(j))))
			e.StoreSharedF(p, e.acc[i][j:j+together]...)
		}
	}
}
