package windows

import (
	"fmt"

	"github.com/trtui/trtui/kernels/cpu/work"
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

// Taps returns the offset of every element of a window.
func (w *FieldInt8) Taps() []int32 {
	var steps []int32
	for kh := range w.Shape.KernelH {
		for kw := range w.Shape.KernelW {
			steps = append(steps, int32(w.Area.Offset(0, kh, kw)))
		}
	}
	return steps
}

func (w *FieldInt8) rowBlocks() int { return (w.Shape.OutHeight() + w.rows - 1) / w.rows }

func (w *FieldInt8) Units() int { return w.Shape.Batch * w.Blocks * w.rowBlocks() }

// Load copies the input of unit u and says which part of the output it is.
func (w *FieldInt8) Load(scratch []byte, in work.Bytes4, u int) (image, block, first, last int) {
	first = u % w.rowBlocks() * w.rows
	last = min(first+w.rows, w.Shape.OutHeight())
	u /= w.rowBlocks()
	image, block = u/w.Blocks, u%w.Blocks
	w.Area.Gather(scratch, in.Data[image*in.Image:], in.Plane, block, block+1, first, last)
	return image, block, first, last
}
