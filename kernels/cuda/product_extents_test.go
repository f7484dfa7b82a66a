package cuda

import (
	"math"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/products"
)

// windowed returns the shapes of input and weights of a convolution with so many output rows and columns; in one spatial
// axis where there is one tap axis. What a stride leaves over lies behind the last window.
func windowed(a graph.ConvAttrs, taps []int, n, rows, columns, c, k int) (x, w []int, attrs graph.ConvAttrs) {
	out := []int{rows, columns}
	if len(taps) == 1 {
		out = []int{rows * columns}
	}
	x, w = []int{n, c}, []int{k, c / max(1, a.Group)}
	for i, kernel := range taps {
		stride, dilation, pads := 1, 1, 0
		if a.Strides != nil {
			stride = a.Strides[i]
		}
		if a.Dilations != nil {
			dilation = a.Dilations[i]
		}
		if a.Pads != nil {
			pads = a.Pads[i] + a.Pads[i+len(taps)]
		}
		x = append(x, (out[i]-1)*stride+(kernel-1)*dilation+1-pads+(stride-1))
		w = append(w, kernel)
	}
	a.Group = max(1, a.Group)
	return x, w, a
}

// windowedBack returns the shapes of input and weights of a transposed convolution whose phases have so many rows and
// columns, or a few more where its taps need them.
func windowedBack(a graph.ConvTransposeAttrs, taps []int, n, rows, columns, c, k int) (x, w []int, attrs graph.ConvTransposeAttrs) {
	out := []int{rows, columns}
	if len(taps) == 1 {
		out = []int{rows * columns}
	}
	x, w = []int{n, c}, []int{c, k}
	for i, kernel := range taps {
		at := func(list []int, i, or int) int {
			if list == nil {
				return or
			}
			return list[i]
		}
		stride := at(a.Strides, i, 1)
		// One input pixel more makes one row of every phase more.
		none := (kernel-1)*at(a.Dilations, i, 1) + 1 - stride + at(a.OutputPadding, i, 0) - at(a.Pads, i, 0) - at(a.Pads, i+len(taps), 0)
		x = append(x, max(1, out[i]-int(math.Ceil(float64(none)/float64(stride)))))
		w = append(w, kernel)
	}
	a.Group = 1
	return x, w, a
}

// pixelsOf returns images, rows and columns: one pixel, an odd number below the tile's, as many, or an odd number above in
// images that do not end with a tile.
func pixelsOf(t products.Tile, class string) (n, rows, columns int) {
	switch class {
	case "one":
		return 1, 1, 1
	case "under":
		return 1, 3, (t.BM - 2) / 3
	case "exact":
		return 2, 4, t.BM / 8
	}
	columns = emit.CeilDiv(t.BM+1, 15)
	return 3, 5, columns + (columns+1)%2
}

// channelsOf returns output channels of a group: one, an odd number below the tile's, as many, or more, odd in vectors.
func channelsOf(t products.Tile, class string) int {
	switch class {
	case "one":
		return 1
	case "under":
		return t.BN - 3
	case "exact":
		return t.BN
	}
	return t.BN + 16
}

// depthOf returns the input channels of a group, so that the steps suffice for the split: an odd number, so many that steps
// are full, or more steps than the ring has stages, of which the last is not full and the parts are not even.
func depthOf(t products.Tile, class string, taps, size int) int {
	vector, steps := 16/size, 1
	if t.Split > 1 {
		steps = 2 * t.Split
	}
	switch class {
	case "odd":
		return emit.CeilDiv(steps*t.BK, 16*taps)*vector - 1
	case "exact":
		return emit.CeilDiv(steps, taps) * t.BK / size
	}
	return (emit.CeilDiv((steps+t.Stages+1)*t.BK, 16*taps) + 1) * vector
}
