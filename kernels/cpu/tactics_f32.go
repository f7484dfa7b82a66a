package cpu

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/asm"
)

// f32Tactics are the tactics in float32 for one instruction set.
func f32Tactics(isa asm.Features, workers int) []kernels.Tactic {
	name := func(family, shape string) string { return family + "_f32_" + isaName(isa) + shape }
	needs := kernels.Feature(isa)
	conv := func(planar bool) kernels.Tactic {
		cfg := ConvF32Config{Planar: planar, Features: isa, Workers: workers}
		t := kernels.Tactic{
			Name: name("conv", "_direct"), Op: graph.Conv, Needs: needs, In: kernels.C16, Out: kernels.C16, Strided: true,
			Match:     func(b kernels.Binding) error { return matchConvF32(b, planar) },
			Workspace: func(b kernels.Binding) int { return workspaceConvF32(b, cfg) },
			Bind:      func(b kernels.Binding) (kernels.Kernel, error) { return bindConvF32(b, cfg) },
		}
		if planar {
			t.Name, t.In = name("conv", "_direct_planar"), kernels.Linear
		}
		return t
	}
	return []kernels.Tactic{
		{
			Name: name("conv", "_depthwise"), Op: graph.Conv, Needs: needs, In: kernels.C16, Out: kernels.C16, Strided: true,
			Match:     matchDepthwiseF32,
			Workspace: func(b kernels.Binding) int { return workspaceDepthwiseF32(b, isa, workers) },
			Bind:      func(b kernels.Binding) (kernels.Kernel, error) { return bindDepthwiseF32(b, isa, workers) },
		},
		conv(false),
		conv(true),
		{
			Name: name("gemm", ""), Op: graph.Gemm, Needs: needs,
			Match: matchGemmF32,
			Bind:  func(b kernels.Binding) (kernels.Kernel, error) { return bindGemmF32(b, isa, workers) },
		},
		{
			Name: name("matmul", ""), Op: graph.MatMul, Needs: needs,
			Match: matchGemmF32,
			Bind:  func(b kernels.Binding) (kernels.Kernel, error) { return bindGemmF32(b, isa, workers) },
		},
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
			Name: name("reformat", "_linear_c16"), Op: graph.Reformat, Needs: needs, In: kernels.Linear, Out: kernels.C16, Strided: true,
			Match: matchLayoutF32,
			Bind:  func(b kernels.Binding) (kernels.Kernel, error) { return bindLayoutF32(b, isa, true) },
		},
		{
			Name: name("reformat", "_c16_linear"), Op: graph.Reformat, Needs: needs, In: kernels.C16, Out: kernels.Linear, Strided: true,
			Match: matchLayoutF32,
			Bind:  func(b kernels.Binding) (kernels.Kernel, error) { return bindLayoutF32(b, isa, false) },
		},
	}
}

// convShape returns a convolution's geometry on two spatial axes.
func convShape(b kernels.Binding) (ConvShape, error) {
	a := b.Layer.Attrs.(graph.ConvAttrs)
	var s ConvShape
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
	win := graph.Windows(w[2:], a.Strides, a.Dilations, a.Pads, a.AutoPad, b.In[0].Dims[2:])
	if len(win) == 1 {
		win = []graph.Window{{Kernel: 1, Stride: 1, Dilation: 1}, win[0]}
	}
	s.Filters, s.Groups = w[0], a.Group
	s.KernelH, s.StrideH, s.DilationH, s.PadTop, s.PadBottom = win[0].Kernel, win[0].Stride, win[0].Dilation, win[0].PadBegin, win[0].PadEnd
	s.KernelW, s.StrideW, s.DilationW, s.PadLeft, s.PadRight = win[1].Kernel, win[1].Stride, win[1].Dilation, win[1].PadBegin, win[1].PadEnd
	return s, s.check()
}

// realConst returns a constant's elements as float32.
func realConst(b kernels.Binding, i int) []float32 {
	if i >= len(b.Layer.OpInputs()) {
		return nil
	}
	v, ok := b.Const(i)
	if !ok {
		return nil
	}
	return graph.ToReal(v, b.Layer.Inputs[i].Range).Floats()
}

func matchConvF32(b kernels.Binding, planar bool) error {
	if err := only(b, graph.F32); err != nil {
		return err
	}
	s, err := convShape(b)
	if err != nil {
		return err
	}
	if planar && s.Channels > 16 {
		return fmt.Errorf("from %d channels on, blocks of channels are read faster", s.Channels)
	}
	return matchEpilogue(b)
}

func workspaceConvF32(b kernels.Binding, cfg ConvF32Config) int {
	s, err := convShape(b)
	if err != nil {
		return 0
	}
	c, err := planConvF32(s, cfg)
	if err != nil {
		return 0
	}
	return 4 * c.Workspace()
}

func bindConvF32(b kernels.Binding, cfg ConvF32Config) (kernels.Kernel, error) {
	s, err := convShape(b)
	if err != nil {
		return nil, err
	}
	c, err := NewConvF32(s, realConst(b, 1), realConst(b, 2), cfg)
	if err != nil {
		return nil, err
	}
	return bindConvCall(b, c.Run, cfg.Features)
}

// bindConvCall returns the kernel that runs a convolution in float32 with the layer's epilogue.
func bindConvCall(b kernels.Binding, run func(Parallel, *ConvF32Call), isa asm.Features) (kernels.Kernel, error) {
	e, err := newEpilogue(b, isa)
	if err != nil {
		return nil, err
	}
	return launcher(func(st kernels.Stream, in, out []kernels.Mem, ws kernels.Mem) error {
		call := ConvF32Call{In: tensor4(b.In[0], in[0]), Out: tensor4(b.Out[0], out[0]), Limits: e.limits, Workspace: graph.View[float32](ws.Host)}
		if e.residual >= 0 {
			call.Residual = tensor4(b.In[e.residual], in[e.residual])
		}
		run(parallel(st), &call)
		return e.after(parallel(st), in, out[0])
	}), nil
}

func matchDepthwiseF32(b kernels.Binding) error {
	if err := only(b, graph.F32); err != nil {
		return err
	}
	s, err := convShape(b)
	if err != nil {
		return err
	}
	if err := depthwise(s); err != nil {
		return err
	}
	return matchEpilogue(b)
}

func depthwise(s ConvShape) error {
	if s.Groups == 1 || s.Groups != s.Channels || s.Filters != s.Channels {
		return fmt.Errorf("%d channels to %d in %d groups: not depthwise", s.Channels, s.Filters, s.Groups)
	}
	return nil
}

func workspaceDepthwiseF32(b kernels.Binding, isa asm.Features, workers int) int {
	s, err := convShape(b)
	if err != nil {
		return 0
	}
	c, err := NewDepthwiseF32(s, realConst(b, 1), nil, isa, workers)
	if err != nil {
		return 0
	}
	return 4 * c.Workspace()
}

func bindDepthwiseF32(b kernels.Binding, isa asm.Features, workers int) (kernels.Kernel, error) {
	s, err := convShape(b)
	if err != nil {
		return nil, err
	}
	c, err := NewDepthwiseF32(s, realConst(b, 1), realConst(b, 2), isa, workers)
	if err != nil {
		return nil, err
	}
	return bindConvCall(b, c.Run, isa)
}

// product is the geometry of A[M,K] * B[K,N].
type product struct {
	m, k, n     int
	bT          bool
	alpha, beta float32
}

// productOf returns the geometry of a Gemm, or of a MatMul by a constant matrix.
func productOf(b kernels.Binding) (product, error) {
	p := product{alpha: 1, beta: 1}
	x, w := b.In[0].Dims, b.In[1].Dims
	if a, ok := b.Layer.Attrs.(graph.GemmAttrs); ok {
		if a.TransA {
			return p, fmt.Errorf("the left side is transposed")
		}
		p.bT, p.alpha, p.beta = a.TransB, a.Alpha, a.Beta
	}
	if b.Consts[1] == nil || len(w) != 2 {
		return p, fmt.Errorf("the right side is not a constant matrix")
	}
	if len(x) < 2 {
		return p, fmt.Errorf("the left side has %d axes", len(x))
	}
	p.k, p.n = w[0], w[1]
	if p.bT {
		p.k, p.n = p.n, p.k
	}
	p.m = graph.Count(x) / max(1, p.k)
	if p.k == 0 || p.n == 0 || p.m == 0 {
		return p, fmt.Errorf("a matrix is empty")
	}
	if bias := b.Layer.Input(2); bias != nil {
		n := graph.Count(b.In[2].Dims)
		if b.Consts[2] == nil || n != p.n && n != 1 || n > 1 && b.In[2].Dims[len(b.In[2].Dims)-1] != p.n {
			return p, fmt.Errorf("bias %v is not a constant row", b.In[2])
		}
	}
	return p, nil
}

// row returns the constant bias as a row of n elements times beta, or nil.
func (p product) row(b kernels.Binding) []float32 {
	c := realConst(b, 2)
	if c == nil {
		return nil
	}
	row := make([]float32, p.n)
	for i := range row {
		row[i] = p.beta * c[i%len(c)]
	}
	return row
}

func matchGemmF32(b kernels.Binding) error {
	if err := only(b, graph.F32); err != nil {
		return err
	}
	if _, err := productOf(b); err != nil {
		return err
	}
	return matchEpilogue(b)
}

func bindGemmF32(b kernels.Binding, isa asm.Features, workers int) (kernels.Kernel, error) {
	p, err := productOf(b)
	if err != nil {
		return nil, err
	}
	e, err := newEpilogue(b, isa)
	if err != nil {
		return nil, err
	}
	w := realConst(b, 1)
	if p.alpha != 1 {
		scaled := make([]float32, len(w))
		for i, v := range w {
			scaled[i] = p.alpha * v
		}
		w = scaled
	}
	packed, err := NewPackedB(p.k, p.n, isa)
	if err != nil {
		return nil, err
	}
	stride := p.n
	if p.bT {
		stride = p.k
	}
	packed.Pack(w, stride, p.bT)
	bias := p.row(b)
	return launcher(func(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
		call := GemmF32Call{
			M: p.m, A: graph.View[float32](in[0].Host), AStride: p.k, B: packed, Bias: bias,
			Out: graph.View[float32](out[0].Host), OutStride: p.n, Limits: e.limits, Workers: workers,
		}
		if e.residual >= 0 {
			call.Residual, call.ResidualStride = graph.View[float32](in[e.residual].Host), p.n
		}
		Gemm(parallel(st), &call)
		return e.after(parallel(st), in, out[0])
	}), nil
}

// poolShape returns a pooling's geometry on two spatial axes.
func poolShape(b kernels.Binding) (PoolShape, PoolMode, error) {
	a := b.Layer.Attrs.(graph.PoolAttrs)
	var s PoolShape
	var err error
	if len(b.Out) > 1 {
		return s, 0, fmt.Errorf("indices are asked for")
	}
	if s.Batch, s.Channels, s.Height, s.Width, err = planes(b.In[0]); err != nil {
		return s, 0, err
	}
	kernel := a.Kernel
	if a.Global {
		kernel = b.In[0].Dims[2:]
		a = graph.PoolAttrs{}
	}
	win := graph.Windows(kernel, a.Strides, a.Dilations, a.Pads, a.AutoPad, b.In[0].Dims[2:])
	out := b.Out[0].Dims[2:]
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

func matchPoolF32(b kernels.Binding) error {
	if err := only(b, graph.F32); err != nil {
		return err
	}
	if b.Layer.Epilogue.Args > 0 {
		return fmt.Errorf("the kernel has no epilogue")
	}
	s, mode, err := poolShape(b)
	if err == nil && !global(s) {
		_, err = NewPoolF32(s, mode, 0, 1)
	}
	return err
}

// global reports whether one window covers the input exactly.
func global(s PoolShape) bool {
	return s.KernelH == s.Height && s.KernelW == s.Width && s.PadTop+s.PadLeft+s.PadBottom+s.PadRight+s.ExtraBottom+s.ExtraRight == 0
}

func workspacePoolF32(b kernels.Binding, isa asm.Features, workers int) int {
	s, mode, err := poolShape(b)
	if err != nil || global(s) && mode != MaxPool {
		return 0
	}
	p, err := NewPoolF32(s, mode, isa, workers)
	if err != nil {
		return 0
	}
	return 4 * p.Workspace()
}

func bindPoolF32(b kernels.Binding, isa asm.Features, workers int) (kernels.Kernel, error) {
	s, mode, err := poolShape(b)
	if err != nil {
		return nil, err
	}
	if global(s) && mode != MaxPool {
		g := NewGlobalAverageF32(s.Batch, s.Channels, s.Height*s.Width, isa)
		return launcher(func(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
			x, y := tensor4(b.In[0], in[0]), tensor4(b.Out[0], out[0])
			parallel(st)(g.Units(), func(u int) { g.Run(y, x, u) })
			return nil
		}), nil
	}
	p, err := NewPoolF32(s, mode, isa, workers)
	if err != nil {
		return nil, err
	}
	return launcher(func(st kernels.Stream, in, out []kernels.Mem, ws kernels.Mem) error {
		p.Run(parallel(st), &PoolF32Call{In: tensor4(b.In[0], in[0]), Out: tensor4(b.Out[0], out[0]), Workspace: graph.View[float32](ws.Host)})
		return nil
	}), nil
}

func matchLayoutF32(b kernels.Binding) error {
	if err := only(b, graph.F32); err != nil {
		return err
	}
	_, _, _, _, err := planes(b.In[0])
	return err
}

func bindLayoutF32(b kernels.Binding, isa asm.Features, block bool) (kernels.Kernel, error) {
	n, c, h, w, err := planes(b.In[0])
	if err != nil {
		return nil, err
	}
	l := NewLayoutF32(n, c, h*w, isa)
	return launcher(func(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
		x, y := tensor4(b.In[0], in[0]), tensor4(b.Out[0], out[0])
		parallel(st)(l.Units(), func(u int) {
			if block {
				l.Block(y, x, u)
			} else {
				l.Unblock(y, x, u)
			}
		})
		return nil
	}), nil
}
