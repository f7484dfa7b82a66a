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
	for _, all := range []bool{false, true} {
		if least, ok := d.withoutQuotients(all); ok && least.nonNegative(depth-1) {
			return true
		}
	}
	return false
}

// withoutQuotients returns what d is at least, with its terms k*g*floor(x/(g*n)) of a negative k, or of all, as what they are at least:
// g*floor(x/(g*n)) is from floor(x/n)-g+1 to floor(x/n).
func (d Dim) withoutQuotients(all bool) (least Dim, ok bool) {
	least = d
	for _, t := range d.terms {
		if len(t.atoms) != 1 || t.coef > 0 && !all {
			continue
		}
		x, n, yes := t.atoms[0].quotientOf()
		g := gcd(t.coef, n)
		if !yes || g == 1 {
			continue
		}
		x = x.DivN(int(n / g))
		if t.coef > 0 {
			x = x.AddN(int(1 - g))
		}
		least, ok = least.plus(term{-t.coef, t.atoms}).Add(x.MulN(int(t.coef/g))), true
	}
	return least, ok
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
