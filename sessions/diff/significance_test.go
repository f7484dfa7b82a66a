package diff

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func durations(list ...int) (out []time.Duration) {
	for _, d := range list {
		out = append(out, time.Duration(d))
	}
	return out
}

// TestMannWhitney holds p to what SciPy 1.17 gives: stats.mannwhitneyu(a, b, method="exact" or "asymptotic").
func TestMannWhitney(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b []time.Duration
		want float64
	}{
		{"apart", durations(1, 2, 3, 4, 5), durations(6, 7, 8, 9, 10), 0.007936507936507936},
		{"apart the other way", durations(6, 7, 8, 9, 10), durations(1, 2, 3, 4, 5), 0.007936507936507936},
		{"mixed", durations(1, 4, 6, 7, 10, 13), durations(2, 3, 5, 8, 9, 11, 12), 0.9452214452214451},
		{"fifteen", durations(100, 104, 108, 112, 116, 120, 124, 128, 132, 136, 140, 144, 148, 152, 156),
			durations(115, 119, 123, 127, 131, 135, 139, 143, 147, 151, 155, 159, 163, 167, 171), 0.05552963972090322},
		{"ties", durations(1, 2, 2, 3, 4, 5), durations(2, 3, 4, 6, 7, 7), 0.1235158465460036},
		{"equal", durations(5, 5, 5, 5, 5), durations(5, 5, 5, 5, 5), 1},
	} {
		got, ok := MannWhitney(c.a, c.b)
		if !ok || math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %.12g, %v, want %.12g", c.name, got, ok, c.want)
		}
	}
	if _, ok := MannWhitney(durations(1, 2, 3, 4), durations(5, 6, 7, 8, 9)); ok {
		t.Error("four values are enough")
	}
}

// TestFalseDiscoveries holds q to what R gives: p.adjust(p, "BH").
func TestFalseDiscoveries(t *testing.T) {
	got := falseDiscoveries([]float64{0.01, 0.04, 0.03, 0.005, 0.55})
	for i, want := range []float64{0.025, 0.05, 0.05, 0.025, 0.55} {
		if math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("q %v", got)
			break
		}
	}
	if q := falseDiscoveries(nil); len(q) != 0 {
		t.Errorf("q %v of nothing", q)
	}
}

// TestNoiseIsNoDifference compares what has no difference: of sixty families of forty layers hardly more than the rate
// have a discovery, and all of those are false.
func TestNoiseIsNoDifference(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	sample := func() (list []time.Duration) {
		for range 15 {
			list = append(list, time.Duration(1e6*math.Exp(r.NormFloat64()/20)))
		}
		return list
	}
	found, families := 0, 60
	for range families {
		var p []float64
		for range 40 {
			v, _ := MannWhitney(sample(), sample())
			p = append(p, v)
		}
		for _, q := range falseDiscoveries(p) {
			if q <= Discoveries {
				found++
				break
			}
		}
	}
	if most := families * 2 * 5 / 100; found > most {
		t.Errorf("%d of %d families have a discovery, want at most %d", found, families, most)
	}
}
