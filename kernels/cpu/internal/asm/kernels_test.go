package asm

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

// runnable skips a kernel that this CPU cannot run; on the machine that is meant to run all of them
// (TRTUI_FLAGSHIP=1) that is an error.
func runnable(t testing.TB, need Features) {
	t.Helper()
	if HostFeatures().Has(need) {
		return
	}
	if os.Getenv("TRTUI_FLAGSHIP") == "1" {
		t.Fatalf("this CPU has %v, the kernel needs %v", HostFeatures(), need)
	}
	t.Skipf("this CPU has %v, the kernel needs %v", HostFeatures(), need)
}

// normals returns n standard normal values.
func normals(r *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// closeTo fails unless got is within the rounding of a float32 sum of terms of total magnitude scale:
// |got - want| <= 1e-6 * (1 + scale).
func closeTo(t testing.TB, what string, got float32, want, scale float64) {
	t.Helper()
	if d := math.Abs(float64(got) - want); !(d <= 1e-6*(1+scale)) {
		t.Fatalf("%s = %g, want %g (difference %g)", what, got, want, d)
	}
}
