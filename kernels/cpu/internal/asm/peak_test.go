package asm

import "testing"

func TestFMAPeak(t *testing.T) {
	rate := FMAPeak()
	if want := HostFeatures().Has(AVX2); (rate > 0) != want {
		t.Fatalf("FMAPeak() = %g with features %v", rate, HostFeatures())
	}
	t.Logf("%v: %.1f GFLOP/s", HostFeatures(), rate)
}
