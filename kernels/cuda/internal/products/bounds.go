package products

import (
	"fmt"

	"github.com/trtui/trtui/kernels/cuda/internal/emit"
)

// windowsFit returns an error where a place under a window, counted from the begin of the padding, does not fit. Of a
// transposed convolution the windows stand on the output, at the input's places.
func (p *product) windowsFit() error {
	places := [2]int{p.p, p.q}
	if p.transposed {
		places = [2]int{p.h, p.w}
	}
	taps := [2]int{p.r, p.s}
	for i, axis := range []string{"rows", "columns"} {
		// As floats, which do not wrap around. A single window reads its stride too.
		reach := float64(max(1, places[i]-1))*float64(p.stride[i]) + float64(taps[i])*float64(p.dilation[i]) + float64(p.pad[i])
		if reach > emit.MaxElements {
			return fmt.Errorf("along %s, %d windows %d apart, of %d taps %d apart and with %d of padding, reach over more than %d",
				axis, places[i], p.stride[i], taps[i], p.dilation[i], p.pad[i], emit.MaxElements)
		}
	}
	if p.r*p.s > emit.MaxElements {
		return fmt.Errorf("windows of %d x %d taps, the kernel counts up to %d", p.r, p.s, emit.MaxElements)
	}
	return nil
}

// weightsFit returns an error where packed weights have more elements than a tensor may: rows padded to vectors, or vectors
// of output channels of which few are used, take many times the constant's own.
func weightsFit(rows, perRow int) error {
	if perRow > emit.MaxElements || rows > emit.MaxElements || rows*perRow > emit.MaxElements {
		return fmt.Errorf("packed weights of %d x %d elements, the kernel reaches %d", rows, perRow, emit.MaxElements)
	}
	return nil
}
