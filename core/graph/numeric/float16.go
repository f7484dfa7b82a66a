package numeric

import "math"

// F16ToF32 converts an IEEE 754 binary16 to float32; every binary16 is exact.
func F16ToF32(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	exp := uint32(h>>10) & 0x1f
	frac := uint32(h & 0x3ff)
	switch exp {
	case 0: // zero or subnormal: frac * 2^-24
		f := float32(frac) * (1.0 / (1 << 24))
		return math.Float32frombits(math.Float32bits(f) | sign)
	case 0x1f:
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

// F32ToF16 converts to IEEE 754 binary16, rounding half to even; too large becomes infinity, NaN stays NaN.
func F32ToF16(f float32) uint16 {
	b := math.Float32bits(f)
	sign := uint16(b>>16) & 0x8000
	b &= 0x7fffffff
	switch {
	case b > 0x7f800000:
		return sign | 0x7e00
	case b >= 0x47800000: // 65536 and more
		return sign | 0x7c00
	case b >= 0x38800000: // normal
		b += 0xfff + (b>>13)&1
		return sign | uint16((b-0x38000000)>>13)
	}
	// Subnormal: adding 0.5 puts the rounding to a multiple of 2^-24 where float32 itself rounds.
	r := math.Float32frombits(b) + 0.5
	return sign | uint16(math.Float32bits(r)-0x3f000000)
}

// BF16ToF32 converts a bfloat16 to float32; every bfloat16 is exact.
func BF16ToF32(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// F32ToBF16 converts to bfloat16, rounding half to even; NaN stays NaN.
func F32ToBF16(f float32) uint16 {
	b := math.Float32bits(f)
	if b&0x7fffffff > 0x7f800000 {
		return uint16(b>>16) | 0x40
	}
	return uint16((b + 0x7fff + (b>>16)&1) >> 16)
}
