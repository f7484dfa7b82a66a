package symbolic

import (
	"math/rand/v2"
	"testing"
)

func TestBounds(t *testing.T) {
	s, b := Symbol("s"), Symbol("b")
	low, high := map[string]int{"s": 3, "b": 1}, map[string]int{"s": 10, "b": 4}
	for _, c := range []struct {
		d           Dim
		least, most int
	}{
		{Const(7), 7, 7},
		{s, 3, 10},
		{s.Mul(b).MulN(64), 192, 2560},
		{Const(12).Sub(s), 2, 9},
		{s.AddN(2).DivN(2), 2, 6},
		{s.Div(b), 0, 10},
		{s.Min(Const(5)), 3, 5},
		{s.Max(b.MulN(3)), 3, 12},
		{s.Mul(Const(10).Sub(s)), -70, 91}, // 10*s-s*s, where s occurs twice
	} {
		if least, most := c.d.Bounds(low, high); least != c.least || most != c.most {
			t.Errorf("%s is from %d to %d, want %d to %d", c.d, least, most, c.least, c.most)
		}
	}
}

// TestBoundsHold: no value of an expression is outside its bounds.
func TestBoundsHold(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		d := randomDim(rnd, 4)
		low, high := map[string]int{"s": rnd.IntN(5), "b": rnd.IntN(3)}, map[string]int{}
		for name, n := range low {
			high[name] = n + rnd.IntN(6)
		}
		least, most := d.Bounds(low, high)
		for s := low["s"]; s <= high["s"]; s++ {
			for b := low["b"]; b <= high["b"]; b++ {
				if v := d.Eval(map[string]int{"s": s, "b": b}); v < least || v > most {
					t.Fatalf("%s is %d at s=%d b=%d, its bounds are %d and %d", d, v, s, b, least, most)
				}
			}
		}
	}
}

func randomDim(rnd *rand.Rand, depth int) Dim {
	if depth == 0 || rnd.IntN(4) == 0 {
		return []Dim{Symbol("s"), Symbol("b"), Const(rnd.IntN(9) - 3)}[rnd.IntN(3)]
	}
	x, y := randomDim(rnd, depth-1), randomDim(rnd, depth-1)
	switch rnd.IntN(6) {
	case 0:
		return x.Add(y)
	case 1:
		return x.Sub(y)
	case 2:
		return x.Mul(y)
	case 3:
		if !y.Is(0) {
			return x.Div(y)
		}
		return x.Min(y)
	case 4:
		return x.Min(y)
	}
	return x.Max(y)
}
