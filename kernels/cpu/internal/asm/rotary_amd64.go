//go:build amd64 && !noasm

package asm

// RotaryKernels returns the kernels compiled in, the assembly first; HostFeatures says which of them run.
func RotaryKernels() []RotaryKernel {
	return append([]RotaryKernel{
		{"rotary_avx512", AVX512, rotaryFunc(turnAVX512).run},
		{"rotary_avx2", AVX2, rotaryFunc(turnAVX2).run},
	}, rotaryGenericKernels()...)
}

const rotaryElements = 1 << 16 // of heads in one call

type rotaryFunc func(dst, src, cos, sin *float32, n, half, size, heads int)

// run leaves the last pairs of a head, those past a multiple of 16, to Go.
func (f rotaryFunc) run(dst, src, cos, sin []float32, size, heads int) {
	half := len(cos)
	n := half &^ 15
	if n == 0 {
		turnGeneric(dst, src, cos, sin, size, heads)
		return
	}
	_, _, _ = sin[:half], dst[:heads*size], src[:heads*size]
	for step := max(1, rotaryElements/size); heads > 0; {
		count := min(heads, step)
		f(&dst[0], &src[0], &cos[0], &sin[0], n, half, size, count)
		for h := 0; h < count && 2*n < size; h++ {
			x, y := src[h*size:][:size], dst[h*size:][:size]
			turnPairs(y[n:half], y[half+n:2*half], x[n:half], x[half+n:2*half], cos[n:], sin[n:half])
			copy(y[2*half:], x[2*half:])
		}
		dst, src, heads = dst[count*size:], src[count*size:], heads-count
	}
}
