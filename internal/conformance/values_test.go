package conformance

import (
	"math"
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
)

// TestCompareValues: an element near zero may have the rounding of the others, and no more; in an output that is small as a
// whole, and in one of a single node, it is ONNX's own tolerance that counts.
func TestCompareValues(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct {
		name      string
		got, want []float32
		same      bool
	}{
		{"relative", []float32{100.09, 0}, []float32{100, 0}, true},
		{"too far, relative", []float32{100.2, 0}, []float32{100, 0}, false},
		{"sums that cancel", []float32{100, -100, 3e-5, -4e-5}, []float32{100, -100, 0, 1e-9}, true},
		{"more than rounding", []float32{100, -100, 2e-3, 0}, []float32{100, -100, 0, 0}, false},
		{"small as a whole", []float32{1e-4, 2e-7}, []float32{1e-4, 0}, false},
		{"small and right", []float32{1e-4, 0.9e-7}, []float32{1e-4, 0}, true},
		{"nothing but zeros", []float32{0, 2e-7}, []float32{0, 0}, false},
		{"an infinity beside", []float32{inf, 1e-3}, []float32{inf, 0}, false},
		{"infinities and NaN", []float32{inf, -inf, nan}, []float32{inf, -inf, nan}, true},
		{"infinity for a number", []float32{inf, 1}, []float32{1e30, 1}, false},
		{"NaN for a number", []float32{nan, 1}, []float32{1, 1}, false},
		{"a number for NaN", []float32{1, 1}, []float32{nan, 1}, false},
	} {
		err := compareValues(numeric.Values(numeric.F32, c.got, len(c.got)), numeric.Values(numeric.F32, c.want, len(c.want)))
		if (err == nil) != c.same {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
