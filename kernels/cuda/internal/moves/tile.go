package moves

import (
	"math/bits"

	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// The transposed tile lies in shared memory as it is read: lines of 128 bytes, as many as a line has elements, so that both
// what is read of it and what is written are 128 bytes of neighbours. A thread reads units of up to 16 bytes along lines, and
// writes units of up to 16 bytes across them: it loads a word of each line of its unit, which has 4, 2 or 1 elements, and
// turns the square around with byte permutations.
//
//	  unit of 16 bytes along the input's rows            u: unit of 16 bytes along the output's rows,
//	  |------|------|- ... 128 bytes: a line             of each line one word
//	u |      |w     |
//	u |      |w     |
//	. |      |.     |
//
// Of an axis that is shorter than a tile, lines have only a piece; their other pieces are those of further places of the
// other axis.
//
// A line's parts, as long as the units that are written, lie where the exclusive or of their place and the number of the
// lines' unit says: neither rows nor columns meet in a bank.
const (
	lineBytes   = 128
	tileThreads = 256
)

// tileShape is what a tile is made of.
type tileShape struct {
	size         int // bytes of an element in the tile
	in, out      int // elements of a unit that is read, and of one that is written: powers of two, of up to 16 bytes
	part         int // bytes that stay together
	elements     int // of a line; lines
	inner, outer int // elements of a piece along the axes: all, or of one axis fewer
}

// newTileShape returns the tile for axes of the given extents, innermost in the input and in the output.
func newTileShape(size, in, out, inner, outer int) tileShape {
	n := lineBytes / size
	s := tileShape{size: size, in: in, out: out, part: max(4, out*size), elements: n, inner: n, outer: n}
	switch {
	case 2*inner <= n && outer > n:
		s.inner = max(in, 4/size, powerOf2(inner), n/powerOf2(emit.CeilDiv(outer, n)))
	case 2*outer <= n && inner > n:
		s.outer = max(out, powerOf2(outer), n/powerOf2(emit.CeilDiv(inner, n)))
	}
	return s
}

// powerOf2 returns the least one that is not below n.
func powerOf2(n int) int { return 1 << bits.Len(uint(n-1)) }

// spans returns how many places of each axis a tile has.
func (s tileShape) spans() (inner, outer int) {
	return s.inner * s.elements / s.outer, s.outer * s.elements / s.inner
}

// tiles returns how many tiles cover extents.
func (s tileShape) tiles(inner, outer int) (int, int) {
	i, o := s.spans()
	return emit.CeilDiv(inner, i), emit.CeilDiv(outer, o)
}

// bytes returns the shared memory of a tile.
func (s tileShape) bytes() int { return s.elements * lineBytes }

// job estimates a launch of so many blocks with a tile each, from the instructions of a thread.
func (s tileShape) job(blocks int, bytes float64) emit.Job {
	perUnit := 4/s.size*s.out + 3*4/s.size // permutations and stores of a unit's square
	reads, writes := s.elements*s.elements/(s.in*tileThreads), s.elements*s.elements*s.size/(4*s.out*tileThreads)
	instructions := 60 + reads*(10+max(1, s.in*s.size/s.part)) + writes*(8+s.out+perUnit)
	j := emit.ThreadJob(blocks*tileThreads, instructions, bytes)
	j.Resident, j.Shared = emit.RegistersPerSM/(32*tileThreads), s.bytes()
	return j
}

// places is where a tile begins, and where the tensor ends, along a side: units from the end on are left out.
type places struct {
	begin ptx.Uint
	end   int
}

// transposition is the code of a block that reads a tile along one axis and writes it along another.
type transposition struct {
	*ptx.K
	tileShape
	tile   ptx.SharedPtr
	thread ptx.Uint
	load   func(at ptx.Uint, when ptx.Cond) []ptx.Word // a unit; fewer than 4 bytes are the lowest of a word
	store  func(at ptx.Uint, unit []ptx.Word)
}

// newTransposition begins it for blocks of tileThreads.
func newTransposition(k *ptx.K, s tileShape) *transposition {
	return &transposition{K: k, tileShape: s, tile: k.Array("tile", s.bytes(), 16), thread: k.Thread()}
}

// unfold is the place along both axes, from the tile's beginning on, of an element of a line.
func (t *transposition) unfold(column, line ptx.Uint) (inner, outer ptx.Uint) {
	inner, outer = column, line
	if t.inner < t.elements {
		outer = t.Mad(t.Div(column, t.inner), ptx.U(t.elements), line)
		inner = t.And(column, ptx.U(t.inner-1))
	}
	if t.outer < t.elements {
		inner = t.Mad(t.Div(line, t.outer), ptx.U(t.elements), column)
		outer = t.And(line, ptx.U(t.outer-1))
	}
	return inner, outer
}

// slot is the place of a part among those of its line, for a line of the given unit.
func (t *transposition) slot(part, unit ptx.Uint) ptx.Uint {
	return t.Xor(part, t.And(unit, ptx.U(lineBytes/t.part-1)))
}

// read loads the tile, whose lines go along inner and lie side by side along outer. at is a unit's element.
func (t *transposition) read(inner, outer places, at func(inner, outer ptx.Uint) ptx.Uint) {
	unit := t.in * t.size // bytes
	across, units := lineBytes/unit, t.elements/t.out
	column := t.And(t.thread, ptx.U(across-1))
	row := t.Div(t.thread, across) // of threads: those of neighbouring rows have lines of neighbouring units
	for first := 0; first < t.elements; first += tileThreads / across {
		n := t.And(t.Add(row, ptx.U(first)), ptx.U(units-1))
		line := t.Add(t.Mul(n, ptx.U(t.out)), t.Div(t.Add(row, ptx.U(first)), units))
		i, o := t.unfold(t.Mul(column, ptx.U(t.in)), line)
		i, o = t.Add(inner.begin, i), t.Add(outer.begin, o)
		words := t.load(at(i, o), t.Both(t.Lt(i, ptx.U(inner.end)), t.Lt(o, ptx.U(outer.end))))
		t.keep(line, n, t.Mul(column, ptx.U(unit)), words)
	}
}

// keep stores a unit that was read in the tile.
func (t *transposition) keep(line, n, column ptx.Uint, words []ptx.Word) {
	unit := t.in * t.size
	slot := t.slot(t.Div(column, t.part), n)
	place := func(slot ptx.Uint) ptx.SharedPtr {
		at := t.Mad(line, ptx.U(lineBytes), t.Mul(slot, ptx.U(t.part)))
		if unit < t.part {
			at = t.Add(at, t.And(column, ptx.U(t.part-1)))
		}
		return t.OffsetShared(t.tile, at, 1)
	}
	if unit < 4 {
		t.StoreSharedBytes(place(slot), unit, words[0])
		return
	}
	for j := 0; j*t.part < unit; j++ {
		t.StoreShared(place(t.Xor(slot, ptx.U(j))), words[j*t.part/4:min((j+1)*t.part, unit)/4]...)
	}
}

// write stores the tile along outer. The lengths along outer are whole units.
func (t *transposition) write(inner, outer places, at func(inner, outer ptx.Uint) ptx.Uint) {
	units, words := t.elements/t.out, lineBytes/4
	unit := t.And(t.thread, ptx.U(units-1))
	first := t.OffsetShared(t.tile, unit, t.out*lineBytes)
	row := t.Div(t.thread, units)
	for w := 0; w < words; w += tileThreads / units {
		word := t.Add(row, ptx.U(w))
		at4 := t.Mul(t.slot(t.Div(word, t.part/4), unit), ptx.U(t.part))
		if t.part > 4 {
			at4 = t.Mad(t.And(word, ptx.U(t.part/4-1)), ptx.U(4), at4)
		}
		p := t.OffsetShared(first, at4, 1)
		square := make([]ptx.Word, t.out)
		for j := range square {
			square[j] = t.LoadShared(p.At(j*lineBytes), 1)[0]
		}
		i, o := t.unfold(t.Mul(word, ptx.U(4/t.size)), t.Mul(unit, ptx.U(t.out)))
		i, o = t.Add(inner.begin, i), t.Add(outer.begin, o)
		within := t.Lt(o, ptx.U(outer.end))
		for r, list := range t.turn(square) {
			line := t.Add(i, ptx.U(r))
			t.If(t.Both(within, t.Lt(line, ptx.U(inner.end))), func() { t.store(at(line, o), list) })
		}
	}
}

// turn exchanges the axes of words of 1, 2 or 4 elements: there is a row for each of these.
func (t *transposition) turn(words []ptx.Word) [][]ptx.Word {
	switch t.size {
	case 4:
		return [][]ptx.Word{words}
	case 2:
		if len(words) == 1 {
			return [][]ptx.Word{words, {t.Shr(words[0].Uint(), 16).Word()}}
		}
		rows := make([][]ptx.Word, 2)
		for i := 0; i < len(words); i += 2 {
			rows[0] = append(rows[0], t.Prmt(words[i], words[i+1], 0x5410))
			rows[1] = append(rows[1], t.Prmt(words[i], words[i+1], 0x7632))
		}
		return rows
	}
	rows := make([][]ptx.Word, 4)
	switch len(words) {
	case 1:
		for r := range rows {
			rows[r] = []ptx.Word{t.Shr(words[0].Uint(), 8*r).Word()}
		}
	case 2:
		for r, selector := range []uint32{0x40, 0x51, 0x62, 0x73} {
			rows[r] = []ptx.Word{t.Prmt(words[0], words[1], selector)}
		}
	}
	for i := 0; i+4 <= len(words); i += 4 {
		const low, high, even, odd = 0x5140, 0x7362, 0x5410, 0x7632
		a, b := t.Prmt(words[i], words[i+1], low), t.Prmt(words[i+2], words[i+3], low)
		c, d := t.Prmt(words[i], words[i+1], high), t.Prmt(words[i+2], words[i+3], high)
		for r, w := range []ptx.Word{t.Prmt(a, b, even), t.Prmt(a, b, odd), t.Prmt(c, d, even), t.Prmt(c, d, odd)} {
			rows[r] = append(rows[r], w)
		}
	}
	return rows
}

// loadUnit is n elements of a size from element at on where when holds, else zeros.
func loadUnit(k *ptx.K, x ptx.GlobalPtr, at ptx.Uint, n, size int, when ptx.Cond) []ptx.Word {
	p := k.Offset(x, at, size)
	if n*size >= 4 {
		return k.LoadWhen(when, p, n*size/4)
	}
	v := k.Var(ptx.U(0))
	k.If(when, func() { k.Set(v, emit.LoadElement(k, p, n*size)) })
	return []ptx.Word{v.Word()}
}

// storeUnit writes n elements of a size from element at on.
func storeUnit(k *ptx.K, y ptx.GlobalPtr, at ptx.Uint, n, size int, unit []ptx.Word) {
	p := k.Offset(y, at, size)
	if n*size >= 4 {
		k.Store(p, unit...)
	} else {
		emit.StoreElement(k, p, n*size, unit[0])
	}
}
