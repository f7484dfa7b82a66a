package moves

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

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
			return []emit.Job{t.shape().job(g[0]*g[1]*g[2], emit.Traffic(b))}
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

// shape returns the tile: units are as long as rows of both tensors begin at multiples of them.
func (t *tiledTranspose) shape() tileShape {
	pitches, last := t.pitches(), len(t.axes)-1
	in, out := t.axes[t.axis].extent, t.axes[last].extent
	for i, a := range t.axes {
		if i != t.axis {
			in |= a.stride
		}
		if i != last {
			out |= pitches[i]
		}
	}
	return newTileShape(t.size, emit.VectorOf(t.size, in), emit.VectorOf(t.size, out), t.axes[t.axis].extent, t.axes[last].extent)
}

// pitches returns the distances in elements of the output's axes.
func (t *tiledTranspose) pitches() []int {
	extents := make([]int, len(t.axes))
	for i, a := range t.axes {
		extents[i] = a.extent
	}
	return emit.StridesOf(extents)
}

// grid returns the blocks: tiles along the output's last axis, along the input's, places of the other axes.
func (t *tiledTranspose) grid() [3]int {
	last, first := t.axes[len(t.axes)-1].extent, t.axes[t.axis].extent
	inner, outer := t.shape().tiles(first, last)
	return [3]int{outer, inner, t.elements() / (last * first)}
}

func (t *tiledTranspose) emit() *emit.Work {
	w := emit.NewWork()
	k := w.Module.Kernel("transpose", tileThreads)
	x, y := k.Pointer("x"), k.Pointer("y")
	tr := newTransposition(k, t.shape())
	tr.load = func(at ptx.Uint, when ptx.Cond) []ptx.Word { return loadUnit(k, x, at, tr.in, t.size, when) }
	tr.store = func(at ptx.Uint, unit []ptx.Word) { storeUnit(k, y, at, tr.out, t.size, unit) }

	tileLast, tileFirst, rest, grid := emit.BlockIndices(k, t.grid())
	pitches, last := t.pitches(), len(t.axes)-1
	from, to := ptx.U(0), ptx.U(0)
	for i := last - 1; i >= 0; i-- {
		if i == t.axis {
			continue
		}
		var place ptx.Uint
		rest, place = k.DivRem(rest, t.axes[i].extent)
		from, to = k.Mad(place, ptx.U(t.axes[i].stride), from), k.Mad(place, ptx.U(pitches[i]), to)
	}
	innerSpan, outerSpan := tr.spans()
	inner := places{k.Mul(tileFirst, ptx.U(innerSpan)), t.axes[t.axis].extent}
	outer := places{k.Mul(tileLast, ptx.U(outerSpan)), t.axes[last].extent}
	tr.read(inner, outer, func(first, line ptx.Uint) ptx.Uint {
		return k.Add(from, k.Mad(line, ptx.U(t.axes[last].stride), first))
	})
	k.Barrier()
	tr.write(inner, outer, func(first, column ptx.Uint) ptx.Uint {
		return k.Add(to, k.Mad(first, ptx.U(pitches[t.axis]), column))
	})
	k.End()
	w.Launches = []emit.Launch{{
		Kernel: "transpose", Grid: grid, Block: [3]int{tileThreads, 1, 1}, Args: []emit.Arg{emit.InArg(0), emit.OutArg(0)},
	}}
	return w
}
