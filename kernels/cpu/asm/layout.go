package asm

// LayoutKernel transposes between up to 16 planes and vectors of 16 lanes.
type LayoutKernel struct {
	Name  string
	Needs Features
	// Interleave sets dst[i*step+r] = src[r*stride+i] for r < rows <= 16 and i < n, and zero for rows <= r < 16.
	Interleave func(dst []float32, step int, src []float32, stride, rows, n int)
	// Deinterleave sets dst[r*stride+i] = src[i*step+r] for r < rows <= 16 and i < n; it reads all 16 lanes.
	Deinterleave func(dst []float32, stride int, src []float32, step, rows, n int)
}

func interleaveGeneric(dst []float32, step int, src []float32, stride, rows, n int) {
	for i := range n {
		v := dst[i*step:][:16]
		for r := range rows {
			v[r] = src[r*stride+i]
		}
		clear(v[rows:])
	}
}

func deinterleaveGeneric(dst []float32, stride int, src []float32, step, rows, n int) {
	for i := range n {
		for r, v := range src[i*step:][:rows] {
			dst[r*stride+i] = v
		}
	}
}

func layoutGenericKernels() []LayoutKernel {
	return []LayoutKernel{{Name: "layout_f32_generic", Interleave: interleaveGeneric, Deinterleave: deinterleaveGeneric}}
}
