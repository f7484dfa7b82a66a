package cpu

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/asm"
	"github.com/trtui/trtui/kernels/cpu/programs"
	"github.com/trtui/trtui/kernels/cpu/quantised"
	"github.com/trtui/trtui/kernels/cpu/work"
)

// A matrix product is a pointwise convolution of images of one pixel: what fits a few rows whose values lie in blocks of
// channels already, as behind a global pooling.

// productShape returns the geometry of that convolution.
func productShape(b kernels.Binding) (product, ConvShape, error) {
	p, err := productOf(b)
	if err != nil {
		return p, ConvShape{}, err
	}
	if len(b.In[0].Dims) != 2 {
		return p, ConvShape{}, fmt.Errorf("the left side %v is not a matrix", b.In[0])
	}
	s := ConvShape{Batch: p.m, Channels: p.k, Height: 1, Width: 1, Filters: p.n, Groups: 1,
		KernelH: 1, KernelW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1}
	return p, s, s.check()
}

// byFilter returns the matrix [N][K] of elements that lie as the product has them.
func byFilter[T int16 | float32](p product, w []T) []T {
	if p.bT {
		return w
	}
	out := make([]T, len(w))
	for k := range p.k {
		for n := range p.n {
			out[n*p.k+k] = w[k*p.n+n]
		}
	}
	return out
}

func matchProductF32(b kernels.Binding) error {
	if err := b.Only(graph.F32); err != nil {
		return err
	}
	if _, _, err := productShape(b); err != nil {
		return err
	}
	return programs.Match(b)
}

func workspaceProductF32(b kernels.Binding, isa asm.Features, workers int) int {
	_, s, err := productShape(b)
	if err != nil {
		return 0
	}
	c, err := planConvF32(s, ConvF32Config{Features: isa, Workers: workers})
	if err != nil {
		return 0
	}
	return 4 * c.Workspace()
}

func bindProductF32(b kernels.Binding, isa asm.Features, workers int) (kernels.Kernel, error) {
	p, s, err := productShape(b)
	if err != nil {
		return nil, err
	}
	c, err := NewConvF32(s, byFilter(p, p.scaled(work.RealConst(b, 1))), p.row(b), ConvF32Config{Features: isa, Workers: workers})
	if err != nil {
		return nil, err
	}
	return newConvKernel(b, c.Run, isa)
}

// scaled returns w times alpha.
func (p product) scaled(w []float32) []float32 {
	if p.alpha == 1 {
		return w
	}
	out := make([]float32, len(w))
	for i, v := range w {
		out[i] = p.alpha * v
	}
	return out
}

// productInt8 is the product of bytes.
func productInt8(b kernels.Binding, cfg ConvInt8Config, full bool) (quantised.Computation, error) {
	p, s, err := productShape(b)
	if err == nil && p.alpha != 1 {
		err = fmt.Errorf("alpha is %v", p.alpha)
	}
	if err == nil {
		err = quantised.ConstantWeights(b, p.columnAxis())
	}
	if err != nil {
		return quantised.Computation{}, err
	}
	cfg.InZero = quantised.Offset(b.Layer.Inputs[0])
	if !full {
		c, err := planConvInt8(s, cfg)
		if err != nil {
			return quantised.Computation{}, err
		}
		return quantised.Computation{Workspace: c.Workspace()}, nil
	}
	weights, scale := p.weights(b)
	c, err := NewConvInt8(s, byFilter(p, weights), scale, p.row(b), cfg)
	if err != nil {
		return quantised.Computation{}, err
	}
	return quantised.Computation{Workspace: c.Workspace(), Run: c.Run}, nil
}
