package symbolic

import (
	"math"
	"slices"
)

// Bounds returns numbers that d is never below and never above while each symbol stays within its own; a symbol that a map
// does not have counts as 1. They are reached where no symbol occurs twice. Extents beyond int64 are the nearest.
func (d Dim) Bounds(low, high map[string]int) (least, most int) {
	b := d.bounded(low, high)
	return int(b.least), int(b.most)
}

// interval is the numbers from least to most.
type interval struct{ least, most int64 }

func (d Dim) bounded(low, high map[string]int) interval {
	sum := interval{d.c, d.c}
	for _, t := range d.terms {
		product := interval{t.coef, t.coef}
		for _, a := range t.atoms {
			product = product.times(a.bounded(low, high))
		}
		sum = interval{AddSaturating(sum.least, product.least), AddSaturating(sum.most, product.most)}
	}
	return sum
}

func (a atom) bounded(low, high map[string]int) interval {
	if a.real != nil {
		least, most, ok := a.real.bounded(low, high)
		if !ok {
			return interval{math.MinInt64, math.MaxInt64}
		}
		return interval{int64(truncInt(least)), int64(truncInt(most))}
	}
	if a.args == nil {
		value := func(env map[string]int) int64 {
			if v, ok := env[a.name]; ok {
				return int64(v)
			}
			return 1
		}
		return interval{value(low), value(high)}
	}
	x, y := a.args[0].bounded(low, high), a.args[1].bounded(low, high)
	switch a.name {
	case "mul":
		return x.times(y)
	case "min":
		return interval{min(x.least, y.least), min(x.most, y.most)}
	case "max":
		return interval{max(x.least, y.least), max(x.most, y.most)}
	}
	return x.over(y)
}

func (x interval) times(y interval) interval {
	return span(MulSaturating(x.least, y.least), MulSaturating(x.least, y.most), MulSaturating(x.most, y.least), MulSaturating(x.most, y.most))
}

// over bounds floor(a/b), which is 0 for a b of 0.
func (x interval) over(y interval) interval {
	quotients := []int64{}
	for _, b := range []int64{y.least, y.most, -1, 1} { // near 0 they are largest
		if b == 0 || b < y.least || b > y.most {
			continue
		}
		quotients = append(quotients, floorDiv(x.least, b), floorDiv(x.most, b))
	}
	if y.least <= 0 && y.most >= 0 {
		quotients = append(quotients, 0)
	}
	return span(quotients...)
}

func span(list ...int64) interval {
	r := interval{math.MaxInt64, math.MinInt64}
	for _, v := range list {
		r = interval{min(r.least, v), max(r.most, v)}
	}
	return r
}

// AddSaturating returns a + b, or the nearest int64.
func AddSaturating(a, b int64) int64 {
	switch s := a + b; {
	case a > 0 && b > 0 && s < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && s >= 0:
		return math.MinInt64
	default:
		return s
	}
}

// NonNegative reports whether d is at least 0 whatever its symbols are, as far as its form and what quotients are at least say.
func (d Dim) NonNegative() bool { return d.nonNegative(maxQuotients) }

// NonNegativeFilled reports whether d is at least 0 where no symbol is 0.
func (d Dim) NonNegativeFilled() bool {
	if d.NonNegative() {
		return true
	}
	symbols, high := map[string]bool{}, map[string]int{}
	d.Symbols(symbols)
	for name := range symbols {
		high[name] = math.MaxInt32
	}
	least, _ := d.Bounds(nil, high)
	return least >= 0
}

// maxQuotients bounds the quotients in quotients that are looked into.
const maxQuotients = 4

func (d Dim) nonNegative(depth int) bool {
	if !slices.ContainsFunc(d.terms, func(t term) bool {
		return t.coef < 0 || slices.ContainsFunc(t.atoms, func(a atom) bool { return !a.nonNegative() })
	}) {
		return d.c >= 0
	}
	if depth == 0 {
		return false
	}
	for _, quotients := range []func(t term, x Dim, n int64) (Dim, bool){term.halved, term.above, term.halvedOrBelow} {
		if least, ok := d.withoutQuotients(quotients); ok && least.nonNegative(depth-1) {
			return true
		}
	}
	return false
}

// withoutQuotients returns what d is at least, with its terms k*floor(x/n) as what a function says that they are at least.
func (d Dim) withoutQuotients(least func(t term, x Dim, n int64) (Dim, bool)) (r Dim, ok bool) {
	r = d
	for _, t := range d.terms {
		if len(t.atoms) != 1 {
			continue
		}
		if x, n, is := t.atoms[0].quotientOf(); is {
			if y, has := least(t, x, n); has {
				r, ok = r.plus(term{-t.coef, t.atoms}).Add(y), true
			}
		}
	}
	return r, ok
}

// halved is for terms -k*g*floor(x/(g*n)): g*floor(x/(g*n)) is floor(x/n) at most.
func (t term) halved(x Dim, n int64) (Dim, bool) {
	g := gcd(t.coef, n)
	return x.DivN(int(n / g)).MulN(int(t.coef / g)), t.coef < 0 && g > 1
}

// halvedOrBelow is for terms of both signs: g*floor(x/(g*n)) is floor(x/n)-g+1 at least.
func (t term) halvedOrBelow(x Dim, n int64) (Dim, bool) {
	g := gcd(t.coef, n)
	y := x.DivN(int(n / g))
	if t.coef > 0 {
		y = y.AddN(int(1 - g))
	}
	return y.MulN(int(t.coef / g)), g > 1
}

// above is for terms -k*floor(x/(g*n)) of an x that is not negative: the quotient times k, or times a g that is no less, is floor(x/n) at
// most.
func (t term) above(x Dim, n int64) (Dim, bool) {
	if t.coef > 0 || !x.NonNegative() {
		return Dim{}, false
	}
	g := factorFrom(n, max(2, -t.coef))
	return x.DivN(int(n / max(1, g))).MulN(-1), g > 0
}

// factorFrom returns the least factor of n that is at least least; 0 if there is none, or n is large.
func factorFrom(n, least int64) int64 {
	found := int64(0)
	for a := int64(1); a*a <= n && n < 1<<20; a++ {
		for _, g := range []int64{a, n / a} {
			if n%a == 0 && g >= least && (found == 0 || g < found) {
				found = g
			}
		}
	}
	return found
}

// gcd returns the largest number that divides a and b.
func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}

func (a atom) nonNegative() bool {
	switch {
	case a.real != nil:
		return a.real.nonNegative()
	case a.args == nil:
		return true
	case a.name == "max":
		return a.args[0].NonNegative() || a.args[1].NonNegative()
	}
	return a.args[0].NonNegative() && a.args[1].NonNegative()
}

// AtLeast0 returns max(d, 0).
func (d Dim) AtLeast0() Dim {
	if d.NonNegative() {
		return d
	}
	return d.Max(Const(0))
}
