package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// rotaryCase is heads that are turned whole or in part.
type rotaryCase struct{ half, size, heads int }

var rotaryCases = []rotaryCase{
	{1, 2, 3}, {4, 8, 1}, {15, 31, 2}, {16, 32, 5}, {17, 40, 3}, {32, 64, 1}, {32, 80, 4}, {40, 80, 2}, {64, 128, 33}, {16, 100, 0}, {128, 256, 300},
}

func TestRotaryKernels(t *testing.T) {
	for _, k := range RotaryKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			r := rand.New(rand.NewPCG(1, 2))
			for _, c := range rotaryCases {
				src, cos, sin := normals(r, c.heads*c.size), normals(r, c.half), normals(r, c.half)
				dst, twin := make([]float32, len(src)), make([]float32, len(src))
				k.Turn(dst, src, cos, sin, c.size, c.heads)
				turnGeneric(twin, src, cos, sin, c.size, c.heads)
				if !slices.Equal(dst, twin) {
					t.Fatalf("%+v differs from its twin", c)
				}
				for i, got := range dst {
					at, j := i-i%c.size, i%c.size
					want, scale := float64(src[i]), 0.0
					if p := j % c.half; j < 2*c.half {
						a, b, cs, sn := float64(src[at+p]), float64(src[at+c.half+p]), float64(cos[p]), float64(sin[p])
						if want, scale = a*cs-b*sn, math.Abs(a*cs)+math.Abs(b*sn); j >= c.half {
							want, scale = a*sn+b*cs, math.Abs(a*sn)+math.Abs(b*cs)
						}
					}
					closeTo(t, fmt.Sprintf("%+v element %d", c, i), got, want, scale)
				}
			}
		})
	}
}
