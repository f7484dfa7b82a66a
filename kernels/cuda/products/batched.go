package products

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/emit"
	"github.com/trtui/trtui/kernels/cuda/ptx"
)

// batchedTiles are the tiles of products of two matrices of halves that are both activations.
var batchedTiles = []Tile{
	{Unit: emit.TensorF16, BM: 128, BN: 128, BK: 64, WarpsM: 2, WarpsN: 4, Stages: 4, Split: 1},
	{Unit: emit.TensorF16, BM: 128, BN: 64, BK: 128, WarpsM: 4, WarpsN: 1, Stages: 3, Split: 1},
	{Unit: emit.TensorF16, BM: 64, BN: 64, BK: 128, WarpsM: 2, WarpsN: 2, Stages: 3, Split: 1},
	{Unit: emit.TensorF16, BM: 32, BN: 64, BK: 128, WarpsM: 1, WarpsN: 2, Stages: 3, Split: 1},
}

// batchedTactics are these products, of batches that broadcast.
func batchedTactics() []emit.Tactic {
	var list []emit.Tactic
	for _, op := range []*graph.Op{graph.MatMul, graph.Gemm} {
		for _, t := range batchedTiles {
			list = append(list, emit.Tactic{
				Name: "gemm_batched_" + t.String(), Op: op, In: kernels.Linear, Out: kernels.Linear,
				Match: func(b kernels.Binding) error {
					_, err := batchedOf(b, t)
					return err
				},
				Emit: func(b kernels.Binding) (*emit.Work, error) {
					p, err := batchedOf(b, t)
					if err != nil {
						return nil, err
					}
					return p.emit()
				},
				Cost: func(b kernels.Binding) []emit.Job {
					p, err := batchedOf(b, t)
					if err != nil {
						return nil
					}
					one := &product{typ: graph.F16, n: p.m, p: 1, q: 1, r: 1, s: 1, c: p.k, k: p.n, groups: 1}
					jobs := t.jobs(one, b)
					jobs[0].Blocks *= p.batch
					return jobs
				},
			})
		}
	}
	return list
}

// batched is a batch of products of row-major matrices of halves on tensor cores: the ring of the implicit products, with
// rows of the left side, BK bytes of the sum each, and of the right side BK/2 rows, BN elements of the result each. These
// are turned as they are read from shared memory. Piece j of such a row r lies at j ^ (r & 7).
type batched struct {
	*multiplication
	tile Tile
}

func batchedOf(b kernels.Binding, t Tile) (*batched, error) {
	m, err := multiplicationOf(b, t.BM)
	if err != nil {
		return nil, err
	}
	switch {
	case m.left.Type != graph.F16 || m.right.Type != graph.F16:
		return nil, fmt.Errorf("%s times %s, the kernel multiplies f16", m.left.Type, m.right.Type)
	case m.left.column != 1 || m.right.row != 1:
		return nil, fmt.Errorf("a side is transposed")
	case m.k%8 != 0 || m.n%8 != 0:
		return nil, fmt.Errorf("rows of %d and %d elements do not begin at multiples of 16 bytes", m.k, m.n)
	case emit.CeilDiv(m.m, t.BM)*emit.CeilDiv(m.n, t.BN)*m.batch > emit.MaxElements:
		return nil, fmt.Errorf("%d products of %d rows are too many blocks", m.batch, m.m)
	}
	return &batched{m, t}, nil
}

func (p *batched) emit() (*emit.Work, error) {
	w, t := emit.NewWork(), p.tile
	out, err := p.output(w)
	if err != nil {
		return nil, err
	}
	k := w.Module.Kernel("batched", t.threads())
	if t.threads() < 256 { // of larger blocks two leave 128 registers to a thread, which spills
		k.Resident(t.resident())
	}
	l := emit.Launch{Kernel: "batched", Block: [3]int{t.threads(), 1, 1}, Shared: t.shared()}
	for _, o := range []*operand{&p.left, &p.right} {
		if o.fixed != nil {
			o.Base = l.Constant(k, fmt.Sprintf("c%d", o.input), w.Append(o.fixed))
		} else {
			o.Base = l.Input(k, o.input)
		}
	}
	out.Parameters(k, &l)
	m := &implicit{K: k, t: t, p: &product{typ: graph.F16, k: p.n}, ring: k.Dynamic(), thread: k.Thread(), group: ptx.U(0)}
	c := &batchedBlock{batched: p, implicit: m}
	matrix, grid := c.place()
	l.Grid = grid
	c.begin(matrix)
	e := newTurned(m)
	m.run(ptx.U(emit.CeilDiv(2*p.k, t.BK)), c.copyStep, e)
	e.spill(m.ring)
	m.Barrier()
	matrix, _ = c.place() // read again: nothing of it is kept while the sums take all registers
	m.finish(out, func(row ptx.Uint) (ptx.Uint, *ptx.Cond) {
		at := m.Add(m.pixel, row)
		inside := m.Lt(at, ptx.U(p.m))
		return m.Mad(matrix, ptx.U(p.m), at), &inside
	})
	w.End(k, &l)
	return w, nil
}

// batchedBlock is the code of a block: what its threads copy.
type batchedBlock struct {
	*batched
	*implicit
	left, right           ptx.GlobalPtr // this thread's first piece of each side, at the next step
	depthLeft, depthRight ptx.Uint      // their places in the sum
	slotLeft, slotRight   ptx.SharedPtr
	insideLeft            []ptx.Cond // by row that it copies of the left side
	insideRight           ptx.Cond
	rowsRight, linesRight int // rows of the right side in a stage, and how many the block copies at once
}

// place finds the block's matrix of the batch and the tile's first row and column in it.
func (c *batchedBlock) place() (matrix ptx.Uint, grid [3]int) {
	t, k := c.tile, c.implicit.K
	c.blockM, c.blockN, matrix, grid = emit.BlockIndices(k, [3]int{emit.CeilDiv(c.m, t.BM), emit.CeilDiv(c.n, t.BN), c.batch})
	c.pixel, c.column = k.Mul(c.blockM, ptx.U(t.BM)), k.Mul(c.blockN, ptx.U(t.BN))
	return matrix, grid
}

// begin finds what the thread copies.
func (c *batchedBlock) begin(matrix ptx.Uint) {
	t, k := c.tile, c.implicit.K
	row, piece := k.DivRem(c.thread, t.pieces())
	c.slotLeft = k.OffsetShared(c.ring, k.Mad(row, ptx.U(t.BK), t.swizzled(k, row, piece)), 1)
	first := k.Add(c.pixel, row)
	at := k.Add(emit.RowOffset(k, matrix, c.batched.left.batch), k.Mad(first, ptx.U(c.batched.k), k.Shl(piece, 3)))
	c.left = k.VarGlobal(k.Offset(c.batched.left.Base, at, 2))
	for r := 0; r < t.BM; r += t.rowsAtOnce() {
		c.insideLeft = append(c.insideLeft, k.Lt(k.Add(first, ptx.U(r)), ptx.U(c.m)))
	}
	perLine := t.BN / 8
	c.rowsRight, c.linesRight = t.BK/2, t.threads()/perLine
	line, chunk := k.DivRem(c.thread, perLine)
	place := k.Shl(k.Xor(chunk, k.And(line, ptx.U(7))), 4)
	c.slotRight = k.OffsetShared(c.ring, k.Mad(line, ptx.U(2*t.BN), place), 1).At(t.BM * t.BK)
	column := k.Mad(chunk, ptx.U(8), c.column)
	c.insideRight = k.Lt(column, ptx.U(c.n))
	at = k.Add(emit.RowOffset(k, matrix, c.batched.right.batch), k.Mad(line, ptx.U(c.n), column))
	c.right = k.VarGlobal(k.Offset(c.batched.right.Base, at, 2))
	if c.tail() {
		c.depthLeft, c.depthRight = k.Var(k.Shl(piece, 3)), k.Var(line)
	}
}

// tail reports whether the last step is shorter than the others.
func (c *batchedBlock) tail() bool { return c.batched.k%(c.tile.BK/2) != 0 }

// copyStep starts the copies of the next step into the stage that begins offset bytes into the ring.
func (c *batchedBlock) copyStep(offset ptx.Uint) {
	t, k := c.tile, c.implicit.K
	to := ptx.SharedPtr{Uint: k.Add(c.slotLeft.Uint, offset)}
	size := func(inside ptx.Cond) ptx.Uint { return k.Select(inside, ptx.U(16), ptx.U(0)) }
	for i, inside := range c.insideLeft {
		if c.tail() {
			inside = k.Both(inside, k.Lt(c.depthLeft, ptx.U(c.batched.k)))
		}
		r := i * t.rowsAtOnce()
		k.CopyAsync(to.At(r*t.BK), c.left.At(2*r*c.batched.k), size(inside))
	}
	to = ptx.SharedPtr{Uint: k.Add(c.slotRight.At(0).Uint, offset)}
	to = to.At(t.BM * t.BK)
	for r := 0; r < c.rowsRight; r += c.linesRight {
		inside := c.insideRight
		if c.tail() {
			inside = k.Both(inside, k.Lt(k.Add(c.depthRight, ptx.U(r)), ptx.U(c.batched.k)))
		}
		k.CopyAsync(to.At(2*r*t.BN), c.right.At(2*r*c.n), size(inside))
	}
	k.SetGlobal(c.left, c.left.At(t.BK))
	k.SetGlobal(c.right, c.right.At(t.BK*c.n))
	if c.tail() {
		k.Set(c.depthLeft, k.Add(c.depthLeft, ptx.U(t.BK/2)))
		k.Set(c.depthRight, k.Add(c.depthRight, ptx.U(t.BK/2)))
	}
}

// turned is the tensor cores' engine for a right side whose rows are along the sum: ldmatrix transposes its 8x8 matrices.
type turned struct {
	*tensor
	right ptx.Uint // address of this lane's first piece of it in stage 0
}

func newTurned(m *implicit) *turned {
	e := &turned{tensor: newEngine(m).(*tensor)}
	// Lanes 0 to 15 give the addresses of 16 rows at 8 columns, the others of the same rows at the next 8.
	row := m.And(e.lane, ptx.U(15))
	first := m.Xor(m.Add(m.Shr(e.column, 3), m.Shr(e.lane, 4)), m.And(row, ptx.U(7)))
	e.right = m.Add(m.Mad(row, ptx.U(2*m.t.BN), m.ring.Uint), m.Mad(first, ptx.U(16), ptx.U(m.t.BM*m.t.BK)))
	return e
}

func (e *turned) step(stage ptx.Uint) {
	a, b := e.Add(e.a, stage), e.Add(e.right, stage)
	for piece := 0; piece < e.t.pieces(); piece += mmaBytes / 16 {
		fromA := e.flipped(a, piece)
		var right [][2]ptx.Word
		for j := 0; j < e.columns; j += 16 {
			f := e.LoadMatrix4Turned(e.flipped(b, j/8).At(piece * 16 * e.t.BN))
			right = append(right, [2]ptx.Word{f[0], f[1]}, [2]ptx.Word{f[2], f[3]})
		}
		for i := range e.acc {
			left := e.LoadMatrix4(fromA.At(16 * i * e.t.BK))
			for j := range e.acc[i] {
				e.multiply(e.acc[i][j], left, right[j])
			}
		}
	}
}
