package products

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// batchedTiles are the tiles of products of two matrices that are both activations.
var batchedTiles = []Tile{
	{Unit: emit.TensorF16, BM: 128, BN: 128, BK: 64, WarpsM: 2, WarpsN: 4, Stages: 4, Split: 1},
	{Unit: emit.TensorF16, BM: 128, BN: 64, BK: 128, WarpsM: 4, WarpsN: 1, Stages: 3, Split: 1},
	{Unit: emit.TensorF16, BM: 64, BN: 64, BK: 128, WarpsM: 2, WarpsN: 2, Stages: 3, Split: 1},
	{Unit: emit.TensorF16, BM: 32, BN: 64, BK: 128, WarpsM: 1, WarpsN: 2, Stages: 3, Split: 1},
	{Unit: emit.SimtF32, BM: 128, BN: 128, BK: 64, WarpsM: 4, WarpsN: 2, Stages: 3, Split: 1},
	{Unit: emit.SimtF32, BM: 64, BN: 64, BK: 64, WarpsM: 2, WarpsN: 2, Stages: 3, Split: 1},
	{Unit: emit.SimtF32, BM: 32, BN: 32, BK: 64, WarpsM: 1, WarpsN: 1, Stages: 3, Split: 1},
}

// batchedTactics are these products, of batches that broadcast.
func batchedTactics() []emit.Tactic {
	var list []emit.Tactic
	for _, op := range []*graph.Op{graph.MatMul, graph.Gemm} {
		for _, t := range batchedTiles {
			list = append(list, emit.Tactic{
				Name: "gemm_batched_" + t.String(), Op: op, Variant: t.Variant("gemm_batched_"), In: kernels.Linear, Out: kernels.Linear,
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
					return p.jobs(b)
				},
			})
		}
	}
	return list
}

// batched is a batch of products of matrices, halves on tensor cores or floats, each of which may be transposed and have rows of any
// length.
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
	case m.left.Type != t.Unit.Type() || m.right.Type != t.Unit.Type():
		return nil, fmt.Errorf("%s times %s, the kernel multiplies %s", m.left.Type, m.right.Type, t.Unit.Type())
	case emit.CeilDiv(m.m, t.BM)*emit.CeilDiv(m.n, t.BN)*m.batch > emit.MaxElements:
		return nil, fmt.Errorf("%d products of %d rows are too many blocks", m.batch, m.m)
	}
	return &batched{m, t}, nil
}

// jobs estimates the launch: that of a product with as many rows and columns, in as many matrices. Halves that are copied one by
// one keep the threads waiting.
func (p *batched) jobs(b kernels.Binding) []emit.Job {
	const instructions, latency = 12, 600 // of a pair of halves; cycles of memory
	t := p.tile
	jobs := t.jobs(&product{typ: t.Unit.Type(), n: p.m, p: 1, q: 1, r: 1, s: 1, c: p.k, k: p.n, groups: 1}, b)
	jobs[0].Blocks *= p.batch
	jobs[0].Shared = t.shared(p.steps(), true)
	for i, o := range []*operand{&p.left, &p.right} {
		if o.halves() {
			pairs := []int{t.BM, t.BN}[i] * t.BK / 4
			jobs[0].Cycles += float64(p.steps()*pairs*instructions) / emit.ThreadsPerCycle
			jobs[0].Latency += float64(p.steps()*emit.CeilDiv(pairs, t.threads()*pairsTogether)) * latency
		}
	}
	return jobs
}

// steps returns into how many pieces of BK bytes the sum is cut.
func (p *batched) steps() int { return emit.CeilDiv(p.left.Type.Size()*p.k, p.tile.BK) }

func (p *batched) emit() (*emit.Work, error) {
	w, t := emit.NewWork(), p.tile
	out, err := p.output(w)
	if err != nil {
		return nil, err
	}
	k := w.Module.Kernel("batched", t.threads())
	if t.threads() < 256 { // of larger blocks two leave 128 registers to a thread, which spills, as three of the smaller ones do
		k.Resident(min(2, t.resident()))
	}
	l := emit.Launch{Kernel: "batched", Block: [3]int{t.threads(), 1, 1}, Shared: t.shared(p.steps(), true)}
	for _, o := range []*operand{&p.left, &p.right} {
		if o.fixed != nil {
			o.Base = l.Constant(k, fmt.Sprintf("c%d", o.input), w.Append(o.fixed))
		} else {
			o.Base = l.Input(k, o.input)
		}
	}
	out.Parameters(k, &l)
	c := &batchedBlock{batched: p, block: newBlock(k, t)}
	matrix, grid := c.place()
	l.Grid = grid
	c.begin(matrix)
	e := c.engine()
	e.run(ptx.U(p.steps()), c)
	c.Barrier() // now the ring is free for the sums
	e.spill(c.ring)
	c.Barrier()
	matrix, _ = c.place() // read again: nothing of it is kept while the sums take all registers
	c.finish(out, p.n, func(row ptx.Uint) (ptx.Uint, *ptx.Cond) {
		at := c.Add(c.pixel, row)
		inside := c.Lt(at, ptx.U(p.m))
		return c.Mad(matrix, ptx.U(p.m), at), &inside
	})
	w.End(k, &l)
	return w, nil
}

// batchedBlock is the code of a block of a batch of products; it is the source of both matrices.
type batchedBlock struct {
	*batched
	*block
	sides [2]*side
}

// place finds the block's matrix of the batch and the tile's first row and column in it.
func (c *batchedBlock) place() (matrix ptx.Uint, grid [3]int) {
	t := c.tile
	x, y, matrix, grid := emit.BlockIndices(c.K, [3]int{emit.CeilDiv(c.m, t.BM), emit.CeilDiv(c.n, t.BN), c.batch})
	c.pixel, c.column = c.Mul(x, ptx.U(t.BM)), c.Mul(y, ptx.U(t.BN))
	return matrix, grid
}

// begin finds what the thread copies.
func (c *batchedBlock) begin(matrix ptx.Uint) {
	t := c.tile
	c.sides[0] = &side{block: c.block, operand: &c.left, depth: c.k, extent: c.m, rows: t.BM, first: c.pixel}
	c.sides[1] = &side{block: c.block, operand: &c.right, depth: c.k, extent: c.n, rows: t.BN, first: c.column, at: t.BM * t.BK}
	for _, s := range c.sides {
		s.begin(matrix)
	}
}

// engine returns the unit's for both sides.
func (c *batchedBlock) engine() engine {
	w := newWarpTile(c.block)
	if c.t.Unit == emit.SimtF32 {
		e := &simt{warpTile: w}
		m, n := w.simtLanes()
		e.left = c.sides[0].simt(w, m, simtRows, w.row)
		e.right = c.sides[1].simt(w, n, simtColumns, w.column)
		e.zero()
		return e
	}
	e := &tensor{warpTile: w, vector: 2}
	e.tight = c.t.threads() > 128 && (c.left.halves() || c.right.halves()) // with loops for their halves in every step it spills
	e.left = c.sides[0].fragments(w, w.row, w.rows, false)
	e.right = c.sides[1].fragments(w, w.column, w.columns, true)
	e.zero()
	return e
}

// copies returns the copies of both sides.
func (c *batchedBlock) copies(stage ptx.Uint, _ int, more *ptx.Cond) []func() {
	return append(c.sides[0].copies(stage, more), c.sides[1].copies(stage, more)...)
}

func (c *batchedBlock) advance(int) {}
