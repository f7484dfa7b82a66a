package programs

import "github.com/trtui/trtui/core/graph/numeric"

// ExactIntegers bounds the magnitude of integers that float32 tells apart from all their neighbours.
const ExactIntegers = 1 << 24

// loadIntegers sets dst to the elements of src from at on, rounded to float32.
func loadIntegers(dst []float32, src []byte, at int, t numeric.DataType) {
	switch t {
	case numeric.I16:
		roundIntegers(dst, numeric.View[int16](src)[at:])
	case numeric.U16:
		roundIntegers(dst, numeric.View[uint16](src)[at:])
	case numeric.I32:
		roundIntegers(dst, numeric.View[int32](src)[at:])
	case numeric.U32:
		roundIntegers(dst, numeric.View[uint32](src)[at:])
	case numeric.I64:
		roundIntegers(dst, numeric.View[int64](src)[at:])
	case numeric.U64:
		roundIntegers(dst, numeric.View[uint64](src)[at:])
	}
}

func roundIntegers[T numeric.Element](dst []float32, src []T) {
	src = src[:len(dst)]
	for i, v := range src {
		dst[i] = float32(v)
	}
}
