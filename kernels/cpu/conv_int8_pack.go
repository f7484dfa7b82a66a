package cpu

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/kernels/cpu/asm"
	"github.com/trtui/trtui/kernels/cpu/work"
)

// copyBytes bounds one worker's copy of input rows: it shares the L2 cache with weights and output.
const copyBytes = 256 << 10

// split chooses the block of rows and the ranges of panels of a unit.
func (c *ConvInt8) split() {
	s := &c.shape
	c.panels = int8Panels(s, c.cfg.Features)
	// Rows first: panels of one block of rows share its copy. Few rows a block would reload all weights for
	// each.
	c.rows = s.OutHeight()
	bytes := func() int {
		a := c.area
		a.copied = true
		a.fit(c.rows)
		return a.plane * work.BlocksOf(s.Channels)
	}
	for c.rows > 1 && bytes() > copyBytes {
		c.rows = (c.rows + 1) / 2
	}
	units := func() int { return s.Batch * ((s.OutHeight() + c.rows - 1) / c.rows) }
	want := 1
	if c.cfg.Workers > 1 {
		want = 4 * c.cfg.Workers
	}
	for c.rows >= 8 && units() < want {
		c.rows = (c.rows + 1) / 2
	}
	c.groups = min(len(c.panels), (want+units()-1)/units())
	c.area.fit(c.rows)
	if c.area.copied {
		planes := work.BlocksOf(s.Channels)
		c.scratch = (c.area.plane*planes + overread + 63) &^ 63
	}
}

// int8Panels divides the output channels into panels of two blocks, where the features have such kernels, or one.
func int8Panels(s *ConvShape, features asm.Features) []int8Panel {
	wide, narrow := qconvKernel(features, 2), qconvKernel(features, 1)
	filters := work.BlocksOf(s.Filters)
	var panels []int8Panel
	for b := 0; b < filters; {
		p := int8Panel{kernel: wide, block: b}
		if filters-b < wide.Blocks {
			p.kernel = narrow
		}
		p.first = b * work.Lanes / (s.Filters / s.Groups) * (s.Channels / s.Groups) / work.Lanes
		b += p.kernel.Blocks
		panels = append(panels, p)
	}
	return panels
}

// qconvKernel returns the first kernel of the table that the features allow and that has no more than so many blocks.
func qconvKernel(have asm.Features, blocks int) asm.QConvKernel {
	for _, k := range asm.QConvKernels() {
		if k.Blocks <= blocks && have.Has(k.Needs) {
			return k
		}
	}
	panic("cpu: no generic INT8 convolution kernel")
}

// tabulate makes the table of pixel offsets.
func (c *ConvInt8) tabulate() error {
	s := &c.shape
	planes := work.BlocksOf(s.Channels)
	if c.cfg.Stem {
		planes = 1
	}
	end := c.area.offset(planes, s.KernelH, s.KernelW) + c.area.window(c.rows, s.OutWidth())
	if end < 0 || end > math.MaxInt32 {
		return fmt.Errorf("input of %dx%dx%d is beyond 2 GiB", s.Channels, s.Height, s.Width)
	}
	c.pixels = c.area.pixels(c.rows)
	return nil
}

// int8Step is 16 bytes of the reduction: weight returns the weight of byte i for a filter.
type int8Step struct {
	offset int32
	weight func(filter, i int) int16
}

// pack lays out weights, steps and the epilogue's constants.
func (c *ConvInt8) pack(weights []int16, scale, bias []float32) {
	s := &c.shape
	c.start, c.scale, c.bias = int8Constants(s.Filters, weights, scale, bias, c.cfg.InZero)
	for i := range c.panels {
		p := &c.panels[i]
		p.weights = len(c.weights)
		steps := c.blockedSteps(p, weights)
		if c.cfg.Stem {
			steps = c.stemSteps(weights)
		}
		c.weights, p.steps = packInt8(c.weights, steps, p.block*work.Lanes, min(s.Filters, (p.block+p.kernel.Blocks)*work.Lanes), p.kernel.Blocks)
	}
}

// packInt8 appends the weights of filters [first, last) as asm.QConvCall has them, and returns the step
// offsets. VPDPBUSD takes signed bytes; a step with weights beyond them (asymmetric uint8 weights minus
// their zero point) is followed by others, at the same input, with what is left.
func packInt8(packed []int8, steps []int8Step, first, last, blocks int) ([]int8, []int32) {
	var offsets []int32
	rest := make([]int16, 16*(last-first))
	for _, s := range steps {
		some := false
		for j := range rest {
			rest[j] = s.weight(first+j/16, j%16)
			some = some || rest[j] != 0
		}
		for some {
			tile := make([]int8, 256*blocks)
			some = false
			for j, w := range rest {
				low := max(-128, min(127, w))
				f, i := j/16, j%16
				tile[((i/4)*16*blocks+f)*4+i%4] = int8(low)
				rest[j] -= low
				some = some || rest[j] != 0
			}
			packed, offsets = append(packed, tile...), append(offsets, s.offset)
		}
	}
	if len(offsets) == 0 { // all weights are zero
		return append(packed, make([]int8, 256*blocks)...), []int32{steps[0].offset}
	}
	return packed, offsets
}

// blockedSteps returns a step for each input channel block and tap that the panel reads.
func (c *ConvInt8) blockedSteps(p *int8Panel, weights []int16) []int8Step {
	if c.cfg.Stem {
		return nil
	}
	s := &c.shape
	perGroup, filters := s.Channels/s.Groups, s.Filters/s.Groups
	_, end := int8Span(s, []int8Panel{*p})
	var steps []int8Step
	for b := p.first; b < end; b++ {
		for kh := range s.KernelH {
			for kw := range s.KernelW {
				steps = append(steps, int8Step{int32(c.area.offset(b-p.first, kh, kw)), func(f, i int) int16 {
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
func (c *ConvInt8) stemSteps(weights []int16) []int8Step {
	s := &c.shape
	var steps []int8Step
	for kh := range s.KernelH {
		for first := 0; first < s.KernelW; first += 4 {
			steps = append(steps, int8Step{int32(c.area.offset(0, kh, first)), func(f, i int) int16 {
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
