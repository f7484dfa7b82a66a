package cpu

import (
	"math"
	"sync"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/asm"
)

// softmaxKernel is a softmax along an axis of n elements, inner elements apart, over rows.
type softmaxKernel struct {
	rows, n, inner int
	log            bool
	vec            asm.VecKernel
	program        *programRun
	launches       sync.Pool
}

// softmaxLaunch is the state of one launch.
type softmaxLaunch struct {
	kernel *softmaxKernel
	x, y   []float32
	work   func(u int)
}

func matchSoftmax(b kernels.Binding) error {
	if err := b.Only(graph.F32); err != nil {
		return err
	}
	_, err := trailing(b, 0)
	return err
}

func bindSoftmax(b kernels.Binding, isa asm.Features) (kernels.Kernel, error) {
	a, dims := b.Layer.Attrs.(graph.SoftmaxAttrs), b.In[0].Dims
	axis := a.Axis
	if axis < 0 {
		axis += len(dims)
	}
	k := &softmaxKernel{rows: graph.Count(dims[:axis]), n: dims[axis], inner: graph.Count(dims[axis+1:]), log: a.Log, vec: vectorFor(isa)}
	if a.Flatten {
		k.n, k.inner = k.n*k.inner, 1
	}
	var err error
	k.program, err = trailing(b, isa)
	k.launches.New = func() any {
		l := &softmaxLaunch{kernel: k}
		l.work = l.do
		return l
	}
	return k, err
}

// Launch computes all rows.
func (k *softmaxKernel) Launch(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	l := k.launches.Get().(*softmaxLaunch)
	l.x, l.y = graph.View[float32](in[0].Host), graph.View[float32](out[0].Host)
	if k.n > 0 {
		loopOver(st, 16*len(l.x), k.rows, l.work)
	}
	l.x, l.y = nil, nil
	k.launches.Put(l)
	if k.program != nil {
		k.program.launch(parallel(st), out[0], in, out[0])
	}
	return nil
}

func (l *softmaxLaunch) do(u int) {
	k := l.kernel
	size := k.n * k.inner
	x, y := l.x[u*size:][:size], l.y[u*size:][:size]
	if k.inner == 1 {
		k.row(y, x)
		return
	}
	s := stripPool.Get().(*stripBuffers)
	if len(s.room) < k.n {
		s.room = alignedFloats(k.n)
	}
	row := s.room[:k.n]
	for j := range k.inner {
		for i := range row {
			row[i] = x[i*k.inner+j]
		}
		k.row(row, row)
		for i, v := range row {
			y[i*k.inner+j] = v
		}
	}
	stripPool.Put(s)
}

// row computes one softmax; dst may be src.
func (k *softmaxKernel) row(dst, src []float32) {
	if !k.log {
		k.vec.Softmax(dst, src)
		return
	}
	s := stripPool.Get().(*stripBuffers)
	if len(s.room) < k.n {
		s.room = alignedFloats(k.n)
	}
	_, high := k.vec.Range(src)
	sum := k.vec.ExpSum(s.room[:k.n], src, high)
	k.vec.Unary(asm.Affine, dst, src, 1, -high-float32(math.Log(float64(sum))))
	stripPool.Put(s)
}
