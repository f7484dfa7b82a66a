package products

import (
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// implicit is the code of a block of a product as tensor cores want it (implicit GEMM): a block computes BM output pixels by
// BN output channels. Its threads copy pieces of 16 bytes of the pixels under the taps, and of the weights, to a ring of
// stages in shared memory, some steps ahead of the multiplication:
//
//	       BK bytes              BK bytes
//	   +--------------+      +--------------+
//	BM | input pixels |   BN | weights      |     x stages
//	   +--------------+      +--------------+
//
// Piece j of row r lies at j ^ swizzle(r), so that neither the copies nor the reads of eight rows meet in a bank. A
// piece is 16 bytes of one tap; where that lies outside the image, or the row behind the last pixel, zeros are copied.
type implicit struct {
	*block
	p                    *product
	blockM, blockN, part ptx.Uint      // the block's place in the grid
	phases               ptx.GlobalPtr // table of transposed convolutions
	pixels               pixels
	weights              weights
}

// blocks returns the block's place among the tiles, and the grid. Blocks that follow each other in the grid run at the same
// time: they share the rows of the larger operand, so that it comes from memory once, while the smaller one stays in the
// cache.
func (m *implicit) blocks() (pixels, channels, part ptx.Uint, grid [3]int) {
	p, g := m.p, m.t.grid(m.p)
	if p.n*p.h*p.w*p.pitchIn < p.k*p.parts()*p.depth() {
		return emit.BlockIndices(m.K, g)
	}
	channels, pixels, part, grid = emit.BlockIndices(m.K, [3]int{g[1], g[0], g[2]})
	return pixels, channels, part, grid
}

// parts returns the groups or phases, whose tiles are apart.
func (p *product) parts() int {
	if p.subpixel != nil {
		return len(p.subpixel.phases)
	}
	return p.groups
}

// begin finds what the thread copies.
func (m *implicit) begin() {
	t, p := m.t, m.p
	perGroup := emit.CeilDiv(p.k, t.BN)
	group, n := m.DivRem(m.blockN, perGroup)
	if p.parts() == 1 {
		group, n = ptx.U(0), m.blockN
	}
	tile := m.blockN
	if p.subpixel != nil {
		m.pixels.phase = m.beginPhase(group)
		group, tile = ptx.U(0), m.Mad(m.pixels.phase.at, ptx.U(perGroup), n)
	}
	m.group, m.column = group, m.Mul(n, ptx.U(t.BN))
	m.pixel = m.Mul(m.blockM, ptx.U(t.BM))

	first := ptx.U(0) // step
	if t.Split > 1 {
		first = m.Mul(m.part, ptx.U(emit.CeilDiv(p.steps(t.BK), t.Split)))
	}
	m.pixels.begin(m.Mul(first, ptx.U(t.pieces())))
	m.weights.begin(tile, first)
}

// copies returns the copies of both.
func (m *implicit) copies(stage ptx.Uint, turn int, more *ptx.Cond) []func() {
	return append(m.pixels.copies(stage, turn, more), m.weights.copies(stage, turn, more)...)
}

func (m *implicit) advance(turns int) {
	m.pixels.advance(turns)
	m.weights.advance(turns)
}

// steps returns of how many steps the block's part of the sum is.
func (m *implicit) steps() ptx.Uint {
	t := m.t
	longest := m.p.steps(t.BK)
	steps := ptx.U(longest)
	if m.p.subpixel != nil {
		steps = m.pixels.phase.steps
	}
	if t.Split == 1 {
		return steps
	}
	per := emit.CeilDiv(longest, t.Split) // the last part may be shorter
	done := m.Mul(m.part, ptx.U(per))
	return m.Min(m.Sub(m.Max(steps, done), done), ptx.U(per))
}

// pixelOf returns the output pixel of a row of the tile.
func (m *implicit) pixelOf(row ptx.Uint) (ptx.Uint, *ptx.Cond) {
	pixel := m.Add(m.pixel, row)
	if m.p.pixels()%m.t.BM == 0 {
		return pixel, nil
	}
	inside := m.Lt(pixel, ptx.U(m.p.pixels()))
	return pixel, &inside
}

// emitProduct emits a product with the layer's epilogue.
func emitProduct(b kernels.Binding, p *product, t Tile) (*emit.Work, error) {
	w := emit.NewWork()
	lane := t.laneVectorOf(b, p)
	weights := weights{packed: t.packed(p, lane)}
	w.Constants = weights.pack()
	k := w.Module.Kernel("product", t.threads())
	k.Resident(t.resident())
	l := emit.Launch{Kernel: "product", Block: [3]int{t.threads(), 1, 1}, Shared: t.shared(emit.CeilDiv(p.steps(t.BK), t.Split), lane == 0)}
	m := &implicit{p: p, pixels: pixels{p: p, x: k.Pointer("x")}, weights: weights}
	m.weights.w = k.Pointer("w")
	l.Args = []emit.Arg{emit.InArg(0), emit.ConstArg(0)}
	if !p.windowless() {
		m.pixels.taps = k.Pointer("taps")
		l.Args = append(l.Args, emit.ConstArg(w.Append(p.tapTable(t.tableSteps(p)*t.pieces()))))
	}
	if p.subpixel != nil {
		m.phases = l.Constant(k, "phases", w.Append(p.subpixel.phaseTable(p, t.BK)))
		if p.masked() && !p.windowless() {
			m.pixels.places = l.Constant(k, "places", w.Append(p.subpixel.places(p)))
		}
	}
	var zeros ptx.GlobalPtr // of the weights, by channel
	if p.zeros != nil {
		zeros = l.Constant(k, "zeros", w.Append(t.zeroTable(p)))
	}
	out, err := emit.NewRowOutput(b, p.sums(), w)
	if err != nil {
		return nil, err
	}
	out.Parameters(k, &l)
	var shared emit.Parts
	if t.Split > 1 {
		shared = emit.Parts{Sums: k.Pointer("parts"), Counters: k.Pointer("counters")}
		l.Args = append(l.Args, emit.ScratchArg(0), emit.CountersArg())
	}
	m.block = newBlock(k, t)
	m.pixels.block, m.weights.block = m.block, m.block
	m.blockM, m.blockN, m.part, l.Grid = m.blocks()
	m.begin()
	e, finish := m.newEngine(p.operands(zeros), lane)
	e.run(m.steps(), m)
	if lane == 0 {
		m.Barrier() // now the ring is free for the sums
	}
	sums := e.sums()
	if t.Split > 1 {
		m.join(sums, shared, m.Mad(m.blockN, ptx.U(t.grid(p)[0]), m.blockM), m.part)
	}
	if lane == 0 {
		e.spill(m.ring)
		m.Barrier()
	}
	if p.subpixel != nil {
		m.finishPhase(out, finish)
	} else {
		finish(out, p.k, m.pixelOf)
	}
	k.End()
	w.Launches = []emit.Launch{l}
	return w, nil
}

// newEngine returns the unit's engine for a stage of rows of both operands, its sums zero, and what finishes them where a lane
// has so many channels side by side.
func (m *implicit) newEngine(o operands, lane int) (engine, finisher) {
	w := newWarpTile(m.block)
	if m.t.Unit == emit.SimtF32 {
		return newSimt(w), m.finish
	}
	e := newTensor(w, o, max(2, lane))
	// Beside the largest sums there are no registers for sums of pixels; nor, where blocks share a sum and the number of steps is
	// not known, for both what lies in the image and what does not.
	large := e.rows*e.columns >= 64*64
	e.tight = m.t.tight() || large && (o.zeros != nil || m.p.zeroX != 0 && m.t.Split > 1)
	e.apart = large || m.t.Unit == emit.TensorI8 // whose epilogue takes more
	if lane == 0 {
		return e, m.finish
	}
	return e, e.finish
}
