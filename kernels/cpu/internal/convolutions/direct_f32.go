package convolutions

import (
	"fmt"

	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/windows"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// DirectF32 is a direct convolution in float32, weights packed, ready to run. Its output is NCHWc16; its input
// is NCHWc16 or, for stems and network edges, NCHW.
//
// Each unit of work is a block of output rows times a range of output channel panels. A pointwise
// convolution reads its input in place. Any other first copies the input rows of its block into a scratch
// area that stays in the L2 cache, in an order in which every tap of the kernel is one constant offset and
// padding is stored zeros (Gather), so that the inner kernel has no edges. The reduction is cut into
// chunks of input channels so that one chunk of a panel's weights and of the scratch fit in L2 together.
//
// In a convolution of volumes each output slice is an image of its own, and each tap in depth has chunks of its own, which
// read the input slice under it.
type DirectF32 struct {
	shape    windows.Shape
	depth    windows.Depth
	planar   bool
	oh, ow   int // output rows and columns; of a pointwise convolution H*W and 1
	gather   *windows.Gather
	sections []convSection
	grouping grouping
	vec      asm.VecKernel
	perChunk int // input planes of a chunk, which is all that the order of the weights hangs on but for the filters themselves
	size     int // of the weights, packed
	constantsF32

	workers int
	rows    int // output rows of a block
	units   []convUnit
	scratch int // elements of one worker's scratch area
	job     *work.Job[convRun]
}

// constantsF32 is what is read of the constants of a convolution.
type constantsF32 struct{ weights, bias []float32 }

// convSection is a run of output channel panels that read the same input channels: all of them, or, in a
// grouped convolution, those of the groups that a panel's channels belong to.
type convSection struct {
	panels []convPanel
	chunks []convChunk
	mixed  bool // it reads channels that some of its filters are not made of
}

// convPanel is 16*Blocks output channels.
type convPanel struct {
	kernel *asm.ConvKernel
	block  int   // first output channel block
	chunks []int // offset of each chunk's weights
}

// convChunk is a part of the reduction: planes [first, last) of the input, blocks of 16 channels or, in
// NCHW, single channels.
type convChunk struct {
	first, last int
	slice       int // tap in depth
	taps        []asm.Tap
	depth       int // input channels times taps, as packed
}

// convUnit is a range of the panels of a section.
type convUnit struct{ section, first, last int }

// ConfigF32 chooses how a DirectF32 is built.
type ConfigF32 struct {
	Planar   bool          // input is NCHW
	Depth    windows.Depth // of volumes
	InPlane  int           // elements between the input's planes; 0 for dense
	Features asm.Features  // what the kernels may use
	Workers  int           // goroutines that Run may use, at least 1
}

// NewDirectF32 packs weights [Filters][Channels/Groups][taps in depth][KernelH][KernelW] and bias [Filters] (nil for none).
func NewDirectF32(s windows.Shape, weights, bias []float32, cfg ConfigF32) (*DirectF32, error) {
	c, err := planDirectF32(s, cfg)
	if err != nil {
		return nil, err
	}
	if c.constantsF32, err = c.packed(weights, bias); err != nil {
		return nil, err
	}
	return c, nil
}

// bindDirectF32 is NewDirectF32 whose constants are those of the binding's other shapes.
func bindDirectF32(b kernels.Binding, s windows.Shape, constants func() (weights, bias []float32), cfg ConfigF32) (*DirectF32, error) {
	c, err := planDirectF32(s, cfg)
	if err != nil {
		return nil, err
	}
	c.constantsF32, err = kernels.Packed(b, c.perChunk, func() (constantsF32, error) { return c.packed(constants()) })
	return c, err
}

// packed checks the constants' lengths and packs them.
func (c *DirectF32) packed(weights, bias []float32) (constantsF32, error) {
	s := &c.shape
	if want := s.Filters * s.Channels / s.Groups * s.KernelH * s.KernelW * c.depth.Kernel; len(weights) != want {
		return constantsF32{}, fmt.Errorf("%d weights, want %d", len(weights), want)
	}
	if bias != nil && len(bias) != s.Filters {
		return constantsF32{}, fmt.Errorf("%d bias values, want %d", len(bias), s.Filters)
	}
	return c.pack(weights, bias), nil
}

// planDirectF32 returns a convolution without weights: what its workspace follows from.
func planDirectF32(s windows.Shape, cfg ConfigF32) (*DirectF32, error) {
	most := windows.MaxTaps
	if cfg.Planar {
		most = windows.MaxPlanarTaps
	}
	if err := s.CheckTaps(most); err != nil {
		return nil, err
	}
	c := &DirectF32{shape: s, depth: cfg.Depth.OrNone(), planar: cfg.Planar, workers: max(1, cfg.Workers), oh: s.OutHeight(), ow: s.OutWidth()}
	if err := c.depth.Check(); err != nil {
		return nil, err
	}
	if s.Pointwise() {
		c.oh, c.ow = c.oh*c.ow, 1
	}
	c.sections = convSections(s.Channels, s.Filters, s.Groups, cfg.Planar, cfg.Features)
	c.grouping, c.vec = grouping{s.Channels, s.Filters, s.Groups}, work.VecKernel(cfg.Features)
	c.job = work.NewJob((*convRun).do)
	return c, c.tabulate(cfg)
}

// Workspace returns the float32 elements that Run needs.
func (c *DirectF32) Workspace() int { return c.scratch * c.workers }

// CallF32 is the operands of one run.
type CallF32 struct {
	In, Out   work.Tensor4
	Residual  work.Tensor4 // added to the sum when Data is set; NCHWc16 of the output's shape
	Limits    [2]float32   // the clamp of the result; see NoLimits
	Workspace []float32
	// After, if set, is called for each finished run of n elements of an image's output, from element at of the image
	// on, while it is still in the cache: for activations that the kernel does not know. A run is within one channel
	// block.
	After func(image, at, n int)
}

// convRun is the state of one Run.
type convRun struct {
	conv *DirectF32
	call CallF32
}

// Run computes the convolution. Several runs of one DirectF32 may go on at the same time.
func (c *DirectF32) Run(parallel work.Parallel, call *CallF32) {
	c.job.Run(parallel, c.workers, c.images()*c.rowBlocks()*len(c.units), convRun{c, *call})
}

// images returns the number of images, output slices of volumes each by itself.
func (c *DirectF32) images() int { return c.shape.Batch * c.depth.Out }

// rowBlocks returns the number of blocks of rows of an image.
func (c *DirectF32) rowBlocks() int { return (c.oh + c.rows - 1) / c.rows }

// do computes unit u of the run: units of the same rows follow each other.
func (r *convRun) do(u, worker int) {
	c := r.conv
	var scratch []float32
	if c.scratch > 0 {
		scratch = r.call.Workspace[worker*c.scratch:][:c.scratch]
	}
	unit, u := c.units[u%len(c.units)], u/len(c.units)
	first := u % c.rowBlocks() * c.rows
	r.unit(unit, u/c.rowBlocks(), first, min(first+c.rows, c.oh), scratch)
}

// unit computes output rows [first, last) of an image for the unit's panels.
func (r *convRun) unit(unit convUnit, image, first, last int, scratch []float32) {
	c := r.conv
	section := &c.sections[unit.section]
	image, slice := c.depth.Split(image)
	in := r.call.In.Data[image*r.call.In.Image:]
	low, high := c.depth.Taps(slice)
	perTap := len(section.chunks) / c.depth.Kernel
	part := convPart{image: image, at: slice * c.oh * c.ow * work.Lanes, first: first, last: last}
	for i := low * perTap; i < high*perTap; i++ {
		chunk := &section.chunks[i]
		source := in[c.depth.Slice(slice, chunk.slice)*c.sliceSize():]
		origin := chunk.first * r.call.In.Plane
		from, to := c.reads(first, last)
		part.foreign = c.grouping.foreign(&c.vec, section, chunk, c.planar, source, r.call.In.Plane, from, to)
		if c.gather != nil {
			c.gather.Copy(scratch, source, r.call.In.Plane, chunk.first, chunk.last, first, last)
			source, origin = scratch, 0
		} else if c.planar {
			origin += first
		} else {
			origin += first * work.Lanes
		}
		part.begins, part.ends = i == low*perTap, i == high*perTap-1
		for p := unit.first; p < unit.last; p++ {
			r.panel(section, p, i, part, source[origin:])
		}
	}
}

// reads returns the elements of a plane that output rows [first, last) are made of.
func (c *DirectF32) reads(first, last int) (from, to int) {
	s, pixel := &c.shape, work.Lanes
	if c.planar {
		pixel = 1
	}
	if c.gather == nil {
		return first * pixel, last * pixel
	}
	top, end := first*s.StrideH-s.PadTop, (last-1)*s.StrideH-s.PadTop+(s.KernelH-1)*s.DilationH+1
	return max(0, top) * s.Width * pixel, min(s.Height, end) * s.Width * pixel
}

// sliceSize returns the elements of a plane of an input slice.
func (c *DirectF32) sliceSize() int {
	if c.planar {
		return c.shape.Height * c.shape.Width
	}
	return c.shape.Height * c.shape.Width * work.Lanes
}

// convPart is rows [first, last) of an image, which begins at an element of each output plane, whether a chunk is the first or
// the last of their reduction, and whether it reads what is foreign.
type convPart struct {
	image, at    int
	first, last  int
	begins, ends bool
	foreign      bool
}

// panel runs one chunk of the reduction of one panel over the rows of a unit.
func (r *convRun) panel(section *convSection, p, chunk int, rows convPart, in []float32) {
	c := r.conv
	panel, part := &section.panels[p], &section.chunks[chunk]
	first, last, kernel := rows.first, rows.last, panel.kernel
	if rows.foreign {
		kernel = c.grouping.within(panel, part, c.shape.KernelH*c.shape.KernelW)
	}
	call := asm.ConvCall{
		Taps:       part.taps,
		Weights:    c.weights[panel.chunks[chunk]:],
		Ahead:      c.weights[panel.chunks[chunk]:],
		Bias:       c.bias[panel.block*work.Lanes:],
		OutBlock:   r.call.Out.Plane,
		OutPixel:   work.Lanes,
		Limits:     programs.NoLimits(),
		Accumulate: !rows.begins,
	}
	if rows.ends {
		call.Limits = r.call.Limits
	}
	if p+1 < len(section.panels) {
		call.Ahead = c.weights[section.panels[p+1].chunks[chunk]:]
		// Enough for the next panel to be there when this one is done.
		tiles := ((last-first)*c.ow + panel.kernel.Pixels - 1) / panel.kernel.Pixels
		call.AheadStep = min(32, 4*panel.kernel.Blocks*work.Lanes/tiles+1)
	}
	out := r.call.Out.Data[rows.image*r.call.Out.Image+panel.block*r.call.Out.Plane+rows.at:]
	var residual []float32
	if rows.ends && r.call.Residual.Data != nil {
		residual = r.call.Residual.Data[rows.image*r.call.Residual.Image+panel.block*r.call.Residual.Plane+rows.at:]
		call.ResidualBlock = r.call.Residual.Plane
	}
	length, step := (last-first)*c.ow, 0 // a strip of pixels, and its step in the input
	if c.gather != nil && c.planar {
		length, step = c.ow, c.gather.RowStep()
	}
	for at := first * c.ow; at < last*c.ow; at += length {
		call.In, call.Out = in, out[at*work.Lanes:]
		if residual != nil {
			call.Residual = residual[at*work.Lanes:]
		}
		convStrip(&call, kernel, part.depth, length)
		if rows.ends && r.call.After != nil {
			for b := range panel.kernel.Blocks {
				r.call.After(rows.image, (panel.block+b)*r.call.Out.Plane+rows.at+at*work.Lanes, length*work.Lanes)
			}
		}
		in = in[min(step, len(in)):]
	}
}

// convStrip computes length consecutive pixels, of a reduction of so many channels, in tiles of nearly equal size.
func convStrip(call *asm.ConvCall, k *asm.ConvKernel, depth, length int) {
	tiles := (length + k.Pixels - 1) / k.Pixels
	small := length / tiles
	big := length - small*tiles // tiles of one pixel more
	pixel := work.Lanes
	if k.Planar {
		pixel = 1
	}
	for tiles > 0 {
		p, n := small, tiles
		if big > 0 {
			p, n = small+1, big
		}
		n = min(n, max(1, work.CallSteps/(depth*p*k.Blocks)))
		call.Tiles = n
		k.Run(p, *call)
		tiles -= n
		big = max(0, big-n)
		if tiles == 0 {
			return
		}
		call.In = call.In[n*p*pixel:]
		call.Ahead = call.Ahead[min(len(call.Ahead)-1, n*depth/4*call.AheadStep):]
		call.Out = call.Out[n*p*call.OutPixel:]
		if call.Residual != nil {
			call.Residual = call.Residual[n*p*call.OutPixel:]
		}
	}
}
