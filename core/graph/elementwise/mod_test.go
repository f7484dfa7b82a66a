package elementwise

import (
	"math"
	"testing"
)

// TestFloorModReals: remainders as numpy.mod has them, whose sign is the divisor's though they be 0.
func TestFloorModReals(t *testing.T) {
	p, zero, inf := FloorModReals(), math.Copysign(0, -1), math.Inf(1)
	for _, c := range [][3]float64{
		{7, 3, 1}, {-7, 3, 2}, {7, -3, -2}, {-7, -3, -1}, {0, 2, 0}, {0, -2, zero}, {zero, 2, 0}, {zero, -2, zero}, {6, -3, zero}, {-6, 3, 0},
		{-1, inf, inf}, {1, inf, 1}, {1, -inf, -inf}, {0, inf, 0}, {1, 0, math.NaN()}, {inf, 1, math.NaN()},
	} {
		vals := make([]float32, p.Args+len(p.Code))
		vals[0], vals[1] = float32(c[0]), float32(c[1])
		got := p.Eval(vals)
		if want := float32(c[2]); math.Float32bits(got) != math.Float32bits(want) && (got == got || want == want) {
			t.Errorf("%v mod %v is %v, want %v", c[0], c[1], got, want)
		}
	}
}
