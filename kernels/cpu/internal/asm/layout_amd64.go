//go:build amd64 && !noasm

package asm

// LayoutKernels returns the kernels compiled in, the assembly first; HostFeatures says which of them run.
func LayoutKernels() []LayoutKernel {
	return append([]LayoutKernel{
		{"layout_f32_avx512_16x16", AVX512, interleaveRun, deinterleaveRun,
			gatherFunc(gatherRowsAVX512).run, evensFunc(evensAVX512).run, zipFunc(zipAVX512).run, lanesRun},
		{"layout_f32_avx2_8x8", AVX2, interleaveRunAVX2, deinterleaveRunAVX2,
			gatherFunc(gatherRowsAVX2).run, evensFunc(evensAVX2).run, zipFunc(zipAVX2).run, lanesRunAVX2},
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

type gatherFunc func(dst *float32, dstRow int, src *float32, srcRow, rows, left, n, right, step int, pad float32)

func (f gatherFunc) run(c GatherCall) {
	step := max(1, gatherVectors/(c.Left+c.N+c.Right))
	for y := 0; y < c.Rows; y += step {
		var src *float32
		if c.N > 0 {
			src = &c.Src[y*c.SrcRow]
		}
		f(&c.Dst[y*c.DstRow], c.DstRow, src, c.SrcRow, min(step, c.Rows-y), c.Left, c.N, c.Right, c.Step, c.Pad)
	}
}

type evensFunc func(dst, src *float32, n int)

func (f evensFunc) run(dst, src []float32) {
	n := min(len(dst), len(src)/2) &^ 15
	if n > 0 {
		f(&dst[0], &src[0], n)
	}
	if n < len(dst) {
		evensGeneric(dst[n:], src[2*n:])
	}
}

type zipFunc func(dst, even, odd *float32, n int)

func (f zipFunc) run(dst, even, odd []float32) {
	n := len(odd) &^ 15
	for i := 0; i < n; i += layoutColumns {
		f(&dst[2*i], &even[i], &odd[i], min(n-i, layoutColumns))
	}
	zipGeneric(dst[2*n:], even[n:], odd[n:])
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

// lanesRunAVX2 leaves to plain Go the bytes whose neighbours, which it would read, may be beyond the slices.
func lanesRunAVX2(c LanesCall) {
	vector, distance := 16*c.Size, (c.From-c.To)*c.Size
	from, to := 0, len(c.Dst)&^63
	if distance < 0 {
		from = min(64, to)
	}
	if to+distance > len(c.Dst) {
		to = max(from, to-64)
	}
	part := func(from, to int) LanesCall {
		p := c
		p.Dst, p.Src = c.Dst[from:to], c.Src[from:to]
		return p
	}
	lanesGeneric(part(0, from))
	lanesGeneric(part(to, len(c.Dst)))
	var load, keep [64]byte
	for i := range load {
		if lane := i % vector / c.Size; lane >= c.To && lane < c.To+c.N {
			load[i] = 0xff
		} else if !c.Clear {
			keep[i] = 0xff
		}
	}
	for at := from; at < to; at += lanesBytes {
		copyBlendedAVX2(&c.Dst[at], &c.Src[at], distance, min(to-at, lanesBytes), &load, &keep)
	}
}

// interleaveRunAVX2 moves up to eight rows at a time; columns beyond a multiple of eight are left to plain Go.
func interleaveRunAVX2(dst []float32, step int, src []float32, stride, rows, n int) {
	whole := n &^ 7
	for i := 0; i < whole; i += layoutColumns {
		columns := min(whole-i, layoutColumns)
		interleaveAVX2(&dst[i*step], step, &src[i], stride, min(rows, 8), columns)
		second := &src[i]
		if rows > 8 {
			second = &src[8*stride+i]
		}
		interleaveAVX2(&dst[i*step+8], step, second, stride, max(rows-8, 0), columns)
	}
	if whole < n {
		interleaveGeneric(dst[whole*step:], step, src[whole:], stride, rows, n-whole)
	}
}

func deinterleaveRunAVX2(dst []float32, stride int, src []float32, step, rows, n int) {
	whole := n &^ 7
	for i := 0; i < whole; i += layoutColumns {
		columns := min(whole-i, layoutColumns)
		deinterleaveAVX2(&dst[i], stride, &src[i*step], step, min(rows, 8), columns)
		if rows > 8 {
			deinterleaveAVX2(&dst[8*stride+i], stride, &src[i*step+8], step, rows-8, columns)
		}
	}
	if whole < n {
		deinterleaveGeneric(dst[whole:], stride, src[whole*step:], step, rows, n-whole)
	}
}
