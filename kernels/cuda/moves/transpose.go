package moves

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/emit"
	"github.com/trtui/trtui/kernels/cuda/ptx"
)

// The transposed tile: 32 by 32 elements in shared memory, whose rows are one word longer than that, so that neither rows
// nor columns meet in a bank.
const (
	transposeTile = 32
	transposeRows = 8 // rows of threads
)

// transposition is the code of a block that reads a tile along one axis and writes it along another. A row of threads goes
// along the axis that is innermost in memory, each time.
type transposition struct {
	*ptx.K
	tile   ptx.SharedPtr
	tx, ty ptx.Uint
	load   func(at ptx.Uint) ptx.Word // of an element; its bits in a word
	store  func(at ptx.Uint, v ptx.Word)
}

// newTransposition begins it for blocks of transposeTile by transposeRows threads.
func newTransposition(k *ptx.K) *transposition {
	t := &transposition{K: k, tile: k.Array("tile", transposeTile*(transposeTile+1)*4, 16)}
	thread := k.Thread()
	t.tx, t.ty = k.And(thread, ptx.U(transposeTile-1)), k.Shr(thread, 5)
	return t
}

// read loads the tile that begins at the given places; those from the maxima on are left out.
func (t *transposition) read(inner, outer ptx.Uint, innerMax, outerMax int, at func(inner, outer ptx.Uint) ptx.Uint) {
	for r := 0; r < transposeTile; r += transposeRows {
		line := t.Add(t.ty, ptx.U(r))
		i, o := t.Add(inner, t.tx), t.Add(outer, line)
		v := t.Var(ptx.U(0))
		t.If(t.Both(t.Lt(i, ptx.U(innerMax)), t.Lt(o, ptx.U(outerMax))), func() { t.Set(v, t.load(at(i, o)).Uint()) })
		t.StoreShared(t.OffsetShared(t.tile, t.Mad(line, ptx.U(transposeTile+1), t.tx), 4), v.Word())
	}
}

// write stores it, its axes exchanged.
func (t *transposition) write(inner, outer ptx.Uint, innerMax, outerMax int, at func(inner, outer ptx.Uint) ptx.Uint) {
	for r := 0; r < transposeTile; r += transposeRows {
		line := t.Add(t.ty, ptx.U(r))
		i, o := t.Add(inner, t.tx), t.Add(outer, line)
		v := t.LoadShared(t.OffsetShared(t.tile, t.Mad(t.tx, ptx.U(transposeTile+1), line), 4), 1)[0]
		t.If(t.Both(t.Lt(i, ptx.U(innerMax)), t.Lt(o, ptx.U(outerMax))), func() { t.store(at(i, o), v) })
	}
}

// transposeTactics are the transpositions in which another axis of the input is innermost than of the output: through a
// tile, so that reads and writes are both of neighbours.
func transposeTactics() []emit.Tactic {
	return []emit.Tactic{{
		Name: "transpose_tiled_linear", Op: graph.Transpose, In: kernels.Linear, Out: kernels.Linear,
		Match: func(b kernels.Binding) error {
			_, err := tiledTransposeOf(b)
			return err
		},
		Emit: func(b kernels.Binding) (*emit.Work, error) {
			t, err := tiledTransposeOf(b)
			if err != nil {
				return nil, err
			}
			return t.emit(), nil
		},
		Cost: func(b kernels.Binding) []emit.Job {
			t, err := tiledTransposeOf(b)
			if err != nil {
				return nil
			}
			g := t.grid()
			return []emit.Job{{Blocks: g[0] * g[1] * g[2], Resident: 8, Cycles: 400, Latency: 2000, Bytes: emit.Traffic(b)}}
		},
	}}
}

// tiledTranspose is a transposition by its axes in the output's order, those that go together joined: the last is
// innermost in the output, and axis is the input's innermost.
type tiledTranspose struct {
	*mover
	axis int
}

// shortAxis is the shortest axis for which a tile is worth it.
const shortAxis = 8

func tiledTransposeOf(b kernels.Binding) (*tiledTranspose, error) {
	if err := movable(b); err != nil {
		return nil, err
	}
	m, err := transposeMover(b)
	if err != nil {
		return nil, err
	}
	if m.size = b.Out[0].Type.Size(); m.size > 4 {
		return nil, fmt.Errorf("elements have %d bytes, the kernel moves up to 4", m.size)
	}
	m.simplify()
	last := len(m.axes) - 1
	for i, a := range m.axes {
		if a.stride != 1 {
			continue
		}
		if i == last {
			return nil, fmt.Errorf("the last axis stays the last")
		}
		if a.extent < shortAxis || m.axes[last].extent < shortAxis {
			return nil, fmt.Errorf("axes of %d and %d are too short for tiles", a.extent, m.axes[last].extent)
		}
		return &tiledTranspose{m, i}, nil
	}
	return nil, fmt.Errorf("there is one axis")
}

// grid returns the blocks: tiles along the output's last axis, along the input's, places of the other axes.
func (t *tiledTranspose) grid() [3]int {
	last, first := t.axes[len(t.axes)-1].extent, t.axes[t.axis].extent
	return [3]int{emit.CeilDiv(last, transposeTile), emit.CeilDiv(first, transposeTile), t.elements() / (last * first)}
}

func (t *tiledTranspose) emit() *emit.Work {
	w := emit.NewWork()
	k := w.Module.Kernel("transpose", transposeTile*transposeRows)
	x, y := k.Pointer("x"), k.Pointer("y")
	tr := newTransposition(k)
	tr.load = func(at ptx.Uint) ptx.Word { return emit.LoadElement(k, k.Offset(x, at, t.size), t.size).Word() }
	tr.store = func(at ptx.Uint, v ptx.Word) { emit.StoreElement(k, k.Offset(y, at, t.size), t.size, v) }

	tileLast, tileFirst, rest, grid := emit.BlockIndices(k, t.grid())
	extents := make([]int, len(t.axes))
	for i, a := range t.axes {
		extents[i] = a.extent
	}
	pitches, last := emit.StridesOf(extents), len(t.axes)-1
	from, to := ptx.U(0), ptx.U(0)
	for i := last - 1; i >= 0; i-- {
		if i == t.axis {
			continue
		}
		var place ptx.Uint
		rest, place = k.DivRem(rest, extents[i])
		from, to = k.Mad(place, ptx.U(t.axes[i].stride), from), k.Mad(place, ptx.U(pitches[i]), to)
	}
	l0, f0 := k.Shl(tileLast, 5), k.Shl(tileFirst, 5)
	tr.read(f0, l0, extents[t.axis], extents[last], func(first, line ptx.Uint) ptx.Uint {
		return k.Add(from, k.Mad(line, ptx.U(t.axes[last].stride), first))
	})
	k.Barrier()
	tr.write(l0, f0, extents[last], extents[t.axis], func(column, first ptx.Uint) ptx.Uint {
		return k.Add(to, k.Mad(first, ptx.U(pitches[t.axis]), column))
	})
	k.End()
	w.Launches = []emit.Launch{{
		Kernel: "transpose", Grid: grid,
		Block: [3]int{transposeTile * transposeRows, 1, 1}, Args: []emit.Arg{emit.InArg(0), emit.OutArg(0)},
	}}
	return w
}
