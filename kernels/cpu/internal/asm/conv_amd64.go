//go:build amd64 && !noasm

package asm

// convFunc is the signature of the generated functions.
type convFunc func(pixels, tiles int, in *float32, taps *int32, ntaps int, w, ahead *float32, aheadStep int, bias, out *float32,
	outBlock, outPixel int, res *float32, resBlock int, lo, hi float32, accumulate bool)

// run adapts f to slices.
func (f convFunc) run(pixels int, c ConvCall) {
	var res *float32
	if c.Residual != nil {
		res = &c.Residual[0]
	}
	f(pixels, c.Tiles, &c.In[0], &c.Taps[0].Offset, len(c.Taps), &c.Weights[0], &c.Ahead[0], c.AheadStep, &c.Bias[0], &c.Out[0],
		c.OutBlock, c.OutPixel, res, c.ResidualBlock, c.Limits[0], c.Limits[1], c.Accumulate)
}

// ConvKernels returns the kernels compiled in, the assembly first; HostFeatures says which of them run.
func ConvKernels() []ConvKernel {
	return append([]ConvKernel{
		{"conv_f32_avx512_14x32", AVX512, 2, 14, false, convFunc(convBlocked32AVX512).run},
		{"conv_f32_avx512_9x48", AVX512, 3, 9, false, convFunc(convBlocked48AVX512).run},
		{"conv_f32_avx512_14x16", AVX512, 1, 14, false, convFunc(convBlocked16AVX512).run},
		{"conv_f32_avx512_planar_14x32", AVX512, 2, 14, true, convFunc(convPlanar32AVX512).run},
		{"conv_f32_avx512_planar_14x16", AVX512, 1, 14, true, convFunc(convPlanar16AVX512).run},
		{"conv_f32_avx512_planar_9x48", AVX512, 3, 9, true, convFunc(convPlanar48AVX512).run},
		{"conv_f32_avx2_6x16", AVX2, 1, 6, false, convFunc(convBlocked16AVX2).run},
		{"conv_f32_avx2_planar_6x16", AVX2, 1, 6, true, convFunc(convPlanar16AVX2).run},
	}, convGenericKernels()...)
}
