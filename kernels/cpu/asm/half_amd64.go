//go:build amd64 && !noasm

package asm

// HalfKernels returns the kernels compiled in, the assembly first; HostFeatures says which of them run.
func HalfKernels() []HalfKernel {
	return append([]HalfKernel{
		{"half_avx512", AVX512, widenRun, narrowRun},
	}, halfGenericKernels()...)
}

const halfElements = 1 << 16 // in one call

func widenRun(dst []float32, src []uint16) {
	dst = dst[:len(src)]
	for len(src) >= 16 {
		n := min(len(src), halfElements) &^ 15
		halfToFloatAVX512(&dst[0], &src[0], n)
		dst, src = dst[n:], src[n:]
	}
	widenGeneric(dst, src)
}

func narrowRun(dst []uint16, src []float32) {
	dst = dst[:len(src)]
	for len(src) >= 16 {
		n := min(len(src), halfElements) &^ 15
		floatToHalfAVX512(&dst[0], &src[0], n)
		dst, src = dst[n:], src[n:]
	}
	narrowGeneric(dst, src)
}
