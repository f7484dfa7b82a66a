package convolutions

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/windows"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// TransposedDepthwiseF32 is a depthwise transposed convolution of NCHWc16 tensors in float32, one filter a channel, by
// sub-pixel decomposition, ready to run: learned upsampling for the most part.
type TransposedDepthwiseF32 struct {
	*subpixel
	gather  *windows.Gather // nil where the input is read in place
	kernel  asm.DepthwiseKernel
	parts   []depthwisePhase
	bias    []float32
	zeros   []float32 // a row of what phases without taps read
	workers int
	height  int // rows of a unit
	blocks  int // channel blocks
	job     *work.Job[transposedDepthwiseRun]
}

// depthwisePhase is what there is of a phase for all channel blocks.
type depthwisePhase struct {
	taps    []asm.Tap
	weights []float32 // [channel block][tap][16]
}

// NewTransposedDepthwiseF32 packs weights [Channels][1][KernelH][KernelW] and bias [Channels] (nil for none) for kernels that
// features allow and up to workers goroutines. Channels, Filters and Groups of the shape must be equal.
func NewTransposedDepthwiseF32(s TransposedShape, weights, bias []float32, features asm.Features, workers int) (*TransposedDepthwiseF32, error) {
	c, err := planTransposedDepthwiseF32(s, features, workers)
	if err != nil {
		return nil, err
	}
	if err := s.checkConstants(1, len(weights), bias); err != nil {
		return nil, err
	}
	c.pack(weights, bias)
	c.job = work.NewJob((*transposedDepthwiseRun).do)
	return c, nil
}

// planTransposedDepthwiseF32 returns a transposed convolution without weights: what its workspace follows from.
func planTransposedDepthwiseF32(s TransposedShape, features asm.Features, workers int) (*TransposedDepthwiseF32, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if s.Groups == 1 || s.Groups != s.Channels || s.Filters != s.Channels {
		return nil, fmt.Errorf("%d channels to %d in %d groups: not depthwise", s.Channels, s.Filters, s.Groups)
	}
	c := &TransposedDepthwiseF32{subpixel: newSubpixel(s), kernel: depthwiseKernel(features), workers: max(1, workers), blocks: work.BlocksOf(s.Channels)}
	layout := work.LayoutKernel(features)
	gather := func(rows int) *windows.Gather {
		return windows.NewGather(&c.window, windows.RowRuns, work.Lanes, rows, layout)
	}
	c.height = c.rows()
	for c.height > 1 && gather(c.height).Size(1)*4 > windows.ScratchF32 {
		c.height = (c.height + 1) / 2
	}
	for c.workers > 1 && c.height > 4 && s.Batch*c.blocks*c.rowBlocks() < 4*c.workers {
		c.height = (c.height + 1) / 2
	}
	c.height = work.Evenly(c.rows(), c.height)
	if !c.inside {
		c.gather = gather(c.height)
	}
	if max(c.scratch(), c.window.KernelH*s.Width*work.Lanes) > math.MaxInt32 {
		return nil, fmt.Errorf("rows of %d columns are beyond 32-bit offsets", s.Width)
	}
	if c.empty {
		c.zeros = make([]float32, c.columns()*work.Lanes)
	}
	return c, nil
}

// pack lays out taps and weights; a phase without taps has one, of zeros times zero.
func (c *TransposedDepthwiseF32) pack(weights, bias []float32) {
	s := &c.shape
	c.bias = make([]float32, c.blocks*work.Lanes)
	copy(c.bias, bias)
	for _, p := range c.phases {
		part := depthwisePhase{weights: work.AlignedFloats(c.blocks * max(1, len(p.taps)) * work.Lanes)}
		for k, t := range p.taps {
			offset := (t.y*s.Width + t.x) * work.Lanes
			if c.gather != nil {
				row, column := c.place(t)
				offset = c.gather.Offset(0, row, column)
			}
			part.taps = append(part.taps, asm.Tap{Offset: int32(offset), Quads: 4})
			for ch := range s.Channels {
				part.weights[(ch/work.Lanes*len(p.taps)+k)*work.Lanes+ch%work.Lanes] = weights[s.weight(ch, ch, t.kernel)]
			}
		}
		if len(p.taps) == 0 {
			part.taps = []asm.Tap{{Quads: 4}}
		}
		c.parts = append(c.parts, part)
	}
}

// scratch returns the elements of one worker's copy.
func (c *TransposedDepthwiseF32) scratch() int {
	if c.gather == nil {
		return 0
	}
	return c.gather.Size(1)
}

// Workspace returns the float32 elements that Run needs.
func (c *TransposedDepthwiseF32) Workspace() int { return c.workers * c.scratch() }

// rowBlocks returns the number of blocks of rows of a channel block.
func (c *TransposedDepthwiseF32) rowBlocks() int { return work.CeilDiv(c.rows(), c.height) }

// transposedDepthwiseRun is the state of one Run.
type transposedDepthwiseRun struct {
	conv *TransposedDepthwiseF32
	call CallF32
}

// Run computes the transposed convolution. Several runs of one TransposedDepthwiseF32 may go on at the same time.
func (c *TransposedDepthwiseF32) Run(parallel work.Parallel, call *CallF32) {
	c.job.Run(parallel, c.workers, c.shape.Batch*c.blocks*c.rowBlocks(), transposedDepthwiseRun{c, *call})
}

// do computes unit u: a block of rows of all phases of a channel block.
func (r *transposedDepthwiseRun) do(u, worker int) {
	c, s := r.conv, &r.conv.shape
	first := u % c.rowBlocks() * c.height
	last := min(first+c.height, c.rows())
	u /= c.rowBlocks()
	image, block := u/c.blocks, u%c.blocks
	in := r.call.In.Data[image*r.call.In.Image:]
	if c.gather != nil {
		scratch := r.call.Workspace[worker*c.scratch():][:c.scratch()]
		c.gather.Copy(scratch, in, r.call.In.Plane, block, block+1, first, last)
		in = scratch
	} else {
		in = in[block*r.call.In.Plane+first*s.Width*work.Lanes:]
	}
	for i := range c.phases {
		r.phase(i, image, block, first, last, in)
	}
	if r.call.After != nil {
		at, end := first*s.StrideH*s.OutWidth*work.Lanes, min(last*s.StrideH, s.OutHeight)*s.OutWidth*work.Lanes
		r.call.After(image, block*r.call.Out.Plane+at, end-at)
	}
}

// phase computes rows [first, last), if there are so many, of a phase of a channel block.
func (r *transposedDepthwiseRun) phase(index, image, block, first, last int, in []float32) {
	c, s := r.conv, &r.conv.shape
	p, part := &c.phases[index], &c.parts[index]
	rows := min(last, p.rows) - first
	if rows < 1 {
		return
	}
	step := s.Width * work.Lanes
	if c.gather != nil {
		step = c.gather.Row()
	}
	if len(p.taps) == 0 {
		in, step = c.zeros, 0
	}
	at := block*r.call.Out.Plane + ((first*s.StrideH+p.y)*s.OutWidth+p.x)*work.Lanes
	out := r.call.Out.Data[image*r.call.Out.Image+at:]
	call := asm.DepthwiseCall{InRow: step, Taps: part.taps, Weights: part.weights[block*len(part.taps)*work.Lanes:], Bias: c.bias[block*work.Lanes:],
		OutRow: s.StrideH * s.OutWidth * work.Lanes, OutPixel: s.StrideW * work.Lanes, Limits: r.call.Limits}
	call.ResidualRow = call.OutRow
	var residual []float32
	if r.call.Residual.Data != nil {
		at += block * (r.call.Residual.Plane - r.call.Out.Plane)
		residual = r.call.Residual.Data[image*r.call.Residual.Image+at:]
	}
	windows.Tiles(p.columns, rows, len(part.taps), c.kernel.Pixels, func(y, rows, x, tiles, pixels int) {
		from := y*call.OutRow + x*call.OutPixel
		call.In, call.Out = in[y*step+x*work.Lanes:], out[from:]
		if residual != nil {
			call.Residual = residual[from:]
		}
		call.Rows, call.Tiles = rows, tiles
		c.kernel.Run(pixels, call)
	})
}
