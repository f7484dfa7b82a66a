package asm

import (
	"testing"
	"time"
)

// TestPeakLoops runs the loops of every set of instructions that this processor has: more of them never reach less, and products of
// bytes are quicker than those of floats where there is an instruction for them.
func TestPeakLoops(t *testing.T) {
	host := HostFeatures()
	for _, have := range []Features{0, AVX2, AVX2 | AVXVNNI, AVX2 | AVX512, AVX2 | AVX512 | AVX512VNNI, AVX2 | AVX512 | AVX512VNNI | AMXInt8} {
		if !host.Has(have) {
			continue
		}
		loops := PeakLoops(have)
		if len(loops) != 2 || loops[0].Type != "f32" || loops[1].Type != "i8" {
			t.Fatalf("%v: %v", have, loops)
		}
		for _, l := range loops {
			best := time.Duration(1 << 62)
			for range 5 {
				begin := time.Now()
				l.Run(2000)
				best = min(best, time.Since(begin))
			}
			if l.By == "" || l.Operations < 2*goChains || best <= 0 {
				t.Errorf("%v: %s by %q, %d operations in %v", have, l.Type, l.By, l.Operations, best)
			}
			t.Logf("%v: %s by %s: %.1f Gop/s", have, l.Type, l.By, float64(2000*l.Operations)/float64(best))
		}
	}
}

func TestFMAPeak(t *testing.T) {
	rate := FMAPeak()
	if rate <= 0 {
		t.Fatalf("FMAPeak() = %g with features %v", rate, HostFeatures())
	}
	t.Logf("%v: %.1f GFLOP/s", HostFeatures(), rate)
}
