package asm

// RotaryKernel is one implementation of rotary embeddings whose pairs are in the two halves of what is turned.
type RotaryKernel struct {
	Name  string
	Needs Features
	// Turn turns heads of size elements, which lie one behind the other, by the same angles: with n = len(cos) = len(sin),
	// dst[j] = src[j]*cos[j] - src[n+j]*sin[j] and dst[n+j] = src[j]*sin[j] + src[n+j]*cos[j], each operation rounded, and
	// elements from 2*n on are copied. dst and src have heads*size elements and do not overlap.
	Turn func(dst, src, cos, sin []float32, size, heads int)
}

func turnGeneric(dst, src, cos, sin []float32, size, heads int) {
	n := len(cos)
	for h := range heads {
		x, y := src[h*size:][:size], dst[h*size:][:size]
		turnPairs(y[:n], y[n:2*n], x[:n], x[n:2*n], cos, sin[:n])
		copy(y[2*n:], x[2*n:])
	}
}

// turnPairs turns the pairs of a and b; all have as many elements.
func turnPairs(first, second, a, b, cos, sin []float32) {
	first, second, b, sin, cos = first[:len(a)], second[:len(a)], b[:len(a)], sin[:len(a)], cos[:len(a)]
	for j, v := range a {
		w, c, s := b[j], cos[j], sin[j]
		first[j], second[j] = float32(v*c)-float32(w*s), float32(v*s)+float32(w*c)
	}
}

func rotaryGenericKernels() []RotaryKernel {
	return []RotaryKernel{{Name: "rotary_generic", Turn: turnGeneric}}
}
