package cpu

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/asm"
	"github.com/trtui/trtui/kernels/cpu/programs"
	"github.com/trtui/trtui/kernels/cpu/work"
)

// productTactics are the matrix products in float32 for one instruction set.
func productTactics(isa asm.Features, workers int) []kernels.Tactic {
	name := func(family, shape string) string { return family + "_f32_" + work.ISAName(isa) + shape }
	needs := kernels.Feature(isa)
	return []kernels.Tactic{
		{
			Name: name("gemm", ""), Op: graph.Gemm, Needs: needs,
			Match: matchGemmF32,
			Bind:  func(b kernels.Binding) (kernels.Kernel, error) { return bindGemmF32(b, isa, workers) },
		},
		{
			Name: name("gemm", "_pointwise"), Op: graph.Gemm, Needs: needs, In: kernels.C16, Out: kernels.C16, Strided: true,
			Match:     matchProductF32,
			Workspace: func(b kernels.Binding) int { return workspaceProductF32(b, isa, workers) },
			Bind:      func(b kernels.Binding) (kernels.Kernel, error) { return bindProductF32(b, isa, workers) },
		},
		{
			Name: name("matmul", ""), Op: graph.MatMul, Needs: needs,
			Match: matchGemmF32,
			Bind:  func(b kernels.Binding) (kernels.Kernel, error) { return bindGemmF32(b, isa, workers) },
		},
		{
			Name: name("matmul", "_dynamic"), Op: graph.MatMul, Needs: needs,
			Match: matchMatMul,
			Bind:  func(b kernels.Binding) (kernels.Kernel, error) { return bindMatMul(b, isa, workers) },
		},
	}
}

// product is the geometry of A[M,K] * B[K,N].
type product struct {
	m, k, n     int
	bT          bool
	alpha, beta float32
}

// productOf returns the geometry of a Gemm, or of a MatMul by a constant matrix.
func productOf(b kernels.Binding) (product, error) {
	p := product{alpha: 1, beta: 1}
	x, w := b.In[0].Dims, b.In[1].Dims
	if a, ok := b.Layer.Attrs.(graph.GemmAttrs); ok {
		if a.TransA {
			return p, fmt.Errorf("the left side is transposed")
		}
		p.bT, p.alpha, p.beta = a.TransB, a.Alpha, a.Beta
	}
	if b.Consts[1] == nil || len(w) != 2 {
		return p, fmt.Errorf("the right side is not a constant matrix")
	}
	if len(x) < 2 {
		return p, fmt.Errorf("the left side has %d axes", len(x))
	}
	p.k, p.n = w[0], w[1]
	if p.bT {
		p.k, p.n = p.n, p.k
	}
	p.m = graph.Count(x) / max(1, p.k)
	if p.k == 0 || p.n == 0 || p.m == 0 {
		return p, fmt.Errorf("a matrix is empty")
	}
	if bias := b.Layer.Input(2); bias != nil {
		n := graph.Count(b.In[2].Dims)
		if b.Consts[2] == nil || n != p.n && n != 1 || n > 1 && b.In[2].Dims[len(b.In[2].Dims)-1] != p.n {
			return p, fmt.Errorf("bias %v is not a constant row", b.In[2])
		}
	}
	return p, nil
}

// columnAxis returns the weights' axis of output columns.
func (p product) columnAxis() int {
	if p.bT {
		return 0
	}
	return 1
}

// row returns the constant bias as a row of n elements times beta, or nil.
func (p product) row(b kernels.Binding) []float32 {
	c := work.RealConst(b, 2)
	if c == nil {
		return nil
	}
	row := make([]float32, p.n)
	for i := range row {
		row[i] = p.beta * c[i%len(c)]
	}
	return row
}

func matchGemmF32(b kernels.Binding) error {
	if err := b.Only(graph.F32); err != nil {
		return err
	}
	if _, err := productOf(b); err != nil {
		return err
	}
	return programs.Match(b)
}

// gemmKernel is a product with a constant matrix in float32, bound to a layer.
type gemmKernel struct {
	product
	programs.Epilogue
	weights *PackedB
	bias    []float32
	workers int
}

func bindGemmF32(b kernels.Binding, isa asm.Features, workers int) (kernels.Kernel, error) {
	k := &gemmKernel{workers: workers}
	var err error
	if k.product, err = productOf(b); err != nil {
		return nil, err
	}
	if k.Epilogue, err = programs.NewEpilogue(b, isa); err != nil {
		return nil, err
	}
	if k.weights, err = NewPackedB(k.k, k.n, isa); err != nil {
		return nil, err
	}
	stride := k.n
	if k.bT {
		stride = k.k
	}
	k.weights.Pack(k.scaled(work.RealConst(b, 1)), stride, k.bT)
	k.bias = k.row(b)
	return k, nil
}

// Launch computes the product and what of the epilogue is not in registers.
func (k *gemmKernel) Launch(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	call := GemmF32Call{
		M: k.m, A: graph.View[float32](in[0].Host), AStride: k.k, B: k.weights, Bias: k.bias,
		Out: graph.View[float32](out[0].Host), OutStride: k.n, Limits: k.Limits, Workers: k.workers,
	}
	if k.Residual >= 0 {
		call.Residual, call.ResidualStride = graph.View[float32](in[k.Residual].Host), k.n
	}
	Gemm(work.Loop(st), &call)
	if k.Program != nil {
		k.Program.Launch(work.Loop(st), out[0], in, out[0])
	}
	return nil
}
