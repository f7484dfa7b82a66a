package work

import "github.com/trtui/trtui/core/graph"

// Indices sets dst to indices into an axis, those from the end counted from the front.
func Indices[T int32 | int64](dst []int32, indices []T, extent int) error {
	for i := range dst {
		at := int(indices[i])
		if at < 0 {
			at += extent
		}
		if at < 0 || at >= extent {
			return &graph.IndexError{Index: int64(indices[i]), Extent: extent}
		}
		dst[i] = int32(at)
	}
	return nil
}
