package convolutions

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/quantised"
	"github.com/trtui/trtui/kernels/cpu/internal/windows"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// directInt8 is a convolution from blocks of channels or, as cfg says, of a stem's plain rows.
func directInt8(b kernels.Binding, cfg ConfigInt8, full bool) (quantised.Computation, error) {
	s, err := convShape(b)
	if err == nil {
		err = quantised.ConstantWeights(b, 0)
	}
	if err != nil {
		return quantised.Computation{}, err
	}
	cfg.InZero, cfg.Signed = quantised.Offset(b.Layer.Inputs[0]), cfg.Stem && b.In[0].Type == numeric.I8
	if !full {
		c, err := planDirectInt8(s, cfg)
		if err != nil {
			return quantised.Computation{}, err
		}
		return quantised.Computation{Workspace: c.Workspace()}, nil
	}
	weights, scale := int8Weights(b, s.Filters)
	c, err := NewDirectInt8(s, weights, scale, work.RealConst(b, 2), cfg)
	if err != nil {
		return quantised.Computation{}, err
	}
	c.weights = kernels.Shared(b, c.weights)
	return quantised.Computation{Workspace: c.Workspace(), Run: c.Run}, nil
}

func depthwiseInt8(b kernels.Binding, cfg ConfigInt8, full bool) (quantised.Computation, error) {
	s, err := convShape(b)
	if err == nil {
		err = quantised.ConstantWeights(b, 0)
	}
	if err == nil {
		err = depthwise(s)
	}
	if err != nil {
		return quantised.Computation{}, err
	}
	cfg.InZero = quantised.Offset(b.Layer.Inputs[0])
	if !full {
		d, err := planDepthwiseInt8(s, cfg)
		if err != nil {
			return quantised.Computation{}, err
		}
		return quantised.Computation{Workspace: d.Workspace()}, nil
	}
	weights, scale := int8Weights(b, s.Filters)
	c, err := NewDepthwiseInt8(s, weights, scale, work.RealConst(b, 2), cfg)
	if err != nil {
		return quantised.Computation{}, err
	}
	return quantised.Computation{Workspace: c.Workspace(), Run: c.Run}, nil
}

// columnsInt8 is a convolution from plain rows with a window that is too large for others, or of a volume.
func columnsInt8(b kernels.Binding, cfg ConfigInt8, full bool) (quantised.Computation, error) {
	s, d, err := convVolume(b)
	if err == nil {
		err = quantised.ConstantWeights(b, 0)
	}
	if err == nil && d == (windows.Depth{}) && s.Check() == nil {
		err = fmt.Errorf("the kernel is for volumes and for windows of more than %d taps", windows.MaxTaps)
	}
	if err != nil {
		return quantised.Computation{}, err
	}
	cfg.InZero, cfg.Signed = quantised.Offset(b.Layer.Inputs[0]), b.In[0].Type == numeric.I8
	if !full {
		c, err := planColumnsInt8(s, d, cfg)
		if err != nil {
			return quantised.Computation{}, err
		}
		return quantised.Computation{Workspace: c.Workspace()}, nil
	}
	weights, scale := int8Weights(b, s.Filters)
	c, err := NewColumnsInt8(s, d, weights, scale, work.RealConst(b, 2), cfg)
	if err != nil {
		return quantised.Computation{}, err
	}
	c.weights = kernels.Shared(b, c.weights)
	return quantised.Computation{Workspace: c.Workspace(), Run: c.Run}, nil
}

// int8Weights returns a convolution's weights less their zero points, and each output channel's scale.
func int8Weights(b kernels.Binding, filters int) (weights []int16, scale []float32) {
	v, _ := b.Const(1)
	r, sx := b.Layer.Inputs[1].Range, b.Layer.Inputs[0].Range.ScaleAt(0)
	q := v.Ints()
	weights, scale = make([]int16, len(q)), make([]float32, filters)
	each := len(q) / max(1, filters)
	for i, w := range q {
		weights[i] = int16(int32(w) - r.ZeroAt(i/each))
	}
	for c := range scale {
		scale[c] = sx * r.ScaleAt(c)
	}
	return weights, scale
}
