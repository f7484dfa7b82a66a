package products

import (
	"encoding/binary"

	"github.com/trtui/trtui/kernels/cuda/emit"
	"github.com/trtui/trtui/kernels/cuda/ptx"
)

// pixels is the source of the input's pixels under the taps.
type pixels struct {
	*block
	p            *product
	x            ptx.GlobalPtr
	taps, places ptx.GlobalPtr // tables
	phase        phaseOfBlock  // of transposed convolutions
	piece        ptx.Uint      // of the next step that is copied, this thread's
	at           ptx.GlobalPtr // that piece of the input's first pixel, where there are no taps
	tap          [2]ptx.Uint   // its entry of the taps' table, which was loaded a step before
	rows         []pixelRow
}

// pixelRow is a row of the tile's pixels that a thread copies pieces of.
type pixelRow struct {
	offset    ptx.Int  // bytes from the input's begin to the pixel under tap 0
	size      ptx.Uint // of a piece, 0 behind the last pixel; where there are no taps
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

// begin finds what the thread copies: a piece, from one on, of every so many rows.
func (m *pixels) begin(start, row ptx.Uint) {
	taps := ptx.U(0) // the first entry of the taps' table
	if m.p.subpixel != nil {
		taps = m.phase.tap
	}
	m.piece = m.Var(m.Add(start, taps))
	if m.p.windowless() {
		m.at = m.VarGlobal(m.Offset(m.x, m.piece, 16))
	} else {
		m.taps = m.VarGlobal(m.Offset(m.taps, m.piece, 8))
		m.tap = [2]ptx.Uint{m.Var(ptx.U(0)), m.Var(ptx.U(0))}
		m.nextTap()
	}
	for r := 0; r < m.t.BM; r += m.t.rowsAtOnce() {
		m.rows = append(m.rows, m.row(m.Add(m.pixel, m.Add(row, ptx.U(r)))))
	}
}

// advance goes to the next step.
func (m *pixels) advance() {
	m.Set(m.piece, m.Add(m.piece, ptx.U(m.t.pieces())))
	if m.p.windowless() {
		m.SetGlobal(m.at, m.at.At(m.t.BK))
	} else {
		m.nextTap()
	}
}

// row finds the input pixel under tap 0 of an output pixel.
func (m *pixels) row(pixel ptx.Uint) pixelRow {
	p := m.p
	inside := m.Lt(pixel, ptx.U(p.pixels()))
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
		r.size = m.Select(inside, ptx.U(16), ptx.U(0))
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

// nextTap loads the piece's entry of the table. It has a step's time to come.
func (m *pixels) nextTap() {
	for i, w := range m.LoadConst(m.taps, 2) {
		m.Set(m.tap[i], w.Uint())
	}
	m.SetGlobal(m.taps, m.taps.At(8*m.t.pieces()))
}

// copy starts the copies of this thread's pieces of pixels.
func (m *pixels) copy(to ptx.SharedPtr) {
	t, p := m.t, m.p
	slot := func(i int) ptx.SharedPtr { return to.At(i * t.rowsAtOnce() * t.BK) }
	if p.windowless() {
		used := p.depthC() * p.typ.Size() / 16
		for i, r := range m.rows {
			size := r.size
			if used%t.pieces() != 0 {
				size = m.Select(m.Lt(m.piece, ptx.U(used)), size, ptx.U(0))
			}
			m.CopyAsync(slot(i), m.OffsetS(m.at, r.offset, 1), size)
		}
		return
	}
	inside := m.tapInside()
	tap := m.OffsetS(m.x, m.tap[0].Int(), 1)
	for i, r := range m.rows {
		from, inside := m.OffsetS(tap, r.offset, 1), inside(r)
		if p.zeroX == 0 {
			m.CopyAsync(slot(i), from, m.Select(inside, ptx.U(16), ptx.U(0)))
			continue
		}
		// Outside the image are zero points, which are not zeros.
		m.When(inside, func() { m.CopyAsync(slot(i), from, ptx.U(16)) })
		zero := ptx.W(uint32(byte(p.zeroX)) * 0x01010101)
		m.When(inside.Not(), func() { m.StoreShared(slot(i), zero, zero, zero, zero) })
	}
}

// tapInside returns what says whether the step's tap of a row lies in the image.
func (m *pixels) tapInside() func(pixelRow) ptx.Cond {
	t, p := m.t, m.p
	if p.masked() {
		return func(r pixelRow) ptx.Cond { return m.Ne(m.And(r.taps, m.tap[1]), ptx.U(0)) }
	}
	row, column := m.BfeS(m.tap[1].Word(), 16, 16), m.BfeS(m.tap[1].Word(), 0, 16)
	return func(r pixelRow) ptx.Cond {
		y, x := m.AddS(r.top, row).Uint(), m.AddS(r.left, column).Uint()
		inside := m.Both(m.Lt(y, ptx.U(p.h)), m.Lt(x, ptx.U(p.w)))
		if used := p.r * p.s * p.depthC() * p.typ.Size() / 16; max(p.h, p.w) >= farAway && used%t.pieces() != 0 {
			inside = m.Both(inside, m.Lt(m.piece, ptx.U(used))) // so large an image has what lies farAway
		}
		return inside
	}
}

// tableSteps returns for how many steps the table has entries: those of all parts, and one that is loaded but not used.
func (t Tile) tableSteps(p *product) int { return t.Split*emit.CeilDiv(p.steps(t.BK), t.Split) + 1 }

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
