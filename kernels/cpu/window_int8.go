package cpu

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/kernels/cpu/work"
)

// windowInt8 is what depthwise convolution and pooling of bytes share: units of one channel block of a block
// of output rows, whose input rows are copied with padding into a scratch area.
type windowInt8 struct {
	shape   ConvShape
	area    int8Area
	blocks  int // channel blocks
	rows    int // output rows of a unit
	pixels  []int32
	workers int
	scratch int // bytes of one worker's copy
}

// init plans the units. Channels, Filters and Groups of the shape are equal.
func (w *windowInt8) init(s ConvShape, pad byte, workers int) error {
	w.shape, w.blocks, w.workers = s, work.BlocksOf(s.Channels), max(1, workers)
	w.area = int8Area{shape: &w.shape, zero: pad, copied: true, pixel: work.Lanes}
	w.rows = s.OutHeight()
	w.area.fit(w.rows)
	for w.rows > 1 && w.area.plane > copyBytes/4 {
		w.rows = (w.rows + 1) / 2
		w.area.fit(w.rows)
	}
	for w.workers > 1 && w.rows >= 8 && w.units() < 4*w.workers {
		w.rows = (w.rows + 1) / 2
		w.area.fit(w.rows)
	}
	if w.area.plane > math.MaxInt32-overread {
		return fmt.Errorf("one row of %d columns is beyond 2 GiB", s.Width)
	}
	w.scratch = (w.area.plane + overread + 63) &^ 63
	w.pixels = w.area.pixels(w.rows)
	return nil
}

// pixels returns the offsets of the windows of a block of rows.
func (a *int8Area) pixels(rows int) []int32 {
	offsets := make([]int32, 0, rows*a.shape.OutWidth())
	for y := range rows {
		for x := range a.shape.OutWidth() {
			offsets = append(offsets, int32(a.window(y, x)))
		}
	}
	return offsets
}

// taps returns the offset of every element of a window.
func (w *windowInt8) taps() []int32 {
	var steps []int32
	for kh := range w.shape.KernelH {
		for kw := range w.shape.KernelW {
			steps = append(steps, int32(w.area.offset(0, kh, kw)))
		}
	}
	return steps
}

func (w *windowInt8) rowBlocks() int { return (w.shape.OutHeight() + w.rows - 1) / w.rows }

func (w *windowInt8) units() int { return w.shape.Batch * w.blocks * w.rowBlocks() }

// load copies the input of unit u and says which part of the output it is.
func (w *windowInt8) load(scratch []byte, in work.Bytes4, u int) (image, block, first, last int) {
	first = u % w.rowBlocks() * w.rows
	last = min(first+w.rows, w.shape.OutHeight())
	u /= w.rowBlocks()
	image, block = u/w.blocks, u%w.blocks
	w.area.gather(scratch, in.Data[image*in.Image:], in.Plane, block, block+1, first, last)
	return image, block, first, last
}
