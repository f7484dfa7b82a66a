package products

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// TacticsF32 are the matrix products in float32 for one instruction set.
func TacticsF32(isa asm.Features, workers int) []kernels.Tactic {
	return []kernels.Tactic{
		tacticF32("gemm", "", graph.Gemm, isa, workers, matchGemmF32, bindGemmF32),
		tacticF32("matmul", "", graph.MatMul, isa, workers, matchGemmF32, bindGemmF32),
		tacticF32("matmul", "_dynamic", graph.MatMul, isa, workers, matchMatMul, bindMatMul),
		gatedTactic(isa, workers),
		nBitsTactic(isa, workers),
	}
}

// TacticsHalf are those in float32 that read weights stored in half precision as they are.
func TacticsHalf(isa asm.Features, workers int) []kernels.Tactic {
	return []kernels.Tactic{
		tacticF32("gemm", "_halves", graph.Gemm, isa, workers, matchGemmHalf, bindGemmHalf),
		tacticF32("matmul", "_halves", graph.MatMul, isa, workers, matchGemmHalf, bindGemmHalf),
	}
}

func tacticF32(name, shape string, op *graph.Op, isa asm.Features, workers int, match func(kernels.Binding) error,
	bind func(kernels.Binding, asm.Features, int) (kernels.Kernel, error)) kernels.Tactic {
	return kernels.Tactic{
		Name: name + "_f32_" + work.ISAName(isa) + shape, Op: op, Needs: kernels.Feature(isa), Match: match, Workspace: roomF32,
		Bind: func(b kernels.Binding) (kernels.Kernel, error) { return bind(b, isa, workers) },
	}
}

// Product is the geometry of A[M,K] * B[K,N].
type Product struct {
	M, K, N     int
	bT          bool
	Alpha, beta float32
}

// Of returns the geometry of a Gemm, or of a MatMul by a constant matrix.
func Of(b kernels.Binding) (Product, error) {
	p := Product{Alpha: 1, beta: 1}
	x, w := b.In[0].Dims, b.In[1].Dims
	if a, ok := b.Layer.Attrs.(graph.GemmAttrs); ok {
		if a.TransA {
			return p, fmt.Errorf("the left side is transposed")
		}
		p.bT, p.Alpha, p.beta = a.TransB, a.Alpha, a.Beta
	}
	if b.Consts[1] == nil || len(w) != 2 {
		return p, fmt.Errorf("the right side is not a constant matrix")
	}
	if len(x) < 2 {
		return p, fmt.Errorf("the left side has %d axes", len(x))
	}
	p.K, p.N = w[0], w[1]
	if p.bT {
		p.K, p.N = p.N, p.K
	}
	p.M = numeric.Count(x) / max(1, p.K)
	if p.K == 0 || p.N == 0 || p.M == 0 {
		return p, fmt.Errorf("a matrix is empty")
	}
	if bias := b.Layer.Input(2); bias != nil {
		n := numeric.Count(b.In[2].Dims)
		if b.Consts[2] == nil || n != p.N && n != 1 || n > 1 && b.In[2].Dims[len(b.In[2].Dims)-1] != p.N {
			return p, fmt.Errorf("bias %v is not a constant row", b.In[2])
		}
	}
	return p, nil
}

// ColumnAxis returns the weights' axis of output columns.
func (p Product) ColumnAxis() int {
	if p.bT {
		return 0
	}
	return 1
}

// Row returns the constant bias as a row of n elements times beta, or nil.
func (p Product) Row(b kernels.Binding) []float32 {
	c := work.RealConst(b, 2)
	if c == nil {
		return nil
	}
	row := make([]float32, p.N)
	for i := range row {
		row[i] = p.beta * c[i%len(c)]
	}
	return row
}

func matchGemmF32(b kernels.Binding) error {
	if err := b.Only(numeric.F32); err != nil {
		return err
	}
	if _, err := Of(b); err != nil {
		return err
	}
	return programs.Match(b)
}

// matchGemmHalf wants weights in half precision: they are read as such, which few rows wait for.
func matchGemmHalf(b kernels.Binding) error {
	if err := matchGemmF32(b); err != nil {
		return err
	}
	if have := b.In[1].Type; have != numeric.F16 {
		return fmt.Errorf("the right side is %s, the kernel reads %s", have, numeric.F16)
	}
	if p, _ := Of(b); p.Alpha != 1 {
		return fmt.Errorf("the right side times %g is no %s", p.Alpha, numeric.F16)
	}
	return nil
}

// roomF32 returns the bytes of the copy that a product with a constant matrix makes of its rows.
func roomF32(b kernels.Binding) int {
	p, err := Of(b)
	if err != nil {
		return 0
	}
	return 4 * RoomF32(p.M, p.N, p.K, p.K)
}

// gemmKernel is a product with a constant matrix in float32, bound to a layer.
type gemmKernel struct {
	Product
	programs.Epilogue
	gemmConstants
	workers int
}

type gemmConstants struct {
	weights *PackedB
	bias    []float32
}

func bindGemmF32(b kernels.Binding, isa asm.Features, workers int) (kernels.Kernel, error) {
	return bindGemm(b, isa, workers, NewPackedB)
}

func bindGemmHalf(b kernels.Binding, isa asm.Features, workers int) (kernels.Kernel, error) {
	return bindGemm(b, isa, workers, NewHalfB)
}

func bindGemm(b kernels.Binding, isa asm.Features, workers int, room func(k, n int, isa asm.Features) (*PackedB, error)) (kernels.Kernel, error) {
	k := &gemmKernel{workers: workers}
	var err error
	if k.Product, err = Of(b); err != nil {
		return nil, err
	}
	if k.Epilogue, err = programs.NewProductEpilogue(b, isa); err != nil {
		return nil, err
	}
	k.gemmConstants, err = kernels.Packed(b, nil, func() (c gemmConstants, err error) {
		if c.weights, err = room(k.K, k.N, isa); err != nil {
			return c, err
		}
		stride := k.N
		if k.bT {
			stride = k.K
		}
		c.weights.Pack(k.Scaled(work.RealConst(b, 1)), stride, k.bT)
		c.bias = k.Row(b)
		if k.Epilogue.Row > 0 {
			row, _ := b.Const(k.Epilogue.Row)
			c.bias = row.Floats()
		}
		return c, nil
	})
	return k, err
}

// Launch computes the product and what of the epilogue is not in registers.
func (k *gemmKernel) Launch(st kernels.Stream, in, out []kernels.Mem, ws kernels.Mem) error {
	call := GemmF32Call{
		M: k.M, A: numeric.View[float32](in[0].Host), AStride: k.K, B: k.weights, Bias: k.bias,
		Out: numeric.View[float32](out[0].Host), OutStride: k.N, Limits: k.Limits, Workers: k.workers,
		Room: numeric.View[float32](ws.Host)[:RoomF32(k.M, k.N, k.K, k.K)],
	}
	if k.Residual >= 0 {
		call.Residual, call.ResidualStride = numeric.View[float32](in[k.Residual].Host), k.N
	}
	Gemm(work.Loop(st), &call)
	if k.Program != nil {
		k.Program.Launch(work.Loop(st), out[0], in, out[0])
	}
	return nil
}

// ByFilter returns the matrix [N][K] of elements that lie as the product has them.
func ByFilter[T int16 | float32](p Product, w []T) []T {
	if p.bT {
		return w
	}
	out := make([]T, len(w))
	for k := range p.K {
		for n := range p.N {
			out[n*p.K+k] = w[k*p.N+n]
		}
	}
	return out
}

// Scaled returns w times alpha.
func (p Product) Scaled(w []float32) []float32 {
	if p.Alpha == 1 {
		return w
	}
	out := make([]float32, len(w))
	for i, v := range w {
		out[i] = p.Alpha * v
	}
	return out
}
