package products

import (
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/emit"
	"github.com/trtui/trtui/kernels/cuda/ptx"
)

// The product as tensor cores want it (implicit GEMM): a block computes BM output pixels by BN output channels. Its threads
// copy pieces of 16 bytes of the pixels under the taps, and of the weights, to a ring of stages in shared memory, some
// steps ahead of the multiplication:
//
//	       BK bytes              BK bytes
//	   +--------------+      +--------------+
//	BM | input pixels |   BN | weights      |     x stages
//	   +--------------+      +--------------+
//
// Piece j of row r lies at j ^ swizzle(r), so that neither the copies nor the reads of eight rows meet in a bank. A
// piece is 16 bytes of one tap; where that lies outside the image, or the row behind the last pixel, zeros are copied.
type implicit struct {
	*ptx.K
	p *product
	t Tile

	x, w, taps, zeros    ptx.GlobalPtr // zeros: of the weights, by channel
	phases, places       ptx.GlobalPtr // tables of transposed convolutions
	ring                 ptx.SharedPtr
	thread               ptx.Uint
	blockM, blockN, part ptx.Uint // the block's place in the grid

	group, column ptx.Uint     // the block's group and first channel in it
	pixel         ptx.Uint     // its first pixel
	phase         phaseOfBlock // of transposed convolutions

	piece   ptx.Uint      // of the next step that is copied, this thread's
	pixels  ptx.GlobalPtr // that piece of the input's first pixel, where there are no taps
	tap     [2]ptx.Uint   // its entry of the taps' table, which was loaded a step before
	rowsA   []pixelRow
	weights ptx.GlobalPtr // this thread's first row, at the next step
	sizesB  []ptx.Uint    // bytes to copy of each row, 16 or 0
	slot    ptx.SharedPtr // of this thread's first piece in stage 0
}

// pieces returns the pieces of a row of a stage.
func (t Tile) pieces() int { return t.BK / 16 }

// rowsAtOnce returns how many rows the block's threads copy a piece of, each one.
func (t Tile) rowsAtOnce() int { return t.threads() / t.pieces() }

// swizzled returns where a piece of a row of the tile lies in the row, in bytes.
func (t Tile) swizzled(k *ptx.K, row, piece ptx.Uint) ptx.Uint {
	if t.BK == 64 {
		row = k.Shr(row, 1)
	}
	return k.Shl(k.Xor(piece, k.And(row, ptx.U(t.pieces()-1))), 4)
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
	blockN := m.blockN
	perGroup := emit.CeilDiv(p.k, t.BN)
	group, n := m.DivRem(blockN, perGroup)
	if p.parts() == 1 {
		group, n = ptx.U(0), blockN
	}
	taps := ptx.U(0) // the first entry of the taps' table
	var phaseRow ptx.Uint
	if p.subpixel != nil {
		m.beginPhase(group)
		group, phaseRow, taps = ptx.U(0), m.phase.row, m.phase.tap
	}
	m.group, m.column = group, m.Mul(n, ptx.U(t.BN))
	m.pixel = m.Mul(m.blockM, ptx.U(t.BM))

	row, piece := m.DivRem(m.thread, t.pieces())
	m.slot = m.OffsetShared(m.ring, m.Mad(row, ptx.U(t.BK), t.swizzled(m.K, row, piece)), 1)
	first := ptx.U(0)
	if t.Split > 1 {
		first = m.Mul(m.part, ptx.U(emit.CeilDiv(p.steps(t.BK), t.Split)*t.pieces()))
	}
	start := m.Add(first, piece)
	m.piece = m.Var(m.Add(start, taps))
	if p.windowless() {
		m.pixels = m.VarGlobal(m.Offset(m.x, m.piece, 16))
	} else {
		m.taps = m.VarGlobal(m.Offset(m.taps, m.piece, 8))
		m.tap = [2]ptx.Uint{m.Var(ptx.U(0)), m.Var(ptx.U(0))}
		m.nextTap()
	}
	for r := 0; r < t.BM; r += t.rowsAtOnce() {
		m.rowsA = append(m.rowsA, m.pixelRow(m.Add(m.pixel, m.Add(row, ptx.U(r)))))
	}
	channel := m.Add(m.column, row)
	weightRow := m.Mad(group, ptx.U(p.k), channel)
	if p.subpixel != nil {
		weightRow = m.Add(phaseRow, channel)
	}
	at := m.Offset(m.w, weightRow, p.depth()*p.typ.Size())
	m.weights = m.VarGlobal(m.Offset(at, start, 16))
	for r := 0; r < t.BN; r += t.rowsAtOnce() {
		size := ptx.U(16)
		if p.k%t.BN != 0 {
			size = m.Select(m.Lt(m.Add(channel, ptx.U(r)), ptx.U(p.k)), ptx.U(16), ptx.U(0))
		}
		m.sizesB = append(m.sizesB, size)
	}
}

// copyStep starts the copies of the next step into the stage that begins offset bytes into the ring.
func (m *implicit) copyStep(offset ptx.Uint) {
	t := m.t
	to := ptx.SharedPtr{Uint: m.Add(m.slot.Uint, offset)}
	m.copyPixels(to)
	for i, size := range m.sizesB {
		r := i * t.rowsAtOnce()
		m.CopyAsync(to.At((t.BM+r)*t.BK), m.weights.At(r*m.p.depth()*m.p.typ.Size()), size)
	}
	m.SetGlobal(m.weights, m.weights.At(t.BK))
	m.Set(m.piece, m.Add(m.piece, ptx.U(t.pieces())))
	if m.p.windowless() {
		m.SetGlobal(m.pixels, m.pixels.At(t.BK))
	} else {
		m.nextTap()
	}
}

// emitProduct emits a product with the layer's epilogue.
func emitProduct(b kernels.Binding, p *product, t Tile) (*emit.Work, error) {
	w := emit.NewWork()
	w.Constants = p.packWeights()
	k := w.Module.Kernel("product", t.threads())
	k.Resident(t.resident())
	l := emit.Launch{Kernel: "product", Block: [3]int{t.threads(), 1, 1}, Shared: t.shared()}
	m := &implicit{K: k, p: p, t: t, x: k.Pointer("x"), w: k.Pointer("w")}
	l.Args = []emit.Arg{emit.InArg(0), emit.ConstArg(0)}
	if !p.windowless() {
		m.taps = k.Pointer("taps")
		l.Args = append(l.Args, emit.ConstArg(w.Append(p.tapTable(t.tableSteps(p)*t.pieces()))))
	}
	if p.subpixel != nil {
		m.phases = l.Constant(k, "phases", w.Append(p.subpixel.phaseTable(p, t.BK)))
		if p.masked() && !p.windowless() {
			m.places = l.Constant(k, "places", w.Append(p.subpixel.places(p)))
		}
	}
	if p.zeros != nil {
		m.zeros = l.Constant(k, "zeros", w.Append(t.zeroTable(p)))
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
	m.ring, m.thread = k.Dynamic(), k.Thread()
	m.blockM, m.blockN, m.part, l.Grid = m.blocks()
	m.begin()
	e := newEngine(m)
	m.run(m.steps(), m.copyStep, e)
	sums := e.sums()
	if t.Split > 1 {
		m.join(sums, shared)
	}
	e.spill(m.ring)
	m.Barrier()
	if p.subpixel != nil {
		m.finishPhase(out)
	} else {
		m.finish(out, m.pixelOf)
	}
	k.End()
	w.Launches = []emit.Launch{l}
	return w, nil
}
