package moves

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// unpoolTactic puts elements at the indices that a pooling gave, of any type.
var unpoolTactic = kernels.Tactic{
	Name: "max_unpool_copy", Op: graph.MaxUnpool,
	Match: func(b kernels.Binding) error {
		_, err := newUnpoolKernel(b)
		return err
	},
	Bind: func(b kernels.Binding) (kernels.Kernel, error) { return newUnpoolKernel(b) },
}

// unpoolKernel puts x [planes, each] into y [planes, plane].
type unpoolKernel struct {
	b                   kernels.Binding
	planes, each, plane int
	size                int       // bytes of an element
	zero                byte      // of which each byte of what is nowhere put is
	flags               sync.Pool // *atomic.Bool
	job                 *work.Job[unpoolLaunch]
}

func newUnpoolKernel(b kernels.Binding) (*unpoolKernel, error) {
	x, y, l := b.In[0], b.Out[0], b.Layer
	r := l.Outputs[0].Range
	if l.Epilogue.Args > 0 || x.Type != y.Type || !l.Inputs[0].Range.Equal(r) || r.PerChannel() {
		return nil, fmt.Errorf("from %v to %v with epilogue %s, the kernel copies", x, y, l.Epilogue)
	}
	k := &unpoolKernel{b: b, planes: x.Dims[0] * x.Dims[1], each: numeric.Count(x.Dims[2:]), plane: numeric.Count(y.Dims[2:]), size: x.Type.Size()}
	if !slices.Equal(l.Attrs.(graph.UnpoolAttrs).Pooled(x.Dims), y.Dims) {
		return nil, fmt.Errorf("the output %v is larger than what was pooled", y)
	}
	if y.Type.IsInteger() && r.IsSet() {
		if k.size > 1 {
			return nil, fmt.Errorf("%v is quantised to more than 8 bits", y)
		}
		k.zero = byte(r.ZeroAt(0))
	}
	k.flags.New = func() any { return new(atomic.Bool) }
	k.job = work.NewJob((*unpoolLaunch).do)
	return k, nil
}

// unpoolLaunch is the state of one launch.
type unpoolLaunch struct {
	kernel *unpoolKernel
	x, y   []byte
	index  []int64
	astray *atomic.Bool // an index is not in the plane of its element
}

// Launch puts planes side by side; where an index is of another plane than its element, all in turn.
func (k *unpoolKernel) Launch(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	astray := k.flags.Get().(*atomic.Bool)
	defer k.flags.Put(astray)
	astray.Store(false)
	l := unpoolLaunch{k, source(k.b, in, 0), out[0].Host, numeric.View[int64](source(k.b, in, 1)), astray}
	k.job.Each(work.LoopOver(st, k.b.Out[0].Bytes()), k.planes, l)
	if !astray.Load() {
		return nil
	}
	total := k.planes * k.plane
	l.fill(l.y[:total*k.size])
	for i, at := range l.index[:k.planes*k.each] {
		if at < 0 || at >= int64(total) {
			return &graph.IndexError{Index: at, Extent: total}
		}
		copy(l.y[int(at)*k.size:][:k.size], l.x[i*k.size:])
	}
	return nil
}

func (l *unpoolLaunch) fill(y []byte) {
	if l.kernel.zero == 0 {
		clear(y)
		return
	}
	for i := range y {
		y[i] = l.kernel.zero
	}
}

// do puts the elements of a plane.
func (l *unpoolLaunch) do(plane, _ int) {
	k := l.kernel
	y, x, index := l.y[plane*k.plane*k.size:][:k.plane*k.size], l.x[plane*k.each*k.size:], l.index[plane*k.each:][:k.each]
	l.fill(y)
	inside := true
	first := int64(plane * k.plane)
	switch k.size {
	case 4:
		inside = put(numeric.View[uint32](y), numeric.View[uint32](x), index, first)
	case 2:
		inside = put(numeric.View[uint16](y), numeric.View[uint16](x), index, first)
	case 1:
		inside = put(y, x, index, first)
	default:
		inside = put(numeric.View[uint64](y), numeric.View[uint64](x), index, first)
	}
	if !inside {
		l.astray.Store(true)
	}
}

// put sets the elements of y at indices, of which first is that of the first one; false where an index is none of y's.
func put[T numeric.Element](y, x []T, index []int64, first int64) bool {
	for i, at := range index {
		if at -= first; uint64(at) >= uint64(len(y)) {
			return false
		}
		y[at] = x[i]
	}
	return true
}
