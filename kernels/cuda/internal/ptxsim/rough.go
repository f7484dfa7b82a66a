package ptxsim

import (
	"math"
	"slices"
)

// With Options.Rough, what a GPU only approximates is as far off as the ISA lets it be, one way or the other by the
// operand's bits; and tensor cores cut off rather than round. Where it says nothing of an error, a result is exact.

// errorOf is how far the result of an approximate instruction may be from v, of which x is the operand (PTX ISA 9.7.3, the
// maximum errors of div, rcp, sqrt, rsqrt, sin, cos, lg2, ex2 and tanh of f32). Half a unit in the last place is the
// rounding's own. Quotients, roots and powers that are powers of two are exact: the tables of the hardware begin there.
func errorOf(op string, v, x float64) float64 {
	fraction, _ := math.Frexp(v)
	if v == 0 || v != v || math.IsInf(v, 0) {
		return 0
	}
	ulp := math.Ldexp(1, max(math.Ilogb(v), -126)-23)
	switch op {
	case "rcp", "sqrt", "div", "ex2", "rsqrt":
		if math.Abs(fraction) == 0.5 {
			return 0
		}
	}
	switch op {
	case "rcp", "sqrt":
		return ulp / 2
	case "div", "ex2":
		return 3 * ulp / 2
	case "rsqrt":
		return math.Abs(v) * 0x1.12p-23 // 2^-22.9
	case "sin", "cos":
		if x == 0 {
			return 0
		}
		return 0x1.6ap-21 // 2^-20.5
	case "lg2":
		if x > 0.5 && x < 2 {
			return 0x1p-22
		}
		return math.Abs(v) * 0x1p-22
	case "tanh":
		return math.Abs(v) * 0x1p-11
	}
	return 0
}

// roughly is v with that error, up or down by a hash of the operand.
func roughly(op string, v, x float64) float64 {
	h := math.Float64bits(x) * 0x9e3779b97f4a7c15
	if h>>63 == 0 {
		return v + errorOf(op, v, x)
	}
	return v - errorOf(op, v, x)
}

// approximate reports whether the instruction's result is only near the function's.
func (d *decoder) approximate() bool {
	return d.has("approx") || d.has("full")
}

// coreBits are the bits that a tensor core keeps of a term, counted from the highest of the largest one: those of a float32
// and none below.
const coreBits = 24

// multiplyRowRough is multiplyRow as tensor cores are seen to add: the products are exact; they and the sum so far lose
// what lies below the last bit of the largest of them, are added exactly, and the sum is cut off to a float32.
func multiplyRowRough(a []float32, b *[32][8]float32, c *[8]float32) {
	terms := make([]float64, len(a)+1)
	for n := range c {
		largest := math.MinInt32
		terms[len(a)] = float64(c[n])
		for k, x := range a {
			terms[k] = float64(x) * float64(b[k&31][n])
		}
		for _, t := range terms {
			if t != 0 && t-t == 0 {
				largest = max(largest, math.Ilogb(t))
			}
		}
		if largest == math.MinInt32 || slices.ContainsFunc(terms, func(t float64) bool { return t-t != 0 }) {
			sum := float32(0)
			for _, t := range terms {
				sum += float32(t)
			}
			c[n] = sum
			continue
		}
		unit, sum := math.Ldexp(1, largest-coreBits+1), 0.0
		for _, t := range terms {
			sum += math.Trunc(t/unit) * unit
		}
		c[n] = round32(sum, toZero)
	}
}
