//go:build amd64 && !noasm

package asm

// PoolKernels returns the kernels compiled in, the assembly first; HostFeatures says which of them run.
func PoolKernels() []PoolKernel {
	wide := poolFuncs{poolMaxAVX512, poolAverageAVX512}
	narrow := poolFuncs{poolMaxAVX2, poolAverageAVX2}
	return append([]PoolKernel{
		{"pool_f32_avx512_14x16", AVX512, 14, wide.runMax, wide.runAverage, poolSumRunAVX512},
		{"pool_f32_avx2_6x16", AVX2, 6, narrow.runMax, narrow.runAverage, poolSumRunAVX2},
	}, poolGenericKernels()...)
}

// poolFuncs are the generated functions of an instruction set.
type poolFuncs struct {
	max     func(pixels, tiles, rows int, in *float32, inRow int, taps *int32, ntaps int, out *float32, outRow int)
	average func(pixels, tiles, rows int, in *float32, inRow int, taps *int32, ntaps int, out *float32, outRow int,
		factors *float32, factorRow int)
}

func (f poolFuncs) runMax(pixels int, c PoolCall) {
	f.max(pixels, c.Tiles, c.Rows, &c.In[0], c.InRow, &c.Taps[0].Offset, len(c.Taps), &c.Out[0], c.OutRow)
}

func (f poolFuncs) runAverage(pixels int, c PoolCall) {
	f.average(pixels, c.Tiles, c.Rows, &c.In[0], c.InRow, &c.Taps[0].Offset, len(c.Taps), &c.Out[0], c.OutRow,
		&c.Factors[0], c.FactorRow)
}

const poolVectors = 4096 // in one call of a sum

// poolSumRunAVX512 and poolSumRunAVX2 call by name: what a function value is given, escapes.
func poolSumRunAVX512(out *[16]float32, in []float32, factor float32) {
	for len(in) >= 16 {
		n := min(len(in)/16, poolVectors)
		var sum [16]float32
		poolSumAVX512(&in[0], n, factor, &sum[0])
		addVector(out, &sum)
		in = in[16*n:]
	}
}

func poolSumRunAVX2(out *[16]float32, in []float32, factor float32) {
	for len(in) >= 16 {
		n := min(len(in)/16, poolVectors)
		var sum [16]float32
		poolSumAVX2(&in[0], n, factor, &sum[0])
		addVector(out, &sum)
		in = in[16*n:]
	}
}

func addVector(out, v *[16]float32) {
	for l := range out {
		out[l] += v[l]
	}
}
