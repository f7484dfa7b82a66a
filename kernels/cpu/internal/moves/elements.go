package moves

import (
	"fmt"
	"sync"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// elementTactics look up, or replace, single elements along an axis.
func elementTactics() []kernels.Tactic {
	tactic := func(name string, op *graph.Op) kernels.Tactic {
		return kernels.Tactic{
			Name: name, Op: op,
			Match: func(b kernels.Binding) error {
				_, err := newElementKernel(b)
				return err
			},
			Bind: func(b kernels.Binding) (kernels.Kernel, error) { return newElementKernel(b) },
		}
	}
	return []kernels.Tactic{tactic("gather_elements", graph.GatherElements), tactic("scatter_elements", graph.ScatterElements)}
}

// elementKernel goes through indices [outer, along, rest...], which name places along the middle axis of x [outer', extent, rest'...],
// whose extents are no smaller but for extent.
type elementKernel struct {
	b                    kernels.Binding
	units, along, inner  int   // indices of the axes before, of the axis itself and of those behind
	bases                []int // of each index of the axes before, its place in x
	behind               []int // of each index of the axes behind, its place
	step, extent, source int   // elements of x between indices of the axis, its extent, the bytes of x
	move                 func(dst, src []byte, at []int32, l *elementLaunch, unit int)
	scatters             bool
	index                []int32                  // of constant indices; else they are read at each launch
	room                 sync.Pool                // *[]int32, for those
	job                  *work.Job[elementLaunch] // nil for an output without elements
}

// elementLaunch is the state of one launch.
type elementLaunch struct {
	kernel   *elementKernel
	index    []int32
	dst, src []byte
}

func newElementKernel(b kernels.Binding) (*elementKernel, error) {
	l, x, index := b.Layer, b.In[0], b.In[1]
	if err := copies(b, index); err != nil {
		return nil, err
	}
	k := &elementKernel{b: b, scatters: l.Op == graph.ScatterElements, source: x.Bytes()}
	var axis int
	reduction := "none"
	switch a := l.Attrs.(type) {
	case graph.GatherAttrs:
		axis = a.Axis
	case graph.ScatterAttrs:
		axis, reduction = a.Axis, a.Reduction
	}
	if axis < 0 {
		axis += len(x.Dims)
	}
	steps := stridesOf(x.Dims)
	k.units, k.along, k.inner = numeric.Count(index.Dims[:axis]), index.Dims[axis], numeric.Count(index.Dims[axis+1:])
	k.step, k.extent = steps[axis], x.Dims[axis]
	k.bases, k.behind = placesOf(index.Dims[:axis], steps[:axis]), placesOf(index.Dims[axis+1:], steps[axis+1:])
	var err error
	if k.move, err = mover(x.Type, k.scatters, reduction); err != nil {
		return nil, err
	}
	if numeric.Count(b.Out[0].Dims) == 0 {
		return k, nil // as by the definition, no index is looked at where there is nothing to copy
	}
	if b.Consts[1] != nil {
		k.index = make([]int32, numeric.Count(index.Dims))
		if err := indicesOf(k.index, b, nil, 1, k.extent); err != nil {
			return nil, err
		}
	}
	k.room.New = func() any {
		room := make([]int32, numeric.Count(index.Dims))
		return &room
	}
	k.job = work.NewJob((*elementLaunch).do)
	return k, nil
}

// copies returns why a kernel that copies elements of input 0 at given indices does not compute a layer.
func copies(b kernels.Binding, index kernels.Desc) error {
	l := b.Layer
	if l.Epilogue.Args > 0 || b.In[0].Type != b.Out[0].Type || !l.Inputs[0].Range.Equal(l.Outputs[0].Range) {
		return fmt.Errorf("from %v to %v with epilogue %s, the kernel copies", b.In[0], b.Out[0], l.Epilogue)
	}
	if index.Type != numeric.I64 && index.Type != numeric.I32 {
		return fmt.Errorf("indices are %s, the kernel takes i32 and i64", index.Type)
	}
	if n := numeric.Count(b.In[0].Dims); n > maxGathered {
		return fmt.Errorf("%d elements are more than indices count", n)
	}
	return nil
}

// stridesOf returns how many elements are between neighbours along each axis.
func stridesOf(dims []int) []int {
	s, n := make([]int, len(dims)), 1
	for i := len(dims) - 1; i >= 0; i-- {
		s[i] = n
		n *= dims[i]
	}
	return s
}

// placesOf returns, for each index of some axes in order, the sum of its parts times the axes' steps.
func placesOf(dims, steps []int) []int {
	places := []int{0}
	for i, d := range dims {
		next := make([]int, 0, len(places)*d)
		for _, p := range places {
			for j := range d {
				next = append(next, p+j*steps[i])
			}
		}
		places = next
	}
	return places
}

// indicesOf reads the indices of a tensor, those from the end counted from the front.
func indicesOf(dst []int32, b kernels.Binding, in []kernels.Mem, i, extent int) error {
	data := source(b, in, i)
	if b.In[i].Type == numeric.I32 {
		return work.Indices(dst, numeric.View[int32](data), extent)
	}
	return work.Indices(dst, numeric.View[int64](data), extent)
}

// Launch goes through all indices, after it has checked them. Units write to places of their own; within one, updates follow each
// other in order.
func (k *elementKernel) Launch(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	if k.job == nil {
		return nil
	}
	index := k.index
	if index == nil {
		room := k.room.Get().(*[]int32)
		defer k.room.Put(room)
		if err := indicesOf(*room, k.b, in, 1, k.extent); err != nil {
			return err
		}
		index = *room
	}
	l := elementLaunch{k, index, out[0].Host, source(k.b, in, 0)}
	if k.scatters {
		copyAll(st, out[0].Host, l.src[:k.source])
		l.src = source(k.b, in, 2)
	}
	if k.along*k.inner > 0 {
		k.job.Each(work.LoopOver(st, 4*len(index)), k.units, l)
	}
	return nil
}

// copyAll copies bytes, by several workers where there are many.
func copyAll(st kernels.Stream, dst, src []byte) {
	const piece = 1 << 18
	if len(src) <= piece {
		copy(dst, src)
		return
	}
	work.LoopOver(st, len(src))(work.CeilDiv(len(src), piece), func(u int) { copy(dst[u*piece:min(len(src), (u+1)*piece)], src[u*piece:]) })
}

// do goes through the indices of one place before the axis.
func (l *elementLaunch) do(u, _ int) {
	k := l.kernel
	n := k.along * k.inner
	k.move(l.dst, l.src, l.index[u*n:][:n], l, u)
}

// mover returns what moves the elements of a unit.
func mover(t numeric.DataType, scatters bool, reduction string) (func(dst, src []byte, at []int32, l *elementLaunch, unit int), error) {
	switch {
	case scatters && reduction != "none":
		return reducer(t, reduction)
	case t.Size() == 1:
		return moveElements[uint8](scatters), nil
	case t.Size() == 2:
		return moveElements[uint16](scatters), nil
	case t.Size() == 4:
		return moveElements[uint32](scatters), nil
	case t.Size() == 8:
		return moveElements[uint64](scatters), nil
	}
	return nil, fmt.Errorf("elements are %s", t)
}

// moveElements returns what copies elements of T from or to the places that indices name.
func moveElements[T uint8 | uint16 | uint32 | uint64](scatters bool) func(dst, src []byte, at []int32, l *elementLaunch, unit int) {
	if scatters {
		return meet(func(_, b T) T { return b })
	}
	return func(dst, src []byte, at []int32, l *elementLaunch, unit int) {
		k := l.kernel
		x, y := numeric.View[T](src)[k.bases[unit]:], numeric.View[T](dst)[unit*len(at):][:len(at)]
		if k.inner == 1 && k.step == 1 {
			for i, index := range at {
				y[i] = x[index]
			}
			return
		}
		if k.inner == 1 {
			for i, index := range at {
				y[i] = x[int(index)*k.step]
			}
			return
		}
		for i := range k.along {
			row, to := at[i*k.inner:][:k.inner], y[i*k.inner:][:k.inner]
			for j, index := range row {
				to[j] = x[int(index)*k.step+k.behind[j]]
			}
		}
	}
}

// meet returns what brings updates to the places that indices name, where f says what becomes of both.
func meet[T uint8 | uint16 | uint32 | uint64 | int32 | int64 | float32](f func(old, update T) T) func(dst, src []byte, at []int32, l *elementLaunch, unit int) {
	return func(dst, src []byte, at []int32, l *elementLaunch, unit int) {
		k := l.kernel
		y, x := numeric.View[T](dst)[k.bases[unit]:], numeric.View[T](src)[unit*len(at):][:len(at)]
		for i := range k.along {
			for j, index := range at[i*k.inner:][:k.inner] {
				p := &y[int(index)*k.step+k.behind[j]]
				*p = f(*p, x[i*k.inner+j])
			}
		}
	}
}

// reducer returns what reduces updates into what is there.
func reducer(t numeric.DataType, reduction string) (func(dst, src []byte, at []int32, l *elementLaunch, unit int), error) {
	switch t {
	case numeric.F32:
		return meet(reductionOf[float32](reduction)), nil
	case numeric.I32:
		return meet(reductionOf[int32](reduction)), nil
	case numeric.I64:
		return meet(reductionOf[int64](reduction)), nil
	}
	return nil, fmt.Errorf("reduction %s of %s, the kernel takes f32, i32 and i64", reduction, t)
}

// reductionOf returns a reduction of two numbers; NaN is what becomes of it.
func reductionOf[T int32 | int64 | float32](reduction string) func(old, update T) T {
	switch reduction {
	case "add":
		return func(a, b T) T { return a + b }
	case "mul":
		return func(a, b T) T { return a * b }
	case "max":
		return func(a, b T) T { return max(a, b) }
	}
	return func(a, b T) T { return min(a, b) }
}
