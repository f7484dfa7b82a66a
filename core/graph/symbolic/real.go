package symbolic

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Real is a number that a model computes from extents in floating point, as it does to scale them, with the roundings of that. Where
// they round nothing it is a fraction of an extent; [Real.Trunc] is an extent again. A Real is immutable.
type Real struct {
	num  Dim   // where op is "", the number is num/den
	den  int64 // a power of 2
	op   string
	wide bool // op rounds to 64 bits, otherwise to 32
	v    float64
	args []Real
}

// maxDenominator bounds the fractions of extents, and maxExact what is counted on to be exact in 32 bits as a product of both is.
const (
	maxDenominator = 1 << 10
	maxExact       = 1 << 24
)

// realOps are the operations on Reals with the number of their operands.
var realOps = map[string]int{
	"add": 2, "sub": 2, "mul": 2, "quo": 2, "min": 2, "max": 2, "neg": 1, "floor": 1, "ceil": 1, "round": 1, "sqrt": 1, "float": 1,
}

// RealOf returns d as a number.
func RealOf(d Dim) Real { return Real{num: d, den: 1} }

// RealConst returns the number v.
func RealConst(v float64) Real {
	for den := int64(1); den <= maxDenominator; den *= 2 {
		if n := v * float64(den); n == math.Trunc(n) && math.Abs(n) < maxExact {
			return Real{num: Const(int(n)), den: den}
		}
	}
	return Real{op: "const", v: v}
}

// Const returns the number where it depends on no symbol.
func (r Real) Const() (float64, bool) {
	if r.op == "const" {
		return r.v, true
	}
	n, ok := r.num.IsConst()
	return float64(n) / float64(max(1, r.den)), ok && r.op == ""
}

// Do returns what an operation gives, rounded to 64 bits or to 32: "add", "sub", "mul", "quo", "min", "max" of two numbers; "neg",
// "floor", "ceil", "round" (half to even), "sqrt" and "float", the number itself, of one.
func Do(op string, wide bool, args ...Real) (Real, error) {
	if n, ok := realOps[op]; !ok || n != len(args) {
		return Real{}, fmt.Errorf("operation %s of %d numbers is unknown", op, len(args))
	}
	if r, ok := exactly(op, args); ok {
		return r, nil
	}
	if x := args[0]; op == "float" && (wide || len(x.args) > 0 && !x.wide) { // it has the type
		return x, nil
	}
	r := Real{op: op, wide: wide, args: slices.Clone(args)}
	if !slices.ContainsFunc(args, func(a Real) bool { _, ok := a.Const(); return !ok }) {
		return RealConst(r.Eval(nil)), nil
	}
	if r.size() > maxSize {
		return Real{}, fmt.Errorf("a number has too many parts")
	}
	return r, nil
}

// exactly is Do where all are fractions of extents, and so is the result.
func exactly(op string, args []Real) (Real, bool) {
	for _, a := range args {
		if a.op != "" {
			return Real{}, false
		}
	}
	x, y := args[0], args[len(args)-1]
	den := max(x.den, y.den)
	a, b := x.num.MulN(int(den/x.den)), y.num.MulN(int(den/y.den))
	switch op {
	case "float":
		return x, true
	case "add":
		return fraction(a.Add(b), den)
	case "sub":
		return fraction(a.Sub(b), den)
	case "min":
		return fraction(a.Min(b), den)
	case "max":
		return fraction(a.Max(b), den)
	case "neg":
		return fraction(x.num.MulN(-1), x.den)
	case "mul":
		return fraction(x.num.Mul(y.num), x.den*y.den)
	case "floor":
		return Real{num: x.num.DivN(int(x.den)), den: 1}, true
	case "ceil":
		return Real{num: x.num.AddN(int(x.den - 1)).DivN(int(x.den)), den: 1}, true
	case "quo":
		n, constant := b.IsConst()
		if q, ok := a.quotient(b); ok && !constant {
			return fraction(q, 1)
		}
		if constant && n != 0 {
			if q, ok := a.Exactly(int64(n)); ok {
				return fraction(q, 1)
			}
			if n > 0 && n&(n-1) == 0 {
				return fraction(a, int64(n))
			}
		}
	}
	return Real{}, false
}

// fraction returns num/den; ok is false for a denominator that is too large.
func fraction(num Dim, den int64) (r Real, ok bool) {
	for den > 1 {
		half, even := num.Exactly(2)
		if !even {
			break
		}
		num, den = half, den/2
	}
	return Real{num: num, den: den}, den <= maxDenominator
}

// Trunc returns the number rounded toward 0, as a conversion to integers does.
func (r Real) Trunc() Dim {
	if r.op == "" {
		switch {
		case r.den == 1:
			return r.num
		case r.num.NonNegative():
			return r.num.DivN(int(r.den))
		case r.num.MulN(-1).NonNegative():
			return r.num.MulN(-1).DivN(int(r.den)).MulN(-1)
		}
	}
	if v, ok := r.Const(); ok {
		return Const(truncInt(v))
	}
	if r.op == "floor" && r.args[0].wide == r.wide && r.args[0].nonNegative() {
		return r.args[0].Trunc()
	}
	return Dim{terms: []term{{1, []atom{{name: "trunc", real: &r}}}}}
}

// truncInt is v toward 0, or the nearest integer; 0 of NaN.
func truncInt(v float64) int {
	switch {
	case v != v:
		return 0
	case v >= math.MaxInt64:
		return math.MaxInt64
	case v <= math.MinInt64:
		return math.MinInt64
	}
	return int(v)
}

// Eval returns the number for the values of the symbols, as [Dim.Eval] does.
func (r Real) Eval(env map[string]int) float64 {
	switch r.op {
	case "":
		return float64(r.num.Eval(env)) / float64(r.den)
	case "const":
		return r.v
	}
	x := r.args[0].Eval(env)
	return r.do(x, r.args[len(r.args)-1].Eval(env))
}

// do is the operation on numbers.
func (r Real) do(x, y float64) (v float64) {
	switch r.op {
	case "float":
		v = x
	case "add":
		v = x + y
	case "sub":
		v = x - y
	case "mul":
		v = x * y
	case "quo":
		v = x / y
	case "min":
		v = min(x, y)
	case "max":
		v = max(x, y)
	case "neg":
		v = -x
	case "floor":
		v = math.Floor(x)
	case "ceil":
		v = math.Ceil(x)
	case "round":
		v = math.RoundToEven(x)
	case "sqrt":
		v = math.Sqrt(x)
	}
	if !r.wide {
		v = float64(float32(v))
	}
	return v
}

// bounded returns numbers that r is never below and never above, since rounding keeps their order; ok is false where it may be none.
func (r Real) bounded(low, high map[string]int) (least, most float64, ok bool) {
	switch r.op {
	case "":
		b := r.num.bounded(low, high)
		return float64(b.least) / float64(r.den), float64(b.most) / float64(r.den), true
	case "const":
		return r.v, r.v, r.v == r.v
	}
	x0, x1, ok := r.args[0].bounded(low, high)
	y0, y1, ok2 := r.args[len(r.args)-1].bounded(low, high)
	if !ok || !ok2 || r.op == "quo" && y0 <= 0 && y1 >= 0 {
		return 0, 0, false
	}
	values := []float64{r.do(x0, y0), r.do(x1, y1)}
	if len(r.args) == 2 {
		values = append(values, r.do(x0, y1), r.do(x1, y0))
	}
	return slices.Min(values), slices.Max(values), !slices.ContainsFunc(values, math.IsNaN)
}

func (r Real) nonNegative() bool {
	switch r.op {
	case "":
		return r.num.NonNegative()
	case "const":
		return r.v >= 0
	case "sub", "neg":
		return false
	case "max":
		return r.args[0].nonNegative() || r.args[1].nonNegative()
	}
	return !slices.ContainsFunc(r.args, func(a Real) bool { return !a.nonNegative() })
}

func (r Real) symbols(set map[string]bool) {
	r.num.Symbols(set)
	for _, a := range r.args {
		a.symbols(set)
	}
}

// size counts the parts of r, stopping somewhere above maxSize.
func (r Real) size() int {
	n := r.num.size()
	for _, a := range r.args {
		if n > maxSize {
			break
		}
		n += a.size()
	}
	return n
}

// String prints what parser.real reads: numbers, dims in of(...), and operations as functions, the ones of 64 bits with that behind
// their name.
func (r Real) String() string {
	if v, ok := r.Const(); ok {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	if r.op == "" {
		if r.den == 1 {
			return "of(" + r.num.String() + ")"
		}
		return "quo(of(" + r.num.String() + ")," + strconv.FormatInt(r.den, 10) + ")"
	}
	list := make([]string, len(r.args))
	for i, a := range r.args {
		list[i] = a.String()
	}
	name := r.op
	if r.wide {
		name += "64"
	}
	return name + "(" + strings.Join(list, ",") + ")"
}

// real reads what Real.String prints.
func (p *parser) real(depth int) (Real, error) {
	if depth > maxDepth {
		return Real{}, errDepth
	}
	i := 0
	if strings.HasPrefix(p.rest, "-") || strings.HasPrefix(p.rest, "+") {
		i++
	}
	for i < len(p.rest) && isSymbolByte(p.rest[i]) {
		i++
	}
	word := p.rest[:i]
	p.rest = p.rest[i:]
	if v, err := strconv.ParseFloat(word, 64); err == nil {
		return RealConst(v), nil
	}
	if !p.take('(') {
		return Real{}, fmt.Errorf("%q before %q is no number", word, p.rest)
	}
	if word == "of" {
		d, err := p.sum(depth + 1)
		if err == nil && !p.take(')') {
			err = fmt.Errorf("of is not closed")
		}
		return RealOf(d), err
	}
	var args []Real
	for {
		a, err := p.real(depth + 1)
		if err != nil {
			return Real{}, err
		}
		args = append(args, a)
		if !p.take(',') {
			break
		}
	}
	if !p.take(')') {
		return Real{}, fmt.Errorf("%s is not closed", word)
	}
	name, wide := strings.CutSuffix(word, "64")
	return Do(name, wide, args...)
}
