//go:build amd64 && !noasm

package asm

// weightsUnpack and weightsMultiply are the signatures of the generated functions.
type (
	weightsUnpack   func(octets, group int, b *byte, step int, base float32, scale, zero *float32, groupStep int, out *float32, outStep int)
	weightsMultiply func(rows int, a *float32, lda, octets, group int, b *byte, base float32, scale, zero, bias, out *float32, ldout int, mask uint32)
)

// run unpacks 16 columns after the other.
func (f weightsUnpack) run(bits, blocks int, w Weights, out []float32) {
	n := 16 * blocks
	step := n
	if bits == 4 {
		step = 4 * n
	}
	w.check(bits, blocks)
	_ = out[8*w.Octets*n-1]
	for b := range blocks {
		var zero *float32
		if w.Zero != nil {
			zero = &w.Zero[16*b]
		}
		f(w.Octets, w.Group, &w.B[b*step/blocks], step, w.Base, &w.Scale[16*b], zero, 4*n, &out[16*b], 4*n)
	}
}

// check reaches for the last of each of the panel's slices.
func (w *Weights) check(bits, blocks int) {
	groups := (w.Octets + w.Group - 1) / w.Group
	_, _ = w.B[16*blocks*w.Octets*bits-1], w.Scale[16*blocks*groups-1]
	if w.Zero != nil {
		_ = w.Zero[16*blocks*groups-1]
	}
}

// run adapts f to slices.
func (f weightsMultiply) run(rows, bits, blocks int, w Weights, c GemmCall) {
	w.check(bits, blocks)
	_, _ = c.A[(rows-1)*c.AStride+8*w.Octets-1], c.Bias[16*blocks-1]
	_ = c.Out[(rows-1)*c.OutStride+c.Columns-1]
	var zero *float32
	if w.Zero != nil {
		zero = &w.Zero[0]
	}
	f(rows, &c.A[0], c.AStride, w.Octets, w.Group, &w.B[0], w.Base, &w.Scale[0], zero, &c.Bias[0], &c.Out[0], c.OutStride, uint32(1<<c.Columns-1))
}

// weightsAssembly makes the kernel of functions; the processor may have none for few rows.
func weightsAssembly(name string, needs Features, bits, rows int, unpack weightsUnpack, multiply [2]weightsMultiply) WeightsKernel {
	return WeightsKernel{name, needs, bits, rows,
		func(blocks int, w Weights, out []float32) { unpack.run(bits, blocks, w, out) },
		func(rows, blocks int, w Weights, c GemmCall) { multiply[blocks-1].run(rows, bits, blocks, w, c) }}
}

// WeightsKernels returns the kernels compiled in, the assembly first; HostFeatures says which of them run.
func WeightsKernels() []WeightsKernel {
	return append([]WeightsKernel{
		weightsAssembly("weights8_avx512", AVX512, 8, 6, unpack8AVX512, [2]weightsMultiply{weights8x16AVX512, weights8x32AVX512}),
		weightsAssembly("weights4_avx512", AVX512, 4, 6, unpack4AVX512, [2]weightsMultiply{weights4x16AVX512, weights4x32AVX512}),
		weightsAssembly("weights8_avx2", AVX2, 8, 0, unpack8AVX2, [2]weightsMultiply{}),
		weightsAssembly("weights4_avx2", AVX2, 4, 0, unpack4AVX2, [2]weightsMultiply{}),
	}, weightsGenericKernels()...)
}
