package graph

import "math"

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
		sum = interval{addSaturating(sum.least, product.least), addSaturating(sum.most, product.most)}
	}
	return sum
}

func (a dimAtom) bounded(low, high map[string]int) interval {
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
	case "min":
		return interval{min(x.least, y.least), min(x.most, y.most)}
	case "max":
		return interval{max(x.least, y.least), max(x.most, y.most)}
	}
	return x.over(y)
}

func (x interval) times(y interval) interval {
	return span(mulSaturating(x.least, y.least), mulSaturating(x.least, y.most), mulSaturating(x.most, y.least), mulSaturating(x.most, y.most))
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

// addSaturating returns a + b, or the nearest int64.
func addSaturating(a, b int64) int64 {
	switch s := a + b; {
	case a > 0 && b > 0 && s < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && s >= 0:
		return math.MinInt64
	default:
		return s
	}
}
