package symbolic

import (
	"math"
	"math/rand/v2"
	"testing"
)

// do is Do, which must not fail.
func do(t *testing.T, op string, args ...Real) Real {
	t.Helper()
	r, err := Do(op, false, args...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestReal: what rounds nothing is an extent of whole numbers, anything else is computed as a model does.
func TestReal(t *testing.T) {
	h, w := RealOf(Symbol("h")), RealOf(Symbol("w"))
	odd := RealConst(float64(float32(0.7)))
	for _, c := range []struct {
		r    Real
		want string
	}{
		{h, "h"},
		{do(t, "mul", h, RealConst(1.5)), "div(3*h,2)"},
		{do(t, "floor", do(t, "quo", h, RealConst(2))), "div(h,2)"},
		{do(t, "mul", do(t, "ceil", do(t, "quo", h, RealConst(32))), RealConst(32)), "32*div(h+31,32)"},
		{do(t, "mul", h, do(t, "quo", RealOf(Symbol("h").MulN(2)), h)), "2*h"},
		{do(t, "min", h, w), "min(h,w)"},
		{do(t, "mul", h, odd), "trunc(mul(of(h),0.699999988079071))"},
		{do(t, "float", do(t, "mul", h, odd)), "trunc(mul(of(h),0.699999988079071))"},
		{do(t, "floor", do(t, "mul", h, do(t, "quo", w, h))), "trunc(mul(of(h),quo(of(w),of(h))))"},
	} {
		d := c.r.Trunc()
		if d.String() != c.want {
			t.Errorf("%s, want %s", d, c.want)
		}
	}
	if got := do(t, "mul", h, odd).Trunc().Eval(map[string]int{"h": 10}); got != 7 { // 6.99999988 in 64 bits
		t.Errorf("10 * 0.7 is %d", got)
	}
	if _, err := Do("quo", false, h); err == nil {
		t.Error("an operation of the wrong number of operands")
	}
}

// TestRealHolds: a number that is computed of extents is what floating point makes of them, within its bounds, and reads as it is
// written.
func TestRealHolds(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	var random func(depth int) (Real, func(s, b int) float64)
	random = func(depth int) (Real, func(s, b int) float64) {
		if depth == 0 || rnd.IntN(4) == 0 {
			v := []float64{0.5, 2, float64(float32(0.7)), 3, -1, 32}[rnd.IntN(6)]
			return []Real{RealOf(Symbol("s")), RealOf(Symbol("b")), RealConst(v)}[rnd.IntN(3)], nil
		}
		names := []string{"add", "sub", "mul", "quo", "min", "max", "neg", "floor", "ceil", "round", "sqrt"}
		op := names[rnd.IntN(len(names))]
		args := make([]Real, realOps[op])
		for i := range args {
			args[i], _ = random(depth - 1)
		}
		r, err := Do(op, false, args...)
		if err != nil {
			t.Fatal(err)
		}
		plain := Real{op: op, args: args}
		return r, func(s, b int) float64 { return plain.Eval(map[string]int{"s": s, "b": b}) }
	}
	for range 3000 {
		r, plain := random(4)
		d := r.Trunc()
		low, high := map[string]int{"s": 1, "b": 2}, map[string]int{"s": 9, "b": 7}
		least, most := d.Bounds(low, high)
		for s := 1; s <= 9; s++ {
			for b := 2; b <= 7; b++ {
				env := map[string]int{"s": s, "b": b}
				v := d.Eval(env)
				if plain != nil {
					if want := plain(s, b); math.Abs(want) < 1e6 && v != truncInt(want) {
						t.Fatalf("%s is %d at %v, computed %v", d, v, env, want)
					}
				}
				if v < least || v > most || v < 0 && d.NonNegative() {
					t.Fatalf("%s is %d at %v, not from %d to %d", d, v, env, least, most)
				}
			}
		}
		if again, err := Parse(d.String()); err != nil || !again.Equal(d) {
			t.Fatalf("%s reads as %s, %v", d, again, err)
		}
	}
	for _, s := range []string{"trunc(", "trunc(of(h)", "trunc(mul(of(h)))", "trunc(sin(of(h)))", "trunc()", "trunc(mul(of(h),2)"} {
		if d, err := Parse(s); err == nil {
			t.Errorf("%q reads as %s", s, d)
		}
	}
}
