package conformance

import (
	"fmt"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph"
)

// tolerances of floating-point outputs, as the absolute part and the part relative to the expected value. Those of F32
// and F64 are the defaults of ONNX's own backend tests.
var tolerances = map[graph.DataType]struct{ abs, rel float64 }{
	graph.F64: {1e-7, 1e-3}, graph.F32: {1e-7, 1e-3}, graph.F16: {1e-3, 1e-2}, graph.BF16: {1e-2, 2e-2},
}

// compareValues returns an error that says where got differs from want: in type, shape, or an element. Integers and
// booleans must be equal, and NaN equals NaN.
func compareValues(got, want graph.Value) error {
	if got.Type != want.Type {
		return fmt.Errorf("type is %s, want %s", got.Type, want.Type)
	}
	if !slices.Equal(got.Dims, want.Dims) {
		return fmt.Errorf("shape is %v, want %v", got.Dims, want.Dims)
	}
	if !got.Type.IsFloat() && !got.Type.IsFloat8() {
		a, b := got.Ints(), want.Ints()
		for i := range b {
			if a[i] != b[i] {
				return fmt.Errorf("element %d is %d, want %d", i, a[i], b[i])
			}
		}
		return nil
	}
	tol := tolerances[got.Type]
	a, b := float64s(got), float64s(want)
	worst, at := 0.0, -1
	for i := range b {
		if a[i] == b[i] || a[i] != a[i] && b[i] != b[i] {
			continue
		}
		excess := math.Abs(a[i]-b[i]) / (tol.abs + tol.rel*math.Abs(b[i]))
		if !(excess <= 1) && (at < 0 || excess > worst) {
			worst, at = excess, i
		}
	}
	if at >= 0 {
		return fmt.Errorf("element %d is %g, want %g", at, a[at], b[at])
	}
	return nil
}

// float64s returns the elements of a floating-point value.
func float64s(v graph.Value) []float64 {
	return v.Float64s()
}
