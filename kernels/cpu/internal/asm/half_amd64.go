//go:build amd64 && !noasm

package asm

// HalfKernels returns the kernels compiled in, the assembly first; HostFeatures says which of them run.
func HalfKernels() []HalfKernel {
	return append([]HalfKernel{
		{"half_avx512", AVX512, widenFunc(halfToFloatAVX512).run, narrowFunc(floatToHalfAVX512).run},
		{"half_avx2", AVX2, widenFunc(halfToFloatAVX2).run, narrowFunc(floatToHalfAVX2).run},
	}, halfGenericKernels()...)
}

const halfElements = 1 << 16 // in one call

type widenFunc func(dst *float32, src *uint16, n int)

func (f widenFunc) run(dst []float32, src []uint16) {
	dst = dst[:len(src)]
	for len(src) >= 16 {
		n := min(len(src), halfElements) &^ 15
		f(&dst[0], &src[0], n)
		dst, src = dst[n:], src[n:]
	}
	widenGeneric(dst, src)
}

type narrowFunc func(dst *uint16, src *float32, n int)

func (f narrowFunc) run(dst []uint16, src []float32) {
	dst = dst[:len(src)]
	for len(src) >= 16 {
		n := min(len(src), halfElements) &^ 15
		f(&dst[0], &src[0], n)
		dst, src = dst[n:], src[n:]
	}
	narrowGeneric(dst, src)
}
