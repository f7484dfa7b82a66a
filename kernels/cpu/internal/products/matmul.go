package products

import (
	"fmt"
	"slices"
	"sync"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// matrices is the geometry of a product of two activations: count pairs of A[M,K] and B[K,N], or all with one and the same
// matrix.
type matrices struct {
	m, k, n, count int
	a, b           int // elements between the matrices of either side; 0 where there is one
}

// matricesOf returns the geometry of a MatMul of activations.
func matricesOf(b kernels.Binding) (matrices, error) {
	x, y := b.In[0].Dims, b.In[1].Dims
	if b.Consts[1] != nil {
		return matrices{}, fmt.Errorf("the right side is a constant, which is packed once")
	}
	if len(x) < 2 || len(y) < 2 {
		return matrices{}, fmt.Errorf("%v by %v: a side is no matrix", b.In[0], b.In[1])
	}
	p := matrices{m: x[len(x)-2], k: x[len(x)-1], n: y[len(y)-1]}
	left, right := x[:len(x)-2], y[:len(y)-2]
	switch {
	case slices.Equal(left, right):
		p.count, p.a, p.b = graph.Count(left), p.m*p.k, p.k*p.n
	case graph.Count(right) == 1:
		p.count, p.a = graph.Count(left), p.m*p.k
	case graph.Count(left) == 1:
		p.count, p.b = graph.Count(right), p.k*p.n
	default:
		return p, fmt.Errorf("%v and %v broadcast to each other", b.In[0], b.In[1])
	}
	if p.m*p.k*p.n*p.count == 0 {
		return p, fmt.Errorf("a matrix is empty")
	}
	return p, nil
}

func matchMatMul(b kernels.Binding) error {
	if err := b.Only(graph.F32); err != nil {
		return err
	}
	if _, err := matricesOf(b); err != nil {
		return err
	}
	_, err := programs.Trailing(b, 0)
	return err
}

// matmulKernel multiplies activations: the right side is packed at every launch.
type matmulKernel struct {
	matrices
	workers int
	program *programs.Program
	packed  sync.Pool // *PackedB
}

func bindMatMul(b kernels.Binding, isa asm.Features, workers int) (kernels.Kernel, error) {
	p, err := matricesOf(b)
	if err != nil {
		return nil, err
	}
	if _, err := NewPackedB(p.k, p.n, isa); err != nil {
		return nil, err
	}
	k := &matmulKernel{matrices: p, workers: workers}
	k.packed.New = func() any {
		packed, _ := NewPackedB(p.k, p.n, isa) // of a shape that was made before
		return packed
	}
	k.program, err = programs.Trailing(b, isa)
	return k, err
}

// Launch computes one product after the other.
func (k *matmulKernel) Launch(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	x, y, z := graph.View[float32](in[0].Host), graph.View[float32](in[1].Host), graph.View[float32](out[0].Host)
	packed := k.packed.Get().(*PackedB)
	for i := range k.count {
		if i == 0 || k.b > 0 {
			packed.Pack(y[i*k.b:], k.n, false)
		}
		Gemm(work.Loop(st), &GemmF32Call{
			M: k.m, A: x[i*k.a:], AStride: k.k, B: packed, Out: z[i*k.m*k.n:], OutStride: k.n, Limits: programs.NoLimits(), Workers: k.workers,
		})
	}
	k.packed.Put(packed)
	if k.program != nil {
		k.program.Launch(work.Loop(st), out[0], in, out[0])
	}
	return nil
}
