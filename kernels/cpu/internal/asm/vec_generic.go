package asm

import "math"

// vecKernelGeneric is the pure Go implementation.
func vecKernelGeneric() VecKernel {
	return VecKernel{
		Name:          "vec_generic",
		Unary:         unaryGeneric,
		Binary:        binaryGeneric,
		Select:        selectGeneric,
		Sum:           sumGeneric,
		SumSquares:    sumSquaresGeneric,
		NormalizeRows: normalizeRowsGeneric,
		Range:         rangeGeneric,
		ExpSum:        expSumGeneric,
		Histogram:     histogramGeneric,
		Errors:        errorsGeneric,
	}
}

func unaryGeneric(op UnaryOp, dst, src []float32, a, b float32) {
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = unaryValue(op, x, a, b)
	}
}

func unaryValue(op UnaryOp, x, a, b float32) float32 {
	switch op {
	case Neg:
		return -x
	case Abs:
		return abs32(x)
	case Sqrt:
		return float32(math.Sqrt(float64(x)))
	case Reciprocal:
		return 1 / x
	case Floor:
		return float32(math.Floor(float64(x)))
	case Ceil:
		return float32(math.Ceil(float64(x)))
	case Round:
		return float32(math.RoundToEven(float64(x)))
	case Exp:
		return exp32(x)
	case Log:
		return log32(x)
	case Tanh:
		return tanh32(x)
	case Erf:
		return erf32(x)
	case Sigmoid:
		return sigmoid32(x)
	case SiLU:
		return x * sigmoid32(x)
	case GELU:
		return 0.5 * x * (1 + erf32(x*0.70710678118654752))
	case GELUTanh:
		const scale = 0.7978845608028654
		return x * (0.5*tanh32(x*(float32(0.044715*scale)*x*x+scale)) + 0.5)
	case HardSigmoid:
		return hardSigmoid32(x, a, b)
	case HardSwish:
		return x * hardSigmoid32(x, a, b)
	case LeakyReLU:
		if math.Signbit(float64(x)) {
			return a * x
		}
		return x
	case Clamp:
		return clamp(x, [2]float32{a, b})
	case Affine:
		return float32(a*x) + b
	case Sin:
		return float32(math.Sin(float64(x)))
	case Cos:
		return float32(math.Cos(float64(x)))
	}
	panic("asm: unknown unary operation")
}

func hardSigmoid32(x, a, b float32) float32 {
	return clamp(float32(a*x)+b, [2]float32{0, 1})
}

func abs32(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }

func copySign32(x, sign float32) float32 {
	return math.Float32frombits(math.Float32bits(x)&^(1<<31) | math.Float32bits(sign)&(1<<31))
}

// horner evaluates a polynomial, the constant coefficient first.
func horner(x float32, coefficients ...float32) float32 {
	p := float32(0)
	for i := len(coefficients) - 1; i >= 0; i-- {
		p = p*x + coefficients[i]
	}
	return p
}

// ln 2 in two parts: products of the first with small integers are exact.
const (
	ln2High = 0.693359375
	ln2Low  = -2.12194440e-4
)

// reduceExp32 writes x as n*ln 2 + r and returns n and exp(r) - 1; see the generator for the polynomials.
func reduceExp32(x float32) (n, expm1 float32) {
	n = float32(math.RoundToEven(float64(x * 1.44269504088896341)))
	r := x - n*ln2High
	r -= n * ln2Low
	q := horner(r, 0.5, 0.16666506230831146, 0.041666168719530106, 0.008370321244001389, 0.0013952970039099455)
	return n, r*r*q + r
}

// scale32 returns x * 2^n, n an integer between -1022 and 1023, rounded once.
func scale32(x, n float32) float32 {
	if n != n {
		return n
	}
	return float32(float64(x) * math.Float64frombits(uint64(int64(n)+1023)<<52))
}

func exp32(x float32) float32 {
	n, e := reduceExp32(clamp(x, [2]float32{-104.5, 89.5}))
	return scale32(1+e, n)
}

func sigmoid32(x float32) float32 {
	n, e := reduceExp32(clamp(x, [2]float32{-104.5, 88}))
	e = scale32(1+e, n)
	return e / (1 + e)
}

func tanh32(x float32) float32 {
	a := abs32(x)
	if a > 10 {
		a = 10
	}
	n, e := reduceExp32(2 * a)
	power := scale32(1, n)
	e = e*power + (power - 1)
	return copySign32(e/(e+2), x)
}

func erf32(x float32) float32 {
	a := abs32(x)
	if a < 1 {
		return x * horner(x*x, 1.1283791065216064, -0.3761262595653534, 0.11283600330352783, -0.026854444295167923,
			0.005189535208046436, -0.0008020841050893068, 7.889119297033176e-05)
	}
	if a > 4 {
		a = 4
	}
	g := horner(a, -0.00018803816055878997, 1.1295784711837769, 0.6332198977470398, 0.10841856151819229,
		-0.02520824782550335, 0.00420455913990736, -0.00044133589835837483, 2.1686813852284104e-05)
	n, e := reduceExp32(-g)
	return copySign32(1-scale32(1+e, n), x)
}

func log32(x float32) float32 {
	switch {
	case x != x || x < 0:
		return float32(math.NaN())
	case x == 0:
		return negInf
	case x > math.MaxFloat32:
		return x
	}
	m, exponent := math.Frexp(float64(x))
	if m < 0.75 {
		m, exponent = 2*m, exponent-1
	}
	r, e := float32(m-1), float32(exponent)
	q := horner(r, 0.33333447575569153, -0.2500019371509552, 0.19991089403629303, -0.16643743216991425,
		0.14467716217041016, -0.13186892867088318, 0.10582699626684189, -0.0461665503680706)
	square := r * r
	q = r * q * square
	q += e * ln2Low
	q -= 0.5 * square
	return r + q + e*ln2High
}

func binaryGeneric(op BinaryOp, dst, x, y []float32) {
	for i := range dst {
		dst[i] = binaryValue(op, operand(x, i, len(dst)), operand(y, i, len(dst)))
	}
}

func binaryValue(op BinaryOp, x, y float32) float32 {
	truth := false
	switch op {
	case Add:
		return x + y
	case Sub:
		return x - y
	case Mul:
		return x * y
	case Div:
		return x / y
	case Max:
		return max(x, y)
	case Min:
		return min(x, y)
	case Less:
		truth = x < y
	case LessOrEqual:
		truth = x <= y
	case Equal:
		truth = x == y
	default:
		panic("asm: unknown binary operation")
	}
	if truth {
		return 1
	}
	return 0
}

func selectGeneric(dst, condition, x, y []float32) {
	for i, c := range condition {
		if c != 0 {
			dst[i] = operand(x, i, len(dst))
		} else {
			dst[i] = operand(y, i, len(dst))
		}
	}
}

// sumGeneric and sumSquaresGeneric add in 16 lanes, as the assembly does: long sums lose less.
func sumGeneric(src []float32) float32 {
	var lanes [16]float32
	for i, x := range src {
		lanes[i%16] += x
	}
	return addLanes(&lanes)
}

func sumSquaresGeneric(src []float32, less float32) float32 {
	var lanes [16]float32
	for i, x := range src {
		x -= less
		lanes[i%16] += x * x
	}
	return addLanes(&lanes)
}

func normalizeRowsGeneric(dst, src []float32, n int, scale, bias []float32, epsilon float64, centered bool) {
	for ; len(src) > 0; dst, src = dst[n:], src[n:] {
		x, less := src[:n], float32(0)
		if centered {
			less = sumGeneric(x) / float32(n)
		}
		factor := float32(1 / math.Sqrt(float64(float64(sumSquaresGeneric(x, less))/float64(n))+epsilon))
		for i, x := range x {
			y := float32(float32(x-less) * factor)
			if scale != nil {
				y = float32(y * scale[i])
			}
			if bias != nil {
				y += bias[i]
			}
			dst[i] = y
		}
	}
}

// addLanes adds pairwise, in registers: it is called for every row.
func addLanes(v *[16]float32) float32 {
	a, b, c, d := v[0]+v[8], v[1]+v[9], v[2]+v[10], v[3]+v[11]
	e, f, g, h := v[4]+v[12], v[5]+v[13], v[6]+v[14], v[7]+v[15]
	a, b, c, d = a+e, b+f, c+g, d+h
	return (a + c) + (b + d)
}

func rangeGeneric(src []float32) (low, high float32) {
	low, high = posInf, negInf
	for _, x := range src {
		if x < low {
			low = x
		}
		if x > high {
			high = x
		}
	}
	return low, high
}

func expSumGeneric(dst, src []float32, less float32) float32 {
	var lanes [16]float32
	for i, x := range src {
		e := exp32(x - less)
		dst[i] = e
		lanes[i%16] += e
	}
	return addLanes(&lanes)
}

func histogramGeneric(counts []uint64, src []float32, low, perUnit float32, absolute bool) (nan int) {
	top := float32(len(counts) - 1)
	for _, x := range src {
		if absolute {
			x = abs32(x)
		}
		switch at := float32(x-low) * perUnit; {
		case at >= top:
			counts[len(counts)-1]++
		case at >= 0:
			counts[int(at)]++
		case at < 0:
			counts[0]++
		default:
			nan++
		}
	}
	return nan
}

func errorsGeneric(a, b []float32) (e VecErrors) {
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		d := x - y
		e.MaxAbs = max(e.MaxAbs, math.Abs(d))
		e.SumAbs += math.Abs(d)
		e.SumSquares += d * d
		e.Dot += x * y
		e.NormA += x * x
		e.NormB += y * y
	}
	return e
}
