package cpu

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/asm"
)

// transposedF32 is a way to compute transposed convolutions in float32: the computation of a shape, whose constants are nil
// where only its workspace is asked for.
type transposedF32 struct {
	workspace int // float32 elements
	run       func(Parallel, *ConvF32Call)
}

// transposedTactics are the transposed convolutions in float32 for one instruction set.
func transposedTactics(isa asm.Features, workers int) []kernels.Tactic {
	var list []kernels.Tactic
	for _, way := range []struct {
		shape string
		plan  func(s TransposedShape, weights, bias []float32, full bool) (transposedF32, error)
	}{
		{"_subpixel", func(s TransposedShape, weights, bias []float32, full bool) (transposedF32, error) {
			if !full {
				c, err := planTransposedF32(s, isa, workers)
				if err != nil {
					return transposedF32{}, err
				}
				return transposedF32{workspace: c.Workspace()}, nil
			}
			c, err := NewTransposedF32(s, weights, bias, isa, workers)
			if err != nil {
				return transposedF32{}, err
			}
			return transposedF32{c.Workspace(), c.Run}, nil
		}},
	} {
		list = append(list, kernels.Tactic{
			Name: "conv_transposed_f32_" + isaName(isa) + way.shape, Op: graph.ConvTranspose, Needs: kernels.Feature(isa),
			In: kernels.C16, Out: kernels.C16, Strided: true,
			Match: func(b kernels.Binding) error {
				if err := b.Only(graph.F32); err != nil {
					return err
				}
				s, err := transposedShape(b)
				if err != nil {
					return err
				}
				if _, err := way.plan(s, nil, nil, false); err != nil {
					return err
				}
				return matchEpilogue(b)
			},
			Workspace: func(b kernels.Binding) int {
				s, err := transposedShape(b)
				if err != nil {
					return 0
				}
				c, err := way.plan(s, nil, nil, false)
				if err != nil {
					return 0
				}
				return 4 * c.workspace
			},
			Bind: func(b kernels.Binding) (kernels.Kernel, error) {
				s, err := transposedShape(b)
				if err != nil {
					return nil, err
				}
				c, err := way.plan(s, realConst(b, 1), realConst(b, 2), true)
				if err != nil {
					return nil, err
				}
				return newConvKernel(b, c.run, isa)
			},
		})
	}
	return list
}

// transposedShape returns a transposed convolution's geometry on two spatial axes.
func transposedShape(b kernels.Binding) (TransposedShape, error) {
	a := b.Layer.Attrs.(graph.ConvTransposeAttrs)
	var s TransposedShape
	var err error
	if s.Batch, s.Channels, s.Height, s.Width, err = planes(b.In[0]); err != nil {
		return s, err
	}
	w := b.In[1].Dims
	if b.Consts[1] == nil {
		return s, fmt.Errorf("weights are not constant")
	}
	if len(b.In) > 2 && b.Layer.Input(2) != nil && b.Consts[2] == nil {
		return s, fmt.Errorf("bias is not constant")
	}
	if _, s.Filters, s.OutHeight, s.OutWidth, err = planes(b.Out[0]); err != nil {
		return s, err
	}
	win := a.Windows(w[2:], b.In[0].Dims[2:])
	if len(win) == 1 {
		win = []graph.Window{{Kernel: 1, Stride: 1, Dilation: 1}, win[0]}
	}
	s.Groups = a.Group
	s.KernelH, s.StrideH, s.DilationH, s.PadTop = win[0].Kernel, win[0].Stride, win[0].Dilation, win[0].PadBegin
	s.KernelW, s.StrideW, s.DilationW, s.PadLeft = win[1].Kernel, win[1].Stride, win[1].Dilation, win[1].PadBegin
	return s, s.check()
}
