package cputest

import (
	"slices"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
)

// FeatureSets returns what processors have that this one can stand for, itself first. The race detector sees how the work is
// shared out, which is the same for all, and nothing of what is in assembly: it gets this one and the one without any.
func FeatureSets() []asm.Features {
	host := asm.HostFeatures()
	sets := []asm.Features{host}
	if RaceEnabled {
		return slices.Compact(append(sets, 0))
	}
	for _, s := range []asm.Features{asm.AVX512 | asm.AVX512VNNI | asm.AVX2, asm.AVX512 | asm.AVX2, asm.AVX2 | asm.AVXVNNI, asm.AVX2, 0} {
		same := func(o asm.Features) bool { return o.String() == s.String() } // but for what kernels have no use for
		if host.Has(s) && !slices.ContainsFunc(sets, same) {
			sets = append(sets, s)
		}
	}
	return sets
}

// WorkerCounts returns how many workers kernels are tried with: one has nobody to race with.
func WorkerCounts() []int {
	if RaceEnabled {
		return []int{3}
	}
	return []int{1, 3}
}
