package attention

import (
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// simt multiplies floats. Eight neighbouring lanes share rows: each has every eighth key of a tile, and four neighbouring
// elements of every 32 of a value. The shares of a tile go through shared memory, row by row within a warp.
type simt struct {
	*block
	keyWidth, valueWidth int
	query, shares        ptx.SharedPtr // this thread's first row
	key, value           ptx.SharedPtr // its first key, and its first elements, in stage 0
	acc                  [][]ptx.Float // sums of values, by row: variables
}

const (
	simtLanes = 8
	simtDepth = 16 // elements of the sum in a turn of the loop
	simtKeys  = 8  // keys in a turn of the other
)

// sharePitch returns the bytes from one row of shares to the next: the four rows of a warp begin in different banks.
func (t Tile) sharePitch() int { return 4 * (t.BN + 8) }

func newSimt(c *block) *simt {
	e := &simt{block: c}
	e.keyWidth, e.valueWidth = c.t.widths(c.problem)
	keys := c.t.pitch(e.keyWidth)
	row, lane := c.DivRem(c.thread, simtLanes)
	c.firstRow, c.rowStep = row, c.t.threads()/simtLanes
	c.mine, c.laneKey = c.t.BM/c.rowStep, lane
	for j := range c.t.BN / simtLanes {
		c.laneKeys = append(c.laneKeys, simtLanes*j)
	}
	e.query = c.OffsetShared(c.queryTile, row, keys)
	e.key = c.OffsetShared(c.ring, lane, keys)
	e.value = c.OffsetShared(c.ring.At(c.t.BN*keys), lane, 16)
	e.shares = c.OffsetShared(c.ring.At(c.t.Stages*c.t.stageBytes(c.problem)), row, c.t.sharePitch())
	for range c.mine {
		line := make([]ptx.Float, e.valueWidth/simtLanes)
		for j := range line {
			line[j] = c.VarF(ptx.F(0))
		}
		e.acc = append(e.acc, line)
	}
	return e
}

func (e *simt) prepare() {}

func (e *simt) scores(stage ptx.Uint) scores {
	var s scores
	for range e.mine {
		line := make([]ptx.Float, len(e.laneKeys))
		for j := range line {
			line[j] = e.VarF(ptx.F(0))
		}
		s = append(s, line)
	}
	pitch := e.t.pitch(e.keyWidth)
	e.ForRolled(ptx.U(0), ptx.U(e.keyWidth), ptx.U(simtDepth), func(first ptx.Uint) {
		query, key := e.OffsetShared(e.query, first, 4), e.OffsetShared(e.OffsetShared(e.key, stage, 1), first, 4)
		for d := 0; d < simtDepth; d += 4 {
			var keys [][]ptx.Float
			for j := range e.laneKeys {
				keys = append(keys, e.LoadSharedF(key.At(simtLanes*j*pitch+4*d), 4))
			}
			for i, line := range s {
				q := e.LoadSharedF(query.At(e.rowStep*i*pitch+4*d), 4)
				for j, v := range line {
					for h := range q {
						e.FmaTo(v, q[h], keys[j][h])
					}
				}
			}
		}
	})
	return s
}

func (e *simt) add(stage ptx.Uint, s scores) {
	own := e.OffsetShared(e.shares, e.laneKey, 4)
	for i, row := range s {
		for j, v := range row {
			e.StoreSharedF(own.At(e.rowStep*i*e.t.sharePitch()+4*e.laneKeys[j]), v)
		}
	}
	e.WarpBarrier()
	pitch := e.t.pitch(e.valueWidth)
	e.ForRolled(ptx.U(0), ptx.U(e.t.BN), ptx.U(simtKeys), func(first ptx.Uint) {
		shares, value := e.OffsetShared(e.shares, first, 4), e.OffsetShared(e.OffsetShared(e.value, stage, 1), first, pitch)
		for at := 0; at < simtKeys; at += 4 {
			var list [][]ptx.Float
			for i := range e.acc {
				list = append(list, e.LoadSharedF(shares.At(e.rowStep*i*e.t.sharePitch()+4*at), 4))
			}
			for h := range 4 {
				for j := 0; j < e.valueWidth; j += 4 * simtLanes {
					for n, v := range e.LoadSharedF(value.At((at+h)*pitch+4*j), 4) {
						for i, row := range e.acc {
							e.FmaTo(row[j/simtLanes+n], list[i][h], v)
						}
					}
				}
			}
		}
	})
}

func (e *simt) sums() [][]ptx.Float { return e.acc }

// pieces are a row's sums, four elements of a value at a time.
func (e *simt) pieces(row int) (list []piece) {
	for j := 0; j < e.valueWidth; j += 4 * simtLanes {
		list = append(list, piece{e.Add(ptx.U(j), e.Shl(e.laneKey, 2)), e.acc[row][j/simtLanes : j/simtLanes+4]})
	}
	return list
}
