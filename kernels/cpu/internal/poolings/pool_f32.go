package poolings

import (
	"cmp"
	"fmt"
	"math"
	"sync"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/windows"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// PoolShape is the geometry of a 2-D pooling, or of one of volumes: that of a depthwise convolution. Where the output size is
// rounded up, the last windows reach ExtraBottom rows and ExtraRight columns beyond the padding.
type PoolShape struct {
	Batch, Channels, Height, Width       int
	KernelH, KernelW                     int
	StrideH, StrideW                     int
	DilationH, DilationW                 int
	PadTop, PadLeft, PadBottom, PadRight int
	ExtraBottom, ExtraRight              int

	Depth   windows.Depth // of volumes
	PadBack int           // pad at the end of the depth
}

// windows returns the geometry of the depthwise convolution, whose images are output slices.
func (p *PoolShape) windows() (windows.Shape, windows.Depth, error) {
	depth := p.Depth.OrNone()
	s := windows.Shape{Batch: p.Batch * depth.Out, Channels: p.Channels, Height: p.Height, Width: p.Width, Filters: p.Channels, Groups: p.Channels,
		KernelH: p.KernelH, KernelW: p.KernelW, StrideH: p.StrideH, StrideW: p.StrideW, DilationH: p.DilationH, DilationW: p.DilationW,
		PadTop: p.PadTop, PadLeft: p.PadLeft, PadBottom: p.PadBottom + p.ExtraBottom, PadRight: p.PadRight + p.ExtraRight}
	if p.ExtraBottom < 0 || p.ExtraRight < 0 {
		return s, depth, fmt.Errorf("negative extra rows or columns %d %d", p.ExtraBottom, p.ExtraRight)
	}
	return s, depth, cmp.Or(depth.Check(), s.CheckTaps(windows.MaxPoolTaps), s.FewTaps(depth.Kernel, windows.MaxPoolTaps))
}

// PoolMode is what a pooling makes of a window.
type PoolMode int

const (
	MaxPool                 PoolMode = iota
	AveragePool                      // over the elements inside the input
	AveragePoolIncludingPad          // over the elements inside the input and its padding
)

// PoolF32 is a pooling of NCHWc16 tensors in float32, ready to run.
type PoolF32 struct {
	field   windows.FieldF32
	depth   windows.Depth
	kernel  asm.PoolKernel
	mode    PoolMode
	factors [][]float32 // of an average: of each output slice [oh][ow]
	job     *work.Job[poolRun]
}

func poolKernel(features asm.Features) asm.PoolKernel {
	for _, k := range asm.PoolKernels() {
		if features.Has(k.Needs) {
			return k
		}
	}
	panic("cpu: no pooling kernel without features")
}

// NewPoolF32 plans a pooling for up to workers goroutines.
func NewPoolF32(p PoolShape, mode PoolMode, features asm.Features, workers int) (*PoolF32, error) {
	s, depth, err := p.windows()
	if err != nil {
		return nil, err
	}
	l := &PoolF32{depth: depth, mode: mode, kernel: poolKernel(features)}
	pad := float32(0)
	if mode == MaxPool {
		pad = float32(math.Inf(-1))
	}
	if err := l.field.Init(s, depth.Kernel, pad, features, workers); err != nil {
		return nil, err
	}
	if mode != MaxPool {
		l.tabulate(&p)
	}
	l.job = work.NewJob((*poolRun).do)
	return l, nil
}

// tabulate fills in one over the number of elements that each window counts; slices that count as many share a table.
func (l *PoolF32) tabulate(p *PoolShape) {
	h, w, d, top, left, front := p.Height, p.Width, l.depth.In, 0, 0, 0
	if l.mode == AveragePoolIncludingPad {
		top, left, front = p.PadTop, p.PadLeft, l.depth.PadFront
		h, w, d = h+p.PadBottom, w+p.PadRight, d+p.PadBack
	}
	count := func(at, kernel, dilation, low, high int) int {
		n := 0
		for k := range kernel {
			if i := at + k*dilation; i >= low && i < high {
				n++
			}
		}
		return n
	}
	tables := make([][]float32, l.depth.Kernel+1)
	for z := range l.depth.Out {
		slices := count(l.depth.Slice(z, 0), l.depth.Kernel, l.depth.Dilation, -front, d)
		if tables[slices] == nil {
			for y := range l.field.OutRows {
				rows := count(y*p.StrideH-p.PadTop, p.KernelH, p.DilationH, -top, h)
				for x := range l.field.OutColumns {
					n := slices * rows * count(x*p.StrideW-p.PadLeft, p.KernelW, p.DilationW, -left, w)
					tables[slices] = append(tables[slices], 1/float32(max(1, n)))
				}
			}
		}
		l.factors = append(l.factors, tables[slices])
	}
}

// Workspace returns the float32 elements that Run needs.
func (l *PoolF32) Workspace() int { return l.field.Workers * l.scratch() }

// scratch returns the elements of one worker's copies of slices.
func (l *PoolF32) scratch() int { return l.depth.Kernel * l.field.Scratch() }

// PoolF32Call is the operands of one run.
type PoolF32Call struct {
	In, Out   work.Tensor4
	Workspace []float32
}

// poolRun is the state of one Run.
type poolRun struct {
	pool *PoolF32
	call PoolF32Call
}

// Run computes the pooling. Several runs of one PoolF32 may go on at the same time.
func (l *PoolF32) Run(parallel work.Parallel, call *PoolF32Call) {
	l.job.Run(parallel, l.field.Workers, l.field.Units(), poolRun{l, *call})
}

func (r *poolRun) do(u, worker int) {
	l, f := r.pool, &r.pool.field
	image, block, first, last := f.Unit(u)
	image, slice := l.depth.Split(image)
	scratch := r.call.Workspace[worker*l.scratch():][:l.scratch()]
	low, high := f.CopySlices(scratch, r.call.In.Data[image*r.call.In.Image:], r.call.In.Plane, &l.depth, slice, block, first, last)
	row := f.OutColumns * work.Lanes
	out := r.call.Out.Data[image*r.call.Out.Image+block*r.call.Out.Plane+(slice*f.OutRows+first)*row:]
	plane := f.Shape.KernelH * f.Shape.KernelW
	call := asm.PoolCall{InRow: f.Gather.RowStep(), Taps: f.Taps[low*plane : high*plane], OutRow: row, FactorRow: f.OutColumns}
	windows.Tiles(f.OutColumns, last-first, len(call.Taps), l.kernel.Pixels, func(y, rows, x, tiles, pixels int) {
		call.In, call.Out = scratch[y*call.InRow+x*work.Lanes:], out[y*row+x*work.Lanes:]
		call.Rows, call.Tiles = rows, tiles
		if l.mode == MaxPool {
			l.kernel.Max(pixels, call)
			return
		}
		call.Factors = l.factors[slice][(first+y)*f.OutColumns+x:]
		l.kernel.Average(pixels, call)
	})
}

// GlobalAverageF32 is the average over the pixels of each channel of an NCHWc16 tensor.
type GlobalAverageF32 struct {
	Batch, Channels, Pixels int
	kernel                  asm.PoolKernel
}

// NewGlobalAverageF32 returns the average for a shape, with kernels that features allow.
func NewGlobalAverageF32(batch, channels, pixels int, features asm.Features) *GlobalAverageF32 {
	return &GlobalAverageF32{Batch: batch, Channels: channels, Pixels: pixels, kernel: poolKernel(features)}
}

// Units returns the number of pieces that Run divides into: one for each image and channel block.
func (g *GlobalAverageF32) Units() int { return g.Batch * work.BlocksOf(g.Channels) }

// Run computes unit u: one vector of out, whose planes are single pixels.
func (g *GlobalAverageF32) Run(out, in work.Tensor4, u int) {
	blocks := work.BlocksOf(g.Channels)
	image, block := u/blocks, u%blocks
	dst := (*[work.Lanes]float32)(out.Data[image*out.Image+block*out.Plane:])
	clear(dst[:])
	plane := in.Data[image*in.Image+block*in.Plane:][:g.Pixels*work.Lanes]
	g.kernel.Sum(dst, plane, 1/float32(g.Pixels))
}

// GlobalMaxF32 is the maximum of the pixels of each channel of an NCHWc16 tensor.
type GlobalMaxF32 struct {
	Batch, Channels, Pixels int
	kernel                  asm.PoolKernel
	taps                    []asm.Tap
	parts                   sync.Pool // *[lanes]float32
}

// NewGlobalMaxF32 returns the maximum for a shape, with kernels that features allow.
func NewGlobalMaxF32(batch, channels, pixels int, features asm.Features) *GlobalMaxF32 {
	g := &GlobalMaxF32{Batch: batch, Channels: channels, Pixels: pixels, kernel: poolKernel(features)}
	g.parts.New = func() any { return new([work.Lanes]float32) }
	for i := range min(pixels, windows.MaxTaps) {
		g.taps = append(g.taps, asm.Tap{Offset: int32(i * work.Lanes), Quads: 4})
	}
	return g
}

// Units returns the number of pieces that Run divides into: one for each image and channel block.
func (g *GlobalMaxF32) Units() int { return g.Batch * work.BlocksOf(g.Channels) }

// Run computes unit u: one vector of out, whose planes are single pixels. Where all taps do not reach the end, the last of
// them begin earlier: what is met twice makes no other maximum.
func (g *GlobalMaxF32) Run(out, in work.Tensor4, u int) {
	blocks := work.BlocksOf(g.Channels)
	image, block := u/blocks, u%blocks
	plane := in.Data[image*in.Image+block*in.Plane:][:g.Pixels*work.Lanes]
	dst := out.Data[image*out.Image+block*out.Plane:][:work.Lanes]
	call := asm.PoolCall{Taps: g.taps, Out: dst, OutRow: work.Lanes, InRow: len(plane), Tiles: 1, Rows: 1}
	call.In = plane
	g.kernel.Max(1, call)
	part := g.parts.Get().(*[work.Lanes]float32)
	for at := len(g.taps); at < g.Pixels; at += len(g.taps) {
		call.In, call.Out = plane[min(at, g.Pixels-len(g.taps))*work.Lanes:], part[:]
		g.kernel.Max(1, call)
		for i, v := range part {
			if v > dst[i] || v != v {
				dst[i] = v
			}
		}
	}
	g.parts.Put(part)
}
