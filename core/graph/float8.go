package graph

import "math"

// The 8-bit floating types are storage: a Cast reads and writes them, nothing computes in them. Their formats are those of
// ONNX, after "FP8 Formats for Deep Learning" (Micikevicius et al., 2022) and, where the only NaN is 0x80 and there is no
// other zero, "8-bit Numerical Formats for Deep Neural Networks" (Noune et al., 2022).

// float8 describes one of the formats: a sign, exponent and mantissa.
type float8 struct {
	mantissa int // bits
	bias     int
	max      float64 // the largest finite number
	infinite bool    // there are infinities
	nan      byte    // a NaN, without its sign where it has one
	unsigned bool    // neither NaN nor zero has a sign
}

var float8s = map[DataType]float8{
	F8E4M3FN:   {mantissa: 3, bias: 7, max: 448, nan: 0x7f},
	F8E4M3FNUZ: {mantissa: 3, bias: 8, max: 240, nan: 0x80, unsigned: true},
	F8E5M2:     {mantissa: 2, bias: 15, max: 57344, nan: 0x7f, infinite: true},
	F8E5M2FNUZ: {mantissa: 2, bias: 16, max: 57344, nan: 0x80, unsigned: true},
}

// IsFloat8 reports whether t is an 8-bit floating type.
func (t DataType) IsFloat8() bool { return t >= F8E4M3FN && t <= F8E5M2FNUZ }

// decode returns the number that b stands for.
func (f float8) decode(b byte) float64 {
	m := int(b & (1<<f.mantissa - 1))
	e := int(b&0x7f) >> f.mantissa
	sign := 1.0
	if b&0x80 != 0 {
		sign = -1
	}
	switch {
	case f.unsigned && b == f.nan, !f.unsigned && !f.infinite && b&0x7f == f.nan:
		return math.NaN()
	case f.infinite && e == 0x7f>>f.mantissa && m != 0:
		return math.NaN()
	case f.infinite && e == 0x7f>>f.mantissa:
		return math.Inf(int(sign))
	case e == 0: // subnormal
		return sign * math.Ldexp(float64(m), 1-f.bias-f.mantissa)
	}
	return sign * math.Ldexp(float64(m|1<<f.mantissa), e-f.bias-f.mantissa)
}

// encode rounds x half to even. What is too large becomes the largest number if it saturates, else an infinity, or NaN where
// there is none. An infinity is too large.
func (f float8) encode(x float64, saturate bool) byte {
	sign := byte(0)
	if math.Signbit(x) {
		sign = 0x80
	}
	if x != x && f.unsigned {
		return f.nan
	}
	if x != x {
		return sign | f.nan
	}
	a := math.Abs(x)
	_, e := math.Frexp(a) // a = [0.5, 1) * 2^e
	e = max(e-1, 1-f.bias)
	unit := math.Ldexp(1, e-f.mantissa)
	n := a
	if !math.IsInf(a, 0) {
		n = math.RoundToEven(a/unit) * unit
	}
	switch {
	case n > f.max && saturate:
		n = f.max
	case n > f.max && f.infinite:
		return sign | 0x7f>>f.mantissa<<f.mantissa
	case n > f.max && f.unsigned:
		return f.nan
	case n > f.max:
		return sign | f.nan
	}
	if n == 0 {
		if f.unsigned {
			return 0
		}
		return sign
	}
	_, e = math.Frexp(n)
	if e--; e < 1-f.bias { // subnormal
		return sign | byte(math.Ldexp(n, f.bias+f.mantissa-1))
	}
	m := math.Ldexp(n, f.mantissa-e) // with the leading 1
	return sign | byte(e+f.bias)<<f.mantissa | byte(m)&(1<<f.mantissa-1)
}

// setFloat8s stores x rounded to v's 8-bit floating type.
func (v Value) setFloat8s(x []float64, saturate bool) {
	f := float8s[v.Type]
	for i, a := range x {
		v.Data[i] = f.encode(a, saturate)
	}
}
