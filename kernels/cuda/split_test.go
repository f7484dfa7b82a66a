package cuda

import (
	"math"
	"testing"
)

// TestSplitScratch: a part of the largest split sum lies where 32 bits of elements do not reach, and its address has 64.
func TestSplitScratch(t *testing.T) {
	for _, u := range []unit{simtF32, tensorF16, tensorI8} {
		for _, tl := range tiles(u) {
			if parts := tl.split * tl.partBytes(); parts > math.MaxInt32 || maxCounters*parts/4 > math.MaxUint32 {
				t.Errorf("%s: %d bytes of a tile's parts", tl, parts)
			}
		}
	}
}
