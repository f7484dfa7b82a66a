package conformance

import (
	"fmt"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
)

// tolerances of floating-point outputs: the absolute part, which is at least a share of the expected output's RMS, and the
// part relative to the expected element. abs and rel of F32 and F64 are the defaults of ONNX's own backend tests. Those
// know single nodes: where the sums of a network cancel, an element near zero has the rounding of terms as large as the
// others, which no order of summation avoids.
var tolerances = map[numeric.DataType]struct{ abs, share, rel float64 }{
	numeric.F64: {1e-7, 1e-5, 1e-3}, numeric.F32: {1e-7, 1e-5, 1e-3}, numeric.F16: {1e-3, 1e-3, 1e-2}, numeric.BF16: {1e-2, 1e-2, 2e-2},
}

// compareValues returns an error that says where got differs from want: in type, shape, or an element. Strings, integers, booleans and
// narrow floats must be equal, and NaN equals NaN.
func compareValues(got, want numeric.Value) error {
	if err := compareForms(got, want); err != nil {
		return err
	}
	if got.Type == numeric.Str {
		a, b := got.Strings(), want.Strings()
		for i := range b {
			if a[i] != b[i] {
				return fmt.Errorf("element %d is %q, want %q", i, a[i], b[i])
			}
		}
		return nil
	}
	if !got.Type.IsFloat() && !got.Type.IsNarrow() {
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
	absolute := max(tol.abs, tol.share*rootMeanSquare(b))
	worst, at := 0.0, -1
	for i := range b {
		if a[i] == b[i] || a[i] != a[i] && b[i] != b[i] {
			continue
		}
		excess := math.Abs(a[i]-b[i]) / (absolute + tol.rel*math.Abs(b[i]))
		if !(excess <= 1) && (at < 0 || excess > worst) {
			worst, at = excess, i
		}
	}
	if at >= 0 {
		return fmt.Errorf("element %d is %g, want %g", at, a[at], b[at])
	}
	return nil
}

// compareForms is compareValues without the elements.
func compareForms(got, want numeric.Value) error {
	if got.Type != want.Type {
		return fmt.Errorf("type is %s, want %s", got.Type, want.Type)
	}
	if !slices.Equal(got.Dims, want.Dims) {
		return fmt.Errorf("shape is %v, want %v", got.Dims, want.Dims)
	}
	return nil
}

// rootMeanSquare is that of the finite elements.
func rootMeanSquare(x []float64) float64 {
	sum, n := 0.0, 0
	for _, v := range x {
		if s := v * v; s <= math.MaxFloat64 {
			sum, n = sum+s, n+1
		}
	}
	return math.Sqrt(sum / float64(max(1, n)))
}

// float64s returns the elements of a floating-point value.
func float64s(v numeric.Value) []float64 {
	return v.Float64s()
}
