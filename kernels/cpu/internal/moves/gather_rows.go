package moves

import (
	"fmt"
	"sync"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// gatherTactic copies the slices that indices name, of any type.
var gatherTactic = kernels.Tactic{
	Name: "gather_copy", Op: graph.Gather,
	Match: func(b kernels.Binding) error {
		_, err := newGatherKernel(b)
		return err
	},
	Bind: func(b kernels.Binding) (kernels.Kernel, error) { return newGatherKernel(b) },
}

// gatherKernel copies slices: x [outer, extent, slice] and indices [n] to y [outer, n, slice].
type gatherKernel struct {
	b                kernels.Binding
	outer, extent, n int
	slice            int       // bytes
	index            []int32   // of constant indices; else they are read at each launch
	room             sync.Pool // *[]int32, for those
	job              *work.Job[gatherLaunch]
}

// maxGathered bounds the extent of the axis that indices are into.
const maxGathered = 1<<31 - 1

// slices returns how many slices are a unit of work: some 16 KB of them.
func (k *gatherKernel) slices() int { return max(1, 16384/max(1, k.slice)) }

func newGatherKernel(b kernels.Binding) (*gatherKernel, error) {
	x, y, l := b.In[0], b.Out[0], b.Layer
	if l.Epilogue.Args > 0 || x.Type != y.Type || !l.Inputs[0].Range.Equal(l.Outputs[0].Range) || l.Inputs[0].Range.PerChannel() {
		return nil, fmt.Errorf("from %v to %v with epilogue %s, the kernel copies", x, y, l.Epilogue)
	}
	if t := b.In[1].Type; t != numeric.I64 && t != numeric.I32 {
		return nil, fmt.Errorf("indices are %s, the kernel takes i32 and i64", t)
	}
	axis := l.Attrs.(graph.GatherAttrs).Axis
	if axis < 0 {
		axis += len(x.Dims)
	}
	k := &gatherKernel{b: b, outer: numeric.Count(x.Dims[:axis]), extent: x.Dims[axis], n: numeric.Count(b.In[1].Dims)}
	k.slice = numeric.Count(x.Dims[axis+1:]) * x.Type.Size()
	if k.extent > maxGathered {
		return nil, fmt.Errorf("axis %d has %d indices", axis, k.extent)
	}
	if numeric.Count(y.Dims) == 0 {
		k.n, k.slice = 0, 0 // as by the definition, no index is looked at where there is nothing to copy
	}
	if b.Consts[1] != nil {
		k.index = make([]int32, k.n)
		if err := k.resolve(k.index, b.Consts[1]); err != nil {
			return nil, err
		}
	}
	k.room.New = func() any {
		room := make([]int32, k.n)
		return &room
	}
	k.job = work.NewJob((*gatherLaunch).do)
	return k, nil
}

// resolve sets dst to the indices, those from the end counted from the front.
func (k *gatherKernel) resolve(dst []int32, indices []byte) error {
	if k.b.In[1].Type == numeric.I32 {
		return work.Indices(dst, numeric.View[int32](indices), k.extent)
	}
	return work.Indices(dst, numeric.View[int64](indices), k.extent)
}

// gatherLaunch is the state of one launch.
type gatherLaunch struct {
	kernel   *gatherKernel
	index    []int32
	dst, src []byte
}

// Launch copies all slices, after it has checked all indices.
func (k *gatherKernel) Launch(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	index := k.index
	if index == nil {
		room := k.room.Get().(*[]int32)
		defer k.room.Put(room)
		if err := k.resolve(*room, in[1].Host); err != nil {
			return err
		}
		index = *room
	}
	if k.slice > 0 {
		units := k.outer * ((k.n + k.slices() - 1) / k.slices())
		k.job.Each(work.LoopOver(st, k.b.Out[0].Bytes()), units, gatherLaunch{k, index, out[0].Host, source(k.b, in, 0)})
	}
	return nil
}

// do copies the slices of a unit.
func (g *gatherLaunch) do(u, _ int) {
	k := g.kernel
	pieces := (k.n + k.slices() - 1) / k.slices()
	row, first := u/pieces, u%pieces*k.slices()
	last := min(k.n, first+k.slices())
	src := g.src[row*k.extent*k.slice:][:k.extent*k.slice]
	copyPixels(g.dst[(row*k.n+first)*k.slice:][:(last-first)*k.slice], src, g.index[first:last], k.slice)
}
