package convolutions

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/windows"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// TransposedF32 is a transposed convolution in float32 of NCHWc16 tensors by sub-pixel decomposition, weights packed, ready
// to run.
//
// Each unit of work is a block of rows of all phases times a range of output channel panels. Where taps reach beyond the
// input, the unit first copies the input rows that its phases read, with zeros around them: one copy serves every tap of
// every phase. A phase is then so many rows of an ordinary convolution, whose kernels write their pixels StrideW apart. The
// reduction is cut into chunks as that of DirectF32 is.
//
// In a transposed convolution of volumes each output slice is an image of its own, and each tap in depth has chunks of its
// own, which read the input slice under it.
type TransposedF32 struct {
	*subpixel
	depth    windows.Depth
	slices   [][]sliceTap    // of each output slice
	gather   *windows.Gather // nil where the input is read in place
	grouping grouping
	vec      asm.VecKernel
	sections []convSection // whose chunks are, of each tap in depth and part of the reduction, one for every phase
	weights  []float32     // in the order in which they are read: [section][tap in depth][part][panel][phase]
	bias     []float32
	zeros    []float32 // a row of what phases without taps read

	workers int
	height  int // rows of a block
	units   []convUnit
	scratch int // elements of one worker's copy
	job     *work.Job[transposedRun]
}

// NewTransposedF32 packs weights [Channels][Filters/Groups][taps in depth][KernelH][KernelW] and bias [Filters] (nil for
// none) for kernels that features allow and up to workers goroutines. The zero depth is that of images.
func NewTransposedF32(s TransposedShape, depth windows.Depth, weights, bias []float32, features asm.Features, workers int) (*TransposedF32, error) {
	c, err := planTransposedF32(s, depth, features, workers)
	if err != nil {
		return nil, err
	}
	if err := s.checkConstants(c.depth.Kernel, len(weights), bias); err != nil {
		return nil, err
	}
	c.pack(weights, bias)
	c.job = work.NewJob((*transposedRun).do)
	return c, nil
}

// checkConstants returns an error unless there are as many weights and bias values, if any, as the shape has with so many
// taps in depth.
func (s *TransposedShape) checkConstants(depth, weights int, bias []float32) error {
	if want := s.Channels * (s.Filters / s.Groups) * depth * s.KernelH * s.KernelW; weights != want {
		return fmt.Errorf("%d weights, want %d", weights, want)
	}
	if bias != nil && len(bias) != s.Filters {
		return fmt.Errorf("%d bias values, want %d", len(bias), s.Filters)
	}
	return nil
}

// planTransposedF32 returns a transposed convolution without weights: what its workspace follows from.
func planTransposedF32(s TransposedShape, depth windows.Depth, features asm.Features, workers int) (*TransposedF32, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	c := &TransposedF32{subpixel: newSubpixel(s), depth: depth.OrNone(), workers: max(1, workers)}
	var err error
	if c.slices, err = transposedSlices(depth); err != nil {
		return nil, err
	}
	c.sections = convSections(s.Channels, s.Filters, s.Groups, false, features)
	c.grouping, c.vec = grouping{s.Channels, s.Filters, s.Groups}, work.VecKernel(features)
	planes, widest := extent(c.sections)
	kernel := work.LayoutKernel(features)
	gather := func(rows int) *windows.Gather {
		return windows.NewGather(&c.window, windows.RowRuns, work.Lanes, rows, kernel)
	}
	blocking := rowBlocking{oh: c.rows(), ow: c.columns(), batch: s.Batch * c.depth.Out, workers: c.workers}
	perChunk := work.Evenly(planes, min(planes, max(1, unitWeights/(max(1, c.most)*work.Lanes*widest*work.Lanes*4))))
	c.height, perChunk = blocking.choose(planes, perChunk, func(rows, perChunk int) bool {
		if c.inside {
			return rows*s.Width*work.Lanes*perChunk*4 <= unitInput
		}
		return gather(rows).Size(perChunk)*4 <= unitInput
	})
	if !c.inside {
		c.gather = gather(c.height)
		c.scratch = c.gather.Size(perChunk)
	}
	if c.empty {
		c.zeros = make([]float32, c.columns()*work.Lanes)
	}
	for i := range c.sections {
		if err := c.tabulate(&c.sections[i], perChunk); err != nil {
			return nil, err
		}
	}
	c.units = convUnits(c.sections, s.Batch*c.depth.Out*c.rowBlocks(), c.workers)
	return c, nil
}

// tabulate divides the reduction of a section.
func (c *TransposedF32) tabulate(section *convSection, perChunk int) error {
	whole := section.chunks[0]
	section.chunks = nil
	for slice := range c.depth.Kernel {
		for at := whole.first; at < whole.last; at += perChunk {
			part := convChunk{first: at, last: min(at+perChunk, whole.last), slice: slice}
			if most := c.offset(part.last-part.first, c.window.KernelH, c.window.KernelW); most < 0 || most > math.MaxInt32 {
				return fmt.Errorf("input of %dx%dx%d is beyond 32-bit offsets", c.shape.Channels, c.shape.Height, c.shape.Width)
			}
			for _, p := range c.phases {
				section.chunks = append(section.chunks, c.chunk(part, p, part.last == whole.last))
			}
		}
	}
	return nil
}

// chunk returns a part of the reduction with the table of a phase's taps.
func (c *TransposedF32) chunk(part convChunk, p phase, last bool) convChunk {
	for plane := part.first; plane < part.last; plane++ {
		quads := min(work.Lanes, c.shape.Channels-plane*work.Lanes+3) / 4
		for _, t := range p.taps {
			row, column := c.place(t)
			part.taps = append(part.taps, asm.Tap{Offset: int32(c.offset(plane-part.first, row, column)), Quads: int32(quads)})
			part.depth += 4 * quads
		}
	}
	if len(p.taps) == 0 && last { // zero times a weight of zero
		part.taps, part.depth = []asm.Tap{{Quads: 1}}, 4
	}
	return part
}

// offset returns where the input of a place in the window begins, from that of its first row and column on.
func (c *TransposedF32) offset(plane, row, column int) int {
	if c.gather != nil {
		return c.gather.Offset(plane, row, column)
	}
	s := &c.shape
	return (plane*c.depth.In*s.Height*s.Width + (row-c.window.PadTop)*s.Width + column - c.window.PadLeft) * work.Lanes
}

// pack lays the weights out, for each panel and chunk [plane][tap][channel of the plane][16*Blocks].
func (c *TransposedF32) pack(weights, bias []float32) {
	s := &c.shape
	c.bias = make([]float32, (work.BlocksOf(s.Filters)+1)*work.Lanes)
	copy(c.bias, bias)
	size := 0
	each := func(do func(panel *convPanel, chunk int, from *convChunk)) {
		for i := range c.sections {
			section := &c.sections[i]
			for part := 0; part < len(section.chunks); part += len(c.phases) {
				for p := range section.panels {
					for phase := range c.phases {
						do(&section.panels[p], part+phase, &section.chunks[part+phase])
					}
				}
			}
		}
	}
	each(func(panel *convPanel, _ int, chunk *convChunk) {
		panel.chunks = append(panel.chunks, size)
		size += chunk.depth * panel.kernel.Blocks * work.Lanes
	})
	c.weights = work.AlignedFloats(size)
	each(func(panel *convPanel, i int, chunk *convChunk) {
		c.packChunk(c.weights[panel.chunks[i]:], weights, panel, chunk, c.phases[i%len(c.phases)].taps)
	})
}

// packChunk packs one chunk of one panel. Weights between an output channel and input channels of another group, which share
// its section, are zero.
func (c *TransposedF32) packChunk(dst, weights []float32, panel *convPanel, chunk *convChunk, taps []phaseTap) {
	s := &c.shape
	inGroup, outGroup := s.Channels/s.Groups, s.Filters/s.Groups
	width := panel.kernel.Blocks * work.Lanes
	for i, tap := range chunk.taps[:len(taps)*(chunk.last-chunk.first)] {
		channel, count := (chunk.first+i/len(taps))*work.Lanes, 4*int(tap.Quads)
		for ch := channel; ch < channel+count; ch++ {
			for o := range width {
				f := panel.block*work.Lanes + o
				if f < s.Filters && ch < s.Channels && f/outGroup == ch/inGroup {
					dst[o] = weights[s.weight(f, ch, 0)*c.depth.Kernel+chunk.slice*s.KernelH*s.KernelW+taps[i%len(taps)].kernel]
				}
			}
			dst = dst[width:]
		}
	}
}

// Workspace returns the float32 elements that Run needs.
func (c *TransposedF32) Workspace() int { return c.scratch * c.workers }

// rowBlocks returns the number of blocks of rows of an image.
func (c *TransposedF32) rowBlocks() int { return work.CeilDiv(c.rows(), c.height) }

// transposedRun is the state of one Run.
type transposedRun struct {
	conv *TransposedF32
	call CallF32
}

// Run computes the transposed convolution. Several runs of one TransposedF32 may go on at the same time.
func (c *TransposedF32) Run(parallel work.Parallel, call *CallF32) {
	c.job.Run(parallel, c.workers, c.shape.Batch*c.depth.Out*c.rowBlocks()*len(c.units), transposedRun{c, *call})
}

// do computes unit u of the run: units of the same rows follow each other.
func (r *transposedRun) do(u, worker int) {
	c := r.conv
	var scratch []float32
	if c.scratch > 0 {
		scratch = r.call.Workspace[worker*c.scratch:][:c.scratch]
	}
	unit, u := c.units[u%len(c.units)], u/len(c.units)
	first := u % c.rowBlocks() * c.height
	r.unit(unit, u/c.rowBlocks(), first, min(first+c.height, c.rows()), scratch)
}

// unit computes rows [first, last) of all phases of an image for the unit's panels.
func (r *transposedRun) unit(unit convUnit, image, first, last int, scratch []float32) {
	c, s := r.conv, &r.conv.shape
	section := &c.sections[unit.section]
	taps := c.slices[image%c.depth.Out]
	rows := convPart{image: image / c.depth.Out, at: image % c.depth.Out * s.OutHeight * s.OutWidth * work.Lanes, first: first, last: last}
	volume := r.call.In.Data[rows.image*r.call.In.Image:]
	perTap := len(section.chunks) / c.depth.Kernel
	for t, tap := range taps {
		for i := 0; i < perTap; i += len(c.phases) {
			chunk := &section.chunks[tap.kernel*perTap+i]
			in := volume[tap.slice*s.Height*s.Width*work.Lanes:]
			from, to := c.reads(first, last)
			rows.foreign = c.grouping.foreign(&c.vec, section, chunk, false, in, r.call.In.Plane, from, to)
			if c.gather != nil {
				c.gather.Copy(scratch, in, r.call.In.Plane, chunk.first, chunk.last, first, last)
				in = scratch
			} else {
				in = in[chunk.first*r.call.In.Plane+first*s.Width*work.Lanes:]
			}
			rows.begins, rows.ends = t == 0 && i == 0, t == len(taps)-1 && i+len(c.phases) == perTap
			for p := unit.first; p < unit.last; p++ {
				for phase := range c.phases {
					r.phase(section, p, tap.kernel*perTap+i+phase, phase, rows, in)
				}
				if r.call.After != nil && rows.ends {
					r.after(&section.panels[p], rows)
				}
			}
		}
	}
}

// reads returns the elements of a plane that rows [first, last) of all phases are made of.
func (c *TransposedF32) reads(first, last int) (from, to int) {
	row := c.shape.Width * work.Lanes
	return max(0, first-c.window.PadTop) * row, min(c.shape.Height, last-1-c.window.PadTop+c.window.KernelH) * row
}

// phase computes the rows, if there are so many, of a phase and a panel from a chunk of the reduction.
func (r *transposedRun) phase(section *convSection, p, part, index int, rows convPart, in []float32) {
	c, s := r.conv, &r.conv.shape
	panel, chunk, phase := &section.panels[p], &section.chunks[part], &c.phases[index]
	first, last := rows.first, min(rows.last, phase.rows)
	if len(chunk.taps) == 0 || first >= last {
		return
	}
	step, reads, kernel := s.Width*work.Lanes, len(phase.taps) > 0, panel.kernel
	if rows.foreign && reads {
		kernel = c.grouping.within(panel, chunk, len(phase.taps))
	}
	if c.gather != nil {
		step = c.gather.Row()
	}
	if !reads {
		in, step = c.zeros, 0
	}
	weights := c.weights[panel.chunks[part]:]
	size := chunk.depth * panel.kernel.Blocks * work.Lanes
	tiles := work.CeilDiv(phase.columns, panel.kernel.Pixels)
	ahead, aheadStep := weights, 0
	if size < len(weights) { // enough for what follows to be there when this is done
		ahead, aheadStep = weights[size:], min(32, 4*panel.kernel.Blocks*work.Lanes/(tiles*(last-first))+1)
	}
	call := asm.ConvCall{Taps: chunk.taps, Weights: weights, AheadStep: aheadStep, Bias: c.bias[panel.block*work.Lanes:],
		OutBlock: r.call.Out.Plane, OutPixel: s.StrideW * work.Lanes, Limits: programs.NoLimits(), Accumulate: !rows.begins && reads}
	out := r.call.Out.Data[rows.image*r.call.Out.Image+panel.block*r.call.Out.Plane+rows.at:]
	var residual []float32
	if rows.ends {
		call.Limits = r.call.Limits
		if r.call.Residual.Data != nil {
			residual = r.call.Residual.Data[rows.image*r.call.Residual.Image+panel.block*r.call.Residual.Plane+rows.at:]
			call.ResidualBlock = r.call.Residual.Plane
		}
	}
	for row := first; row < last; row++ {
		at := ((row*s.StrideH+phase.y)*s.OutWidth + phase.x) * work.Lanes
		call.In, call.Out, call.Ahead = in[(row-first)*step:], out[at:], ahead
		if residual != nil {
			call.Residual = residual[at:]
		}
		convStrip(&call, kernel, chunk.depth, phase.columns)
		ahead = ahead[min(len(ahead)-1, tiles*chunk.depth/4*aheadStep):]
	}
}

// after reports the output rows of a block of rows and a panel.
func (r *transposedRun) after(panel *convPanel, rows convPart) {
	s := &r.conv.shape
	at, end := rows.first*s.StrideH*s.OutWidth*work.Lanes, min(rows.last*s.StrideH, s.OutHeight)*s.OutWidth*work.Lanes
	for b := range panel.kernel.Blocks {
		r.call.After(rows.image, (panel.block+b)*r.call.Out.Plane+rows.at+at, end-at)
	}
}
