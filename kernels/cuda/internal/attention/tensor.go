package attention

import (
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// tensor multiplies halves on tensor cores. A warp has 16 rows, or twice as many. Its fragments are 8x8 matrices of ldmatrix: of
// queries and keys rows along the sum, of values rows across it, which are turned as they are read. The shares of a tile are
// where the scores were, and so fragments as they are: an instruction leaves a lane what another takes from it.
type tensor struct {
	*block
	keyWidth, valueWidth int
	query                ptx.SharedPtr    // this lane's first row
	key, value           ptx.SharedPtr    // in stage 0
	queries              [][][4]ptx.Word  // by 16 of the sum, by 16 rows; nil: they are read for each tile
	acc                  [][][4]ptx.Float // sums of values by 16 rows, by 8 elements: variables
}

func newTensor(c *block) *tensor {
	e := &tensor{block: c}
	e.keyWidth, e.valueWidth = c.t.widths(c.problem)
	keys, values := c.t.pitch(e.keyWidth), c.t.pitch(e.valueWidth)
	warp, lane := c.Shr(c.thread, 5), c.And(c.thread, ptx.U(31))
	rows := c.t.BM / c.t.Warps
	base := c.Mul(warp, ptx.U(rows))
	c.firstRow, c.rowStep, c.mine = c.Add(base, c.Shr(lane, 2)), 8, rows/8
	c.laneKey = c.Shl(c.And(lane, ptx.U(3)), 1)
	for j := range c.t.BN / 8 {
		c.laneKeys = append(c.laneKeys, 8*j, 8*j+1)
	}
	// Of queries, lanes 0 to 15 give the rows' addresses at the first 16 bytes, the others at the second. Of keys, eight lanes
	// give eight rows at the first, eight the same rows at the second, and so on. Of values, sixteen give the keys that an
	// instruction adds up at the first 16 bytes, the others at the second.
	eight, low, high := c.And(lane, ptx.U(7)), c.And(c.Shr(lane, 3), ptx.U(1)), c.Shr(lane, 4)
	e.query = c.OffsetShared(c.OffsetShared(c.queryTile, c.Add(base, c.And(lane, ptx.U(15))), keys), high, 16)
	e.key = c.OffsetShared(c.OffsetShared(c.ring, c.Add(eight, c.Shl(high, 3)), keys), low, 16)
	e.value = c.OffsetShared(c.OffsetShared(c.ring.At(c.t.BN*keys), c.And(lane, ptx.U(15)), values), high, 16)
	for range rows / 16 {
		line := make([][4]ptx.Float, e.valueWidth/8)
		for j := range line {
			line[j] = c.zeros()
		}
		e.acc = append(e.acc, line)
	}
	return e
}

// zeros are the sums of a 16x8 product that is not begun.
func (c *block) zeros() (list [4]ptx.Float) {
	for i := range list {
		list[i] = c.VarF(ptx.F(0))
	}
	return list
}

func (e *tensor) prepare() {
	if !e.t.kept(e.problem) {
		return
	}
	for slice := range e.keyWidth / tensorDepth {
		e.queries = append(e.queries, e.readQueries(slice))
	}
}

// readQueries reads the fragments of 16 elements of the sum.
func (e *tensor) readQueries(slice int) (list [][4]ptx.Word) {
	if e.queries != nil && slice < len(e.queries) {
		return e.queries[slice]
	}
	for i := range e.acc {
		list = append(list, e.read(e.query.At(2*tensorDepth*slice+16*i*e.t.pitch(e.keyWidth)), false))
	}
	return list
}

func (e *tensor) read(at ptx.SharedPtr, turned bool) [4]ptx.Word {
	w := e.MatrixRegisters()
	e.LoadMatrix4(w, at, turned)
	return w
}

func (e *tensor) scores(stage ptx.Uint) scores {
	perSlice := e.t.BN / 16
	products := make([][][4]ptx.Float, len(e.acc)) // by 16 rows, by 8 keys
	for i := range products {
		for range e.t.BN / 8 {
			products[i] = append(products[i], e.zeros())
		}
	}
	from := e.OffsetShared(e.key, stage, 1)
	var queries [][4]ptx.Word
	ahead(e.keyWidth/tensorDepth*perSlice, func(n int) [4]ptx.Word {
		return e.read(from.At(2*tensorDepth*(n/perSlice)+16*(n%perSlice)*e.t.pitch(e.keyWidth)), false)
	}, func(n int, keys [4]ptx.Word) {
		slice, j := n/perSlice, n%perSlice
		if j == 0 {
			queries = e.readQueries(slice)
		}
		for i, q := range queries {
			e.MmaF16(products[i][2*j], q, [2]ptx.Word(keys[:2]))
			e.MmaF16(products[i][2*j+1], q, [2]ptx.Word(keys[2:]))
		}
	})
	return byRow(products)
}

// ahead uses n things in their order, each of which is read before the one before it is used.
func ahead[T any](n int, read func(i int) T, use func(i int, x T)) {
	next := read(0)
	for i := range n {
		x := next
		if i+1 < n {
			next = read(i + 1)
		}
		use(i, x)
	}
}

// byRow sorts sums of 16x8 products by the thread's rows: of each 16, row g and then g+8, with two neighbours of every eight.
func byRow(products [][][4]ptx.Float) (rows [][]ptx.Float) {
	for _, line := range products {
		for half := range 2 {
			var row []ptx.Float
			for _, c := range line {
				row = append(row, c[2*half], c[2*half+1])
			}
			rows = append(rows, row)
		}
	}
	return rows
}

func (e *tensor) add(stage ptx.Uint, s scores) {
	perSlice := e.valueWidth / 16
	from := e.OffsetShared(e.value, stage, 1)
	var shares [][4]ptx.Word
	ahead(e.t.BN/16*perSlice, func(n int) [4]ptx.Word {
		return e.read(from.At(16*(n/perSlice)*e.t.pitch(e.valueWidth)+32*(n%perSlice)), true)
	}, func(n int, values [4]ptx.Word) {
		slice, j := n/perSlice, n%perSlice
		if j == 0 {
			shares = e.shares(s, slice)
		}
		for i, p := range shares {
			e.MmaF16(e.acc[i][2*j], p, [2]ptx.Word(values[:2]))
			e.MmaF16(e.acc[i][2*j+1], p, [2]ptx.Word(values[2:]))
		}
	})
}

// shares are the fragments of 16 keys.
func (e *tensor) shares(s scores, slice int) (list [][4]ptx.Word) {
	for i := range e.acc {
		var p [4]ptx.Word
		for n := range p {
			row, at := s[2*i+n%2], 4*slice+n/2*2
			p[n] = e.PackHalves(row[at], row[at+1])
		}
		list = append(list, p)
	}
	return list
}

func (e *tensor) sums() [][]ptx.Float { return byRow(e.acc) }

// pieces are a row's sums, eight elements of a value at a time: the four lanes that have two of each eight exchange them.
func (e *tensor) pieces(row int) (list []piece) {
	lane := e.And(e.thread, ptx.U(3))
	odd, upper := e.Eq(e.And(lane, ptx.U(1)), ptx.U(1)), e.Ge(lane, ptx.U(2))
	sums := e.sums()[row]
	for first := 0; first < e.valueWidth; first += 32 {
		var pairs [4][2]ptx.Float
		for j := range pairs {
			for h := range 2 {
				pairs[j][h] = ptx.F(0)
				if at := first/4 + 2*j + h; at < len(sums) {
					pairs[j][h] = sums[at]
				}
			}
		}
		e.exchange(&pairs[0], &pairs[1], odd, 1)
		e.exchange(&pairs[2], &pairs[3], odd, 1)
		e.exchange(&pairs[0], &pairs[2], upper, 2)
		e.exchange(&pairs[1], &pairs[3], upper, 2)
		p := piece{column: e.Add(ptx.U(first), e.Shl(lane, 3))}
		for _, pair := range pairs {
			p.sums = append(p.sums, pair[:]...)
		}
		list = append(list, p)
	}
	return list
}

// exchange gives lanes of which second holds the other lane's b for their a, and the others that one's a for their b.
func (e *tensor) exchange(a, b *[2]ptx.Float, second ptx.Cond, mask int) {
	for h := range a {
		given := e.ShuffleXor(e.SelectF(second, a[h], b[h]), mask)
		a[h], b[h] = e.SelectF(second, given, a[h]), e.SelectF(second, b[h], given)
	}
}
