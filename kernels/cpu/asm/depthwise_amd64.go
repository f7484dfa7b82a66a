//go:build amd64 && !noasm

package asm

// DepthwiseKernels returns the kernels compiled in, the assembly first; HostFeatures says which of them run.
func DepthwiseKernels() []DepthwiseKernel {
	return append([]DepthwiseKernel{
		{"depthwise_f32_avx512_14x16", AVX512, 14, depthwiseRun},
	}, depthwiseGenericKernels()...)
}

func depthwiseRun(pixels int, c DepthwiseCall) {
	var res *float32
	if c.Residual != nil {
		res = &c.Residual[0]
	}
	depthwiseAVX512(pixels, c.Tiles, c.Rows, &c.In[0], c.InRow, &c.Taps[0].Offset, len(c.Taps), &c.Out[0], c.OutRow,
		&c.Weights[0], &c.Bias[0], res, c.ResidualRow, c.Limits[0], c.Limits[1])
}
