package products

import (
	"fmt"
	"sync"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/quantised"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// TacticsInt8 are the matrix products of bytes for one instruction set.
func TacticsInt8(isa asm.Features, workers int) []kernels.Tactic {
	tactic := func(name string, op *graph.Op) kernels.Tactic {
		return kernels.Tactic{
			Name: name + "_int8_" + work.ISAName(isa), Op: op, Needs: kernels.Feature(isa),
			Match:     func(b kernels.Binding) error { return matchGemmInt8(b, isa) },
			Workspace: func(b kernels.Binding) int { return workspaceGemmInt8(b, isa, workers) },
			Bind:      func(b kernels.Binding) (kernels.Kernel, error) { return bindGemmInt8(b, isa, workers) },
		}
	}
	return []kernels.Tactic{tactic("gemm", graph.Gemm), tactic("matmul", graph.MatMul)}
}

func matchGemmInt8(b kernels.Binding, isa asm.Features) error {
	if _, err := quantised.NewOutput(b, isa, true); err != nil {
		return err
	}
	p, err := Of(b)
	if err == nil {
		err = quantised.ConstantWeights(b, p.ColumnAxis())
	}
	if err == nil && p.Alpha != 1 {
		err = fmt.Errorf("alpha is %v", p.Alpha)
	}
	return err
}

// gemmInt8Layout says where a launch's workspace has what: the float32 that a program reads, the input and the
// residual in offset binary; then comes the product's own.
type gemmInt8Layout struct{ floats, input, residual int }

func (k *gemmInt8Kernel) layout() gemmInt8Layout {
	var l gemmInt8Layout
	if k.Alone() == nil {
		l.floats = work.RoundUp64(k.Workspace())
	}
	if k.b.In[0].Type == numeric.I8 {
		l.input = work.RoundUp64(k.M * k.K)
	}
	if k.Residual >= 0 && k.b.In[k.Residual].Type == numeric.I8 {
		l.residual = work.RoundUp64(k.M * k.N)
	}
	return l
}

func workspaceGemmInt8(b kernels.Binding, isa asm.Features, workers int) int {
	k := &gemmInt8Kernel{b: b}
	var err error
	if k.Product, err = Of(b); err != nil {
		return 0
	}
	if k.Output, err = quantised.NewOutput(b, isa, true); err != nil {
		return 0
	}
	l := k.layout()
	return l.floats + l.input + l.residual + gemmInt8Workspace(k.Product, isa, GemmInt8Config{Workers: workers, Program: k.Alone()})
}

// gemmInt8Kernel is a product of bytes with a constant matrix, bound to a layer.
type gemmInt8Kernel struct {
	b kernels.Binding
	Product
	quantised.Output
	gemm  *GemmInt8
	calls sync.Pool
}

func bindGemmInt8(b kernels.Binding, isa asm.Features, workers int) (kernels.Kernel, error) {
	k := &gemmInt8Kernel{b: b}
	var err error
	if k.Product, err = Of(b); err != nil {
		return nil, err
	}
	if k.Output, err = quantised.NewOutput(b, isa, true); err != nil {
		return nil, err
	}
	weights, err := kernels.Packed(b, nil, func() (*PackedInt8, error) {
		weights, scale := k.Weights(b)
		bias := k.Row(b)
		if k.Registers.Row > 0 {
			v, _ := b.Const(k.Registers.Row)
			bias = v.Floats()
		}
		return PackInt8(k.N, k.K, weights, scale, bias, PackInt8Config{InZero: quantised.Offset(b.Layer.Inputs[0]), Transposed: k.bT, Features: isa})
	})
	if err != nil {
		return nil, err
	}
	k.gemm, err = NewGemmInt8(k.M, weights, GemmInt8Config{Workers: workers, Program: k.Alone()})
	k.calls.New = func() any { return new(GemmInt8Call) }
	return k, err
}

// Weights returns the matrix less its zero points, and each column's scale.
func (p Product) Weights(b kernels.Binding) (weights []int16, scale []float32) {
	v, _ := b.Const(1)
	r, sx := b.Layer.Inputs[1].Range, b.Layer.Inputs[0].Range.ScaleAt(0)
	q := v.Ints()
	weights, scale = make([]int16, len(q)), make([]float32, p.N)
	for i, w := range q {
		n := i % p.N
		if p.bT {
			n = i / p.K
		}
		weights[i] = int16(int32(w) - r.ZeroAt(n))
	}
	for n := range scale {
		scale[n] = sx * r.ScaleAt(n)
	}
	return weights, scale
}

// Launch computes the product. The kernels take bytes in offset binary; rows of I8 are two's complement.
func (k *gemmInt8Kernel) Launch(st kernels.Stream, in, out []kernels.Mem, ws kernels.Mem) error {
	l, w := k.layout(), ws.Host
	take := func(n int) []byte {
		part := w[:n:n]
		w = w[n:]
		return part
	}
	floats, input, residual := kernels.Mem{Host: take(l.floats)}, take(l.input), take(l.residual)
	if k.InPlace {
		floats = out[0]
	}
	call := k.calls.Get().(*GemmInt8Call)
	*call = GemmInt8Call{A: in[0].Host[:k.M*k.K], Epilogue: k.Registers, Workspace: w}
	if l.input > 0 {
		quantised.FlipAll(work.Loop(st), input, call.A)
		call.A = input[:k.M*k.K]
	}
	switch {
	case k.Residual >= 0 && k.b.In[k.Residual].Type == numeric.F32:
		call.Epilogue.Addend = work.Tensor4{Data: numeric.View[float32](in[k.Residual].Host)[:k.M*k.N], Image: k.N}
	case k.Residual >= 0:
		r := in[k.Residual].Host[:k.M*k.N]
		if l.residual > 0 {
			quantised.FlipAll(work.Loop(st), residual, r)
			r = residual
		}
		call.Epilogue.Residual = work.Bytes4{Data: r, Image: k.N}
	}
	alone := k.Alone() != nil
	switch {
	case alone:
		call.Result = out[0].Host
	case k.Program != nil:
		call.Epilogue.Float = work.Tensor4{Data: numeric.View[float32](floats.Host), Image: k.N}
	case k.b.Out[0].Type == numeric.F32:
		call.Epilogue.Float = work.Tensor4{Data: numeric.View[float32](out[0].Host), Image: k.N}
	default:
		call.Epilogue.Out = work.Bytes4{Data: out[0].Host, Image: k.N}
	}
	k.gemm.Run(work.Loop(st), call)
	*call = GemmInt8Call{}
	k.calls.Put(call)
	if k.Program != nil && !alone {
		k.Program.Launch(work.Loop(st), floats, in, out[0])
	}
	return nil
}
