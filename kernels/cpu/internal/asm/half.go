package asm

import "math"

// HalfKernel converts slices between float32 and IEEE 754 binary16.
type HalfKernel struct {
	Name  string
	Needs Features
	// Widen sets dst[i] to the value of src[i]; every value has one, and NaN stays NaN.
	Widen func(dst []float32, src []uint16)
	// Narrow rounds src[i] to the nearest, ties to even: overflow to infinity, small values to subnormals.
	Narrow func(dst []uint16, src []float32)
}

func widenGeneric(dst []float32, src []uint16) {
	for i, h := range src {
		dst[i] = widen(h)
	}
}

func narrowGeneric(dst []uint16, src []float32) {
	for i, v := range src {
		dst[i] = narrow(v)
	}
}

// widen returns the value of the half-precision bits h. A signalling NaN becomes quiet.
func widen(h uint16) float32 {
	sign, exponent, fraction := uint32(h&0x8000)<<16, uint32(h>>10&31), uint32(h&0x3ff)
	switch {
	case exponent == 0: // zero or subnormal: a multiple of 2^-24
		v := float32(fraction) * 0x1p-24
		return math.Float32frombits(math.Float32bits(v) | sign)
	case exponent < 31:
		return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
	case fraction == 0:
		return math.Float32frombits(sign | 0x7f800000)
	}
	return math.Float32frombits(sign | 0x7fc00000 | fraction<<13)
}

// narrow returns the half-precision bits nearest to v.
func narrow(v float32) uint16 {
	bits := math.Float32bits(v)
	sign, magnitude := uint16(bits>>16&0x8000), bits&0x7fffffff
	switch {
	case magnitude > 0x7f800000: // NaN: quiet, with the leading bits of its payload
		return sign | 0x7e00 | uint16(magnitude>>13&0x3ff)
	case magnitude >= 0x47800000: // 2^16 and above
		return sign | 0x7c00
	case magnitude < 0x38800000: // below 2^-14: a multiple of 2^-24, rounded by the addition of 1/2
		half := math.Float32frombits(magnitude) + 0.5
		return sign | uint16(math.Float32bits(half)-math.Float32bits(0.5))
	}
	rounded := magnitude + 0xfff + magnitude>>13&1 // carries into the exponent as it must
	return sign | uint16((rounded-(127-15)<<23)>>13)
}

func halfGenericKernels() []HalfKernel {
	return []HalfKernel{{Name: "half_generic", Widen: widenGeneric, Narrow: narrowGeneric}}
}
