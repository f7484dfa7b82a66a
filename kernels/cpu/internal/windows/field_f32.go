package windows

import (
	"fmt"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// ScratchF32 bounds the bytes of a channel block's copied rows: a part of the L2 cache.
const ScratchF32 = 128 << 10

// MaxScratch bounds the elements of a worker's copy of input, which is to stay in the cache: pads and strides can be enormous.
const MaxScratch = 1 << 24

// FieldF32 is what depthwise convolution and pooling share: each channel block of an image by itself, a
// block of output rows at a time, from a copy of its input rows without edges.
type FieldF32 struct {
	Shape               Shape
	OutRows, OutColumns int
	Blocks              int // channel blocks
	rows                int // output rows of a unit
	Gather              *Gather
	Taps                []asm.Tap
	Workers             int
}

// Init plans units for a checked shape, and for windows of so many slices.
func (f *FieldF32) Init(s Shape, slices int, pad float32, features asm.Features, workers int) error {
	kernel := work.LayoutKernel(features)
	f.Shape, f.Workers = s, max(1, workers)
	f.OutRows, f.OutColumns, f.Blocks = s.OutHeight(), s.OutWidth(), work.BlocksOf(s.Channels)
	f.rows = f.OutRows
	for f.rows > 1 && NewGather(&f.Shape, RowRuns, work.Lanes, f.rows, kernel).Size(1)*4 > ScratchF32 {
		f.rows = (f.rows + 1) / 2
	}
	for f.Workers > 1 && f.rows > 4 && s.Batch*f.Blocks*f.rowBlocks() < 4*f.Workers {
		f.rows = (f.rows + 1) / 2
	}
	f.rows = work.Evenly(f.OutRows, f.rows)
	f.Gather = NewGather(&f.Shape, RowRuns, work.Lanes, f.rows, kernel)
	f.Gather.pad = pad
	if n := f.Scratch(); n > MaxScratch/slices {
		return fmt.Errorf("the input of %d rows spans %d elements with its pads, more than %d", f.rows, n, MaxScratch/slices)
	}
	for kh := range s.KernelH {
		for kw := range s.KernelW {
			f.Taps = append(f.Taps, asm.Tap{Offset: int32(f.Gather.Offset(0, kh, kw)), Quads: 4})
		}
	}
	f.deepen(slices)
	return nil
}

func (f *FieldF32) rowBlocks() int { return (f.OutRows + f.rows - 1) / f.rows }

// Units returns the number of units of a run.
func (f *FieldF32) Units() int { return f.Shape.Batch * f.Blocks * f.rowBlocks() }

// Scratch returns the elements of one worker's scratch area.
func (f *FieldF32) Scratch() int { return f.Gather.Size(1) }

// deepen repeats the taps for a window of so many slices, whose copies follow each other.
func (f *FieldF32) deepen(slices int) {
	plane := f.Taps
	for k := 1; k < slices; k++ {
		for _, t := range plane {
			f.Taps = append(f.Taps, asm.Tap{Offset: t.Offset + int32(k*f.Scratch()), Quads: t.Quads})
		}
	}
}

// CopySlices copies what rows [first, last) of an output slice read of a channel block of a volume, a copy for each slice
// of the input, and returns the range of taps in depth that meet one.
func (f *FieldF32) CopySlices(dst, volume []float32, planeStride int, depth *Depth, slice, block, first, last int) (low, high int) {
	low, high = depth.Taps(slice)
	for k := low; k < high; k++ {
		from := volume[depth.Slice(slice, k)*f.Shape.Height*f.Shape.Width*work.Lanes:]
		f.Gather.Copy(dst[k*f.Scratch():], from, planeStride, block, block+1, first, last)
	}
	return low, high
}

// Unit returns the image, channel block and output rows [first, last) of unit u.
func (f *FieldF32) Unit(u int) (image, block, first, last int) {
	first = u % f.rowBlocks() * f.rows
	u /= f.rowBlocks()
	return u / f.Blocks, u % f.Blocks, first, min(first+f.rows, f.OutRows)
}

// Tiles calls run for parts of a field of rows x columns pixels of so many taps, each some rows of tiles of one width,
// that are short calls: (row, rows) and (column, tiles of pixels).
func Tiles(columns, rows, taps, most int, run func(row, rows, column, tiles, pixels int)) {
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
