package cpu

import (
	"github.com/trtui/trtui/kernels/cpu/asm"
	"github.com/trtui/trtui/kernels/cpu/work"
)

// windowScratch bounds the bytes of a channel block's copied rows: a part of the L2 cache.
const windowScratch = 128 << 10

// windowField is what depthwise convolution and pooling share: each channel block of an image by itself, a
// block of output rows at a time, from a copy of its input rows without edges.
type windowField struct {
	shape   ConvShape
	oh, ow  int
	blocks  int // channel blocks
	rows    int // output rows of a unit
	gather  *windowGather
	taps    []asm.Tap
	workers int
}

// init plans units for a checked shape.
func (f *windowField) init(s ConvShape, pad float32, features asm.Features, workers int) {
	kernel := work.LayoutKernel(features)
	f.shape, f.workers = s, max(1, workers)
	f.oh, f.ow, f.blocks = s.OutHeight(), s.OutWidth(), work.BlocksOf(s.Channels)
	f.rows = f.oh
	for f.rows > 1 && newWindowGather(&f.shape, rowRuns, work.Lanes, f.rows, kernel).size(1)*4 > windowScratch {
		f.rows = (f.rows + 1) / 2
	}
	for f.workers > 1 && f.rows > 4 && s.Batch*f.blocks*f.rowBlocks() < 4*f.workers {
		f.rows = (f.rows + 1) / 2
	}
	f.rows = work.Evenly(f.oh, f.rows)
	f.gather = newWindowGather(&f.shape, rowRuns, work.Lanes, f.rows, kernel)
	f.gather.pad = pad
	for kh := range s.KernelH {
		for kw := range s.KernelW {
			f.taps = append(f.taps, asm.Tap{Offset: int32(f.gather.offset(0, kh, kw)), Quads: 4})
		}
	}
}

func (f *windowField) rowBlocks() int { return (f.oh + f.rows - 1) / f.rows }

// units returns the number of units of a run.
func (f *windowField) units() int { return f.shape.Batch * f.blocks * f.rowBlocks() }

// scratch returns the elements of one worker's scratch area.
func (f *windowField) scratch() int { return f.gather.size(1) }

// deepen repeats the taps for a window of so many slices, whose copies follow each other.
func (f *windowField) deepen(slices int) {
	plane := f.taps
	for k := 1; k < slices; k++ {
		for _, t := range plane {
			f.taps = append(f.taps, asm.Tap{Offset: t.Offset + int32(k*f.scratch()), Quads: t.Quads})
		}
	}
}

// copySlices copies what rows [first, last) of an output slice read of a channel block of a volume, a copy for each slice
// of the input, and returns the range of taps in depth that meet one.
func (f *windowField) copySlices(dst, volume []float32, planeStride int, depth *ConvDepth, slice, block, first, last int) (low, high int) {
	low, high = depth.taps(slice)
	for k := low; k < high; k++ {
		from := volume[depth.slice(slice, k)*f.shape.Height*f.shape.Width*work.Lanes:]
		f.gather.copy(dst[k*f.scratch():], from, planeStride, block, block+1, first, last)
	}
	return low, high
}

// unit returns the image, channel block and output rows [first, last) of unit u.
func (f *windowField) unit(u int) (image, block, first, last int) {
	first = u % f.rowBlocks() * f.rows
	u /= f.rowBlocks()
	return u / f.blocks, u % f.blocks, first, min(first+f.rows, f.oh)
}

// fieldTiles calls run for parts of a field of rows x columns pixels of so many taps, each some rows of tiles of one width,
// that are short calls: (row, rows) and (column, tiles of pixels).
func fieldTiles(columns, rows, taps, most int, run func(row, rows, column, tiles, pixels int)) {
	count := (columns + most - 1) / most
	small := columns / count
	big := columns - small*count // tiles of one pixel more
	step := max(1, work.CallSteps/(columns*taps))
	for row := 0; row < rows; row += step {
		n := min(step, rows-row)
		fieldStrip(row, n, 0, big, small+1, taps, run)
		fieldStrip(row, n, big*(small+1), count-big, small, taps, run)
	}
}

// fieldStrip calls run for tiles of so many pixels from a column on, as many at once as make a short call.
func fieldStrip(row, rows, column, tiles, pixels, taps int, run func(row, rows, column, tiles, pixels int)) {
	for most := max(1, work.CallSteps/(pixels*taps)); tiles > 0; {
		n := min(tiles, most)
		run(row, rows, column, n, pixels)
		column, tiles = column+n*pixels, tiles-n
	}
}
