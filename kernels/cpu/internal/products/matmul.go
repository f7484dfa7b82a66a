package products

import (
	"fmt"
	"slices"
	"sync"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// matrices is the geometry of a product of two activations, or of one and a constant: count pairs of A[M,K] and B[K,N], or one and the
// same A for all. What has one B is a single product.
type matrices struct {
	m, k, n, count int
	a, b           int      // elements between the matrices of either side; 0 where there is one
	pairs          [][2]int // which of either side are multiplied, where both have several that are not one by one; nil elsewhere
}

// pair returns where the matrices of product i begin.
func (p *matrices) pair(i int) (a, b int) {
	if p.pairs != nil {
		return p.pairs[i][0] * p.a, p.pairs[i][1] * p.b
	}
	return i * p.a, i * p.b
}

// matricesOf returns the geometry of a MatMul whose right side is no constant matrix.
func matricesOf(b kernels.Binding) (matrices, error) {
	x, y := b.In[0].Dims, b.In[1].Dims
	for i := range 2 {
		if v, ok := b.Const(i); ok && v.Type != numeric.F32 && v.Type != numeric.F16 {
			return matrices{}, fmt.Errorf("constant %s is %s", b.Layer.Inputs[i].Name, v.Type)
		}
	}
	if b.Consts[1] != nil && len(y) == 2 {
		return matrices{}, fmt.Errorf("the right side is a constant matrix, which another tactic packs once")
	}
	if len(x) < 2 || len(y) < 2 {
		return matrices{}, fmt.Errorf("%v by %v: a side is no matrix", b.In[0], b.In[1])
	}
	p := matrices{m: x[len(x)-2], k: x[len(x)-1], n: y[len(y)-1]}
	left, right := x[:len(x)-2], y[:len(y)-2]
	switch {
	case slices.Equal(left, right):
		p.count, p.a, p.b = numeric.Count(left), p.m*p.k, p.k*p.n
	case numeric.Count(right) == 1:
		p.count, p.m = 1, numeric.Count(left)*p.m
	case numeric.Count(left) == 1:
		p.count, p.b = numeric.Count(right), p.k*p.n
	default:
		p.a, p.b, p.pairs = p.m*p.k, p.k*p.n, pairsOf(left, right)
		p.count = len(p.pairs)
	}
	if p.m*p.k*p.n*p.count == 0 {
		return p, fmt.Errorf("a matrix is empty")
	}
	return p, nil
}

// pairsOf returns which matrices meet of two sides whose leading axes broadcast to each other.
func pairsOf(left, right []int) [][2]int {
	list := [][2]int{{}}
	axes := max(len(left), len(right))
	for axis := range axes {
		x, y := 1, 1
		if at := axis - axes + len(left); at >= 0 {
			x = left[at]
		}
		if at := axis - axes + len(right); at >= 0 {
			y = right[at]
		}
		var longer [][2]int
		n := max(x, y)
		if x == 0 || y == 0 {
			n = 0
		}
		for _, p := range list {
			for i := range n {
				longer = append(longer, [2]int{p[0]*x + min(i, x-1), p[1]*y + min(i, y-1)})
			}
		}
		list = longer
	}
	return list
}

func matchMatMul(b kernels.Binding) error {
	if err := b.Only(numeric.F32); err != nil {
		return err
	}
	if _, err := matricesOf(b); err != nil {
		return err
	}
	_, err := programs.Trailing(b, 0)
	return err
}

// How products are computed: few rows by the matrices as they lie, since to pack those would take longer, and matrices that
// several workers may have packed at a time each by one of them.
const (
	matmulFew     = 8
	matmulDepth   = work.CallSteps / 16 // most of k in a call of the kernel for few rows
	matmulColumns = 64                  // of a step of this kernel
	matmulPacked  = 1 << 18             // most elements of a matrix that is packed beside others
)

// matmulKernel multiplies activations: the right side is packed at every launch, or read as it lies. Constants it has itself, packed if
// they are on the right.
type matmulKernel struct {
	matrices
	workers int
	columns int // of a unit, for few rows
	rows    asm.AttendKernel
	program *programs.Program
	packed  sync.Pool // *PackedB
	left    []float32 // constant; nil for an activation
	right   []*PackedB
}

// matmulRun is one launch.
type matmulRun struct {
	*matmulKernel
	x, y, z []float32
}

var (
	matmulJob    = work.NewJob((*matmulRun).one)
	matmulFewJob = work.NewJob((*matmulRun).few)
)

func bindMatMul(b kernels.Binding, isa asm.Features, workers int) (kernels.Kernel, error) {
	p, err := matricesOf(b)
	if err != nil {
		return nil, err
	}
	if _, err := NewPackedB(p.k, p.n, isa); err != nil {
		return nil, err
	}
	k := &matmulKernel{matrices: p, workers: workers, rows: work.AttendKernel(isa)}
	steps := work.CeilDiv(p.n, matmulColumns)
	k.columns = work.CeilDiv(steps, min(steps, work.CeilDiv(4*workers, p.count))) * matmulColumns
	k.packed.New = func() any {
		packed, _ := NewPackedB(p.k, p.n, isa) // of a shape that was made before
		return packed
	}
	if v, ok := b.Const(0); ok {
		k.left = slices.Clone(v.Floats())
	}
	if v, ok := b.Const(1); ok {
		for y := range slices.Chunk(v.Floats(), p.k*p.n) {
			packed, _ := NewPackedB(p.k, p.n, isa)
			packed.Pack(y, p.n, false)
			k.right = append(k.right, packed)
		}
	}
	k.program, err = programs.Trailing(b, isa)
	return k, err
}

// Launch shares the products among the workers, or the parts of each where there are fewer.
func (k *matmulKernel) Launch(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	r := matmulRun{k, k.left, nil, numeric.View[float32](out[0].Host)}
	if k.left == nil {
		r.x = numeric.View[float32](in[0].Host)
	}
	if k.right == nil {
		r.y = numeric.View[float32](in[1].Host)
	}
	loop := work.LoopOver(st, 4*k.count*k.k*k.n)
	switch {
	case k.m <= matmulFew && k.k <= matmulDepth && k.right == nil:
		matmulFewJob.Run(loop, k.workers, k.count*work.CeilDiv(k.n, k.columns), r)
	case k.count >= 2*k.workers && k.k*k.n <= matmulPacked:
		matmulJob.Run(loop, k.workers, k.count, r)
	default:
		for i := range k.count {
			r.product(work.Loop(st), i, k.workers)
		}
	}
	if k.program != nil {
		k.program.Launch(work.Loop(st), out[0], in, out[0])
	}
	return nil
}

// few computes some columns of one product of few rows.
func (r *matmulRun) few(u, _ int) {
	i, column := u%r.count, u/r.count*r.columns
	x, y := r.pair(i)
	for row := 0; row < r.m; row += r.rows.Rows {
		r.rows.Mix(asm.RowsCall{
			Out: r.z[(i*r.m+row)*r.n+column:], OutStride: r.n, Rows: min(r.rows.Rows, r.m-row),
			In: r.x[x+row*r.k:], InStride: r.k,
			Keys: r.y[y+column:], KeyStride: r.n, N: r.k, Columns: min(r.columns, r.n-column),
		})
	}
}

// one computes one product by the caller alone.
func (r *matmulRun) one(i, _ int) {
	r.product(func(n int, f func(int)) {
		for u := range n {
			f(u)
		}
	}, i, 1)
}

func (r *matmulRun) product(loop work.Parallel, i, workers int) {
	x, y := r.pair(i)
	var packed *PackedB
	if r.right != nil {
		packed = r.right[y/(r.k*r.n)]
	} else {
		packed = r.packed.Get().(*PackedB)
		defer r.packed.Put(packed)
		packed.Pack(r.y[y:], r.n, false)
	}
	Gemm(loop, &GemmF32Call{
		M: r.m, A: r.x[x:], AStride: r.k, B: packed, Out: r.z[i*r.m*r.n:], OutStride: r.n, Limits: programs.NoLimits(), Workers: workers,
	})
}
