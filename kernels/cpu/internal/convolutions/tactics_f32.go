package convolutions

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/windows"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// TacticsF32 are the convolutions in float32 for one instruction set, and products that are pointwise ones.
func TacticsF32(isa asm.Features, workers int) []kernels.Tactic {
	needs := kernels.Feature(isa)
	direct := func(name string, in kernels.Format) kernels.Tactic {
		cfg := ConfigF32{Planar: in == kernels.Linear, Features: isa, Workers: workers}
		return kernels.Tactic{
			Name: "conv_f32_" + work.ISAName(isa) + name, Op: graph.Conv, Needs: needs, In: in, Out: kernels.C16, Strided: true,
			Match:     func(b kernels.Binding) error { return matchConvF32(b, cfg) },
			Workspace: func(b kernels.Binding) int { return workspaceConvF32(b, cfg) },
			Bind:      func(b kernels.Binding) (kernels.Kernel, error) { return bindConvF32(b, cfg) },
		}
	}
	return append(transposedTactics(isa, workers),
		kernels.Tactic{
			Name: "conv_f32_" + work.ISAName(isa) + "_depthwise", Op: graph.Conv, Needs: needs, In: kernels.C16, Out: kernels.C16, Strided: true,
			Match:     matchDepthwiseF32,
			Workspace: func(b kernels.Binding) int { return workspaceDepthwiseF32(b, isa, workers) },
			Bind:      func(b kernels.Binding) (kernels.Kernel, error) { return bindDepthwiseF32(b, isa, workers) },
		},
		direct("_direct", kernels.C16),
		direct("_direct_planar", kernels.Linear),
		kernels.Tactic{
			Name: "gemm_f32_" + work.ISAName(isa) + "_pointwise", Op: graph.Gemm, Needs: needs, In: kernels.C16, Out: kernels.C16, Strided: true,
			Match:     matchProductF32,
			Workspace: func(b kernels.Binding) int { return workspaceProductF32(b, isa, workers) },
			Bind:      func(b kernels.Binding) (kernels.Kernel, error) { return bindProductF32(b, isa, workers) },
		},
	)
}

// convShape returns a convolution's geometry on two spatial axes.
func convShape(b kernels.Binding) (windows.Shape, error) {
	s, d, err := convVolume(b)
	if err == nil && d != (windows.Depth{}) {
		err = windows.ErrVolume
	}
	return s, err
}

// convVolume returns a convolution's geometry on the last two spatial axes, and on the first of three.
func convVolume(b kernels.Binding) (windows.Shape, windows.Depth, error) {
	if len(b.In) > 2 && b.Layer.Input(2) != nil && b.Consts[2] == nil {
		return windows.Shape{}, windows.Depth{}, fmt.Errorf("bias is not constant")
	}
	return volumeShape(b)
}

// volumeShape is convVolume, whatever the layer reads besides its weights.
func volumeShape(b kernels.Binding) (windows.Shape, windows.Depth, error) {
	a := b.Layer.Attrs.(graph.ConvAttrs)
	var s windows.Shape
	var d windows.Depth
	x := b.In[0]
	w := b.In[1].Dims
	if b.Consts[1] == nil {
		return s, d, fmt.Errorf("weights are not constant")
	}
	win := graph.Windows(w[2:], a.Strides, a.Dilations, a.Pads, a.AutoPad, x.Dims[2:])
	if len(x.Dims) == 5 {
		d = windows.Depth{In: x.Dims[2], Out: b.Out[0].Dims[2], Kernel: win[0].Kernel, Stride: win[0].Stride, Dilation: win[0].Dilation, PadFront: win[0].PadBegin}
		if err := d.Check(); err != nil {
			return s, d, err
		}
		x, win = windows.Slice(x), win[1:]
	}
	var err error
	if s.Batch, s.Channels, s.Height, s.Width, err = work.Planes(x); err != nil {
		return s, d, err
	}
	if len(win) == 1 {
		win = []graph.Window{{Kernel: 1, Stride: 1, Dilation: 1}, win[0]}
	}
	s.Filters, s.Groups = w[0], a.Group
	s.KernelH, s.StrideH, s.DilationH, s.PadTop, s.PadBottom = win[0].Kernel, win[0].Stride, win[0].Dilation, win[0].PadBegin, win[0].PadEnd
	s.KernelW, s.StrideW, s.DilationW, s.PadLeft, s.PadRight = win[1].Kernel, win[1].Stride, win[1].Dilation, win[1].PadBegin, win[1].PadEnd
	return s, d, s.CheckTaps(maxColumn)
}

// planarChannels is the most input channels that are worth reading one by one: where it saves a reformat.
const planarChannels = 128

func matchConvF32(b kernels.Binding, cfg ConfigF32) error {
	if err := b.Only(numeric.F32); err != nil {
		return err
	}
	s, d, err := convVolume(b)
	if err != nil {
		return err
	}
	if cfg.Planar && s.Channels > planarChannels && s.FewTaps(1, windows.MaxTaps) == nil {
		return fmt.Errorf("%d channels; from %d on, blocks of channels are read faster", s.Channels, planarChannels+1)
	}
	cfg.Depth = d
	if _, err := planDirectF32(s, cfg); err != nil {
		return err
	}
	return programs.Match(b)
}

func workspaceConvF32(b kernels.Binding, cfg ConfigF32) int {
	s, d, err := convVolume(b)
	if err != nil {
		return 0
	}
	cfg.Depth = d
	c, err := planDirectF32(s, cfg)
	if err != nil {
		return 0
	}
	return 4 * c.Workspace()
}

func bindConvF32(b kernels.Binding, cfg ConfigF32) (kernels.Kernel, error) {
	s, d, err := convVolume(b)
	if err != nil {
		return nil, err
	}
	cfg.Depth = d
	constants := func() (weights, bias []float32) { return work.RealConst(b, 1), work.RealConst(b, 2) }
	c, err := bindDirectF32(b, s, constants, cfg)
	if err != nil {
		return nil, err
	}
	return newConvKernel(b, c.Run, cfg.Features)
}

func matchDepthwiseF32(b kernels.Binding) error {
	if err := b.Only(numeric.F32); err != nil {
		return err
	}
	s, d, err := convVolume(b)
	if err != nil {
		return err
	}
	if err := depthwise(s); err != nil {
		return err
	}
	if _, err := planDepthwiseF32(s, d, 0, 1); err != nil {
		return err
	}
	return programs.Match(b)
}

func depthwise(s windows.Shape) error {
	if s.Groups == 1 || s.Groups != s.Channels || s.Filters != s.Channels {
		return fmt.Errorf("%d channels to %d in %d groups: not depthwise", s.Channels, s.Filters, s.Groups)
	}
	return nil
}

func workspaceDepthwiseF32(b kernels.Binding, isa asm.Features, workers int) int {
	s, d, err := convVolume(b)
	if err != nil {
		return 0
	}
	c, err := planDepthwiseF32(s, d, isa, workers)
	if err != nil {
		return 0
	}
	return 4 * c.Workspace()
}

func bindDepthwiseF32(b kernels.Binding, isa asm.Features, workers int) (kernels.Kernel, error) {
	s, d, err := convVolume(b)
	if err != nil {
		return nil, err
	}
	c, err := NewDepthwiseF32(s, d, work.RealConst(b, 1), work.RealConst(b, 2), isa, workers)
	if err != nil {
		return nil, err
	}
	c.weights = kernels.Shared(b, c.weights)
	return newConvKernel(b, c.Run, isa)
}
