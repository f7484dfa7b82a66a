package ptxsim

import "math"

// narrowFormat is a float narrower than 32 bits.
type narrowFormat struct {
	mantissa int  // bits after the point
	least    int  // exponent of the least normal number
	most     int  // exponent of the greatest
	width    int  // bits in all
	finite   bool // no infinities: all ones but the NaN are numbers (e4m3)
}

var (
	halfFormat   = narrowFormat{mantissa: 10, least: -14, most: 15, width: 16}
	bfloatFormat = narrowFormat{mantissa: 7, least: -126, most: 127, width: 16}
	e4m3Format   = narrowFormat{mantissa: 3, least: -6, most: 8, width: 8, finite: true}
	e5m2Format   = narrowFormat{mantissa: 2, least: -14, most: 15, width: 8}
	tf32Format   = narrowFormat{mantissa: 10, least: -126, most: 127, width: 19}
)

// nan is the NaN of conversions: all ones but the sign.
func (f *narrowFormat) nan() uint32 { return 1<<(f.width-1) - 1 }

// infinity is also what is above all numbers of a finite format.
func (f *narrowFormat) infinity() uint32 {
	if f.finite {
		return f.nan()
	}
	return uint32(f.most-f.least+2) << f.mantissa
}

// round rounds v to the format's bits. What is too big becomes infinite where the rounding goes away from zero.
func (f *narrowFormat) round(v float64, r rounding) uint32 {
	if v != v {
		return f.nan()
	}
	sign := uint32(0)
	if math.Signbit(v) {
		sign = 1 << (f.width - 1)
	}
	a := math.Abs(v)
	switch {
	case a == 0:
		return sign
	case math.IsInf(v, 0):
		return sign | f.infinity()
	}
	_, e := math.Frexp(a)
	e = max(e-1, f.least)
	scaled := math.Ldexp(a, f.mantissa-e) // below 2^(mantissa+1), an integer once rounded
	var n float64
	switch {
	case r == toNearestAway:
		n = math.Floor(scaled + 0.5)
	case r == toNearest:
		n = math.RoundToEven(scaled)
	case r == toZero, r == down && sign == 0, r == up && sign != 0:
		n = math.Floor(scaled)
	default:
		n = math.Ceil(scaled)
	}
	out := uint32(int64(n)) + uint32(e-f.least)<<f.mantissa // a carry goes on into the exponent
	if top := f.infinity(); out >= top {
		if r == toNearest || r == toNearestAway || n != math.Floor(scaled) {
			return sign | top
		}
		return sign | (top - 1)
	}
	return sign | out
}

// satfinite is round to nearest with the greatest number in place of what is beyond it.
func (f *narrowFormat) satfinite(v float64) uint32 {
	b := f.round(v, toNearest)
	if sign := uint32(1) << (f.width - 1); v == v && b&^sign >= f.infinity() {
		return b&sign | (f.infinity() - 1)
	}
	return b
}

// float gives the number that bits stand for.
func (f *narrowFormat) float(b uint32) float64 {
	sign := 1.0
	if b>>(f.width-1)&1 != 0 {
		sign = -1
	}
	b &= 1<<(f.width-1) - 1
	e, m := int(b>>f.mantissa), float64(b&(1<<f.mantissa-1))
	switch {
	case f.finite && b == f.nan(), !f.finite && b > f.infinity():
		return math.NaN()
	case !f.finite && b == f.infinity():
		return math.Inf(int(sign))
	case e == 0:
		return sign * math.Ldexp(m, f.least-f.mantissa)
	}
	return sign * math.Ldexp(m+float64(int(1)<<f.mantissa), e-1+f.least-f.mantissa)
}

// halfToFloat converts an f16.
func halfToFloat(h uint16) float32 {
	sign, x := uint32(h&0x8000)<<16, uint32(h&0x7fff)
	switch {
	case x-0x400 < 0x7800: // normal
		return math.Float32frombits(sign | x<<13 + 0x38000000)
	case x >= 0x7c00: // infinite, NaN
		return math.Float32frombits(sign | x<<13 | 0x7f800000)
	}
	return math.Float32frombits(sign | math.Float32bits(float32(x)*0x1p-24))
}

// halfFromFloat rounds to the nearest f16, even.
func halfFromFloat(f float32) uint16 {
	b := math.Float32bits(f)
	sign, x := uint16(b>>16&0x8000), b&0x7fffffff
	switch {
	case x > 0x7f800000:
		return 0x7fff
	case x >= 0x477ff000: // 65520 and more
		return sign | 0x7c00
	case x >= 0x38800000: // normal
		x -= 0x38000000
		return sign | uint16((x+0xfff+x>>13&1)>>13)
	}
	return sign | uint16(math.RoundToEven(float64(math.Float32frombits(x))*0x1p24))
}
