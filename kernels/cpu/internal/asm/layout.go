package asm

// LayoutKernel moves activations: it transposes between up to 16 planes and vectors of 16 lanes, and copies
// strided rows.
type LayoutKernel struct {
	Name  string
	Needs Features
	// Interleave sets dst[i*step+r] = src[r*stride+i] for r < rows <= 16 and i < n, and zero for rows <= r < 16.
	Interleave func(dst []float32, step int, src []float32, stride, rows, n int)
	// Deinterleave sets dst[r*stride+i] = src[i*step+r] for r < rows <= 16 and i < n; it reads all 16 lanes.
	Deinterleave func(dst []float32, stride int, src []float32, step, rows, n int)
	// Gather copies rows of vectors with borders.
	Gather func(c GatherCall)
	// Evens sets dst[i] = src[2*i]; src has at least 2*len(dst)-1 elements.
	Evens func(dst, src []float32)
	// Zip sets dst[2*i] = even[i] and dst[2*i+1] = odd[i]; odd has as many elements as even, or one less, and dst as many
	// as both.
	Zip func(dst, even, odd []float32)
	// Lanes copies some lanes of vectors.
	Lanes func(c LanesCall)
}

// GatherCall is the copy of Rows > 0 rows of vectors of 16: each row of Dst, DstRow elements apart, gets Left
// vectors of Pad, N vectors from the row of Src, Step elements apart, and Right vectors of Pad.
type GatherCall struct {
	Dst            []float32
	DstRow         int
	Src            []float32 // not read when N is 0
	SrcRow         int
	Rows           int
	Left, N, Right int
	Step           int
	Pad            float32
}

// LanesCall is the copy of lanes From to From+N of each vector of Src to lanes To to To+N of the same vector of Dst. A
// vector is 16 elements of Size bytes, 1, 2 or 4; Dst is whole vectors, and Src no shorter. Where Clear is set, the other
// lanes of Dst become zero; otherwise they stay.
type LanesCall struct {
	Dst, Src    []byte
	Size        int
	From, To, N int
	Clear       bool
}

func lanesGeneric(c LanesCall) {
	vector, bytes := 16*c.Size, c.N*c.Size
	for i := 0; i < len(c.Dst); i += vector {
		v := c.Dst[i:][:vector]
		if c.Clear {
			clear(v)
		}
		copy(v[c.To*c.Size:], c.Src[i+c.From*c.Size:][:bytes])
	}
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

func gatherGeneric(c GatherCall) {
	for y := range c.Rows {
		row := c.Dst[y*c.DstRow:][:16*(c.Left+c.N+c.Right)]
		for i := range row[:16*c.Left] {
			row[i] = c.Pad
		}
		row = row[16*c.Left:]
		for x := range c.N {
			copy(row[:16], c.Src[y*c.SrcRow+x*c.Step:])
			row = row[16:]
		}
		for i := range row {
			row[i] = c.Pad
		}
	}
}

func evensGeneric(dst, src []float32) {
	for i := range dst {
		dst[i] = src[2*i]
	}
}

func zipGeneric(dst, even, odd []float32) {
	for i, v := range odd {
		pair := dst[2*i:][:2]
		pair[0], pair[1] = even[i], v
	}
	if len(even) > len(odd) {
		dst[2*len(odd)] = even[len(odd)]
	}
}

func layoutGenericKernels() []LayoutKernel {
	return []LayoutKernel{{Name: "layout_f32_generic", Interleave: interleaveGeneric, Deinterleave: deinterleaveGeneric,
		Gather: gatherGeneric, Evens: evensGeneric, Zip: zipGeneric, Lanes: lanesGeneric}}
}
