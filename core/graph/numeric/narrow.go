package numeric

import "math"

// The narrow types, floats of up to 8 bits and integers of fewer, are storage: Cast, Quantize and Dequantize read and write them,
// Transpose and what changes shapes move them, nothing computes in them. In memory each element has a byte: of a signed integer its two's
// complement, of a float its code in the lowest bits.
//
// The formats are those of ONNX. Floats are after "FP8 Formats for Deep Learning" (Micikevicius et al., 2022) and, where the only
// NaN is 0x80 and there is no other zero, "8-bit Numerical Formats for Deep Neural Networks" (Noune et al., 2022); those of 6 and 4
// bits, which have neither infinities nor NaN, and E8M0, powers of two for scales, after the OCP Microscaling Formats (MX) v1.0.

// IsNarrow reports whether t is one of the types that are storage alone.
func (t DataType) IsNarrow() bool { return t >= F8E4M3FN && t <= I2 }

// IsFloat8 reports whether t is a floating type of 8 bits with a sign and a mantissa.
func (t DataType) IsFloat8() bool { return t >= F8E4M3FN && t <= F8E5M2FNUZ }

// IsNarrowFloat reports whether t is a narrow floating type.
func (t DataType) IsNarrowFloat() bool { return t >= F8E4M3FN && t <= F4E2M1 }

// IsNarrowInteger reports whether t is an integer type of less than a byte.
func (t DataType) IsNarrowInteger() bool { return t >= U4 && t <= I2 }

// narrowFloat describes one of the formats: a sign, exponent and mantissa.
type narrowFloat struct {
	bits     int
	mantissa int // bits
	bias     int
	max      float64 // the largest finite number
	infinite bool    // there are infinities
	nan      byte    // a NaN, without its sign where it has one; 0: there is none
	unsigned bool    // neither NaN nor zero has a sign
}

var narrowFloats = map[DataType]narrowFloat{
	F8E4M3FN:   {bits: 8, mantissa: 3, bias: 7, max: 448, nan: 0x7f},
	F8E4M3FNUZ: {bits: 8, mantissa: 3, bias: 8, max: 240, nan: 0x80, unsigned: true},
	F8E5M2:     {bits: 8, mantissa: 2, bias: 15, max: 57344, nan: 0x7f, infinite: true},
	F8E5M2FNUZ: {bits: 8, mantissa: 2, bias: 16, max: 57344, nan: 0x80, unsigned: true},
	F6E2M3:     {bits: 6, mantissa: 3, bias: 1, max: 7.5},
	F6E3M2:     {bits: 6, mantissa: 2, bias: 3, max: 28},
	F4E2M1:     {bits: 4, mantissa: 1, bias: 1, max: 6},
}

// sign returns the bit of the sign.
func (f narrowFloat) sign() byte { return 1 << (f.bits - 1) }

// decode returns the number that b stands for.
func (f narrowFloat) decode(b byte) float64 {
	b &= 2*f.sign() - 1
	magnitude := b &^ f.sign()
	m, e := int(b&(1<<f.mantissa-1)), int(magnitude>>f.mantissa)
	sign := 1.0
	if b&f.sign() != 0 {
		sign = -1
	}
	switch {
	case f.unsigned && b == f.nan, !f.unsigned && !f.infinite && f.nan != 0 && magnitude == f.nan:
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
// there is none. An infinity is too large. Formats without NaN saturate, and have -0 for it.
func (f narrowFloat) encode(x float64, saturate bool) byte {
	sign := byte(0)
	if math.Signbit(x) {
		sign = f.sign()
	}
	if x != x && f.unsigned {
		return f.nan
	}
	if x != x && f.nan == 0 {
		return f.sign()
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
	case n > f.max && (saturate || f.nan == 0):
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

// The ways in which Cast rounds to a power of two.
const (
	RoundUp      = "up" // away from zero
	RoundDown    = "down"
	RoundNearest = "nearest" // half way: up
)

// decodePower returns the number that an element of F8E8M0 stands for.
func decodePower(b byte) float64 {
	if b == 0xff {
		return math.NaN()
	}
	return math.Ldexp(1, int(b)-127)
}

// encodePower rounds the magnitude of x to a power of two. What is out of range becomes the nearest one in range if it saturates,
// else NaN, and so does 0.
func encodePower(x float64, round string, saturate bool) byte {
	const least, most = -127, 127
	x = math.Abs(x)
	if x != x || !saturate && (x == 0 || math.IsInf(x, 0)) {
		return 0xff
	}
	e := math.MaxInt16
	switch fraction, exponent := math.Frexp(x); { // x = fraction * 2^exponent, fraction from 1/2 to 1
	case x == 0:
		e = math.MinInt16
	case math.IsInf(x, 0):
	case round == RoundDown, fraction == 0.5, round == RoundNearest && fraction < 0.75:
		e = exponent - 1
	default:
		e = exponent
	}
	if !saturate && (e < least || e > most) {
		return 0xff
	}
	return byte(max(least, min(most, e)) + 127)
}

// narrowFloats64 returns the numbers of a value of a narrow floating type.
func (v Value) narrowFloats64() []float64 {
	f, out := narrowFloats[v.Type], make([]float64, v.Len())
	for i, b := range v.Data {
		if v.Type == F8E8M0 {
			out[i] = decodePower(b)
		} else {
			out[i] = f.decode(b)
		}
	}
	return out
}

// SetNarrowFloats stores x rounded to v's narrow floating type; round is for F8E8M0, "" is up.
func (v Value) SetNarrowFloats(x []float64, saturate bool, round string) {
	f := narrowFloats[v.Type]
	for i, a := range x {
		if v.Type == F8E8M0 {
			v.Data[i] = encodePower(a, round, saturate)
		} else {
			v.Data[i] = f.encode(a, saturate)
		}
	}
}

// WrapNarrow returns the lowest bits of n as an element of an integer type of less than a byte.
func (t DataType) WrapNarrow(n int64) byte {
	above := 64 - t.Bits()
	if t.Signed() {
		return byte(n << above >> above)
	}
	return byte(uint64(n) << above >> above)
}

// PackedSize returns the bytes of n elements that lie in a file without gaps.
func (t DataType) PackedSize(n int) int {
	if bits := t.Bits(); bits < 8 {
		return n/8*bits + (n%8*bits+7)/8
	}
	return n * t.Size()
}

// Unpacked returns a byte for each of n elements of less than a byte that lie without gaps, the first one in the lowest bits;
// elements of other types are as they are.
func (t DataType) Unpacked(packed []byte, n int) []byte {
	bits := t.Bits()
	if bits >= 8 {
		return packed
	}
	out := make([]byte, n)
	for i := range out {
		at := i * bits
		b := uint(packed[at/8]) >> (at % 8)
		if at%8+bits > 8 {
			b |= uint(packed[at/8+1]) << (8 - at%8)
		}
		if out[i] = byte(b) & (1<<bits - 1); t.IsNarrowInteger() {
			out[i] = t.WrapNarrow(int64(out[i]))
		}
	}
	return out
}

// Packed is the inverse of Unpacked.
func (t DataType) Packed(elements []byte) []byte {
	bits := t.Bits()
	if bits >= 8 {
		return elements
	}
	out := make([]byte, t.PackedSize(len(elements)))
	for i, e := range elements {
		at := i * bits
		b := uint(e&(1<<bits-1)) << (at % 8)
		out[at/8] |= byte(b)
		if at%8+bits > 8 {
			out[at/8+1] |= byte(b >> 8)
		}
	}
	return out
}
