package symbolic

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestLongProduct: what is not multiplied out has the value of its factors' product, in either order, and reads as it is written.
func TestLongProduct(t *testing.T) {
	var x, y Dim
	env, low, high := map[string]int{}, map[string]int{}, map[string]int{}
	for i := range 90 {
		s := fmt.Sprint("count", i)
		env[s], low[s], high[s] = i%7, 0, 9
		x, y = x.Add(Symbol(s).Min(Const(5))), y.Add(Symbol(s)).AddN(1)
	}
	p := x.Mul(y)
	if got, want := p.Eval(env), x.Eval(env)*y.Eval(env); got != want {
		t.Errorf("%d, want %d", got, want)
	}
	if !p.Equal(y.Mul(x)) {
		t.Error("the order of factors tells products apart")
	}
	if n := len(p.String()); n > len(x.String())+len(y.String())+10 {
		t.Errorf("%d bytes long", n)
	}
	again, err := Parse(p.String())
	if err != nil || !again.Equal(p) {
		t.Errorf("%v: %s", err, again)
	}
	if least, most := p.Bounds(low, high); least != 0 || most != 90*5*90*10 || !p.NonNegative() {
		t.Errorf("from %d to %d", least, most)
	}
	if x.IsLarge() || y.IsLarge() {
		t.Error("90 classes are too many")
	}
}

// TestQuotients: extents that are rounded in different ways, and are the same, look the same.
func TestQuotients(t *testing.T) {
	h, b := Symbol("h"), Symbol("b")
	up := func(d Dim, n int) Dim { return d.Add(Const(n).Sub(d.Mod(Const(n))).Mod(Const(n))) } // to a multiple of n
	for _, c := range []struct {
		got  Dim
		want string
	}{
		{h.AddN(-1).DivN(2).AddN(1), "div(h+1,2)"},
		{h.MulN(4).AddN(7).DivN(2), "2*h+3"},
		{h.MulN(-1).DivN(2), "-div(h+1,2)"},
		{h.DivN(2).DivN(3), "div(h,6)"},
		{h.AddN(1).DivN(2).AddN(1).DivN(2), "div(h+3,4)"},
		{h.Mod(Const(32)), "-32*div(h,32)+h"},
		{up(h, 32), "32*div(h+31,32)"},
		{up(h, 32).DivN(8), "4*div(h+31,32)"},
		{h.Add(h.MulN(-1).Mod(Const(8))), "8*div(h+7,8)"},
		{h.Sub(h.DivN(2)), "div(h+1,2)"},
		{h.Mul(h).MulN(18).Add(h.MulN(9)).Div(h.Mul(h).MulN(2).Add(h)), "9"},
		{h.Mul(h).MulN(2).Add(h).Div(h.Mul(h).Add(h)), "div(h+2*h*h,h+h*h)"},
		{b.Mul(h.AddN(-1)).MulN(4).Div(b.MulN(4)), "h-1"},
		{b.Mul(h.AddN(-1)).MulN(4).Div(h.AddN(-1)), "4*b"},
		{b.Mul(h.AddN(-1)).MulN(4).Div(h.AddN(1)), "div(-4*b+4*b*h,h+1)"},
		{b.Mul(h).AddN(2).Div(b), "div(b*h+2,b)"},
		{h.AddN(-1).Min(h.AddN(-1).Max(Const(0))), "h-1"},
		{h.AddN(-1).Min(Const(3)).Max(h.AddN(-1)), "h-1"},
		{h.Min(h.AddN(2)), "h"},
		{h.Max(h.DivN(2)), "h"},
		{h.DivN(2).Max(Const(-1)), "div(h,2)"},
		{h.DivN(2).Add(h.AddN(1).DivN(2)), "h"},
		{h.Sub(h.DivN(2)).Add(h.DivN(2)), "h"},
		{h.DivN(4).Sub(h.DivN(8)), "div(h+4,8)"},
		{h.AddN(3).MulN(2).Sub(h.AddN(3).DivN(2).MulN(2)), "2*div(h,2)+4"},
	} {
		if c.got.String() != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
	for _, d := range []Dim{h.Mod(Const(32)), Const(32).Sub(h.Mod(Const(32))), Const(31).Sub(h.Mod(Const(32))), up(h, 32).Sub(h), h.Sub(h.DivN(3).MulN(3)), h.DivN(2).Sub(h.DivN(4).MulN(2)), h.DivN(4).MulN(2).AddN(1).Sub(h.DivN(2)),
		h.DivN(4).Sub(h.DivN(8)), h.Sub(h.DivN(2)), h.DivN(2).Sub(h.DivN(12).MulN(5))} {
		if !d.NonNegative() {
			t.Errorf("%s may be negative", d)
		}
	}
	for _, d := range []Dim{h.Mod(Const(32)).AddN(-1), Const(30).Sub(h.Mod(Const(32))), h.AddN(-1).DivN(2)} {
		if d.NonNegative() {
			t.Errorf("%s is never negative", d)
		}
	}
}

// TestNonNegativeFilled: what is below 0 for an extent of 0 alone.
func TestNonNegativeFilled(t *testing.T) {
	h := Symbol("h")
	for _, c := range []struct {
		d    Dim
		want bool
	}{{h.AddN(-1), true}, {h.MulN(2).AddN(-2), true}, {h.AddN(-2), false}, {h.Sub(Symbol("w")), false}, {h, true}} {
		if got := c.d.NonNegativeFilled(); got != c.want {
			t.Errorf("%s: %v", c.d, got)
		}
	}
}

// TestDivHolds: quotients and remainders of any expression by any number are what they are of its value, and none is negative that
// is said not to be.
func TestDivHolds(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		d, n := randomDim(rnd, 4), rnd.IntN(9)-4
		if n == 0 {
			continue
		}
		q, r := d.DivN(n), d.Mod(Const(n))
		o := d.DivN(2 << rnd.IntN(2)).MulN(rnd.IntN(5) - 2)
		sum, k := randomDim(rnd, 3).Mul(d).Add(o), rnd.IntN(3)-1
		total := sum.Add(d.MulN(k))
		by := randomDim(rnd, 3)
		if by.Is(0) {
			continue
		}
		back := d.Mul(by).Div(by)
		for s := range 7 {
			env := map[string]int{"s": s, "b": rnd.IntN(5)}
			v := d.Eval(env)
			if w := by.Eval(env); w != 0 && back.Eval(env) != v {
				t.Fatalf("(%s)*(%s) over the latter is %s, which is %d at %v, not %d", d, by, back, back.Eval(env), env, v)
			}
			if got, want := total.Eval(env), sum.Eval(env)+k*v; got != want {
				t.Fatalf("%s + %d*(%s) is %s, which is %d at %v, not %d", sum, k, d, total, got, env, want)
			}
			if got, want := q.Eval(env), int(floorDiv(int64(v), int64(n))); got != want {
				t.Fatalf("div(%s,%d) is %s, which is %d at %v, not %d", d, n, q, got, env, want)
			}
			if got := r.Eval(env); got != v-n*q.Eval(env) || got*n < 0 {
				t.Fatalf("the remainder of %s by %d is %s, which is %d at %v", d, n, r, got, env)
			}
			if v < 0 && d.NonNegative() || q.Eval(env) < 0 && q.NonNegative() || r.Eval(env) < 0 && r.NonNegative() {
				t.Fatalf("%s, %s or %s is negative at %v", d, q, r, env)
			}
		}
		if again, err := Parse(q.String()); err != nil || !again.Equal(q) {
			t.Fatalf("%s reads as %s, %v", q, again, err)
		}
	}
}

// TestRemains: what a bound leaves of some elements is never more than they are.
func TestRemains(t *testing.T) {
	s, p, n := Symbol("s"), Symbol("p"), Symbol("n")
	left := p.Add(s).Min(Const(64)).Sub(p)
	for _, c := range []struct {
		d, of Dim
		want  bool
	}{
		{s.Min(Const(64)), s, true}, {s.Min(n), s, true}, {left, s, true}, {left.AtLeast0(), s, true},
		{p.Add(left).Min(Const(64)).Sub(p).AtLeast0(), left, true},
		{s, s, false}, {left, p, false}, {left.MulN(2), s, false}, {s.Max(Const(64)), s, false}, {left.AddN(1), s, false}, {Const(3), s, false},
	} {
		if got := c.d.Remains(c.of); got != c.want {
			t.Errorf("%s of %s: %v", c.d, c.of, got)
		}
	}
}
