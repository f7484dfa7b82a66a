package reductions

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// topKTactic finds the largest or smallest elements along an axis: of float32, or of integers. An element and its place are one
// number, so that what orders them is one comparison: elements as integers of the same order in the upper half, places, the lower
// the better, in the other.
func topKTactic(name string, isa asm.Features, integers bool) kernels.Tactic {
	return kernels.Tactic{
		Name: name, Op: graph.TopK, Needs: kernels.Feature(isa),
		Match: func(b kernels.Binding) error {
			if b.In[0].Type.IsInteger() != integers {
				return fmt.Errorf("elements are %s", b.In[0].Type)
			}
			_, err := newTopKKernel(b)
			return err
		},
		Bind: func(b kernels.Binding) (kernels.Kernel, error) { return newTopKKernel(b) },
	}
}

// topKKernel finds, for x [outer, n, inner], the best k along the middle axis.
type topKKernel struct {
	outer, n, inner, k int
	smallest           bool
	order              func(keys []uint64, x []byte, step int) // elements that are step apart as integers of the same order
	size               int                                     // bytes of an element
	keys               sync.Pool                               // *[]uint64, n+k of them
	job                *work.Job[topKLaunch]
}

func newTopKKernel(b kernels.Binding) (*topKKernel, error) {
	a, x := b.Layer.Attrs.(graph.TopKAttrs), b.In[0]
	axis := a.Axis
	if axis < 0 {
		axis += len(x.Dims)
	}
	k := &topKKernel{outer: numeric.Count(x.Dims[:axis]), n: x.Dims[axis], inner: numeric.Count(x.Dims[axis+1:]), k: b.Out[0].Dims[axis], smallest: a.Smallest, size: x.Type.Size()}
	switch x.Type {
	case numeric.F32:
		k.order = orderFloats
	case numeric.I32:
		k.order = orderOf(func(v int32) uint32 { return uint32(v) ^ 1<<31 })
	case numeric.U32:
		k.order = orderOf(func(v uint32) uint32 { return v })
	case numeric.I8:
		k.order = orderOf(func(v int8) uint32 { return uint32(int32(v)) ^ 1<<31 })
	case numeric.U8:
		k.order = orderOf(func(v uint8) uint32 { return uint32(v) })
	default:
		return nil, fmt.Errorf("elements are %s, the kernel takes those of f32, and integers of 8 and 32 bits", x.Type)
	}
	if k.n >= math.MaxUint32 || k.k > k.n {
		return nil, fmt.Errorf("%d of %d elements", k.k, k.n)
	}
	if b.Layer.Epilogue.Args > 0 || !b.Layer.Inputs[0].Range.Equal(b.Layer.Outputs[0].Range) {
		return nil, fmt.Errorf("from %v to %v with epilogue %s, the kernel copies", x, b.Out[0], b.Layer.Epilogue)
	}
	k.keys.New = func() any {
		keys := make([]uint64, k.n+k.k)
		return &keys
	}
	k.job = work.NewJob((*topKLaunch).do)
	return k, nil
}

// orderOf returns what turns elements into integers of the same order.
func orderOf[T int32 | uint32 | int8 | uint8](f func(T) uint32) func([]uint64, []byte, int) {
	return func(keys []uint64, x []byte, step int) {
		v := numeric.View[T](x)
		for i := range keys {
			keys[i] = uint64(f(v[i*step]))<<32 | uint64(^uint32(i))
		}
	}
}

// orderFloats is that of float32: NaN is smaller than all else, and both zeros are equal.
func orderFloats(keys []uint64, x []byte, step int) {
	v := numeric.View[float32](x)
	for i := range keys {
		f := v[i*step]
		bits := math.Float32bits(f)
		bits ^= uint32(int32(bits)>>31) | 1<<31
		if f == 0 {
			bits = 1 << 31
		} else if f != f {
			bits = 0
		}
		keys[i] = uint64(bits)<<32 | uint64(^uint32(i))
	}
}

// topKLaunch is the state of one launch.
type topKLaunch struct {
	kernel *topKKernel
	x, y   []byte
	places []int64
}

// Launch searches all rows.
func (k *topKKernel) Launch(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	if k.k > 0 {
		k.job.Each(work.LoopOver(st, 16*k.outer*k.n*k.inner), k.outer*k.inner, topKLaunch{k, in[0].Host, out[0].Host, numeric.View[int64](out[1].Host)})
	}
	return nil
}

// do finds the best of a row.
func (l *topKLaunch) do(u, _ int) {
	k := l.kernel
	room := k.keys.Get().(*[]uint64)
	keys, best := (*room)[:k.n], (*room)[k.n:]
	row, column := u/k.inner, u%k.inner
	x := l.x[(row*k.n*k.inner+column)*k.size:]
	k.order(keys, x, k.inner)
	if k.smallest {
		for i, key := range keys {
			keys[i] = key ^ 0xffffffff<<32
		}
	}
	if k.k > k.n/4 {
		slices.Sort(keys)
		best = keys[k.n-k.k:]
	} else {
		largest(best, keys)
		slices.Sort(best)
	}
	for i := range k.k {
		from := int(^uint32(best[k.k-1-i]))
		to := (row*k.k+i)*k.inner + column
		copy(l.y[to*k.size:][:k.size], x[from*k.inner*k.size:])
		l.places[to] = int64(from)
	}
	k.keys.Put(room)
}

// largest sets best to the largest keys, in any order: a heap whose first is the smallest of them, which most keys do not pass.
func largest(best, keys []uint64) {
	n := len(best)
	copy(best, keys)
	for i := n/2 - 1; i >= 0; i-- {
		sink(best, i)
	}
	for _, key := range keys[n:] {
		if key > best[0] {
			best[0] = key
			sink(best, 0)
		}
	}
}

// sink brings heap[i] to its place below.
func sink(heap []uint64, i int) {
	for {
		child := 2*i + 1
		if child >= len(heap) {
			return
		}
		if child+1 < len(heap) && heap[child+1] < heap[child] {
			child++
		}
		if heap[i] <= heap[child] {
			return
		}
		heap[i], heap[child] = heap[child], heap[i]
		i = child
	}
}
