package convolutions

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/windows"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// Sizes that keep a unit's operands in a 1 MiB L2 cache: bytes of input and of one panel's weights.
const (
	unitInput   = 256 << 10
	unitWeights = 320 << 10
	unitPixels  = 56 // below this many output pixels a unit waits for its weights
)

// convKernels returns the kernels of a layout that features allow, by their number of blocks: those of the best
// instruction set alone, one block always among them.
func convKernels(planar bool, features asm.Features) map[int]*asm.ConvKernel {
	found := map[int]*asm.ConvKernel{}
	kernels := asm.ConvKernels()
	var best *asm.ConvKernel
	for i := range kernels {
		k := &kernels[i]
		if k.Planar != planar || !features.Has(k.Needs) {
			continue
		}
		if best == nil {
			best = k
		}
		if k.Needs == best.Needs {
			found[k.Blocks] = k
		}
	}
	return found
}

// convSections divides the output channels into panels, and those into sections, each of one chunk: blocks of 16 input
// channels or, in NCHW, single ones.
func convSections(channels, filters, groups int, planar bool, features asm.Features) []convSection {
	kernels := convKernels(planar, features)
	blocks := work.BlocksOf(filters)
	var sections []convSection
	for b := 0; b < blocks; {
		width := 2
		switch left := blocks - b; {
		case left == 3 && kernels[3] != nil:
			width = 3
		case left == 1 || kernels[2] == nil:
			width = 1
		}
		perGroup := filters / groups
		low := b * work.Lanes / perGroup
		high := (min((b+width)*work.Lanes, filters)-1)/perGroup + 1
		first, last := low*channels/groups, high*channels/groups
		mixed := high-low > 1
		if !planar {
			mixed = mixed || first%work.Lanes != 0 || last%work.Lanes != 0 && last < channels
			first, last = first/work.Lanes, work.BlocksOf(last)
		}
		panel := convPanel{kernel: kernels[width], block: b}
		b += width
		if n := len(sections); n > 0 && sections[n-1].chunks[0].first == first && sections[n-1].chunks[0].last == last {
			sections[n-1].panels = append(sections[n-1].panels, panel)
			sections[n-1].mixed = sections[n-1].mixed || mixed
			continue
		}
		sections = append(sections, convSection{
			panels: []convPanel{panel},
			chunks: []convChunk{{first: first, last: last}},
			mixed:  mixed,
		})
	}
	return sections
}

// extent returns the most input planes that a section reads and the most blocks of a panel.
func extent(sections []convSection) (planes, widest int) {
	for i := range sections {
		chunk := sections[i].chunks[0]
		planes = max(planes, chunk.last-chunk.first)
		for _, p := range sections[i].panels {
			widest = max(widest, p.kernel.Blocks)
		}
	}
	return planes, widest
}

// planeDepth returns the reduction steps of one input plane.
func (c *DirectF32) planeDepth() int {
	taps := c.shape.KernelH * c.shape.KernelW
	if c.planar {
		return taps
	}
	return taps * work.Lanes
}

// tabulate chooses chunk and block sizes, cuts the work into units and builds the tables of taps.
func (c *DirectF32) tabulate(cfg ConfigF32) error {
	planes, widest := extent(c.sections)
	perChunk := min(planes, max(1, unitWeights/(c.planeDepth()*widest*work.Lanes*4)))
	perChunk = c.chooseRows(planes, work.Evenly(planes, perChunk), work.LayoutKernel(cfg.Features))
	for i := range c.sections {
		whole := c.sections[i].chunks[0]
		c.sections[i].chunks = nil
		for slice := range c.depth.Kernel {
			for at := whole.first; at < whole.last; at += perChunk {
				chunk := convChunk{first: at, last: min(at+perChunk, whole.last), slice: slice}
				if err := c.tapsOf(&chunk, cfg.InPlane); err != nil {
					return err
				}
				c.sections[i].chunks = append(c.sections[i].chunks, chunk)
			}
		}
	}
	if c.gather != nil {
		if c.scratch = c.gather.Size(perChunk); c.scratch > windows.MaxScratch {
			return fmt.Errorf("the input of %d rows spans %d elements with its pads, more than %d", c.rows, c.scratch, windows.MaxScratch)
		}
	}
	c.perChunk, c.size = perChunk, c.place()
	c.cut()
	return nil
}

// chooseRows sets the block of rows that one unit computes and returns the planes of a chunk, at most
// perChunk.
func (c *DirectF32) chooseRows(planes, perChunk int, kernel asm.LayoutKernel) int {
	fits := func(rows, perChunk int) bool {
		if c.shape.Pointwise() {
			size := rows * perChunk * 4
			if !c.planar {
				size *= work.Lanes
			}
			return size <= unitInput
		}
		return c.newGather(rows, kernel).Size(perChunk)*4 <= unitInput
	}
	b := rowBlocking{oh: c.oh, ow: c.ow, batch: c.images(), workers: c.workers}
	c.rows, perChunk = b.choose(planes, perChunk, fits)
	if !c.shape.Pointwise() {
		c.gather = c.newGather(c.rows, kernel)
	}
	return perChunk
}

// rowBlocking is what the rows of a unit follow from: the pixels that there are and the workers that share them.
type rowBlocking struct{ oh, ow, batch, workers int }

// choose returns the rows of a unit and the input planes of a chunk, at most perChunk, whose input fits.
func (b rowBlocking) choose(planes, perChunk int, fits func(rows, perChunk int) bool) (rows, chunk int) {
	least := min(b.oh, (unitPixels+b.ow-1)/b.ow)
	for perChunk > 1 && !fits(least, perChunk) {
		perChunk = work.Evenly(planes, perChunk-1)
	}
	rows = least
	for rows < b.oh && fits(min(2*rows, b.oh), perChunk) {
		rows = min(2*rows, b.oh)
	}
	if b.workers > 1 {
		for b.batch*((b.oh+rows-1)/rows) < 4*b.workers && rows > least {
			rows = max(least, (rows+1)/2)
		}
	}
	return work.Evenly(b.oh, rows), perChunk
}

// newGather plans the copy of a block of rows.
func (c *DirectF32) newGather(rows int, kernel asm.LayoutKernel) *windows.Gather {
	if c.planar {
		return windows.NewGather(&c.shape, windows.RowRuns, 1, rows, kernel)
	}
	return windows.NewGather(&c.shape, windows.TapRuns, work.Lanes, rows, kernel)
}

// cut divides each section's panels into units.
func (c *DirectF32) cut() {
	c.units = convUnits(c.sections, c.images()*c.rowBlocks(), c.workers)
}

// convUnits divides each section's panels into units, one per section unless blocks of rows alone give the workers too
// little to share.
func convUnits(sections []convSection, rowBlocks, workers int) []convUnit {
	var units []convUnit
	blocks := rowBlocks * len(sections)
	for i, s := range sections {
		parts := 1
		if workers > 1 && blocks < 4*workers {
			parts = min(len(s.panels), (4*workers+blocks-1)/blocks)
		}
		for p := range parts {
			units = append(units, convUnit{i, p * len(s.panels) / parts, (p + 1) * len(s.panels) / parts})
		}
	}
	return units
}

// tapsOf fills in the chunk's table.
func (c *DirectF32) tapsOf(chunk *convChunk, plane int) error {
	s := &c.shape
	if plane == 0 {
		plane = c.depth.In * c.sliceSize()
	}
	if plane > math.MaxInt32/(chunk.last-chunk.first) {
		return fmt.Errorf("%d planes of %d elements are beyond 32-bit offsets", chunk.last-chunk.first, plane)
	}
	for i := chunk.first; i < chunk.last; i++ {
		quads := 1
		if !c.planar {
			quads = min(work.Lanes, s.Channels-i*work.Lanes+3) / 4
		}
		for kh := range s.KernelH {
			for kw := range s.KernelW {
				offset := (i - chunk.first) * plane
				if c.gather != nil {
					offset = c.gather.Offset(i-chunk.first, kh, kw)
				}
				chunk.taps = append(chunk.taps, asm.Tap{Offset: int32(offset), Quads: int32(quads)})
				if c.planar {
					chunk.depth++
				} else {
					chunk.depth += 4 * quads
				}
			}
		}
	}
	return nil
}

// place says where the weights of each panel and chunk begin, and returns how many there are: in the order in which the
// kernels read them, [plane][kh][kw][channel of the plane][16*Blocks] of each.
func (c *DirectF32) place() (size int) {
	for i := range c.sections {
		for p := range c.sections[i].panels {
			panel := &c.sections[i].panels[p]
			for _, chunk := range c.sections[i].chunks {
				panel.chunks = append(panel.chunks, size)
				size += chunk.depth * panel.kernel.Blocks * work.Lanes
			}
		}
	}
	return size
}

// pack returns the constants of a convolution whose weights and bias have their lengths.
func (c *DirectF32) pack(weights, bias []float32) constantsF32 {
	packed := constantsF32{weights: work.AlignedFloats(c.size), bias: make([]float32, (work.BlocksOf(c.shape.Filters)+1)*work.Lanes)}
	copy(packed.bias, bias)
	for i := range c.sections {
		for p := range c.sections[i].panels {
			panel := &c.sections[i].panels[p]
			for j := range c.sections[i].chunks {
				c.packChunk(packed.weights[panel.chunks[j]:], weights, panel, &c.sections[i].chunks[j])
			}
		}
	}
	return packed
}

// packChunk packs one chunk of one panel. Weights between an output channel and input channels of another
// group, which share its section, are zero.
func (c *DirectF32) packChunk(dst, weights []float32, panel *convPanel, chunk *convChunk) {
	s := &c.shape
	inGroup, outGroup := s.Channels/s.Groups, s.Filters/s.Groups
	width, taps := panel.kernel.Blocks*work.Lanes, s.KernelH*s.KernelW
	tap := 0
	for plane := chunk.first; plane < chunk.last; plane++ {
		for k := range taps {
			channel, count := plane, 1
			if !c.planar {
				channel, count = plane*work.Lanes, 4*int(chunk.taps[tap].Quads)
			}
			for ch := channel; ch < channel+count; ch++ {
				for o := range width {
					f := panel.block*work.Lanes + o
					if f < s.Filters && ch < s.Channels && f/outGroup == ch/inGroup {
						dst[o] = weights[((f*inGroup+ch%inGroup)*c.depth.Kernel+chunk.slice)*taps+k]
					}
				}
				dst = dst[width:]
			}
			tap++
		}
	}
}
