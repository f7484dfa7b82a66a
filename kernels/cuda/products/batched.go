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
	c := &batchedBlock{batched: p, block: newBlock(k, t)}
	matrix, grid := c.place()
	l.Grid = grid
	c.begin(matrix)
	e := newTensor(newWarpTile(c.block), operands{})
	e.right = newTurned(e.warpTile)
	e.run(ptx.U(emit.CeilDiv(2*p.k, t.BK)), c)
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
