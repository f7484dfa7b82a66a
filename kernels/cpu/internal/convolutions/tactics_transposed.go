package convolutions

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/quantised"
	"github.com/trtui/trtui/kernels/cpu/internal/windows"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// transposedComputation computes a transposed convolution in float32.
type transposedComputation interface {
	Workspace() int // float32 elements
	Run(work.Parallel, *CallF32)
}

// packedTransposed is one with weights, which it shares with the kernels of other shapes.
type packedTransposed interface {
	transposedComputation
	share(kernels.Binding)
}

func (c *TransposedF32) share(b kernels.Binding)        { c.weights = kernels.Shared(b, c.weights) }
func (c *TransposedColumnsF32) share(b kernels.Binding) { c.weights = kernels.Shared(b, c.weights) }
func (c *TransposedDepthwiseF32) share(b kernels.Binding) {
	for i := range c.parts {
		c.parts[i].weights = kernels.Shared(b, c.parts[i].weights)
	}
}

// transposedWay is a way to compute transposed convolutions: plan returns the computation of a shape without its weights,
// what its workspace follows from, or why there is none.
type transposedWay struct {
	name    string
	in, out kernels.Format
	plan    func(s TransposedShape, d windows.Depth) (transposedComputation, error)
	pack    func(s TransposedShape, d windows.Depth, weights, bias []float32) (packedTransposed, error)
}

// transposedTactics are the transposed convolutions in float32 for one instruction set.
func transposedTactics(isa asm.Features, workers int) []kernels.Tactic {
	columns := func(name string, in kernels.Format) transposedWay {
		planar := in == kernels.Linear
		return transposedWay{name, in, kernels.Linear,
			func(s TransposedShape, d windows.Depth) (transposedComputation, error) {
				if d != (windows.Depth{}) {
					return nil, windows.ErrVolume
				}
				return planTransposedColumnsF32(s, planar, isa, workers)
			},
			func(s TransposedShape, _ windows.Depth, weights, bias []float32) (packedTransposed, error) {
				return NewTransposedColumnsF32(s, weights, bias, planar, isa, workers)
			}}
	}
	subpixel := transposedWay{"_subpixel", kernels.C16, kernels.C16,
		func(s TransposedShape, d windows.Depth) (transposedComputation, error) {
			return planTransposedF32(s, d, isa, workers)
		},
		func(s TransposedShape, d windows.Depth, weights, bias []float32) (packedTransposed, error) {
			return NewTransposedF32(s, d, weights, bias, isa, workers)
		}}
	depthwise := transposedWay{"_depthwise", kernels.C16, kernels.C16,
		func(s TransposedShape, d windows.Depth) (transposedComputation, error) {
			if d != (windows.Depth{}) {
				return nil, windows.ErrVolume
			}
			return planTransposedDepthwiseF32(s, isa, workers)
		},
		func(s TransposedShape, _ windows.Depth, weights, bias []float32) (packedTransposed, error) {
			return NewTransposedDepthwiseF32(s, weights, bias, isa, workers)
		}}
	var list []kernels.Tactic
	for _, way := range []transposedWay{depthwise, subpixel, columns("_columns", kernels.C16), columns("_columns_planar", kernels.Linear)} {
		list = append(list, kernels.Tactic{
			Name: "conv_transposed_f32_" + work.ISAName(isa) + way.name, Op: graph.ConvTranspose, Needs: kernels.Feature(isa),
			In: way.in, Out: way.out, Strided: true,
			Match:     way.match,
			Workspace: way.workspace,
			Bind:      func(b kernels.Binding) (kernels.Kernel, error) { return way.bind(b, isa) },
		})
	}
	return list
}

func (w transposedWay) match(b kernels.Binding) error {
	if err := b.Only(numeric.F32); err != nil {
		return err
	}
	s, d, err := transposedVolume(b)
	if err != nil {
		return err
	}
	if _, err := w.plan(s, d); err != nil {
		return err
	}
	return programs.Match(b)
}

func (w transposedWay) workspace(b kernels.Binding) int {
	s, d, err := transposedVolume(b)
	if err != nil {
		return 0
	}
	c, err := w.plan(s, d)
	if err != nil {
		return 0
	}
	return 4 * c.Workspace()
}

func (w transposedWay) bind(b kernels.Binding, isa asm.Features) (kernels.Kernel, error) {
	s, d, err := transposedVolume(b)
	if err != nil {
		return nil, err
	}
	c, err := w.pack(s, d, work.RealConst(b, 1), work.RealConst(b, 2))
	if err != nil {
		return nil, err
	}
	c.share(b)
	return newConvKernel(b, c.Run, isa)
}

// transposedShape returns a transposed convolution's geometry on two spatial axes.
func transposedShape(b kernels.Binding) (TransposedShape, error) {
	s, d, err := transposedVolume(b)
	if err == nil && d != (windows.Depth{}) {
		err = windows.ErrVolume
	}
	return s, err
}

// transposedVolume returns a transposed convolution's geometry on the last two spatial axes, and on the first of three.
func transposedVolume(b kernels.Binding) (TransposedShape, windows.Depth, error) {
	a := b.Layer.Attrs.(graph.ConvTransposeAttrs)
	var s TransposedShape
	var d windows.Depth
	x, y, w := b.In[0], b.Out[0], b.In[1].Dims
	if b.Consts[1] == nil {
		return s, d, fmt.Errorf("weights are not constant")
	}
	if len(b.In) > 2 && b.Layer.Input(2) != nil && b.Consts[2] == nil {
		return s, d, fmt.Errorf("bias is not constant")
	}
	win := a.Windows(w[2:], x.Dims[2:])
	if len(x.Dims) == 5 {
		d = windows.Depth{In: x.Dims[2], Out: y.Dims[2], Kernel: win[0].Kernel, Stride: win[0].Stride, Dilation: win[0].Dilation, PadFront: win[0].PadBegin}
		x, y, win = windows.Slice(x), windows.Slice(y), win[1:]
	}
	var err error
	if s.Batch, s.Channels, s.Height, s.Width, err = work.Planes(x); err != nil {
		return s, d, err
	}
	if _, s.Filters, s.OutHeight, s.OutWidth, err = work.Planes(y); err != nil {
		return s, d, err
	}
	if len(win) == 1 {
		win = []graph.Window{{Kernel: 1, Stride: 1, Dilation: 1}, win[0]}
	}
	s.Groups = a.Group
	s.KernelH, s.StrideH, s.DilationH, s.PadTop = win[0].Kernel, win[0].Stride, win[0].Dilation, win[0].PadBegin
	s.KernelW, s.StrideW, s.DilationW, s.PadLeft = win[1].Kernel, win[1].Stride, win[1].Dilation, win[1].PadBegin
	return s, d, s.check()
}

// transposedInt8 is a transposed convolution of bytes from blocks of channels.
func transposedInt8(b kernels.Binding, cfg ConfigInt8, full bool) (quantised.Computation, error) {
	s, err := transposedShape(b)
	if err == nil {
		err = quantised.ConstantWeights(b, 1)
	}
	if err != nil {
		return quantised.Computation{}, err
	}
	if cfg.Planar && b.Out[0].Type != numeric.F32 {
		return quantised.Computation{}, fmt.Errorf("output %v, the kernel writes float32 in rows", b.Out[0])
	}
	if _, residual, err := quantised.EpilogueOf(b, 0, false); cfg.Planar && err == nil && residual >= 0 {
		return quantised.Computation{}, fmt.Errorf("a residual, the kernel adds none in rows")
	}
	cfg.InZero = quantised.Offset(b.Layer.Inputs[0])
	if !full {
		c, err := planTransposedInt8(s, cfg)
		if err != nil {
			return quantised.Computation{}, err
		}
		return quantised.Computation{Workspace: c.Workspace()}, nil
	}
	weights, scale := transposedInt8Weights(b, s)
	c, err := NewTransposedInt8(s, weights, scale, work.RealConst(b, 2), cfg)
	if err != nil {
		return quantised.Computation{}, err
	}
	c.weights = kernels.Shared(b, c.weights)
	return quantised.Computation{Workspace: c.Workspace(), Run: c.Run}, nil
}

// transposedInt8Weights returns the weights less their zero points, and each output channel's scale; scales and zero points
// are those of the channel's place in its group.
func transposedInt8Weights(b kernels.Binding, s TransposedShape) (weights []int16, scale []float32) {
	v, _ := b.Const(1)
	r, sx := b.Layer.Inputs[1].Range, b.Layer.Inputs[0].Range.ScaleAt(0)
	q := v.Ints()
	weights, scale = make([]int16, len(q)), make([]float32, s.Filters)
	perGroup, taps := s.Filters/s.Groups, s.KernelH*s.KernelW
	for i, w := range q {
		weights[i] = int16(int32(w) - r.ZeroAt(i/taps%perGroup))
	}
	for f := range scale {
		scale[f] = sx * r.ScaleAt(f%perGroup)
	}
	return weights, scale
}
