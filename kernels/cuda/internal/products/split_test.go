package products

import (
	"math"
	"testing"

	"github.com/trtui/trtui/kernels/cuda/internal/emit"
)

// TestSplitScratch: a part of the largest split sum lies where 32 bits of elements do not reach, and its address has 64.
func TestSplitScratch(t *testing.T) {
	for _, u := range []emit.Unit{emit.SimtF32, emit.TensorF16, emit.TensorI8} {
		for _, tl := range Tiles(u) {
			if parts := tl.Split * tl.partBytes(); parts > math.MaxInt32 || emit.MaxCounters*parts/4 > math.MaxUint32 {
				t.Errorf("%s: %d bytes of a tile's parts", tl, parts)
			}
		}
	}
}
