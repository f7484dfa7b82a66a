package convolutions

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/quantised"
	"github.com/trtui/trtui/kernels/cpu/internal/windows"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// split chooses the block of rows and the ranges of panels of a unit.
func (c *DirectInt8) split() {
	s := &c.shape
	c.panels = int8Panels(s, c.cfg.Features)
	// Rows first: panels of one block of rows share its copy. Few rows a block would reload all weights for
	// each.
	c.rows = s.OutHeight()
	bytes := func() int {
		a := c.area
		a.Copied = true
		a.Fit(c.rows)
		return a.Plane * work.BlocksOf(s.Channels)
	}
	for c.rows > 1 && bytes() > windows.CopyBytes {
		c.rows = (c.rows + 1) / 2
	}
	units := func() int { return s.Batch * ((s.OutHeight() + c.rows - 1) / c.rows) }
	// Four units for each worker, so that who is done helps the others. Where the kernel has inputs laid out, each range of panels does
	// that anew: as many for each worker will do.
	workers, laidOut := c.cfg.Workers, !c.panels[0].Kernel.InPlace()
	want := 4 * workers
	if workers == 1 || laidOut {
		want = workers
	}
	for c.rows >= 8 && units() < want {
		c.rows = (c.rows + 1) / 2
	}
	shared := func(n int) bool { return n >= 4*workers || n >= want && n%workers == 0 }
	for c.groups = 1; c.groups < len(c.panels) && !shared(c.groups*units()); c.groups++ {
	}
	c.area.Fit(c.rows)
	if c.area.Copied {
		planes := work.BlocksOf(s.Channels)
		c.scratch = (c.area.Plane*planes + windows.Overread + 63) &^ 63
	}
	c.room = c.packedRoom()
	c.scratch += c.room
}

// packedBytes bounds what is laid out at a time: half of the L2 cache of many processors.
const packedBytes = 256 << 10

// packedRoom returns the bytes for inputs that are laid out: of all pixels of a unit if there is room for them, of one tile at least.
func (c *DirectInt8) packedRoom() int {
	s, k := &c.shape, c.panels[0].Kernel
	steps := work.BlocksOf(s.Channels) * s.KernelH * s.KernelW
	if c.cfg.Stem {
		steps = s.KernelH * work.CeilDiv(s.KernelW, 4)
	}
	steps = work.CeilDiv(quantised.MostSteps*steps, k.Steps) * k.Steps
	return min(k.PackedSize(c.rows*s.OutWidth(), steps), max(packedBytes, k.PackedSize(k.Pixels, steps)))
}

// packedPixels returns how many pixels the room takes, whole tiles of them, or all where inputs are read as they lie.
func (c *DirectInt8) packedPixels() int {
	if c.room == 0 {
		return len(c.pixels)
	}
	tile, most := 0, c.panels[0].Kernel.Pixels
	for i := range c.panels {
		p := &c.panels[i]
		tile = max(tile, p.Kernel.PackedSize(most, len(p.Steps)))
	}
	return min(c.room/tile*most, len(c.pixels))
}

// int8Panels divides the output channels into panels of two blocks, where the features have such kernels, or one.
func int8Panels(s *windows.Shape, features asm.Features) []quantised.Panel {
	wide, narrow := quantised.ConvKernel(features, 2), quantised.ConvKernel(features, 1)
	filters := work.BlocksOf(s.Filters)
	var panels []quantised.Panel
	for b := 0; b < filters; {
		p := quantised.Panel{Kernel: wide, Block: b}
		if filters-b < wide.Blocks {
			p.Kernel = narrow
		}
		p.First = b * work.Lanes / (s.Filters / s.Groups) * (s.Channels / s.Groups) / work.Lanes
		b += p.Kernel.Blocks
		panels = append(panels, p)
	}
	return panels
}

// tabulate makes the table of pixel offsets.
func (c *DirectInt8) tabulate() error {
	s := &c.shape
	planes := work.BlocksOf(s.Channels)
	if c.cfg.Stem {
		planes = 1
	}
	end := c.area.Offset(planes, s.KernelH, s.KernelW) + c.area.Window(c.rows, s.OutWidth())
	if end < 0 || end > math.MaxInt32 {
		return fmt.Errorf("input of %dx%dx%d is beyond 2 GiB", s.Channels, s.Height, s.Width)
	}
	c.pixels = c.area.Pixels(c.rows)
	return nil
}

// pack lays out weights, steps and the epilogue's constants.
func (c *DirectInt8) pack(weights []int16, scale, bias []float32) {
	s := &c.shape
	c.start, c.scale, c.bias = quantised.Constants(s.Filters, weights, scale, bias, c.cfg.InZero)
	for i := range c.panels {
		p := &c.panels[i]
		steps := c.blockedSteps(p, weights)
		if c.cfg.Stem {
			steps = c.stemSteps(weights)
		}
		if i == 0 {
			c.weights = quantised.Room(c.panels, len(steps))
		}
		c.weights = p.Pack(c.weights, steps, s.Filters)
		p.ShareSteps(&c.panels[0])
	}
	c.packed = c.packedPixels()
}

// blockedSteps returns a step for each input channel block and tap that the panel reads.
func (c *DirectInt8) blockedSteps(p *quantised.Panel, weights []int16) []quantised.Step {
	if c.cfg.Stem {
		return nil
	}
	s := &c.shape
	perGroup, filters := s.Channels/s.Groups, s.Filters/s.Groups
	_, end := int8Span(s, []quantised.Panel{*p})
	var steps []quantised.Step
	for b := p.First; b < end; b++ {
		for kh := range s.KernelH {
			for kw := range s.KernelW {
				steps = append(steps, quantised.Step{Offset: int32(c.area.Offset(b-p.First, kh, kw)), Weight: func(f, i int) int16 {
					channel := b*work.Lanes + i - f/filters*perGroup
					if channel < 0 || channel >= perGroup {
						return 0
					}
					return weights[((f*perGroup+channel)*s.KernelH+kh)*s.KernelW+kw]
				}})
			}
		}
	}
	return steps
}

// stemSteps returns a step for each kernel row and four of its columns, four bytes each.
func (c *DirectInt8) stemSteps(weights []int16) []quantised.Step {
	s := &c.shape
	var steps []quantised.Step
	for kh := range s.KernelH {
		for first := 0; first < s.KernelW; first += 4 {
			steps = append(steps, quantised.Step{Offset: int32(c.area.Offset(0, kh, first)), Weight: func(f, i int) int16 {
				kw, channel := first+i/4, i%4
				if kw >= s.KernelW || channel >= s.Channels {
					return 0
				}
				return weights[((f*s.Channels+channel)*s.KernelH+kh)*s.KernelW+kw]
			}})
		}
	}
	return steps
}
