package windows

import (
	"fmt"

	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// FieldInt8 is what depthwise convolution and pooling of bytes share: units of one channel block of a block
// of output rows, whose input rows are copied with padding into a scratch area.
type FieldInt8 struct {
	Shape   Shape
	Area    Area
	Blocks  int // channel blocks
	rows    int // output rows of a unit
	Pixels  []int32
	Workers int
	Scratch int // bytes of one worker's copy
}

// Init plans the units. Channels, Filters and Groups of the shape are equal.
func (w *FieldInt8) Init(s Shape, pad byte, workers int) error {
	w.Shape, w.Blocks, w.Workers = s, work.BlocksOf(s.Channels), max(1, workers)
	w.Area = Area{Shape: &w.Shape, Zero: pad, Copied: true, Pixel: work.Lanes}
	w.rows = s.OutHeight()
	w.Area.Fit(w.rows)
	for w.rows > 1 && w.Area.Plane > CopyBytes/4 {
		w.rows = (w.rows + 1) / 2
		w.Area.Fit(w.rows)
	}
	for w.Workers > 1 && w.rows >= 8 && w.Units() < 4*w.Workers {
		w.rows = (w.rows + 1) / 2
		w.Area.Fit(w.rows)
	}
	if w.Area.Plane > 4*MaxScratch {
		return fmt.Errorf("the input of %d rows spans %d bytes with its pads, more than %d", w.rows, w.Area.Plane, 4*MaxScratch)
	}
	w.Scratch = (w.Area.Plane + Overread + 63) &^ 63
	w.Pixels = w.Area.Pixels(w.rows)
	return nil
}

// Taps returns the offset of every element of a window of so many slices, whose copies follow each other.
func (w *FieldInt8) Taps(slices int) []int32 {
	var steps []int32
	for k := range slices {
		for kh := range w.Shape.KernelH {
			for kw := range w.Shape.KernelW {
				steps = append(steps, int32(k*w.Scratch+w.Area.Offset(0, kh, kw)))
			}
		}
	}
	return steps
}

func (w *FieldInt8) rowBlocks() int { return (w.Shape.OutHeight() + w.rows - 1) / w.rows }

// Units returns the number of units of a run.
func (w *FieldInt8) Units() int { return w.Shape.Batch * w.Blocks * w.rowBlocks() }

// Unit returns the image, channel block and output rows [first, last) of unit u.
func (w *FieldInt8) Unit(u int) (image, block, first, last int) {
	first = u % w.rowBlocks() * w.rows
	u /= w.rowBlocks()
	return u / w.Blocks, u % w.Blocks, first, min(first+w.rows, w.Shape.OutHeight())
}

// Load copies the input of unit u and says which part of the output it is.
func (w *FieldInt8) Load(scratch []byte, in work.Bytes4, u int) (image, block, first, last int) {
	image, block, first, last = w.Unit(u)
	w.Area.Gather(scratch, in.Data[image*in.Image:], in.Plane, block, block+1, first, last)
	return image, block, first, last
}

// LoadSlices copies what rows [first, last) of an output slice read of a channel block of a volume, a copy for each slice of the
// input, and returns the range of taps in depth that meet one.
func (w *FieldInt8) LoadSlices(scratch, volume []byte, plane int, depth *Depth, slice, block, first, last int) (low, high int) {
	low, high = depth.Taps(slice)
	for k := low; k < high; k++ {
		from := volume[depth.Slice(slice, k)*w.Shape.Height*w.Shape.Width*work.Lanes:]
		w.Area.Gather(scratch[k*w.Scratch:], from, plane, block, block+1, first, last)
	}
	return low, high
}
