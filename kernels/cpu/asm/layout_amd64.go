//go:build amd64 && !noasm

package asm

// LayoutKernels returns the kernels compiled in, the assembly first; HostFeatures says which of them run.
func LayoutKernels() []LayoutKernel {
	return append([]LayoutKernel{
		{"layout_f32_avx512_16x16", AVX512, interleaveRun, deinterleaveRun},
	}, layoutGenericKernels()...)
}

const layoutColumns = 4096 // columns in one call

func interleaveRun(dst []float32, step int, src []float32, stride, rows, n int) {
	for i := 0; i < n; i += layoutColumns {
		interleaveAVX512(&dst[i*step], step, &src[i], stride, rows, min(n-i, layoutColumns))
	}
}

func deinterleaveRun(dst []float32, stride int, src []float32, step, rows, n int) {
	for i := 0; i < n; i += layoutColumns {
		deinterleaveAVX512(&dst[i], stride, &src[i*step], step, rows, min(n-i, layoutColumns))
	}
}
