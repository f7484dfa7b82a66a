package products

import (
	"encoding/binary"

	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// pixels is the source of the input's pixels under the taps.
type pixels struct {
	*block
	p            *product
	x            ptx.GlobalPtr
	taps, places ptx.GlobalPtr   // tables
	phase        phaseOfBlock    // of transposed convolutions
	piece        ptx.Uint        // of the next step that is copied, this thread's
	at           ptx.GlobalPtr   // that piece of the input's first pixel, where there are no taps
	tap          [][2]ptx.Uint   // entries of the taps' table by column, which were loaded a step before
	slots        []ptx.SharedPtr // of this thread's first row in stage 0, by column
	rows         []pixelRow
}

// pixelRow is a row of the tile's pixels that a thread copies pieces of.
type pixelRow struct {
	offset    ptx.Int  // bytes from the input's begin to the pixel under tap 0
	taps      ptx.Uint // bit by tap: it lies in the image; none behind the last pixel
	top, left ptx.Int  // where there are more taps than bits: its place in the image; far above it behind the last pixel
}

// farAway is a distance that the taps of a kernel do not reach over.
const farAway = 1 << 14

// maskedTaps is how many taps a word has a bit for.
const maskedTaps = 32

// masked reports whether a row of pixels has a bit for every tap: otherwise each step looks where the tap lies.
func (p *product) masked() bool {
	if p.subpixel != nil {
		return p.s <= maskedPhase
	}
	return p.r*p.s <= maskedTaps
}

// windowless reports whether every output pixel reads one input pixel, which is there.
func (p *product) windowless() bool {
	if p.subpixel != nil {
		return p.subpixel.windowless(p)
	}
	return p.r*p.s == 1 && p.pad == [2]int{}
}

// pixelLanes is how many neighbouring threads copy neighbouring pieces of a row: 64 bytes, all of a row or a column of it.
const pixelLanes = 4

// rowsAtOnce returns how many rows the block's threads copy a piece of, each one.
func (m *pixels) rowsAtOnce() int { return m.t.threads() / pixelLanes }

// place finds the first row that the thread copies pieces of, and its piece in the first column. Of rows of 128 bytes, those
// that eight lanes write are four apart, so that their pieces of 64 bytes lie in different banks.
func (m *pixels) place() (row, piece ptx.Uint) {
	row, piece = m.DivRem(m.thread, pixelLanes)
	if m.t.BK == 128 {
		place := m.Add(m.Shl(m.And(row, ptx.U(1)), 2), m.And(m.Shr(row, 1), ptx.U(3)))
		row = m.Add(m.And(row, ptx.I(-8).Uint()), place)
	}
	return row, piece
}

// begin finds what the thread copies from a piece of the sum on: a piece of every column of every so many rows.
func (m *pixels) begin(first ptx.Uint) {
	t := m.t
	row, piece := m.place()
	at := m.Add(m.Mad(row, ptx.U(t.BK), m.ring.Uint), t.swizzled(m.K, row, piece))
	for column := range t.pieces() / pixelLanes {
		m.slots = append(m.slots, m.flipped(at, column*pixelLanes))
	}
	m.piece = m.Add(first, piece)
	if m.p.subpixel != nil {
		m.piece = m.Add(m.piece, m.phase.tap)
	}
	m.piece = m.Var(m.piece)
	if m.p.windowless() {
		m.at = m.VarGlobal(m.Offset(m.x, m.piece, 16))
	} else {
		m.taps = m.VarGlobal(m.Offset(m.taps, m.piece, 8))
		for range m.tapsOfStep() {
			m.tap = append(m.tap, [2]ptx.Uint{m.Var(ptx.U(0)), m.Var(ptx.U(0))})
		}
		m.nextTaps(0)
	}
	for r := 0; r < t.BM; r += m.rowsAtOnce() {
		m.rows = append(m.rows, m.row(m.Add(m.pixel, m.Add(row, ptx.U(r)))))
	}
}

// advance goes on by so many steps.
func (m *pixels) advance(turns int) {
	m.Set(m.piece, m.Add(m.piece, ptx.U(turns*m.t.pieces())))
	if m.p.windowless() {
		m.SetGlobal(m.at, m.at.At(turns*m.t.BK))
	} else {
		m.SetGlobal(m.taps, m.taps.At(8*turns*m.t.pieces()))
	}
}

// row finds the input pixel under tap 0 of an output pixel.
func (m *pixels) row(pixel ptx.Uint) pixelRow {
	p := m.p
	inside := m.Lt(pixel, ptx.U(p.pixels()))
	if p.windowless() { // of a row behind the last pixel nothing is kept: it may be that of any
		pixel = m.Select(inside, pixel, ptx.U(0))
	}
	image, rest := m.DivRem(pixel, p.p*p.q)
	y, x := m.DivRem(rest, p.q)
	top := m.SubS(m.Mul(y, ptx.U(p.stride[0])).Int(), ptx.I(p.pad[0]))
	left := m.SubS(m.Mul(x, ptx.U(p.stride[1])).Int(), ptx.I(p.pad[1]))
	line := m.MadS(image.Int(), ptx.I(p.h), top)
	at := m.MadS(line, ptx.I(p.w), left)
	size := p.typ.Size()
	r := pixelRow{offset: m.MulS(at, ptx.I(p.pitchIn*size))}
	if p.groups > 1 {
		r.offset = m.AddS(r.offset, m.Mul(m.group, ptx.U(p.c*size)).Int())
	}
	switch {
	case p.windowless():
	case p.masked():
		r.taps = m.Select(inside, m.tapsInside(top.Uint(), left.Uint()), ptx.U(0))
	default:
		r.top = m.Select(inside, top.Uint(), ptx.I(-1<<30).Uint()).Int()
		r.left = left
	}
	return r
}

// tapsInside returns the bits of the taps that lie in the image, of a window that begins there.
func (m *pixels) tapsInside(top, left ptx.Uint) ptx.Uint {
	p := m.p
	if p.subpixel != nil {
		return m.phaseTapsInside(top, left)
	}
	if p.pad == [2]int{} && (p.p-1)*p.stride[0]+(p.r-1)*p.dilation[0] < p.h && (p.q-1)*p.stride[1]+(p.s-1)*p.dilation[1] < p.w {
		return ptx.I(1<<(p.r*p.s) - 1).Uint()
	}
	var row, all ptx.Uint
	for x := range p.s {
		in := m.Lt(m.Add(left, ptx.U(x*p.dilation[1])), ptx.U(p.w))
		if bit := m.Select(in, ptx.I(1<<x).Uint(), ptx.U(0)); x == 0 {
			row = bit
		} else {
			row = m.Or(row, bit)
		}
	}
	for y := range p.r {
		in := m.Lt(m.Add(top, ptx.U(y*p.dilation[0])), ptx.U(p.h))
		if bits := m.Select(in, m.Shl(row, y*p.s), ptx.U(0)); y == 0 {
			all = bits
		} else {
			all = m.Or(all, bits)
		}
	}
	return all
}

// nextTaps loads the entries of the table that are so many turns on. They have a step's time to come.
func (m *pixels) nextTaps(turn int) {
	for column, tap := range m.tap {
		for i, w := range m.LoadConst(m.taps.At(8*(m.t.pieces()*turn+column*pixelLanes)), 2) {
			m.Set(tap[i], w.Uint())
		}
	}
}

// tapsOfStep returns how many entries of the table a step of this thread has: one, where all columns of a step are of one tap.
func (m *pixels) tapsOfStep() int {
	if m.p.depthC()*m.p.typ.Size()%m.t.BK == 0 {
		return 1
	}
	return len(m.slots)
}

// rowCopy copies a row's piece, so many bytes behind that of the first column, where a step's columns are of one tap.
type rowCopy func(to ptx.SharedPtr, bytes int)

// copies returns the copies of this thread's pieces of pixels.
func (m *pixels) copies(stage ptx.Uint, turn int, more *ptx.Cond) (list []func()) {
	var each []func(pixelRow) rowCopy
	for column := range m.tapsOfStep() {
		if m.p.windowless() {
			each = append(each, m.copyPixel(turn, column, more))
		} else {
			each = append(each, m.copyTap(turn, column, more))
		}
	}
	for i, r := range m.rows {
		var row rowCopy
		for column, slot := range m.slots {
			to := m.OffsetShared(slot, stage, 1).At(i * m.rowsAtOnce() * m.t.BK)
			list = append(list, func() {
				if column < len(each) {
					row = each[column](r)
				}
				row(to, max(0, column+1-len(each))*16*pixelLanes)
			})
		}
	}
	if !m.p.windowless() {
		list = append(list, func() { m.nextTaps(turn + 1) })
	}
	return list
}

// copyPixel returns what copies a row's pieces of the pixel itself.
func (m *pixels) copyPixel(turn, column int, more *ptx.Cond) func(pixelRow) rowCopy {
	size := ptx.U(16)
	if used := m.p.depthC() * m.p.typ.Size() / 16; used%m.t.pieces() != 0 {
		size = m.Select(m.Lt(m.pieceAt(turn, column), ptx.U(used)), size, ptx.U(0))
	}
	return func(r pixelRow) rowCopy {
		from := m.OffsetS(m.at, r.offset, 1).At(turn*m.t.BK + column*16*pixelLanes)
		return func(to ptx.SharedPtr, bytes int) {
			m.when(more, func() { m.CopyAsync(to, from.At(bytes), size) })
		}
	}
}

// copyTap returns what copies a row's pieces of the pixel under the step's tap.
func (m *pixels) copyTap(turn, column int, more *ptx.Cond) func(pixelRow) rowCopy {
	inside := m.tapInside(turn, column)
	tap := m.OffsetS(m.x, m.tap[column][0].Int(), 1)
	return func(r pixelRow) rowCopy {
		from, inside := m.OffsetS(tap, r.offset, 1), inside(r)
		if m.p.zeroX == 0 {
			size := m.Select(inside, ptx.U(16), ptx.U(0))
			return func(to ptx.SharedPtr, bytes int) {
				m.when(more, func() { m.CopyAsync(to, from.At(bytes), size) })
			}
		}
		// Outside the image are zero points, which are not zeros.
		zero := ptx.W(uint32(byte(m.p.zeroX)) * 0x01010101)
		within, without := m.both(more, inside), m.both(more, inside.Not())
		return func(to ptx.SharedPtr, bytes int) {
			m.when(within, func() { m.CopyAsync(to, from.At(bytes), ptx.U(16)) })
			m.when(without, func() { m.StoreShared(to, zero, zero, zero, zero) })
		}
	}
}

// tapInside returns what says whether the tap of a row lies in the image.
func (m *pixels) tapInside(turn, column int) func(pixelRow) ptx.Cond {
	t, p, place := m.t, m.p, m.tap[column][1]
	if p.masked() {
		return func(r pixelRow) ptx.Cond { return m.Ne(m.And(r.taps, place), ptx.U(0)) }
	}
	row, left := m.BfeS(place.Word(), 16, 16), m.BfeS(place.Word(), 0, 16)
	return func(r pixelRow) ptx.Cond {
		y, x := m.AddS(r.top, row).Uint(), m.AddS(r.left, left).Uint()
		inside := m.Both(m.Lt(y, ptx.U(p.h)), m.Lt(x, ptx.U(p.w)))
		if used := p.r * p.s * p.depthC() * p.typ.Size() / 16; max(p.h, p.w) >= farAway && used%t.pieces() != 0 {
			inside = m.Both(inside, m.Lt(m.pieceAt(turn, column), ptx.U(used))) // so large an image has what lies farAway
		}
		return inside
	}
}

// pieceAt is which piece of the sum this thread's of a column is.
func (m *pixels) pieceAt(turn, column int) ptx.Uint {
	return m.Add(m.piece, ptx.U(turn*m.t.pieces()+column*pixelLanes))
}

// tableSteps returns for how many steps the table has entries: those of all parts, and as many as there are stages, which are
// loaded but not used.
func (t Tile) tableSteps(p *product) int {
	return t.Split*emit.CeilDiv(p.steps(t.BK), t.Split) + t.Stages
}

// tapTable returns the entries of the pieces of a row of weights: bytes from tap 0, then the tap's bit, or its row and column
// in 16 bits each.
func (p *product) tapTable(pieces int) []byte {
	if p.subpixel != nil {
		return p.subpixel.tapTables(p, pieces)
	}
	table := make([]byte, 0, 8*pieces)
	perTap := p.depthC() * p.typ.Size() / 16
	for i := range pieces {
		tap := i / perTap
		y, x := tap/p.s*p.dilation[0], tap%p.s*p.dilation[1]
		delta := (y*p.w+x)*p.pitchIn*p.typ.Size() + i%perTap*16
		place := uint32(y)<<16 | uint32(x)
		if p.masked() {
			place = uint32(1) << tap // none behind the last
		}
		if tap >= p.r*p.s { // behind the last: outside of every image
			delta = 0
			if !p.masked() {
				place = farAway<<16 | farAway
			}
		}
		table = binary.LittleEndian.AppendUint32(table, uint32(int32(delta)))
		table = binary.LittleEndian.AppendUint32(table, place)
	}
	return table
}
