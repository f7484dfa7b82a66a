package work

import "github.com/trtui/trtui/kernels/cpu/internal/asm"

// HalfKernel returns the first conversion between float32 and half precision that features allow.
func HalfKernel(features asm.Features) asm.HalfKernel {
	for _, k := range asm.HalfKernels() {
		if features.Has(k.Needs) {
			return k
		}
	}
	panic("cpu: no conversion of half precision without features")
}

// QuantKernel returns the first kernel of the table that the features allow.
func QuantKernel(have asm.Features) asm.QuantKernel {
	for _, k := range asm.QuantKernels() {
		if have.Has(k.Needs) {
			return k
		}
	}
	panic("cpu: no generic conversion kernel")
}

// VecKernel returns the first kernel on vectors that features allow.
func VecKernel(features asm.Features) asm.VecKernel {
	for _, k := range asm.VecKernels() {
		if features.Has(k.Needs) {
			return k
		}
	}
	panic("cpu: no vector kernel without features")
}

// RotaryKernel returns the first rotary embedding that features allow.
func RotaryKernel(features asm.Features) asm.RotaryKernel {
	for _, k := range asm.RotaryKernels() {
		if features.Has(k.Needs) {
			return k
		}
	}
	panic("cpu: no rotary embedding without features")
}

// AttendKernel returns the first kernel for attention, and products of few rows, that features allow.
func AttendKernel(features asm.Features) asm.AttendKernel {
	for _, k := range asm.AttendKernels() {
		if features.Has(k.Needs) {
			return k
		}
	}
	panic("cpu: no attention kernel without features")
}

// LayoutKernel returns the first layout kernel that features allow.
func LayoutKernel(features asm.Features) asm.LayoutKernel {
	for _, k := range asm.LayoutKernels() {
		if features.Has(k.Needs) {
			return k
		}
	}
	panic("cpu: no layout kernel without features")
}

// ISAName is the part of a tactic's name that says what it needs.
func ISAName(f asm.Features) string {
	switch {
	case f.Has(asm.AMXInt8):
		return "amx"
	case f.Has(asm.AVX512VNNI):
		return "vnni"
	case f.Has(asm.AVX512):
		return "avx512"
	case f.Has(asm.AVXVNNI):
		return "avxvnni"
	case f.Has(asm.AVX2):
		return "avx2"
	}
	return "go"
}
