package convolutions

import (
	"fmt"
	"math"
	"slices"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/products"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/windows"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// TransposedColumnsF32 is a transposed convolution in float32 to few filters, ready to run: a product of matrices whose
// columns are then summed up. The input is NCHWc16 or NCHW, the output NCHW. Where filters are few, blocks of 16 of them
// would be padding for the most part; here a vector holds 16 pixels of one filter.
//
// A unit of work is a block of rows of all phases. Every filter's every tap has a plane of the products with the input
// rows that the block reads:
//
//	columns[filter][tap][row][column] = sum over channels c of weights[c][filter][tap] * x[c][row][column]
//
// with zeros left and right of the input's columns, as many as any tap reaches, and above and below of its rows. Output
// pixels of a phase are then sums of one element of the plane of each of its taps, all at the same distances.
type TransposedColumnsF32 struct {
	*subpixel
	planar  bool
	weights []float32   // [filter][tap][channel of the group]
	bias    []float32   // [filter][16]
	taps    [][]asm.Tap // of each phase, from the first filter's planes on
	ones    []float32
	none    []float32 // the bias of products

	products  [2]*asm.GemmKernel // by blocks of columns less one
	sum       asm.DepthwiseKernel
	layout    asm.LayoutKernel
	vec       asm.VecKernel
	workers   int
	height    int // rows of a block
	row       int // columns of a row with what surrounds it
	plane     int // elements of a plane of columns
	line      int // elements of a row of a phase, whole vectors
	panelSize int
	scratch   int // elements of one worker
	job       *work.Job[columnsRun]
}

// columnsBytes bounds the columns of a unit: a large part of the L2 cache, since the rows between units are computed twice.
const columnsBytes = 640 << 10

// columnsFilters bounds the filters: with more, blocks of 16 are full enough.
const columnsFilters = 24

// NewTransposedColumnsF32 takes weights [Channels][Filters/Groups][KernelH][KernelW] and bias [Filters] (nil for none) for
// kernels that features allow and up to workers goroutines; with planar the input is NCHW.
func NewTransposedColumnsF32(s TransposedShape, weights, bias []float32, planar bool, features asm.Features, workers int) (*TransposedColumnsF32, error) {
	c, err := planTransposedColumnsF32(s, planar, features, workers)
	if err != nil {
		return nil, err
	}
	if err := s.checkConstants(1, len(weights), bias); err != nil {
		return nil, err
	}
	c.pack(weights, bias)
	c.job = work.NewJob((*columnsRun).do)
	return c, nil
}

// planTransposedColumnsF32 returns a transposed convolution without weights: what its workspace follows from.
func planTransposedColumnsF32(s TransposedShape, planar bool, features asm.Features, workers int) (*TransposedColumnsF32, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	taps := s.KernelH * s.KernelW
	switch {
	case s.Filters > columnsFilters:
		return nil, fmt.Errorf("%d filters; from %d on, blocks of filters are computed faster", s.Filters, columnsFilters+1)
	case taps > windows.MaxTaps:
		return nil, fmt.Errorf("kernel %dx%d has more than %d taps", s.KernelH, s.KernelW, windows.MaxTaps)
	}
	c := &TransposedColumnsF32{subpixel: newSubpixel(s), planar: planar, workers: max(1, workers), layout: work.LayoutKernel(features)}
	c.products, c.vec = products.Kernels(features), work.VecKernel(features)
	c.sum = depthwiseKernel(features)
	c.row = c.columns() + c.window.KernelW - 1
	c.line = work.BlocksOf(c.columns()) * work.Lanes
	c.height = c.rows()
	for c.height > 1 && (c.size(c.height)*4 > columnsBytes || c.workers > 1 && c.height > 4 && s.Batch*c.rowBlocks() < 4*c.workers) {
		c.height = (c.height + 1) / 2
	}
	if n := c.size(c.height); n*4 > 2*columnsBytes || n > math.MaxInt32 {
		return nil, fmt.Errorf("%d products of a row of %d pixels do not stay in the cache", s.Filters*taps, s.Width)
	}
	c.height = work.Evenly(c.rows(), c.height)
	c.plane = c.planeOf(c.height)
	c.panelSize = s.Channels * c.panel()
	c.scratch = c.panelSize + c.size(c.height) + c.across()*c.height*c.line
	c.tabulate()
	return c, nil
}

// panel returns the columns of a product.
func (c *TransposedColumnsF32) panel() int {
	if c.products[1] != nil {
		return 2 * work.Lanes
	}
	return work.Lanes
}

// planeOf returns the elements of a plane of columns for so many rows of a phase.
func (c *TransposedColumnsF32) planeOf(rows int) int { return (rows + c.window.KernelH - 1) * c.row }

// size returns the elements of all columns, and of what vectors read behind the last.
func (c *TransposedColumnsF32) size(rows int) int {
	return c.shape.Filters*c.shape.KernelH*c.shape.KernelW*c.planeOf(rows) + work.Lanes
}

// tabulate makes the tables of taps.
func (c *TransposedColumnsF32) tabulate() {
	for _, p := range c.phases {
		var taps []asm.Tap
		for _, t := range p.taps {
			row, column := c.place(t)
			taps = append(taps, asm.Tap{Offset: int32(t.kernel*c.plane + row*c.row + column)})
		}
		c.taps = append(c.taps, taps)
	}
	c.ones = slices.Repeat([]float32{1}, max(1, c.most)*work.Lanes)
	c.none = make([]float32, c.panel())
}

// pack turns the weights around, so that those of a filter and a tap lie together.
func (c *TransposedColumnsF32) pack(weights, bias []float32) {
	s := &c.shape
	taps, inGroup, outGroup := s.KernelH*s.KernelW, s.Channels/s.Groups, s.Filters/s.Groups
	c.bias = make([]float32, s.Filters*work.Lanes)
	for f, v := range bias {
		for l := range work.Lanes {
			c.bias[f*work.Lanes+l] = v
		}
	}
	c.weights = work.AlignedFloats(s.Filters * taps * inGroup)
	for f := range s.Filters {
		for tap := range taps {
			for ch := range inGroup {
				c.weights[(f*taps+tap)*inGroup+ch] = weights[s.weight(f, f/outGroup*inGroup+ch, tap)]
			}
		}
	}
}

// Workspace returns the float32 elements that Run needs.
func (c *TransposedColumnsF32) Workspace() int { return c.scratch * c.workers }

// rowBlocks returns the number of blocks of rows of an image.
func (c *TransposedColumnsF32) rowBlocks() int { return work.CeilDiv(c.rows(), c.height) }

// columnsRun is the state of one Run.
type columnsRun struct {
	conv *TransposedColumnsF32
	call CallF32
}

// Run computes the transposed convolution; output and residual are NCHW. Several runs of one TransposedColumnsF32 may go on
// at the same time.
func (c *TransposedColumnsF32) Run(parallel work.Parallel, call *CallF32) {
	c.job.Run(parallel, c.workers, c.shape.Batch*c.rowBlocks(), columnsRun{c, *call})
}

// do computes unit u of the run.
func (r *columnsRun) do(u, worker int) {
	c := r.conv
	scratch := r.call.Workspace[worker*c.scratch:][:c.scratch]
	image, first := u/c.rowBlocks(), u%c.rowBlocks()*c.height
	last := min(first+c.height, c.rows())
	panel, columns, lines := scratch[:c.panelSize], scratch[c.panelSize:], scratch[len(scratch)-c.across()*c.height*c.line:]
	r.products(panel, columns, image, first, last)
	limits := r.call.Limits
	if r.call.Residual.Data != nil {
		limits = programs.NoLimits()
	}
	for f := range c.shape.Filters {
		for y := range len(c.phases) / c.across() {
			r.sums(lines, columns, f, y, first, last, limits)
			r.interleave(lines, image, f, y, first, last)
		}
		if r.call.After != nil {
			at, end := first*c.shape.StrideH*c.shape.OutWidth, min(last*c.shape.StrideH, c.shape.OutHeight)*c.shape.OutWidth
			r.call.After(image, f*r.call.Out.Plane+at, end-at)
		}
	}
}

// products computes the columns that rows [first, last) of the phases read.
func (r *columnsRun) products(panel, columns []float32, image, first, last int) {
	c, s := r.conv, &r.conv.shape
	planes := s.Filters * s.KernelH * s.KernelW
	top := first - c.window.PadTop // the input row of the first row of columns
	rows := last - first + c.window.KernelH - 1
	low, high := max(0, -top), max(0, min(rows, s.Height-top)) // those that the input has
	left := max(0, c.window.PadLeft)
	from := max(0, -c.window.PadLeft)
	n := max(0, min(s.Width-from, c.row-left))
	if low >= high || n == 0 {
		low, high = rows, rows
	}
	for p := range planes {
		plane := columns[p*c.plane:][:rows*c.row]
		clear(plane[:low*c.row])
		clear(plane[high*c.row:])
		for row := low; row < high; row++ {
			clear(plane[row*c.row:][:left])
			clear(plane[row*c.row+left+n : (row+1)*c.row])
		}
	}
	clear(columns[planes*c.plane:][:work.Lanes])
	in := r.call.In.Data[image*r.call.In.Image:]
	for row := low; row < high; row++ {
		for at := 0; at < n; at += c.panel() {
			width := min(c.panel(), n-at)
			r.load(panel, in, (top+row)*s.Width+from+at, width)
			r.product(panel, columns[row*c.row+left+at:], width)
		}
	}
}

// load brings pixels of all channels into a panel, channel after channel.
func (r *columnsRun) load(panel, in []float32, pixel, pixels int) {
	c := r.conv
	step := work.BlocksOf(pixels) * work.Lanes
	if c.planar {
		for ch := range c.shape.Channels {
			copy(panel[ch*step:][:pixels], in[ch*r.call.In.Plane+pixel:])
		}
		return
	}
	for b := range work.BlocksOf(c.shape.Channels) {
		c.layout.Deinterleave(panel[b*work.Lanes*step:], step, in[b*r.call.In.Plane+pixel*work.Lanes:], work.Lanes, min(work.Lanes, c.shape.Channels-b*work.Lanes), pixels)
	}
}

// product computes so many columns of every plane.
func (r *columnsRun) product(panel, columns []float32, width int) {
	c, s := r.conv, &r.conv.shape
	inGroup, rows := s.Channels/s.Groups, s.Filters/s.Groups*s.KernelH*s.KernelW
	step := work.BlocksOf(width) * work.Lanes
	depth := work.Evenly(inGroup, min(inGroup, products.MaxDepth))
	for g := range s.Groups {
		for k := 0; k < inGroup; k += depth {
			call := asm.GemmCall{A: c.weights[g*rows*inGroup+k:], AStride: inGroup, K: min(depth, inGroup-k),
				B: panel[(g*inGroup+k)*step:], Bias: c.none, Out: columns[g*rows*c.plane:], OutStride: c.plane,
				Limits: programs.NoLimits(), Columns: width}
			if k > 0 {
				call.Residual, call.ResidualStride = call.Out, c.plane
			}
			products.Strip(&call, c.products[step/work.Lanes-1], rows)
		}
	}
}

// sums computes rows [first, last) of the phases that begin at output row y, of one filter.
func (r *columnsRun) sums(lines, columns []float32, filter, y, first, last int, limits [2]float32) {
	c, s := r.conv, &r.conv.shape
	across := c.across()
	bias := c.bias[filter*work.Lanes:][:work.Lanes]
	for x := range across {
		phase, taps := &c.phases[y*across+x], c.taps[y*across+x]
		out := lines[x*c.height*c.line:]
		rows := min(last, phase.rows) - first
		if rows < 1 {
			continue
		}
		if len(taps) == 0 {
			v := max(limits[0], min(limits[1], bias[0]))
			for i := range out[:rows*c.line] {
				out[i] = v
			}
			continue
		}
		call := asm.DepthwiseCall{InRow: c.row, Taps: taps, Weights: c.ones, Bias: bias, OutRow: c.line, OutPixel: work.Lanes, Limits: limits}
		in := columns[filter*s.KernelH*s.KernelW*c.plane:]
		windows.Tiles(work.BlocksOf(phase.columns), rows, len(taps), c.sum.Pixels, func(row, rows, x, tiles, pixels int) {
			call.In, call.Out = in[row*c.row+x*work.Lanes:], out[row*c.line+x*work.Lanes:]
			call.Rows, call.Tiles = rows, tiles
			c.sum.Run(pixels, call)
		})
	}
}

// across returns the phases of one row.
func (c *TransposedColumnsF32) across() int { return min(c.shape.StrideW, c.shape.OutWidth) }

// interleave writes the output rows of the phases that begin at output row y.
func (r *columnsRun) interleave(lines []float32, image, filter, y, first, last int) {
	c, s := r.conv, &r.conv.shape
	across := c.across()
	for row := first; row < min(last, c.phases[y*across].rows); row++ {
		at := (row*s.StrideH + y) * s.OutWidth
		out := r.call.Out.Data[image*r.call.Out.Image+filter*r.call.Out.Plane+at:][:s.OutWidth]
		line := func(x int) []float32 {
			return lines[(x*c.height+row-first)*c.line:][:c.phases[y*across+x].columns]
		}
		switch across {
		case 1:
			copy(out, line(0))
		case 2:
			c.layout.Zip(out, line(0), line(1))
		default:
			for x := range across {
				for i, v := range line(x) {
					out[x+i*across] = v
				}
			}
		}
		if r.call.Residual.Data != nil {
			residual := r.call.Residual.Data[image*r.call.Residual.Image+filter*r.call.Residual.Plane+at:][:len(out)]
			c.vec.Binary(asm.Add, out, out, residual)
			c.vec.Unary(asm.Clamp, out, out, r.call.Limits[0], r.call.Limits[1])
		}
	}
}
