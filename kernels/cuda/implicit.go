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

	x, w, taps           ptx.GlobalPtr
	ring                 ptx.SharedPtr
	thread               ptx.Uint
	blockM, blockN, part ptx.Uint // the block's place in the grid

	group, column ptx.Uint // the block's group and first channel in it
	pixel         ptx.Uint // its first pixel

	piece   ptx.Uint // of the next step that is copied, this thread's
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
	if p.n*p.h*p.w*p.pitchIn < p.k*p.groups*p.depth() {
		return blockIndices(m.K, g)
	}
	channels, pixels, part, grid = blockIndices(m.K, [3]int{g[1], g[0], g[2]})
	return pixels, channels, part, grid
}

// windowless reports whether every output pixel reads one input pixel, which is there.
func (p *product) windowless() bool { return p.r*p.s == 1 && p.pad == [2]int{} }

// begin finds what the thread copies.
func (m *implicit) begin() {
	t, p := m.t, m.p
	blockN := m.blockN
	perGroup := ceilDiv(p.k, t.bn)
	group, n := m.DivRem(blockN, perGroup)
	if p.groups == 1 {
		group, n = ptx.U(0), blockN
	}
	m.group, m.column = group, m.Mul(n, ptx.U(t.bn))
	m.pixel = m.Mul(m.blockM, ptx.U(t.bm))

	row, piece := m.DivRem(m.thread, t.pieces())
	m.slot = m.OffsetShared(m.ring, m.Mad(row, ptx.U(t.bk), t.swizzled(m.K, row, piece)), 1)
	first := ptx.U(0)
	if t.split > 1 {
		first = m.Mul(m.part, ptx.U(ceilDiv(p.steps(t.bk), t.split)*t.pieces()))
	}
	m.piece = m.Var(m.Add(first, piece))
	for r := 0; r < t.bm; r += t.rowsAtOnce() {
		m.rowsA = append(m.rowsA, m.pixelRow(m.Add(m.pixel, m.Add(row, ptx.U(r)))))
	}
	channel := m.Add(m.column, row)
	at := m.Offset(m.w, m.Mad(group, ptx.U(p.k), channel), p.depth()*p.typ.Size())
	m.weights = m.VarGlobal(m.Offset(at, m.piece, 16))
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
	// A tap's entry: bytes from tap 0, then its row and column in 16 bits each.
	entry := m.LoadConst(m.Offset(m.taps, m.piece, 8), 2)
	row, column := m.BfeS(entry[1], 16, 16), m.BfeS(entry[1], 0, 16)
	for i, r := range m.rowsA {
		y, x := m.AddS(r.top, row).Uint(), m.AddS(r.left, column).Uint()
		inside := m.Both(m.Lt(y, ptx.U(p.h)), m.Lt(x, ptx.U(p.w)))
		if used := p.r * p.s * p.depthC() * p.typ.Size() / 16; max(p.h, p.w) >= farAway && used%t.pieces() != 0 {
			inside = m.Both(inside, m.Lt(m.piece, ptx.U(used))) // so large an image has what lies farAway
		}
		from := m.OffsetS(m.x, m.AddS(r.offset, entry[0].Int()), 1)
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

// tapTable returns the entries that copyPixels reads, one for each piece of a row of weights.
func (p *product) tapTable(pieces int) []byte {
	table := make([]byte, 0, 8*pieces)
	perTap := p.depthC() * p.typ.Size() / 16
	for i := range pieces {
		tap := i / perTap
		y, x := tap/p.s*p.dilation[0], tap%p.s*p.dilation[1]
		delta := (y*p.w+x)*p.pitchIn*p.typ.Size() + i%perTap*16
		if tap >= p.r*p.s { // behind the last: outside of every image
			y, x, delta = farAway, farAway, 0
		}
		table = binary.LittleEndian.AppendUint32(table, uint32(int32(delta)))
		table = binary.LittleEndian.AppendUint32(table, uint32(y)<<16|uint32(x))
	}
	return table
}

// engine multiplies what a stage holds.
type engine interface {
	// step adds the products of a stage, which begins at the address.
	step(stage ptx.SharedPtr)
	// spill writes the sums as words to shared memory: row by row of the tile, sumPitch words apart.
	spill(to ptx.SharedPtr)
}

// sum runs the ring: the copies of a step are started stages-1 steps before it is multiplied.
func (m *implicit) sum(e engine) {
	t := m.t
	steps := m.p.steps(t.bk)
	per := ceilDiv(steps, t.split)
	count := ptx.U(steps)
	if t.split > 1 { // the last part may be shorter
		done := m.Mul(m.part, ptx.U(per))
		count = m.Min(m.Sub(m.Max(ptx.U(steps), done), done), ptx.U(per))
	}
	for s := range t.stages - 1 {
		m.ifStep(ptx.U(s), count, func() { m.copyStep(ptx.U(s * t.stageBytes())) })
		m.CommitGroup()
	}
	reading, writing := m.Var(ptx.U(0)), m.Var(ptx.U((t.stages-1)*t.stageBytes()))
	m.For(ptx.U(0), count, ptx.U(1), func(step ptx.Uint) {
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

// emitProduct emits a product with the layer's epilogue; a split sum takes a second kernel.
func emitProduct(b kernels.Binding, p *product, t tile) (*work, error) {
	w := &work{module: ptx.New(ptx.SM80), constants: p.packWeights()}
	k := w.module.Kernel("product", t.threads())
	k.Resident(t.resident())
	l := launch{kernel: "product", block: [3]int{t.threads(), 1, 1}, shared: t.shared()}
	m := &implicit{K: k, p: p, t: t, x: k.Pointer("x"), w: k.Pointer("w")}
	l.args = []arg{inArg(0), constArg(0)}
	if !p.windowless() {
		m.taps = k.Pointer("taps")
		l.args = append(l.args, constArg(w.append(p.tapTable(p.steps(t.bk)*t.pieces()))))
	}
	out, err := newRowOutput(b, p, w)
	if err != nil {
		return nil, err
	}
	var parts ptx.GlobalPtr
	if t.split == 1 {
		out.parameters(k, &l)
	} else {
		parts = k.Pointer("parts")
		l.args = append(l.args, scratchArg(0))
	}
	m.ring, m.thread = k.Dynamic(), k.Thread()
	m.blockM, m.blockN, m.part, l.grid = m.blocks()
	m.begin()
	e := newEngine(m)
	m.sum(e)
	e.spill(m.ring)
	m.Barrier()
	if t.split == 1 {
		m.finish(out)
	} else {
		m.keep(parts)
	}
	k.End()
	w.launches = []launch{l}
	if t.split > 1 {
		if err := emitParts(b, p, t, w); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// append adds constants at a multiple of 256 and returns where.
func (w *work) append(data []byte) int {
	at := roundUp(len(w.constants), 256)
	w.constants = append(append(w.constants, make([]byte, at-len(w.constants))...), data...)
	return at
}

// tileRows calls body for the vectors of n words of the tile that are this thread's: its row and column in the tile.
func (m *implicit) tileRows(n int, body func(row, column ptx.Uint)) {
	perRow := m.t.bn / n
	for at := 0; at < m.t.bm*perRow; at += m.t.threads() {
		row, piece := m.DivRem(m.Add(m.thread, ptx.U(at)), perRow)
		body(row, m.Mul(piece, ptx.U(n)))
	}
}

// finish computes the outputs of the tile from its sums.
func (m *implicit) finish(out *rowOutput) {
	m.tileRows(out.vector, func(row, column ptx.Uint) {
		pixel, channel := m.Add(m.pixel, row), m.Add(m.column, column)
		inside := m.Both(m.Lt(pixel, ptx.U(m.p.pixels())), m.Lt(channel, ptx.U(out.channels)))
		sums := m.OffsetShared(m.ring, m.Mad(row, ptx.U(m.t.sumPitch()), column), 4)
		m.If(inside, func() {
			out.emit(m.K, pixel, m.Mad(m.group, ptx.U(m.p.k), channel), m.loadSums(sums, out.vector))
		})
	})
}

func (m *implicit) loadSums(from ptx.SharedPtr, n int) []ptx.Word {
	var list []ptx.Word
	for i := 0; i < n; i += 4 {
		list = append(list, m.LoadShared(from.At(4*i), min(4, n-i))...)
	}
	return list
}

// keep writes the tile's sums to the parts, [part][pixel][channel].
func (m *implicit) keep(parts ptx.GlobalPtr) {
	p := m.p
	channels := p.k * p.groups
	n := vectorOf(4, p.k)
	m.tileRows(n, func(row, column ptx.Uint) {
		pixel, channel := m.Add(m.pixel, row), m.Add(m.column, column)
		inside := m.Both(m.Lt(pixel, ptx.U(p.pixels())), m.Lt(channel, ptx.U(p.k)))
		sums := m.OffsetShared(m.ring, m.Mad(row, ptx.U(m.t.sumPitch()), column), 4)
		line := m.Mad(m.part, ptx.U(p.pixels()), pixel)
		at := m.Mad(line, ptx.U(channels), m.Mad(m.group, ptx.U(p.k), channel))
		m.If(inside, func() { m.Store(m.Offset(parts, at, 4), m.loadSums(sums, n)...) })
	})
}

// emitParts emits the kernel that adds the parts of a split sum up, in their order, and finishes.
func emitParts(b kernels.Binding, p *product, t tile, w *work) error {
	out, err := newRowOutput(b, p, w)
	if err != nil {
		return err
	}
	k := w.module.Kernel("parts", blockThreads)
	l := launch{kernel: "parts", block: [3]int{blockThreads, 1, 1}, args: []arg{scratchArg(0)}}
	parts := k.Pointer("parts")
	out.parameters(k, &l)
	channels := p.k * p.groups
	n := out.vector
	perRow := ceilDiv(out.width, n)
	total := p.pixels() * perRow
	l.grid = [3]int{ceilDiv(total, blockThreads), 1, 1}
	index := k.Mad(k.BlockX(), ptx.U(blockThreads), k.Thread())
	k.Exit(k.Ge(index, ptx.U(total)))
	pixel, piece := k.DivRem(index, perRow)
	channel := k.Mul(piece, ptx.U(n))
	sums := make([]ptx.Word, n)
	for part := range t.split {
		line := k.Add(pixel, ptx.U(part*p.pixels()))
		for i := range n {
			at := k.Offset(parts, k.Mad(line, ptx.U(channels), k.Add(channel, ptx.U(i))), 4)
			var word ptx.Word
			if (perRow-1)*n+i < channels { // behind the last channel there is no sum
				word = k.Load(at, 1)[0]
			} else {
				word = k.LoadWhen(k.Lt(k.Add(channel, ptx.U(i)), ptx.U(channels)), at, 1)[0]
			}
			switch {
			case part == 0:
				sums[i] = word
			case p.scale != nil:
				sums[i] = k.AddS(sums[i].Int(), word.Int()).Word()
			default:
				sums[i] = k.Bits(k.AddF(k.FloatOf(sums[i]), k.FloatOf(word)))
			}
		}
	}
	out.emit(k, pixel, channel, sums)
	k.End()
	w.launches = append(w.launches, l)
	return nil
}
