package programs

import "github.com/trtui/trtui/core/graph"

// ExactIntegers bounds the magnitude of integers that float32 tells apart from all their neighbours.
const ExactIntegers = 1 << 24

// loadIntegers sets dst to the elements of src from at on, rounded to float32.
func loadIntegers(dst []float32, src []byte, at int, t graph.DataType) {
	switch t {
	case graph.I16:
		roundIntegers(dst, graph.View[int16](src)[at:])
	case graph.U16:
		roundIntegers(dst, graph.View[uint16](src)[at:])
	case graph.I32:
		roundIntegers(dst, graph.View[int32](src)[at:])
	case graph.U32:
		roundIntegers(dst, graph.View[uint32](src)[at:])
	case graph.I64:
		roundIntegers(dst, graph.View[int64](src)[at:])
	case graph.U64:
		roundIntegers(dst, graph.View[uint64](src)[at:])
	}
}

func roundIntegers[T graph.Element](dst []float32, src []T) {
	src = src[:len(dst)]
	for i, v := range src {
		dst[i] = float32(v)
	}
}
