package cuda

import (
	"encoding/binary"

	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/ptx"
)

// The product as tensor cores want it (implicit GEMM): a block computes bm output pixels by bn output channels. Its threads
// copy pieces of 16 bytes of the pixels under the taps, and of the weights, to a ring of stages in shared memory, some
// steps ahead of the multiplication:
//
//	       bk bytes              bk bytes
//	   +--------------+      +--------------+
//	bm | input pixels |   bn | weights      |     x stages
//	   +--------------+      +--------------+
//
// Piece j of row r lies at j ^ swizzle(r), so that neither the copies nor the reads of eight rows meet in a bank. A
// piece is 16 bytes of one tap; where that lies outside the image, or the row behind the last pixel, zeros are copied.
type implicit struct {
	*ptx.K
	p *product
	t tile

	x, w, taps, phases   ptx.GlobalPtr
	zeros                ptx.GlobalPtr // of the weights by channel
	ring                 ptx.SharedPtr
	thread               ptx.Uint
	blockM, blockN, part ptx.Uint // the block's place in the grid

	group, column ptx.Uint // the block's group and first channel in it
	pixel         ptx.Uint // its first pixel
	steps         ptx.Uint // of transposed convolutions: those of the block's phase

	piece   ptx.Uint    // of the next step that is copied, this thread's
	tap     [2]ptx.Uint // its entry of the taps' table, which was loaded a step before
	rowsA   []pixelRow
	weights ptx.GlobalPtr // this thread's first row, at the next step
	sizesB  []ptx.Uint    // bytes to copy of each row, 16 or 0
	slot    ptx.SharedPtr // of this thread's first piece in stage 0
}

// pixelRow is a row of the tile's pixels that a thread copies pieces of.
type pixelRow struct {
	offset     ptx.Int // bytes from the input's begin to the pixel under tap 0
	top, left  ptx.Int // its place in the image; far above it for rows behind the last pixel
	size       ptx.Uint
	windowless bool
}

// farAway is a distance that the taps of a kernel do not reach over.
const farAway = 1 << 14

// pieces returns the pieces of a row of a stage.
func (t tile) pieces() int { return t.bk / 16 }

// rowsAtOnce returns how many rows the block's threads copy a piece of, each one.
func (t tile) rowsAtOnce() int { return t.threads() / t.pieces() }

// swizzled returns where a piece of a row of the tile lies in the row, in bytes.
func (t tile) swizzled(k *ptx.K, row, piece ptx.Uint) ptx.Uint {
	if t.bk == 64 {
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
		return blockIndices(m.K, g)
	}
	channels, pixels, part, grid = blockIndices(m.K, [3]int{g[1], g[0], g[2]})
	return pixels, channels, part, grid
}

// windowless reports whether every output pixel reads one input pixel, which is there.
func (p *product) windowless() bool {
	if p.subpixel != nil {
		return p.subpixel.windowless(p)
	}
	return p.r*p.s == 1 && p.pad == [2]int{}
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
	perGroup := ceilDiv(p.k, t.bn)
	group, n := m.DivRem(blockN, perGroup)
	if p.parts() == 1 {
		group, n = ptx.U(0), blockN
	}
	taps := ptx.U(0) // the first entry of the taps' table
	var phaseRow ptx.Uint
	if p.subpixel != nil {
		phaseRow, taps = m.beginPhase(group)
		group = ptx.U(0)
	}
	m.group, m.column = group, m.Mul(n, ptx.U(t.bn))
	m.pixel = m.Mul(m.blockM, ptx.U(t.bm))

	row, piece := m.DivRem(m.thread, t.pieces())
	m.slot = m.OffsetShared(m.ring, m.Mad(row, ptx.U(t.bk), t.swizzled(m.K, row, piece)), 1)
	first := ptx.U(0)
	if t.split > 1 {
		first = m.Mul(m.part, ptx.U(ceilDiv(p.steps(t.bk), t.split)*t.pieces()))
	}
	start := m.Add(first, piece)
	m.piece = m.Var(m.Add(start, taps))
	if !p.windowless() {
		m.tap = [2]ptx.Uint{m.Var(ptx.U(0)), m.Var(ptx.U(0))}
		m.nextTap()
	}
	for r := 0; r < t.bm; r += t.rowsAtOnce() {
		m.rowsA = append(m.rowsA, m.pixelRow(m.Add(m.pixel, m.Add(row, ptx.U(r)))))
	}
	channel := m.Add(m.column, row)
	weightRow := m.Mad(group, ptx.U(p.k), channel)
	if p.subpixel != nil {
		weightRow = m.Add(phaseRow, channel)
	}
	at := m.Offset(m.w, weightRow, p.depth()*p.typ.Size())
	m.weights = m.VarGlobal(m.Offset(at, start, 16))
	for r := 0; r < t.bn; r += t.rowsAtOnce() {
		size := ptx.U(16)
		if p.k%t.bn != 0 {
			size = m.Select(m.Lt(m.Add(channel, ptx.U(r)), ptx.U(p.k)), ptx.U(16), ptx.U(0))
		}
		m.sizesB = append(m.sizesB, size)
	}
}

// pixelRow finds the input pixel under tap 0 of an output pixel.
func (m *implicit) pixelRow(pixel ptx.Uint) pixelRow {
	p := m.p
	inside := m.Lt(pixel, ptx.U(p.pixels()))
	image, rest := m.DivRem(pixel, p.p*p.q)
	y, x := m.DivRem(rest, p.q)
	top := m.SubS(m.Mul(y, ptx.U(p.stride[0])).Int(), ptx.I(p.pad[0]))
	left := m.SubS(m.Mul(x, ptx.U(p.stride[1])).Int(), ptx.I(p.pad[1]))
	line := m.MadS(image.Int(), ptx.I(p.h), top)
	at := m.MadS(line, ptx.I(p.w), left)
	size := p.typ.Size()
	offset := m.MulS(at, ptx.I(p.pitchIn*size))
	if p.groups > 1 {
		offset = m.AddS(offset, m.Mul(m.group, ptx.U(p.c*size)).Int())
	}
	r := pixelRow{offset: offset, windowless: p.windowless()}
	if r.windowless {
		r.size = m.Select(inside, ptx.U(16), ptx.U(0))
	} else {
		r.top = m.Select(inside, top.Uint(), ptx.I(-1<<30).Uint()).Int()
		r.left = left
	}
	return r
}

// copyStep starts the copies of the next step into the stage that begins offset bytes into the ring.
func (m *implicit) copyStep(offset ptx.Uint) {
	t := m.t
	to := ptx.SharedPtr{Uint: m.Add(m.slot.Uint, offset)}
	m.copyPixels(to)
	for i, size := range m.sizesB {
		r := i * t.rowsAtOnce()
		m.CopyAsync(to.At((t.bm+r)*t.bk), m.weights.At(r*m.p.depth()*m.p.typ.Size()), size)
	}
	m.SetGlobal(m.weights, m.weights.At(t.bk))
	m.Set(m.piece, m.Add(m.piece, ptx.U(t.pieces())))
	if !m.p.windowless() {
		m.nextTap()
	}
}

// nextTap loads the piece's entry: bytes from tap 0, then its row and column in 16 bits each. It has a step's time to come.
func (m *implicit) nextTap() {
	for i, w := range m.LoadConst(m.Offset(m.taps, m.piece, 8), 2) {
		m.Set(m.tap[i], w.Uint())
	}
}

// copyPixels starts the copies of this thread's pieces of pixels.
func (m *implicit) copyPixels(to ptx.SharedPtr) {
	t, p := m.t, m.p
	at := func(i int) ptx.SharedPtr { return to.At(i * t.rowsAtOnce() * t.bk) }
	if p.windowless() {
		used := p.depthC() * p.typ.Size() / 16
		for i, r := range m.rowsA {
			size := r.size
			if used%t.pieces() != 0 {
				size = m.Select(m.Lt(m.piece, ptx.U(used)), size, ptx.U(0))
			}
			m.CopyAsync(at(i), m.OffsetS(m.x, m.AddS(r.offset, m.Shl(m.piece, 4).Int()), 1), size)
		}
		return
	}
	row, column := m.BfeS(m.tap[1].Word(), 16, 16), m.BfeS(m.tap[1].Word(), 0, 16)
	for i, r := range m.rowsA {
		y, x := m.AddS(r.top, row).Uint(), m.AddS(r.left, column).Uint()
		inside := m.Both(m.Lt(y, ptx.U(p.h)), m.Lt(x, ptx.U(p.w)))
		if used := p.r * p.s * p.depthC() * p.typ.Size() / 16; max(p.h, p.w) >= farAway && used%t.pieces() != 0 {
			inside = m.Both(inside, m.Lt(m.piece, ptx.U(used))) // so large an image has what lies farAway
		}
		from := m.OffsetS(m.x, m.AddS(r.offset, m.tap[0].Int()), 1)
		if p.zeroX == 0 {
			m.CopyAsync(at(i), from, m.Select(inside, ptx.U(16), ptx.U(0)))
			continue
		}
		// Outside the image are zero points, which are not zeros.
		m.When(inside, func() { m.CopyAsync(at(i), from, ptx.U(16)) })
		zero := ptx.W(uint32(byte(p.zeroX)) * 0x01010101)
		m.When(inside.Not(), func() { m.StoreShared(at(i), zero, zero, zero, zero) })
	}
}

// tableSteps returns for how many steps the table has entries: those of all parts, and one that is loaded but not used.
func (t tile) tableSteps(p *product) int { return t.split*ceilDiv(p.steps(t.bk), t.split) + 1 }

// tapTable returns the entries of the pieces of a row of weights.
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
		if tap >= p.r*p.s { // behind the last: outside of every image
			y, x, delta = farAway, farAway, 0
		}
		table = tapEntry{delta, y, x}.append(table)
	}
	return table
}

// tapEntry is where a piece of 16 bytes lies: bytes from tap 0, and its tap's row and column.
type tapEntry struct{ delta, y, x int }

func (e tapEntry) append(table []byte) []byte {
	table = binary.LittleEndian.AppendUint32(table, uint32(int32(e.delta)))
	return binary.LittleEndian.AppendUint32(table, uint32(e.y)<<16|uint32(uint16(e.x)))
}

// engine multiplies what a stage holds.
type engine interface {
	// step adds the products of a stage, which begins at the address.
	step(stage ptx.SharedPtr)
	// sums ends the multiplication and returns the thread's sums, registers that may be set. They are words, or the
	// registers of floats; which of the tile's they are is the same in every block.
	sums() []ptx.Word
	// spill writes the sums as words to shared memory: row by row of the tile, sumPitch words apart.
	spill(to ptx.SharedPtr)
}

// sum runs the ring: the copies of a step are started stages-1 steps before it is multiplied.
func (m *implicit) sum(e engine) {
	t := m.t
	steps := m.p.steps(t.bk)
	per := ceilDiv(steps, t.split)
	count := ptx.U(steps)
	if m.p.subpixel != nil {
		count = m.steps
	}
	if t.split > 1 { // the last part may be shorter
		done := m.Mul(m.part, ptx.U(per))
		count = m.Min(m.Sub(m.Max(count, done), done), ptx.U(per))
	}
	for s := range t.stages - 1 {
		m.ifStep(ptx.U(s), count, func() { m.copyStep(ptx.U(s * t.stageBytes())) })
		m.CommitGroup()
	}
	reading, writing := m.Var(ptx.U(0)), m.Var(ptx.U((t.stages-1)*t.stageBytes()))
	m.ForRolled(ptx.U(0), count, ptx.U(1), func(step ptx.Uint) {
		m.WaitGroup(t.stages - 2)
		m.Barrier()
		m.If(m.Lt(m.Add(step, ptx.U(t.stages-1)), count), func() { m.copyStep(writing) })
		m.CommitGroup()
		e.step(ptx.SharedPtr{Uint: m.Add(m.ring.Uint, reading)})
		for _, v := range []ptx.Uint{reading, writing} {
			next := m.Add(v, ptx.U(t.stageBytes()))
			m.Set(v, m.Select(m.Eq(next, ptx.U(t.stages*t.stageBytes())), ptx.U(0), next))
		}
	})
	m.Barrier() // all groups that are still open are empty; now the ring is free for the sums
}

// ifStep runs body if step is below count, which may be known.
func (m *implicit) ifStep(step, count ptx.Uint, body func()) {
	if n, ok := count.Constant(); ok {
		if s, _ := step.Constant(); s < n {
			body()
		}
		return
	}
	m.If(m.Lt(step, count), body)
}

// emitProduct emits a product with the layer's epilogue.
func emitProduct(b kernels.Binding, p *product, t tile) (*work, error) {
	w := &work{module: ptx.New(ptx.SM80), constants: p.packWeights()}
	k := w.module.Kernel("product", t.threads())
	k.Resident(t.resident())
	l := launch{kernel: "product", block: [3]int{t.threads(), 1, 1}, shared: t.shared()}
	m := &implicit{K: k, p: p, t: t, x: k.Pointer("x"), w: k.Pointer("w")}
	l.args = []arg{inArg(0), constArg(0)}
	if !p.windowless() {
		m.taps = k.Pointer("taps")
		l.args = append(l.args, constArg(w.append(p.tapTable(t.tableSteps(p)*t.pieces()))))
	}
	if p.subpixel != nil {
		m.phases = l.constant(k, "phases", w.append(p.subpixel.phaseTable(p, t.bk)))
	}
	if p.zeros != nil {
		m.zeros = l.constant(k, "zeros", w.append(t.zeroTable(p)))
	}
	out, err := newRowOutput(b, p, w)
	if err != nil {
		return nil, err
	}
	out.parameters(k, &l)
	var shared parts
	if t.split > 1 {
		shared = parts{k.Pointer("parts"), k.Pointer("counters")}
		l.args = append(l.args, scratchArg(0), countersArg())
	}
	m.ring, m.thread = k.Dynamic(), k.Thread()
	m.blockM, m.blockN, m.part, l.grid = m.blocks()
	m.begin()
	e := newEngine(m)
	m.sum(e)
	sums := e.sums()
	if t.split > 1 {
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
	w.launches = []launch{l}
	return w, nil
}

// append adds constants at a multiple of 256 and returns where.
func (w *work) append(data []byte) int {
	at := roundUp(len(w.constants), 256)
	w.constants = append(append(w.constants, make([]byte, at-len(w.constants))...), data...)
	return at
}
