package suite

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Random returns a value for t: floats and quantised integers over a few units, indices small.
func Random(rnd *rand.Rand, t *graph.Tensor) numeric.Value {
	v := numeric.NewValue(t.Type, symbolic.Eval(t.Dims, nil)...)
	switch t.Type {
	case numeric.F32:
		for i := range v.F32() {
			v.F32()[i] = float32(rnd.NormFloat64() * 2)
		}
	case numeric.F64:
		for i, d := 0, numeric.View[float64](v.Data); i < len(d); i++ {
			d[i] = rnd.NormFloat64() * 2
		}
	case numeric.F16:
		for i, d := 0, numeric.View[uint16](v.Data); i < len(d); i++ {
			d[i] = numeric.F32ToF16(float32(rnd.NormFloat64() * 2))
		}
	case numeric.I8, numeric.U8, numeric.F8E4M3FN, numeric.F8E4M3FNUZ, numeric.F8E5M2, numeric.F8E5M2FNUZ, numeric.F8E8M0:
		for i := range v.Data {
			v.Data[i] = byte(rnd.Uint32())
		}
	case numeric.Bool:
		for i := range v.Data {
			v.Data[i] = byte(rnd.IntN(2))
		}
	case numeric.F6E2M3, numeric.F6E3M2, numeric.F4E2M1, numeric.U4, numeric.I4, numeric.U2, numeric.I2:
		packed := make([]byte, t.Type.PackedSize(v.Len()))
		for i := range packed {
			packed[i] = byte(rnd.Uint32())
		}
		copy(v.Data, t.Type.Unpacked(packed, v.Len()))
	case numeric.I32, numeric.U32:
		for i, d := 0, numeric.View[int32](v.Data); i < len(d); i++ {
			d[i] = int32(rnd.IntN(7))
		}
	case numeric.I64, numeric.U64:
		for i, d := 0, numeric.View[int64](v.Data); i < len(d); i++ {
			d[i] = rnd.Int64N(7)
		}
	case numeric.I16, numeric.U16:
		for i, d := 0, numeric.View[int16](v.Data); i < len(d); i++ {
			d[i] = int16(rnd.IntN(7))
		}
	case numeric.Str:
		list := make([]string, v.Len())
		for i := range list {
			list[i] = someStrings[rnd.IntN(len(someStrings))]
		}
		return numeric.Strings(list, v.Dims...)
	}
	return v
}

// someStrings are what strings are drawn from: numbers among them, so that a Cast may read some, letters of several lengths in UTF-8, and
// white space.
var someStrings = []string{"", "a", "b", "ab", "one two", " three\tfour ", "Ünde", "ÄRGER", "x,y,,z", "12", "-3.5", "日本 語"}

// Tolerance says how far a result may be from the reference.
type Tolerance struct {
	Real float64 // as a share of the largest magnitude in the reference, or of 1 if that is larger
	Step int     // for quantised outputs: so many steps of the range
}

// Near returns an error where got differs from want by more than the tolerance.
func Near(got, want numeric.Value, r numeric.Range, tol Tolerance) error {
	_, err := distance(got, want, r, tol)
	return err
}

// distance returns the largest difference between got and want, in steps for integers and as a share of the largest
// magnitude in want, or of 1 if that is larger, for reals; and an error where it is more than the tolerance.
func distance(got, want numeric.Value, r numeric.Range, tol Tolerance) (float64, error) {
	if got.Type.IsInteger() || got.Type == numeric.Bool {
		step := 0
		if r.IsSet() {
			step = tol.Step
		}
		return steps(got.Ints(), want.Ints(), step)
	}
	a, b := got.Float64s(), want.Float64s()
	largest := 1.0
	for _, f := range b {
		if m := math.Abs(f); m > largest && !math.IsInf(m, 0) {
			largest = m
		}
	}
	limit := tol.Real * largest
	if got.Type == numeric.F16 {
		limit += largest / 1024
	}
	worst := 0.0
	for i := range b {
		x, y := a[i], b[i]
		if x == y || math.IsNaN(x) && math.IsNaN(y) {
			continue
		}
		if !(math.Abs(x-y) <= limit) {
			return math.Abs(x-y) / largest, fmt.Errorf("element %d is %v, want %v within %.3g", i, x, y, limit)
		}
		worst = max(worst, math.Abs(x-y))
	}
	return worst / largest, nil
}

// steps is distance for integers.
func steps(a, b []int64, limit int) (float64, error) {
	worst := int64(0)
	for i := range b {
		d := max(a[i]-b[i], b[i]-a[i])
		if d > int64(limit) {
			return float64(d), fmt.Errorf("element %d is %d, want %d within %d", i, a[i], b[i], limit)
		}
		worst = max(worst, d)
	}
	return float64(worst), nil
}
