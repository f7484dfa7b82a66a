package products

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// A transposed convolution on the kernels of tiles, by sub-pixel decomposition. Output row e reads by tap r the input's row
// (e + pad - r*dilation) / stride, where that is whole. Rows e = first + i*stride, a phase, share their taps, those whose
// r*dilation leaves the rest (first + pad) mod stride, and tap r reads row i + (first + pad - r*dilation)/stride: a phase is
// an ordinary convolution with stride 1 of some of the taps, which writes every stride-th row. So with 3x3 taps and stride 2:
//
//	taps      of the four phases       output
//	0 1 2     0 2   1   . .   .        a b a b
//	3 4 5     6 8   7   3 5   4        c d c d
//	6 7 8      a    b    c    d        a b a b
//
// All phases are one launch: blocks of a phase have their taps, their rows of packed weights and their number of steps from
// a table of phases. The longest phases come first, so that the last blocks to run are short ones.

// phase is the convolution of every stride-th row and column of the output.
type phase struct {
	first [2]int // of its rows and columns
	taps  []phaseTap
}

// phaseTap is a tap of the whole kernel, and the input pixel under it from a phase's output pixel on.
type phaseTap struct{ tap, y, x int }

// subpixel is how a product is made of phases.
type subpixel struct {
	whole  *product // the transposed convolution
	phases []phase
	tapped int // phases that have taps; the others' outputs are the bias
}

// maxPhases bounds the table of phases.
const maxPhases = 1024

// subpixelOf returns the product that a transposed convolution is, with the geometry of its phases: p and q are the most
// rows and columns that one has, s the most taps.
func subpixelOf(b kernels.Binding) (*product, error) {
	whole, err := productOf(b)
	if err != nil {
		return nil, err
	}
	if whole.groups > 1 {
		return nil, fmt.Errorf("%d groups, the kernel takes one", whole.groups)
	}
	if max(whole.h, whole.w) >= farAway {
		return nil, fmt.Errorf("the input has rows or columns of %d pixels, the kernel reaches %d", max(whole.h, whole.w), farAway-1)
	}
	phases := [2]int{min(whole.stride[0], whole.p), min(whole.stride[1], whole.q)}
	if phases[0] > maxPhases || phases[1] > maxPhases || phases[0]*phases[1] > maxPhases {
		return nil, fmt.Errorf("strides of %v make %d x %d phases, the kernel takes %d", whole.stride, phases[0], phases[1], maxPhases)
	}
	u := &subpixel{whole: whole}
	for y := range phases[0] {
		for x := range phases[1] {
			u.phases = append(u.phases, whole.phaseAt([2]int{y, x}))
		}
	}
	slices.SortStableFunc(u.phases, func(a, b phase) int { return cmp.Compare(len(b.taps), len(a.taps)) })
	for _, f := range u.phases {
		for _, t := range f.taps {
			if max(t.y, -t.y, t.x, -t.x) >= farAway {
				return nil, fmt.Errorf("the taps reach over more than %d pixels", farAway)
			}
		}
		if len(f.taps) > 0 {
			u.tapped++
		}
	}
	p := *whole
	p.subpixel, p.stride, p.dilation, p.pad = u, [2]int{1, 1}, [2]int{1, 1}, [2]int{}
	p.p, p.q = emit.CeilDiv(whole.p, whole.stride[0]), emit.CeilDiv(whole.q, whole.stride[1])
	p.r, p.s = 1, max(1, len(u.phases[0].taps))
	return &p, nil
}

// phaseAt returns the phase of an output pixel, one of the first.
func (p *product) phaseAt(first [2]int) phase {
	f := phase{first: first}
	under := func(axis, tap int) (place int, whole bool) {
		e := first[axis] + p.pad[axis] - tap*p.dilation[axis]
		return e / p.stride[axis], e%p.stride[axis] == 0
	}
	for r := range p.r {
		y, ok := under(0, r)
		if !ok {
			continue
		}
		for s := range p.s {
			if x, ok := under(1, s); ok {
				f.taps = append(f.taps, phaseTap{r*p.s + s, y, x})
			}
		}
	}
	return f
}

// windowless reports whether every pixel of every phase reads the one input pixel at its own place, which is there.
func (u *subpixel) windowless(p *product) bool {
	return p.p <= p.h && p.q <= p.w && !slices.ContainsFunc(u.phases, func(f phase) bool {
		return len(f.taps) != 1 || f.taps[0].y != 0 || f.taps[0].x != 0
	})
}

// steps returns into how many pieces of bk bytes the kernels cut the sums of a phase.
func (f phase) steps(p *product, bk int) int {
	return emit.CeilDiv(len(f.taps)*p.depthC()*p.typ.Size(), bk)
}

// even reports whether the sums of all phases are cut into as many pieces.
func (u *subpixel) even(p *product, bk int) bool {
	return !slices.ContainsFunc(u.phases, func(f phase) bool { return f.steps(p, bk) != p.steps(bk) })
}

// share returns how many steps the phases have in the mean, of those that the longest one has.
func (u *subpixel) share(p *product, bk int) float64 {
	n := 0
	for _, f := range u.phases {
		n += f.steps(p, bk)
	}
	return float64(n) / float64(len(u.phases)*p.steps(bk))
}

// each calls store for all weights, with their row among the channels of all phases, their place in it, and that in the
// constant.
func (u *subpixel) each(p *product, store func(channel, element, src int)) {
	for i, f := range u.phases[:u.tapped] {
		for o := range p.k {
			for t, tap := range f.taps {
				for c := range p.c {
					store(i*p.k+o, t*p.depthC()+c, u.whole.source(o, c, tap.tap))
				}
			}
		}
	}
}

// place returns the place of a tap in 16 bits each, row and column, from a phase's output pixel on; behind the last one that
// is outside of every image.
func (f phase) place(tap int) uint32 {
	if tap >= len(f.taps) {
		return farAway<<16 | farAway
	}
	return uint32(f.taps[tap].y)<<16 | uint32(uint16(f.taps[tap].x))
}

// tapTables returns the entries of the pieces of a row of weights, phase by phase of those that have taps.
func (u *subpixel) tapTables(p *product, pieces int) []byte {
	var table []byte
	perTap := p.depthC() * p.typ.Size() / 16
	for _, f := range u.phases[:max(1, u.tapped)] {
		for i := range pieces {
			tap, delta := i/perTap, 0
			place := f.place(tap)
			if p.masked() {
				place = uint32(1) << tap // none behind the last
			}
			if tap < len(f.taps) {
				delta = (f.taps[tap].y*p.w+f.taps[tap].x)*p.pitchIn*p.typ.Size() + i%perTap*16
			} else if p.masked() {
				place = 0
			}
			table = binary.LittleEndian.AppendUint32(table, uint32(int32(delta)))
			table = binary.LittleEndian.AppendUint32(table, place)
		}
	}
	return table
}

// phaseTable returns what blocks read of their phase: its steps, its place among those that have taps, and its first row and
// column.
func (u *subpixel) phaseTable(p *product, bk int) []byte {
	var table []byte
	for i, f := range u.phases {
		if i >= u.tapped {
			i = 0 // whose taps are loaded, but not used
		}
		for _, n := range []int{f.steps(p, bk), i, f.first[0], f.first[1]} {
			table = binary.LittleEndian.AppendUint32(table, uint32(n))
		}
	}
	return table
}

// places returns the places of all taps, phase by phase of those that have some, in rows as long as the longest.
func (u *subpixel) places(p *product) []byte {
	var table []byte
	for _, f := range u.phases[:max(1, u.tapped)] {
		for tap := range p.s {
			table = binary.LittleEndian.AppendUint32(table, f.place(tap))
		}
	}
	return table
}

// zeroSums returns, phase by phase, a row of what the input's zero point adds to each channel's sums.
func (u *subpixel) zeroSums(p *product, row int) []int32 {
	sums := make([]int32, len(u.phases)*row)
	weights := p.weight.Ints()
	for i, f := range u.phases {
		for o := range p.k {
			sum := &sums[i*row+o]
			for _, tap := range f.taps {
				for c := range p.c {
					*sum += int32(weights[u.whole.source(o, c, tap.tap)]) - p.zeroOf(o)
				}
			}
			*sum *= p.zeroX
		}
	}
	return sums
}

// phaseOfBlock is what a block has of its phase in registers.
type phaseOfBlock struct {
	steps, at, tap ptx.Uint   // its steps, its place among those that have weights, and its first entry of the taps' table
	places         []ptx.Word // of its taps, for the bits of the rows of pixels
}

// maskedPhase is how many taps a phase may have that rows of pixels have a bit for each of: their places are loaded at once.
const maskedPhase = 16

// beginPhase finds the block's phase.
func (m *implicit) beginPhase(index ptx.Uint) phaseOfBlock {
	p, t := m.p, m.t
	entry := m.LoadConst(m.Offset(m.phases, index, 16), 2)
	at := entry[1].Uint()
	f := phaseOfBlock{steps: entry[0].Uint(), at: at, tap: ptx.U(0)}
	if p.subpixel.even(p, t.BK) {
		f.steps = ptx.U(p.steps(t.BK))
	}
	if p.windowless() {
		return f
	}
	f.tap = m.Mul(at, ptx.U(t.pieces()*t.tableSteps(p)))
	if p.masked() {
		from := m.Offset(m.pixels.places, at, 4*p.s)
		for tap := range p.s {
			f.places = append(f.places, m.LoadConst(from.At(4*tap), 1)...)
		}
	}
	return f
}

// phaseTapsInside returns the bits of the phase's taps that lie in the image, from a pixel of the phase on.
func (m *pixels) phaseTapsInside(top, left ptx.Uint) ptx.Uint {
	all := ptx.U(0)
	for tap, place := range m.phase.places {
		y, x := m.Add(top, m.BfeS(place, 16, 16).Uint()), m.Add(left, m.BfeS(place, 0, 16).Uint())
		inside := m.Both(m.Lt(y, ptx.U(m.p.h)), m.Lt(x, ptx.U(m.p.w)))
		all = m.Or(all, m.Select(inside, ptx.I(1<<tap).Uint(), ptx.U(0)))
	}
	return all
}

// finishPhase finishes the tile: of a phase's pixels it writes those that the output has.
func (m *implicit) finishPhase(out *emit.RowOutput, finish finisher) {
	p, u := m.p, m.p.subpixel.whole
	pixels, channels, _, _ := m.blocks() // read again: nothing of it is kept while the sums take all registers
	index, n := m.DivRem(channels, emit.CeilDiv(p.k, m.t.BN))
	m.pixel, m.column = m.Mul(pixels, ptx.U(m.t.BM)), m.Mul(n, ptx.U(m.t.BN))
	// No constant to the assembler, so that it is not loaded, and no place computed of it, before the last barrier.
	entry := m.Load(m.Offset(m.phases, index, 16).At(8), 2)
	out.ZerosOf(m.K, index)
	finish(out, p.k, func(row ptx.Uint) (ptx.Uint, *ptx.Cond) {
		at, inside := m.pixelOf(row)
		image, rest := m.DivRem(at, p.p*p.q)
		i, j := m.DivRem(rest, p.q)
		y, x := m.Mad(i, ptx.U(u.stride[0]), entry[0].Uint()), m.Mad(j, ptx.U(u.stride[1]), entry[1].Uint())
		if u.p%u.stride[0] != 0 {
			inside = m.both(inside, m.Lt(y, ptx.U(u.p)))
		}
		if u.q%u.stride[1] != 0 {
			inside = m.both(inside, m.Lt(x, ptx.U(u.q)))
		}
		return m.Mad(m.Mad(image, ptx.U(u.p), y), ptx.U(u.q), x), inside
	})
}
