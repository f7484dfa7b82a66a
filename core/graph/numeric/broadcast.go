package numeric

import "fmt"

// Broadcast maps an element's place in a shape to its place in a smaller shape that broadcasts to it as in ONNX.
type Broadcast struct {
	same    bool
	dims    []int // of the large shape
	Strides []int // of the small one on the large one's axes; 0 where it is repeated
}

// NewBroadcast returns the map from places in to to places in from.
func NewBroadcast(from, to []int) (Broadcast, error) {
	b := Broadcast{same: Count(from) == Count(to), dims: to, Strides: make([]int, len(to))}
	if len(from) > len(to) {
		return b, fmt.Errorf("shape %v does not broadcast to %v", from, to)
	}
	stride := 1
	for i := len(from) - 1; i >= 0; i-- {
		j := i + len(to) - len(from)
		switch from[i] {
		case to[j]:
			b.Strides[j] = stride
		case 1:
		default:
			return b, fmt.Errorf("shape %v does not broadcast to %v", from, to)
		}
		stride *= from[i]
	}
	return b, nil
}

// At returns the place in the small shape for place i of the large one.
func (b Broadcast) At(i int) int {
	if b.same {
		return i
	}
	at := 0
	for j := len(b.dims) - 1; j >= 0; j-- {
		at += i % b.dims[j] * b.Strides[j]
		i /= b.dims[j]
	}
	return at
}
