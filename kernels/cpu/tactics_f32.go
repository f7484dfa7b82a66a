package cpu

import (
	"errors"
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/asm"
	"github.com/trtui/trtui/kernels/cpu/programs"
	"github.com/trtui/trtui/kernels/cpu/work"
)

// f32Tactics are the tactics in float32 for one instruction set.
func f32Tactics(isa asm.Features, workers int) []kernels.Tactic {
	name := func(family, shape string) string { return family + "_f32_" + work.ISAName(isa) + shape }
	needs := kernels.Feature(isa)
	conv := func(planar bool) kernels.Tactic {
		cfg := ConvF32Config{Planar: planar, Features: isa, Workers: workers}
		t := kernels.Tactic{
			Name: name("conv", "_direct"), Op: graph.Conv, Needs: needs, In: kernels.C16, Out: kernels.C16, Strided: true,
			Match:     func(b kernels.Binding) error { return matchConvF32(b, cfg) },
			Workspace: func(b kernels.Binding) int { return workspaceConvF32(b, cfg) },
			Bind:      func(b kernels.Binding) (kernels.Kernel, error) { return bindConvF32(b, cfg) },
		}
		if planar {
			t.Name, t.In = name("conv", "_direct_planar"), kernels.Linear
		}
		return t
	}
	list := slices.Concat(productTactics(isa, workers), transposedTactics(isa, workers), normTactics(isa), argTactics(isa))
	return slices.Concat(list, []kernels.Tactic{
		{
			Name: name("conv", "_depthwise"), Op: graph.Conv, Needs: needs, In: kernels.C16, Out: kernels.C16, Strided: true,
			Match:     matchDepthwiseF32,
			Workspace: func(b kernels.Binding) int { return workspaceDepthwiseF32(b, isa, workers) },
			Bind:      func(b kernels.Binding) (kernels.Kernel, error) { return bindDepthwiseF32(b, isa, workers) },
		},
		conv(false),
		conv(true),
		{
			Name: name("maxpool", ""), Op: graph.MaxPool, Needs: needs, In: kernels.C16, Out: kernels.C16, Strided: true,
			Match:     matchPoolF32,
			Workspace: func(b kernels.Binding) int { return workspacePoolF32(b, isa, workers) },
			Bind:      func(b kernels.Binding) (kernels.Kernel, error) { return bindPoolF32(b, isa, workers) },
		},
		{
			Name: name("avgpool", ""), Op: graph.AveragePool, Needs: needs, In: kernels.C16, Out: kernels.C16, Strided: true,
			Match:     matchPoolF32,
			Workspace: func(b kernels.Binding) int { return workspacePoolF32(b, isa, workers) },
			Bind:      func(b kernels.Binding) (kernels.Kernel, error) { return bindPoolF32(b, isa, workers) },
		},
		{
			Name: name("reduce_mean", ""), Op: graph.ReduceMean, Needs: needs, In: kernels.C16, Out: kernels.C16, Strided: true,
			Match: matchMeanF32,
			Bind:  func(b kernels.Binding) (kernels.Kernel, error) { return bindMeanF32(b, isa) },
		},
		{
			Name: name("softmax", ""), Op: graph.Softmax, Needs: needs,
			Match: matchSoftmax,
			Bind:  func(b kernels.Binding) (kernels.Kernel, error) { return bindSoftmax(b, isa) },
		},
	}, reduceTactics(isa))
}

// convShape returns a convolution's geometry on two spatial axes.
func convShape(b kernels.Binding) (ConvShape, error) {
	s, d, err := convVolume(b)
	if err == nil && d != (ConvDepth{}) {
		err = errVolume
	}
	return s, err
}

// errVolume says that a kernel computes images alone.
var errVolume = errors.New("three spatial axes, the kernel takes two")

// image returns the form of a slice of a volume.
func image(d kernels.Desc) kernels.Desc {
	d.Dims = []int{d.Dims[0], d.Dims[1], d.Dims[3], d.Dims[4]}
	return d
}

// convVolume returns a convolution's geometry on the last two spatial axes, and on the first of three.
func convVolume(b kernels.Binding) (ConvShape, ConvDepth, error) {
	a := b.Layer.Attrs.(graph.ConvAttrs)
	var s ConvShape
	var d ConvDepth
	x := b.In[0]
	w := b.In[1].Dims
	if b.Consts[1] == nil {
		return s, d, fmt.Errorf("weights are not constant")
	}
	if len(b.In) > 2 && b.Layer.Input(2) != nil && b.Consts[2] == nil {
		return s, d, fmt.Errorf("bias is not constant")
	}
	win := graph.Windows(w[2:], a.Strides, a.Dilations, a.Pads, a.AutoPad, x.Dims[2:])
	if len(x.Dims) == 5 {
		d = ConvDepth{In: x.Dims[2], Out: b.Out[0].Dims[2], Kernel: win[0].Kernel, Stride: win[0].Stride, Dilation: win[0].Dilation, PadFront: win[0].PadBegin}
		if err := d.check(); err != nil {
			return s, d, err
		}
		x, win = image(x), win[1:]
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
	return s, d, s.checkTaps(maxPlanarTaps)
}

// planarChannels is the most input channels that are worth reading one by one: where it saves a reformat.
const planarChannels = 128

func matchConvF32(b kernels.Binding, cfg ConvF32Config) error {
	if err := b.Only(graph.F32); err != nil {
		return err
	}
	s, d, err := convVolume(b)
	if err != nil {
		return err
	}
	if cfg.Planar && s.Channels > planarChannels {
		return fmt.Errorf("%d channels; from %d on, blocks of channels are read faster", s.Channels, planarChannels+1)
	}
	cfg.Depth = d
	if _, err := planConvF32(s, cfg); err != nil {
		return err
	}
	return programs.Match(b)
}

func workspaceConvF32(b kernels.Binding, cfg ConvF32Config) int {
	s, d, err := convVolume(b)
	if err != nil {
		return 0
	}
	cfg.Depth = d
	c, err := planConvF32(s, cfg)
	if err != nil {
		return 0
	}
	return 4 * c.Workspace()
}

func bindConvF32(b kernels.Binding, cfg ConvF32Config) (kernels.Kernel, error) {
	s, d, err := convVolume(b)
	if err != nil {
		return nil, err
	}
	cfg.Depth = d
	c, err := NewConvF32(s, work.RealConst(b, 1), work.RealConst(b, 2), cfg)
	if err != nil {
		return nil, err
	}
	return newConvKernel(b, c.Run, cfg.Features)
}

func matchDepthwiseF32(b kernels.Binding) error {
	if err := b.Only(graph.F32); err != nil {
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

func depthwise(s ConvShape) error {
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
	return newConvKernel(b, c.Run, isa)
}
