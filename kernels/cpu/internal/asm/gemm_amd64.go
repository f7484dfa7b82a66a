//go:build amd64 && !noasm

package asm

// gemmFunc is the signature of the generated functions.
type gemmFunc func(rows, tiles int, a *float32, lda, k int, b, bias, out *float32, ldout int, res *float32, ldres int,
	ahead *float32, aheadStep int, lo, hi float32, mask uint32, inTurn bool)

// run adapts f, which computes so many blocks, to slices. Without anything ahead, a line of b stands for it.
func (f gemmFunc) run(rows, blocks int, half bool, c GemmCall) {
	ahead, step := &c.B[0], 0
	lines := c.Tiles * (c.K / 4) * 4 * blocks
	if half {
		lines /= 2
	}
	if len(c.Ahead) > 0 && lines > 0 {
		ahead, step = &c.Ahead[0], min(64, (4*len(c.Ahead)+lines-1)/lines)
	}
	var res *float32
	if c.Residual != nil {
		res = &c.Residual[0]
	}
	mask := uint32(1<<c.Columns - 1)
	f(rows, c.Tiles, &c.A[0], c.AStride, c.K, &c.B[0], &c.Bias[0], &c.Out[0], c.OutStride, res, c.ResidualStride, ahead, step,
		c.Limits[0], c.Limits[1], mask, inTurn)
}

// gemmAssembly makes the kernel of a function.
func gemmAssembly(name string, needs Features, blocks, rows int, half bool, f gemmFunc) GemmKernel {
	return GemmKernel{name, needs, blocks, rows, half, func(rows int, c GemmCall) { f.run(rows, blocks, half, c) }}
}

// GemmKernels returns the kernels compiled in, the assembly first; HostFeatures says which of them run.
func GemmKernels() []GemmKernel {
	return append([]GemmKernel{
		gemmAssembly("gemm_f32_avx512_14x32", AVX512, 2, 14, false, gemm32AVX512),
		gemmAssembly("gemm_f32_avx512_14x16", AVX512, 1, 14, false, gemm16AVX512),
		gemmAssembly("gemm_f32_avx2_6x16", AVX2, 1, 6, false, gemm16AVX2),
		gemmAssembly("gemm_half_avx512_14x32", AVX512, 2, 14, true, gemm32HalfAVX512),
		gemmAssembly("gemm_half_avx512_14x16", AVX512, 1, 14, true, gemm16HalfAVX512),
		gemmAssembly("gemm_half_avx2_6x16", AVX2, 1, 6, true, gemm16HalfAVX2),
	}, gemmGenericKernels()...)
}
