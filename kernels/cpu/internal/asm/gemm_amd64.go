//go:build amd64 && !noasm

package asm

// gemmFunc is the signature of the generated functions.
type gemmFunc func(rows, tiles int, a *float32, lda, k int, b, bias, out *float32, ldout int, res *float32, ldres int,
	lo, hi float32, mask uint32, accumulate bool)

// run adapts f to slices.
func (f gemmFunc) run(rows int, c GemmCall) {
	var res *float32
	if c.Residual != nil {
		res = &c.Residual[0]
	}
	mask := uint32(1<<c.Columns - 1)
	f(rows, c.Tiles, &c.A[0], c.AStride, c.K, &c.B[0], &c.Bias[0], &c.Out[0], c.OutStride, res, c.ResidualStride,
		c.Limits[0], c.Limits[1], mask, c.Accumulate)
}

// GemmKernels returns the kernels compiled in, the assembly first; HostFeatures says which of them run.
func GemmKernels() []GemmKernel {
	return append([]GemmKernel{
		{"gemm_f32_avx512_14x32", AVX512, 2, 14, gemmFunc(gemm32AVX512).run},
		{"gemm_f32_avx512_14x16", AVX512, 1, 14, gemmFunc(gemm16AVX512).run},
		{"gemm_f32_avx2_6x16", AVX2, 1, 6, gemmFunc(gemm16AVX2).run},
	}, gemmGenericKernels()...)
}
