package moves

import (
	"sync"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// tupleTactics look up, or replace, the slices that tuples of indices name.
func tupleTactics() []kernels.Tactic {
	tactic := func(name string, op *graph.Op) kernels.Tactic {
		return kernels.Tactic{
			Name: name, Op: op,
			Match: func(b kernels.Binding) error {
				_, err := newTupleKernel(b)
				return err
			},
			Bind: func(b kernels.Binding) (kernels.Kernel, error) { return newTupleKernel(b) },
		}
	}
	return []kernels.Tactic{tactic("gather_nd", graph.GatherND), tactic("scatter_nd", graph.ScatterND)}
}

// tupleKernel goes through tuples of indices, rows of them for each batch item, that name slices of x.
type tupleKernel struct {
	b           kernels.Binding
	batch, rows int
	extents     []int // that a tuple's indices are into
	steps       []int // elements between them
	item, slice int   // elements of x for a batch item, and of a slice
	size        int   // bytes of an element
	reduce      func(dst, src []byte)
	scatters    bool
	room        sync.Pool // *[]int32, where each slice begins, in elements
	job         *work.Job[tupleLaunch]
}

// tupleLaunch is the state of one launch.
type tupleLaunch struct {
	kernel   *tupleKernel
	at       []int32
	dst, src []byte
}

func newTupleKernel(b kernels.Binding) (*tupleKernel, error) {
	x, index := b.In[0], b.In[1]
	if err := copies(b, index); err != nil {
		return nil, err
	}
	k := &tupleKernel{b: b, scatters: b.Layer.Op == graph.ScatterND, size: x.Type.Size()}
	dims := 0
	if a, ok := b.Layer.Attrs.(graph.GatherNDAttrs); ok {
		dims = a.BatchDims
	}
	last := len(index.Dims) - 1
	n := index.Dims[last]
	k.batch, k.rows = numeric.Count(index.Dims[:dims]), numeric.Count(index.Dims[dims:last])
	k.item, k.slice = numeric.Count(x.Dims[dims:]), numeric.Count(x.Dims[dims+n:])
	k.extents, k.steps = x.Dims[dims:dims+n], stridesOf(x.Dims[dims:])[:n]
	if a, ok := b.Layer.Attrs.(graph.ScatterAttrs); ok && a.Reduction != "none" {
		var err error
		if k.reduce, err = sliceReducer(x.Type, a.Reduction); err != nil {
			return nil, err
		}
	}
	k.room.New = func() any {
		room := make([]int32, k.batch*k.rows)
		return &room
	}
	k.job = work.NewJob((*tupleLaunch).do)
	return k, nil
}

// sliceReducer returns what reduces a slice into another.
func sliceReducer(t numeric.DataType, reduction string) (func(dst, src []byte), error) {
	switch t {
	case numeric.F32:
		return meetSlices(reductionOf[float32](reduction)), nil
	case numeric.I32:
		return meetSlices(reductionOf[int32](reduction)), nil
	case numeric.I64:
		return meetSlices(reductionOf[int64](reduction)), nil
	}
	_, err := reducer(t, reduction)
	return nil, err
}

func meetSlices[T int32 | int64 | float32](f func(old, update T) T) func(dst, src []byte) {
	return func(dst, src []byte) {
		y := numeric.View[T](dst)
		for i, v := range numeric.View[T](src)[:len(y)] {
			y[i] = f(y[i], v)
		}
	}
}

// resolve finds where the slices begin.
func (k *tupleKernel) resolve(at []int32, indices []byte) error {
	if k.b.In[1].Type == numeric.I32 {
		return resolveTuples(k, at, numeric.View[int32](indices))
	}
	return resolveTuples(k, at, numeric.View[int64](indices))
}

func resolveTuples[T int32 | int64](k *tupleKernel, at []int32, indices []T) error {
	for row := range at {
		place := row / k.rows * k.item
		for j, extent := range k.extents {
			i := int(indices[row*len(k.extents)+j])
			if i < 0 {
				i += extent
			}
			if i < 0 || i >= extent {
				return &graph.IndexError{Index: int64(indices[row*len(k.extents)+j]), Extent: extent}
			}
			place += i * k.steps[j]
		}
		at[row] = int32(place)
	}
	return nil
}

// piece is how many slices are looked up at once: some 16 KB of them.
func (k *tupleKernel) piece() int { return max(1, 16384/max(1, k.slice*k.size)) }

// Launch moves all slices, after it has checked all indices. Updates follow each other in order, since they may meet.
func (k *tupleKernel) Launch(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	if numeric.Count(k.b.Out[0].Dims) == 0 {
		return nil // as by the definition, no index is looked at where there is nothing to copy
	}
	room := k.room.Get().(*[]int32)
	defer k.room.Put(room)
	if err := k.resolve(*room, source(k.b, in, 1)); err != nil {
		return err
	}
	bytes := k.slice * k.size
	if !k.scatters {
		if bytes > 0 {
			k.job.Each(work.LoopOver(st, k.b.Out[0].Bytes()), work.CeilDiv(len(*room), k.piece()), tupleLaunch{k, *room, out[0].Host, source(k.b, in, 0)})
		}
		return nil
	}
	dst, updates := out[0].Host, source(k.b, in, 2)
	copyAll(st, dst, source(k.b, in, 0)[:k.b.In[0].Bytes()])
	for row, at := range *room {
		to, from := dst[int(at)*k.size:][:bytes], updates[row*bytes:][:bytes]
		if k.reduce != nil {
			k.reduce(to, from)
		} else {
			copy(to, from)
		}
	}
	return nil
}

// do copies the slices of a unit.
func (l *tupleLaunch) do(u, _ int) {
	k := l.kernel
	bytes := k.slice * k.size
	for row := u * k.piece(); row < min(len(l.at), (u+1)*k.piece()); row++ {
		copy(l.dst[row*bytes:][:bytes], l.src[int(l.at[row])*k.size:])
	}
}
