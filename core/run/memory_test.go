package run

import (
	"math/rand/v2"
	"testing"
)

func TestPackNeverOverlaps(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 7))
	for range 200 {
		spans := make([]span, 1+rnd.IntN(60))
		steps := 1 + rnd.IntN(40)
		for i := range spans {
			first := rnd.IntN(steps)
			spans[i] = span{Align * (1 + rnd.IntN(50)), first, first + rnd.IntN(min(8, steps-first))}
		}
		offsets, peak := pack(spans)
		bound, _ := lowerBound(spans)
		if peak < bound {
			t.Fatalf("peak %d is below the lower bound %d", peak, bound)
		}
		for i, a := range spans {
			if offsets[i]%Align != 0 || offsets[i]+a.size > peak {
				t.Fatalf("span %d at %d", i, offsets[i])
			}
			for j, b := range spans[:i] {
				together := a.first <= b.last && b.first <= a.last
				if together && offsets[i] < offsets[j]+b.size && offsets[j] < offsets[i]+a.size {
					t.Fatalf("spans %d and %d overlap", i, j)
				}
			}
		}
	}
}

func TestPackChain(t *testing.T) {
	// A chain of growing and shrinking tensors reaches the bound: at each step two are live.
	var spans []span
	for i := range 40 {
		spans = append(spans, span{Align * (1 + i*i%17), i, i + 1})
	}
	_, peak := pack(spans)
	if bound, _ := lowerBound(spans); peak != bound {
		t.Errorf("peak %d, lower bound %d", peak, bound)
	}
}

func TestPackIsDeterministic(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 3))
	spans := make([]span, 80)
	for i := range spans {
		first := rnd.IntN(40)
		spans[i] = span{Align * (1 + rnd.IntN(90)), first, first + rnd.IntN(10)}
	}
	a, _ := pack(spans)
	b, _ := pack(spans)
	for i := range a {
		if a[i] != b[i] {
			t.Fatal("two runs differ")
		}
	}
}
