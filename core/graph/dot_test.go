package graph

import (
	"math/rand/v2"
	"testing"
)

// TestDotIntegers holds sums of integers against one product after another, for numbers of channels around those that are taken
// side by side, zero points of x and of each channel of the weights, and numbers so large that sums wrap.
func TestDotIntegers(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for channels := range 10 {
		for _, terms := range []int{0, 1, 5} {
			for _, wide := range []bool{false, true} {
				random := func(n int) []int64 {
					out := make([]int64, n)
					for i := range out {
						if out[i] = int64(int8(rnd.Uint32())); wide {
							out[i] = int64(rnd.Uint64())
						}
					}
					return out
				}
				const first, begin, step = 2, 3, 7
				d := &dot{xq: random(terms + 1), wq: random(begin + 10*step + 50), zx: 5}
				for range first + channels {
					d.wr.Zero = append(d.wr.Zero, int32(int8(rnd.Uint32())))
				}
				d.wr.Scale = make([]float32, len(d.wr.Zero))
				var is, js []int
				for k := range terms {
					is, js = append(is, terms-1-k), append(js, 9*k)
				}
				at, seen := weightsAt{begin: begin, step: step, first: first, channels: channels}, 0
				d.each(1, is, at, js, func(channel int) {
					if channel != first+seen {
						t.Fatalf("channel %d comes where %d should", channel, first+seen)
					}
					var want int64
					for k := range is {
						want += (d.xq[1+is[k]] - 5) * (d.wq[begin+seen*step+js[k]] - int64(d.wr.ZeroAt(channel)))
					}
					if d.acc != want {
						t.Errorf("channel %d of %d, %d terms: %d, want %d", channel, channels, terms, d.acc, want)
					}
					seen++
				})
				if seen != channels {
					t.Errorf("%d of %d channels", seen, channels)
				}
			}
		}
	}
}
