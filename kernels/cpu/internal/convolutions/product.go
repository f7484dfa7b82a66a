package convolutions

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/products"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/quantised"
	"github.com/trtui/trtui/kernels/cpu/internal/windows"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// A matrix product is a pointwise convolution of images of one pixel: what fits a few rows whose values lie in blocks of
// channels already, as behind a global pooling.

// productShape returns the geometry of that convolution.
func productShape(b kernels.Binding) (products.Product, windows.Shape, error) {
	p, err := products.Of(b)
	if err != nil {
		return p, windows.Shape{}, err
	}
	if len(b.In[0].Dims) != 2 {
		return p, windows.Shape{}, fmt.Errorf("the left side %v is not a matrix", b.In[0])
	}
	s := windows.Shape{Batch: p.M, Channels: p.K, Height: 1, Width: 1, Filters: p.N, Groups: 1,
		KernelH: 1, KernelW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1}
	return p, s, s.Check()
}

func matchProductF32(b kernels.Binding) error {
	if err := b.Only(numeric.F32); err != nil {
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
	c, err := planDirectF32(s, ConfigF32{Features: isa, Workers: workers})
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
	constants := func() (weights, bias []float32) {
		return products.ByFilter(p, p.Scaled(work.RealConst(b, 1))), p.Row(b)
	}
	c, err := bindDirectF32(b, s, constants, ConfigF32{Features: isa, Workers: workers})
	if err != nil {
		return nil, err
	}
	return newConvKernel(b, c.Run, isa)
}

// productInt8 is the product of bytes.
func productInt8(b kernels.Binding, cfg ConfigInt8, full bool) (quantised.Computation, error) {
	p, s, err := productShape(b)
	if err == nil && p.Alpha != 1 {
		err = fmt.Errorf("alpha is %v", p.Alpha)
	}
	if err == nil {
		err = quantised.ConstantWeights(b, p.ColumnAxis())
	}
	if err != nil {
		return quantised.Computation{}, err
	}
	cfg.InZero = quantised.Offset(b.Layer.Inputs[0])
	if !full {
		c, err := planDirectInt8(s, cfg)
		if err != nil {
			return quantised.Computation{}, err
		}
		return quantised.Computation{Workspace: c.Workspace()}, nil
	}
	weights, scale := p.Weights(b)
	c, err := NewDirectInt8(s, products.ByFilter(p, weights), scale, p.Row(b), cfg)
	if err != nil {
		return quantised.Computation{}, err
	}
	c.weights = kernels.Shared(b, c.weights)
	return quantised.Computation{Workspace: c.Workspace(), Run: c.Run}, nil
}
