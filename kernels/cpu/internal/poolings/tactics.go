package poolings

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

// poolVolume returns a pooling's geometry on up to three spatial axes.
func poolVolume(b kernels.Binding) (PoolShape, PoolMode, error) {
	a := b.Layer.Attrs.(graph.PoolAttrs)
	var s PoolShape
	if len(b.Out) > 1 {
		return s, 0, fmt.Errorf("indices are asked for")
	}
	x, out := b.In[0], b.Out[0].Dims[2:]
	if numeric.Count(x.Dims[2:]) == 0 {
		return s, 0, fmt.Errorf("the planes of %v have no elements", x)
	}
	kernel := a.Kernel
	if a.Global {
		kernel = x.Dims[2:]
		a = graph.PoolAttrs{}
	}
	win := graph.Windows(kernel, a.Strides, a.Dilations, a.Pads, a.AutoPad, x.Dims[2:])
	if len(x.Dims) == 5 {
		d := win[0]
		s.Depth = windows.Depth{In: x.Dims[2], Out: out[0], Kernel: d.Kernel, Stride: d.Stride, Dilation: d.Dilation, PadFront: d.PadBegin}
		s.PadBack = d.PadEnd
		x, win, out = windows.Slice(x), win[1:], out[1:]
	}
	var err error
	if s.Batch, s.Channels, s.Height, s.Width, err = work.Planes(x); err != nil {
		return s, 0, err
	}
	if len(win) == 1 {
		win = []graph.Window{{Kernel: 1, Stride: 1, Dilation: 1}, win[0]}
		out = []int{1, out[0]}
	}
	h, w := win[0], win[1]
	s.KernelH, s.StrideH, s.DilationH, s.PadTop, s.PadBottom = h.Kernel, h.Stride, h.Dilation, h.PadBegin, h.PadEnd
	s.KernelW, s.StrideW, s.DilationW, s.PadLeft, s.PadRight = w.Kernel, w.Stride, w.Dilation, w.PadBegin, w.PadEnd
	s.ExtraBottom = max(0, (out[0]-1)*h.Stride+h.Span()-(s.Height+h.PadBegin+h.PadEnd))
	s.ExtraRight = max(0, (out[1]-1)*w.Stride+w.Span()-(s.Width+w.PadBegin+w.PadEnd))
	mode := MaxPool
	if b.Layer.Op == graph.AveragePool {
		if mode = AveragePool; a.CountIncludePad {
			mode = AveragePoolIncludingPad
		}
	}
	return s, mode, nil
}

// TacticsF32 are the poolings in float32 for one instruction set.
func TacticsF32(isa asm.Features, workers int) []kernels.Tactic {
	pool := func(name string, op *graph.Op) kernels.Tactic {
		return kernels.Tactic{
			Name: name + "_f32_" + work.ISAName(isa), Op: op, Needs: kernels.Feature(isa), In: kernels.C16, Out: kernels.C16, Strided: true,
			Match:     matchPoolF32,
			Workspace: func(b kernels.Binding) int { return workspacePoolF32(b, isa, workers) },
			Bind:      func(b kernels.Binding) (kernels.Kernel, error) { return bindPoolF32(b, isa, workers) },
		}
	}
	mean := pool("reduce_mean", graph.ReduceMean)
	mean.Match, mean.Workspace = matchMeanF32, nil
	mean.Bind = func(b kernels.Binding) (kernels.Kernel, error) { return bindMeanF32(b, isa) }
	return []kernels.Tactic{pool("maxpool", graph.MaxPool), pool("avgpool", graph.AveragePool), mean}
}

func matchPoolF32(b kernels.Binding) error {
	if err := b.Only(numeric.F32); err != nil {
		return err
	}
	s, mode, err := poolVolume(b)
	if err == nil && !global(s) {
		_, err = NewPoolF32(s, mode, 0, 1)
	}
	if err == nil {
		_, err = programs.Trailing(b, 0)
	}
	return err
}

// global reports whether one window covers the input exactly.
func global(s PoolShape) bool {
	d := s.Depth.OrNone()
	return d.Kernel == d.In && d.PadFront+s.PadBack == 0 && d.Out == 1 && s.KernelH == s.Height && s.KernelW == s.Width && s.PadTop+s.PadLeft+s.PadBottom+s.PadRight+s.ExtraBottom+s.ExtraRight == 0
}

func workspacePoolF32(b kernels.Binding, isa asm.Features, workers int) int {
	s, mode, err := poolVolume(b)
	if err != nil || global(s) {
		return 0
	}
	p, err := NewPoolF32(s, mode, isa, workers)
	if err != nil {
		return 0
	}
	return 4 * p.Workspace()
}

func bindPoolF32(b kernels.Binding, isa asm.Features, workers int) (kernels.Kernel, error) {
	s, mode, err := poolVolume(b)
	if err != nil {
		return nil, err
	}
	if pixels := s.Depth.OrNone().In * s.Height * s.Width; global(s) {
		if mode == MaxPool {
			return newGlobalKernel(b, NewGlobalMaxF32(s.Batch, s.Channels, pixels, isa), isa)
		}
		return newGlobalKernel(b, NewGlobalAverageF32(s.Batch, s.Channels, pixels, isa), isa)
	}
	k := &poolKernelF32{b: b}
	if k.pool, err = NewPoolF32(s, mode, isa, workers); err != nil {
		return nil, err
	}
	k.program, err = programs.Trailing(b, isa)
	return k, err
}

// poolKernelF32 is a pooling in float32 bound to a layer.
type poolKernelF32 struct {
	b       kernels.Binding
	pool    *PoolF32
	program *programs.Program
}

// Launch pools, then computes the epilogue.
func (k *poolKernelF32) Launch(st kernels.Stream, in, out []kernels.Mem, ws kernels.Mem) error {
	k.pool.Run(work.Loop(st), &PoolF32Call{In: work.Floats(k.b.In[0], in[0]), Out: work.Floats(k.b.Out[0], out[0]), Workspace: numeric.View[float32](ws.Host)})
	if k.program != nil {
		k.program.Launch(work.Loop(st), out[0], in, out[0])
	}
	return nil
}

func matchMeanF32(b kernels.Binding) error {
	if err := b.Only(numeric.F32); err != nil {
		return err
	}
	if _, _, _, err := spatialMean(b); err != nil {
		return err
	}
	_, err := programs.Trailing(b, 0)
	return err
}

func bindMeanF32(b kernels.Binding, isa asm.Features) (kernels.Kernel, error) {
	n, c, pixels, err := spatialMean(b)
	if err != nil {
		return nil, err
	}
	return newGlobalKernel(b, NewGlobalAverageF32(n, c, pixels, isa), isa)
}

// globalPool makes one pixel of all in float32.
type globalPool interface {
	Units() int
	Run(out, in work.Tensor4, unit int)
}

// globalKernel is a pooling of all pixels in float32 bound to a layer.
type globalKernel struct {
	b       kernels.Binding
	pool    globalPool
	program *programs.Program
	job     *work.Job[globalLaunch]
}

// globalLaunch is the state of one launch.
type globalLaunch struct {
	pool globalPool
	x, y work.Tensor4
}

// do pools a channel block of an image.
func (l *globalLaunch) do(u, _ int) { l.pool.Run(l.y, l.x, u) }

func newGlobalKernel(b kernels.Binding, g globalPool, isa asm.Features) (kernels.Kernel, error) {
	k := &globalKernel{b: b, pool: g, job: work.NewJob((*globalLaunch).do)}
	var err error
	k.program, err = programs.Trailing(b, isa)
	return k, err
}

// Launch pools, then computes the epilogue.
func (k *globalKernel) Launch(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	l := globalLaunch{k.pool, work.Floats(k.b.In[0], in[0]), work.Floats(k.b.Out[0], out[0])}
	k.job.Each(work.LoopOver(st, k.b.In[0].Bytes()), k.pool.Units(), l)
	if k.program != nil {
		k.program.Launch(work.Loop(st), out[0], in, out[0])
	}
	return nil
}
