//go:build amd64 && !noasm

package asm

// PoolKernels returns the kernels compiled in, the assembly first; HostFeatures says which of them run.
func PoolKernels() []PoolKernel {
	return append([]PoolKernel{
		{"pool_f32_avx512_14x16", AVX512, 14, poolMaxRun, poolAverageRun, poolSumRun},
	}, poolGenericKernels()...)
}

func poolMaxRun(pixels int, c PoolCall) {
	poolMaxAVX512(pixels, c.Tiles, c.Rows, &c.In[0], c.InRow, &c.Taps[0].Offset, len(c.Taps), &c.Out[0], c.OutRow)
}

func poolAverageRun(pixels int, c PoolCall) {
	poolAverageAVX512(pixels, c.Tiles, c.Rows, &c.In[0], c.InRow, &c.Taps[0].Offset, len(c.Taps), &c.Out[0], c.OutRow,
		&c.Factors[0], c.FactorRow)
}

func poolSumRun(out *[16]float32, in []float32, factor float32) {
	const most = 16 * 4096 // elements in one call
	for len(in) >= 16 {
		n := min(len(in), most) / 16
		var sum [16]float32
		poolSumAVX512(&in[0], n, factor, &sum[0])
		for l, v := range sum {
			out[l] += v
		}
		in = in[16*n:]
	}
}
