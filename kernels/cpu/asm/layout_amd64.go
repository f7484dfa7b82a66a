//go:build amd64 && !noasm

package asm

// LayoutKernels returns the kernels compiled in, the assembly first; HostFeatures says which of them run.
func LayoutKernels() []LayoutKernel {
	return append([]LayoutKernel{
		{"layout_f32_avx512_16x16", AVX512, interleaveRun, deinterleaveRun, gatherRun, evensRun, lanesRun},
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

const gatherVectors = 8192 // in one call

func gatherRun(c GatherCall) {
	step := max(1, gatherVectors/(c.Left+c.N+c.Right))
	for y := 0; y < c.Rows; y += step {
		var src *float32
		if c.N > 0 {
			src = &c.Src[y*c.SrcRow]
		}
		gatherRowsAVX512(&c.Dst[y*c.DstRow], c.DstRow, src, c.SrcRow, min(step, c.Rows-y), c.Left, c.N, c.Right, c.Step, c.Pad)
	}
}

func evensRun(dst, src []float32) {
	n := min(len(dst), len(src)/2) &^ 15
	if n > 0 {
		evensAVX512(&dst[0], &src[0], n)
	}
	if n < len(dst) {
		evensGeneric(dst[n:], src[2*n:])
	}
}

const lanesBytes = 1 << 18 // in one call

// lanesRun copies 64 bytes at a time, whatever a vector has: the distance is the same for all, and the mask repeats.
func lanesRun(c LanesCall) {
	vector := 16 * c.Size
	mask := (^uint64(0) >> (64 - c.N*c.Size)) << (c.To * c.Size)
	for bits := vector; bits < 64; bits *= 2 {
		mask |= mask << bits
	}
	store := mask
	if c.Clear {
		store = ^uint64(0)
	}
	c.Src = c.Src[:len(c.Dst)]
	for at := 0; at < len(c.Dst); at += lanesBytes {
		copyMaskedAVX512(&c.Dst[at], &c.Src[at], (c.From-c.To)*c.Size, min(len(c.Dst)-at, lanesBytes), mask, store)
	}
}
