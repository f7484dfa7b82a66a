package reductions

import (
	"math"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// softmax is one along an axis of n elements, inner elements apart.
type softmax struct {
	n, inner int
	log      bool
	vec      asm.VecKernel
}

func matchSoftmax(b kernels.Binding) error {
	if err := b.Only(numeric.F32); err != nil {
		return err
	}
	_, err := programs.Trailing(b, 0)
	return err
}

func bindSoftmax(b kernels.Binding, isa asm.Features) (kernels.Kernel, error) {
	a, dims := b.Layer.Attrs.(graph.SoftmaxAttrs), b.In[0].Dims
	axis := a.Axis
	if axis < 0 {
		axis += len(dims)
	}
	k := &softmax{n: dims[axis], inner: numeric.Count(dims[axis+1:]), log: a.Log, vec: work.VecKernel(isa)}
	if a.Flatten {
		k.n, k.inner = k.n*k.inner, 1
	}
	return bindRows(b, isa, &rowKernel{rows: numeric.Count(dims[:axis]), size: k.n * k.inner, cost: 16, compute: k.rows})
}

// rows computes those of rows of the tensor that follow each other.
func (k *softmax) rows(_ int, y, x []float32) {
	for size := k.n * k.inner; len(x) > 0; y, x = y[size:], x[size:] {
		k.lines(y[:size], x[:size])
	}
}

// lines computes those of one row of the tensor.
func (k *softmax) lines(y, x []float32) {
	if k.inner == 1 {
		k.line(y, x)
		return
	}
	room := takeRoom(k.n)
	row := room.floats[:k.n]
	for j := range k.inner {
		for i := range row {
			row[i] = x[i*k.inner+j]
		}
		k.line(row, row)
		for i, v := range row {
			y[i*k.inner+j] = v
		}
	}
	rooms.Put(room)
}

// line computes one softmax; dst may be src.
func (k *softmax) line(dst, src []float32) {
	if !k.log {
		k.vec.Softmax(dst, src)
		return
	}
	room := takeRoom(k.n)
	_, high := k.vec.Range(src)
	sum := k.vec.ExpSum(room.floats[:k.n], src, high)
	k.vec.Unary(asm.Affine, dst, src, 1, -high-float32(math.Log(float64(sum))))
	rooms.Put(room)
}
