package convolutions

import (
	"cmp"
	"fmt"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/windows"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// DepthwiseF32 is a depthwise convolution of NCHWc16 tensors in float32, one filter a channel, ready to run.
type DepthwiseF32 struct {
	field   windows.FieldF32
	depth   windows.Depth
	kernel  asm.DepthwiseKernel
	weights []float32 // [channel block][tap][16]
	bias    []float32
	job     *work.Job[depthwiseRun]
}

// NewDepthwiseF32 packs weights [Channels][1][taps in depth][KernelH][KernelW] and bias [Channels] (nil for none) for up to
// workers goroutines. Channels, Filters and Groups of the shape must be equal. The zero depth is that of images.
func NewDepthwiseF32(s windows.Shape, depth windows.Depth, weights, bias []float32, features asm.Features, workers int) (*DepthwiseF32, error) {
	d, err := planDepthwiseF32(s, depth, features, workers)
	if err != nil {
		return nil, err
	}
	taps := len(d.field.Taps)
	if len(weights) != s.Channels*taps {
		return nil, fmt.Errorf("%d weights, want %d", len(weights), s.Channels*taps)
	}
	if bias != nil && len(bias) != s.Channels {
		return nil, fmt.Errorf("%d bias values, want %d", len(bias), s.Channels)
	}
	d.bias = make([]float32, d.field.Blocks*work.Lanes)
	copy(d.bias, bias)
	d.weights = work.AlignedFloats(d.field.Blocks * taps * work.Lanes)
	for i, w := range weights {
		c, t := i/taps, i%taps
		d.weights[(c/work.Lanes*taps+t)*work.Lanes+c%work.Lanes] = w
	}
	d.job = work.NewJob((*depthwiseRun).do)
	return d, nil
}

// planDepthwiseF32 returns a convolution without weights: what its workspace follows from.
func planDepthwiseF32(s windows.Shape, depth windows.Depth, features asm.Features, workers int) (*DepthwiseF32, error) {
	depth = depth.OrNone()
	if err := cmp.Or(s.Check(), depth.Check()); err != nil {
		return nil, err
	}
	if s.Groups != s.Channels || s.Filters != s.Channels {
		return nil, fmt.Errorf("%d channels to %d in %d groups is not depthwise with one filter a channel", s.Channels, s.Filters, s.Groups)
	}
	if err := s.FewTaps(depth.Kernel, windows.MaxTaps); err != nil {
		return nil, err
	}
	s.Batch *= depth.Out
	d := &DepthwiseF32{depth: depth, kernel: depthwiseKernel(features)}
	return d, d.field.Init(s, depth.Kernel, 0, features, workers)
}

// depthwiseKernel returns the first kernel of the table that features allow.
func depthwiseKernel(features asm.Features) asm.DepthwiseKernel {
	for _, k := range asm.DepthwiseKernels() {
		if features.Has(k.Needs) {
			return k
		}
	}
	panic("cpu: no depthwise kernel without features")
}

// Workspace returns the float32 elements that Run needs.
func (d *DepthwiseF32) Workspace() int { return d.field.Workers * d.scratch() }

// scratch returns the elements of one worker's copies of slices.
func (d *DepthwiseF32) scratch() int { return d.depth.Kernel * d.field.Scratch() }

// depthwiseRun is the state of one Run.
type depthwiseRun struct {
	conv *DepthwiseF32
	call CallF32
}

// Run computes the convolution. Several runs of one DepthwiseF32 may go on at the same time.
func (d *DepthwiseF32) Run(parallel work.Parallel, call *CallF32) {
	d.job.Run(parallel, d.field.Workers, d.field.Units(), depthwiseRun{d, *call})
}

func (r *depthwiseRun) do(u, worker int) {
	d, f := r.conv, &r.conv.field
	image, block, first, last := f.Unit(u)
	image, slice := d.depth.Split(image)
	scratch := r.call.Workspace[worker*d.scratch():][:d.scratch()]
	low, high := f.CopySlices(scratch, r.call.In.Data[image*r.call.In.Image:], r.call.In.Plane, &d.depth, slice, block, first, last)
	plane := f.Shape.KernelH * f.Shape.KernelW
	row := f.OutColumns * work.Lanes
	at := (slice*f.OutRows + first) * row
	out := r.call.Out.Data[image*r.call.Out.Image+block*r.call.Out.Plane+at:]
	call := asm.DepthwiseCall{
		InRow: f.Gather.RowStep(), Taps: f.Taps[low*plane : high*plane],
		Weights: d.weights[(block*len(f.Taps)+low*plane)*work.Lanes:], Bias: d.bias[block*work.Lanes:],
		OutRow: row, OutPixel: work.Lanes, ResidualRow: row, Limits: r.call.Limits,
	}
	var residual []float32
	if r.call.Residual.Data != nil {
		residual = r.call.Residual.Data[image*r.call.Residual.Image+block*r.call.Residual.Plane+at:]
	}
	windows.Tiles(f.OutColumns, last-first, len(call.Taps), d.kernel.Pixels, func(y, rows, x, tiles, pixels int) {
		call.In, call.Out = scratch[y*call.InRow+x*work.Lanes:], out[y*row+x*work.Lanes:]
		if residual != nil {
			call.Residual = residual[y*row+x*work.Lanes:]
		}
		call.Rows, call.Tiles = rows, tiles
		d.kernel.Run(pixels, call)
	})
	if r.call.After != nil {
		r.call.After(image, block*r.call.Out.Plane+at, (last-first)*row)
	}
}
