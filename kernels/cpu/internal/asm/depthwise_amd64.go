//go:build amd64 && !noasm

package asm

// DepthwiseKernels returns the kernels compiled in, the assembly first; HostFeatures says which of them run.
func DepthwiseKernels() []DepthwiseKernel {
	return append([]DepthwiseKernel{
		{"depthwise_f32_avx512_14x16", AVX512, 14, depthwiseFunc(depthwiseAVX512).run},
		{"depthwise_f32_avx2_6x16", AVX2, 6, depthwiseFunc(depthwiseAVX2).run},
	}, depthwiseGenericKernels()...)
}

// depthwiseFunc is the signature of the generated functions.
type depthwiseFunc func(pixels, tiles, rows int, in *float32, inRow int, taps *int32, ntaps int, out *float32, outRow,
	outPixel int, w, bias, res *float32, resRow int, lo, hi float32)

// run adapts f to slices.
func (f depthwiseFunc) run(pixels int, c DepthwiseCall) {
	var res *float32
	if c.Residual != nil {
		res = &c.Residual[0]
	}
	f(pixels, c.Tiles, c.Rows, &c.In[0], c.InRow, &c.Taps[0].Offset, len(c.Taps), &c.Out[0], c.OutRow,
		c.OutPixel, &c.Weights[0], &c.Bias[0], res, c.ResidualRow, c.Limits[0], c.Limits[1])
}
