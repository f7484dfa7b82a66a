package graph

import (
	"math/cmplx"
	"math/rand/v2"
	"testing"
)

// TestFFT compares transforms of all kinds of lengths with the definition, and their inverses with what went in.
func TestFFT(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 3, 4, 5, 8, 12, 30, 31, 37, 49, 64, 74, 97, 120, 256, 401} {
		x, y, back := make([]complex128, n), make([]complex128, n), make([]complex128, n)
		for i := range x {
			x[i] = complex(rnd.NormFloat64(), rnd.NormFloat64())
		}
		f := NewFFT(n)
		room := make([]complex128, f.Room())
		f.Transform(y, x, room)
		for k := range y {
			var want complex128
			for j, v := range x {
				want += v * root(j*k%n, n)
			}
			if cmplx.Abs(y[k]-want) > 1e-12*float64(n) {
				t.Errorf("%d numbers: %d is %v, want %v", n, k, y[k], want)
			}
		}
		f.Inverse(back, y, room)
		for i, v := range back {
			if cmplx.Abs(v-x[i]) > 1e-13*float64(n) {
				t.Errorf("%d numbers: the inverse has %v at %d, want %v", n, v, i, x[i])
			}
		}
	}
}
