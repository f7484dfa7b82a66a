package attention

import (
	"math/bits"

	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// block is the code of a block of threads.
type block struct {
	*ptx.K
	*problem
	t             Tile
	thread        ptx.Uint
	batchAt       ptx.Uint
	headAt        ptx.Uint      // head of keys
	first         ptx.Uint      // of the head's rows: the tile's first
	part          ptx.Uint      // of the keys, where blocks share them
	counted       ptx.Uint      // keys of the batch
	offset        ptx.Int       // query i stands at key i + offset
	begin, end    ptx.Uint      // the block's tiles of keys
	edge, lowEdge ptx.Int       // the last and the first key that all rows of the tile see
	queryTile     ptx.SharedPtr // shared memory: queries, then the ring
	ring          ptx.SharedPtr
	firstRow      ptx.Uint   // of the thread's rows in the tile
	rowStep, mine int        // from one of them to the next; how many they are
	laneKey       ptx.Uint   // of a thread's keys in a tile: the first
	laneKeys      []int      // how far behind it they are
	last, least   []ptx.Int  // by row of the thread: the last and the first key that it sees
	maskAt        []ptx.Uint // and where its mask begins; one for all that have the same
	online
}

// engine multiplies.
type engine interface {
	// prepare reads what stays in registers; all queries are there.
	prepare()
	// scores are the products of the queries with a tile of keys, in the stage that begins so many bytes into the ring.
	scores(stage ptx.Uint) scores
	// add adds up the tile's values by their shares, which are where the scores were.
	add(stage ptx.Uint, shares scores)
	// sums are the thread's sums of values, by row: variables.
	sums() [][]ptx.Float
	// pieces are the sums of a row by consecutive elements of a value. All lanes of the warp take part.
	pieces(row int) []piece
}

// kept reports whether the engine wants the queries before the loop.
func (t Tile) kept(p *problem) bool {
	const most = 32 // registers
	keys, _ := t.widths(p)
	return t.Unit == emit.TensorF16 && t.BM/t.Warps/16*keys/tensorDepth*4 <= most
}

// place finds what the block computes.
func (c *block) place() (grid [3]int) {
	x, kv, batch, grid := emit.BlockIndices(c.K, c.t.grid(c.problem))
	c.thread, c.headAt, c.batchAt, c.part = c.Thread(), kv, batch, ptx.U(0)
	if c.t.Split > 1 {
		x, c.part = c.DivRem(x, c.t.Split)
	}
	if n := emit.CeilDiv(c.rows(), c.t.BM); c.ends && n > 1 { // those that see most begin first
		x = c.Sub(ptx.U(n-1), x)
	}
	c.first = c.Mul(x, ptx.U(c.t.BM))
	return grid
}

// bounds finds the keys that the block goes through.
func (c *block) bounds() {
	shift := bits.TrailingZeros(uint(c.t.BN))
	tilesOf := func(keys ptx.Uint) ptx.Uint { return c.Shr(c.Add(keys, ptx.U(c.t.BN-1)), shift) }
	c.begin, c.end = ptx.U(0), tilesOf(c.counted)
	if c.t.Split > 1 {
		per := emit.CeilDiv(c.keyTiles(c.t), c.t.Split)
		c.begin = c.Mul(c.part, ptx.U(per))
		c.end = c.Min(c.end, c.Add(c.begin, ptx.U(per)))
	}
	c.edge = c.SubS(c.counted.Int(), ptx.I(1))
	last := c.Min(c.Add(c.first, ptx.U(c.t.BM-1)), ptx.U(c.rows()-1))
	if c.ends {
		seen := c.AddS(c.lastOf(last), ptx.I(1)) // keys
		c.end = c.Min(c.end, tilesOf(c.MaxS(seen, ptx.I(0)).Uint()))
		c.edge = c.MinS(c.edge, c.lastOf(c.first))
	}
	if c.window > 0 {
		from := c.MaxS(c.firstOf(c.first), ptx.I(0)).Uint()
		c.begin = c.Max(c.begin, c.Shr(from, shift))
		c.lowEdge = c.firstOf(last)
	}
}

// lastOf is the last key that a row sees by its place, and firstOf the first.
func (c *block) lastOf(row ptx.Uint) ptx.Int {
	return c.AddS(c.AddS(c.query(row).Int(), c.offset), ptx.I(c.behind-1))
}

func (c *block) firstOf(row ptx.Uint) ptx.Int {
	return c.AddS(c.AddS(c.query(row).Int(), c.offset), ptx.I(1-c.window))
}

// query is the query of a row of the head's.
func (c *block) query(row ptx.Uint) ptx.Uint {
	if c.group() == 1 {
		return row
	}
	return c.Div(row, c.group())
}

// headOf is the head, of queries, and the query of a row.
func (c *block) headOf(row ptx.Uint) (head, query ptx.Uint) {
	g := c.group()
	if g == 1 {
		return c.headAt, row
	}
	query, of := c.DivRem(row, g)
	return c.Mad(c.headAt, ptx.U(g), of), query
}

// rowOf is the thread's i-th row, of the head's.
func (c *block) rowOf(i int) ptx.Uint {
	return c.Add(c.first, c.Add(c.firstRow, ptx.U(i*c.rowStep)))
}

// bounded reports whether there are tiles whose keys do not all count for all rows.
func (c *block) bounded() bool {
	return c.ends || c.window > 0 || c.counts >= 0 || c.keys%c.t.BN != 0
}

// limits finds the last key of each of the thread's rows, and the first.
func (c *block) limits() {
	all := c.SubS(c.counted.Int(), ptx.I(1))
	for i := range c.mine {
		last := all
		if c.ends {
			last = c.MinS(last, c.lastOf(c.rowOf(i)))
		}
		c.last = append(c.last, last)
		if c.window > 0 {
			c.least = append(c.least, c.firstOf(c.rowOf(i)))
		}
	}
}

// run goes through the tiles of keys: copies run ahead of the products by as many stages as there are but one.
func (c *block) run(e engine, q, k, v *copier) {
	ahead, size := c.t.Stages-1, c.t.stageBytes(c.problem)
	q.begin(c.queryTile, c.first)
	keys, _ := c.t.widths(c.problem)
	start := c.Shl(c.begin, bits.TrailingZeros(uint(c.t.BN)))
	k.begin(c.ring, start)
	v.begin(c.ring.At(c.t.BN*c.t.pitch(keys)), start)
	q.copy(ptx.U(0))
	if c.t.kept(c.problem) {
		c.CommitGroup()
	}
	for i := range ahead {
		c.If(c.Lt(c.Add(c.begin, ptx.U(i)), c.end), func() {
			k.copy(ptx.U(i * size))
			v.copy(ptx.U(i * size))
		})
		c.CommitGroup()
		k.advance()
		v.advance()
	}
	if c.t.kept(c.problem) {
		c.WaitGroup(ahead)
		c.Barrier()
	}
	e.prepare()
	reading, writing := c.Var(ptx.U(0)), c.Var(ptx.U(ahead*size))
	c.ForRolled(c.begin, c.end, ptx.U(1), func(tile ptx.Uint) {
		c.WaitGroup(ahead - 1)
		c.Barrier()
		c.If(c.Lt(c.Add(tile, ptx.U(ahead)), c.end), func() {
			k.copy(writing)
			v.copy(writing)
		})
		c.CommitGroup()
		k.advance()
		v.advance()
		start := c.Mul(tile, ptx.U(c.t.BN))
		masks := c.fetchMasks(start)
		s := e.scores(reading)
		c.weigh(s, start, masks)
		c.soften(s, e.sums())
		e.add(reading, s)
		c.Set(writing, reading) // it is free when all threads are behind the next barrier
		next := c.Add(reading, ptx.U(size))
		c.Set(reading, c.Select(c.Eq(next, ptx.U(c.t.Stages*size)), ptx.U(0), next))
	})
}
