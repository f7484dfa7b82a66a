package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRankInterval: the interval is that of tables of the signed-rank test, found among the means of all pairs.
func TestRankInterval(t *testing.T) {
	// The number of sums from the least on that have together at most half a percent: one more than the critical values of tables.
	for n, want := range map[int]int{7: 0, 8: 1, 9: 2, 10: 4, 15: 16, 20: 38, 25: 69, 50: 374} {
		if got := rankTail(n, 0.005); got != want {
			t.Errorf("of %d: %d, want %d", n, got, want)
		}
	}
	if exact, normal := rankTail(60, 0.001), rankTail(61, 0.001); normal < exact || normal > exact+40 {
		t.Errorf("of 60 %d exactly, of 61 %d", exact, normal)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 8, 33, 90} {
		ratios, logs := make([]float64, n), make([]float64, n)
		for i := range ratios {
			logs[i] = r.NormFloat64()
			if i%5 == 4 {
				logs[i] = logs[i-1] // which are equal
			}
			ratios[i] = math.Exp(logs[i])
		}
		var means []float64
		for i := range logs {
			for j := range i + 1 {
				means = append(means, (logs[i]+logs[j])/2)
			}
		}
		slices.Sort(means)
		all, k := len(means), rankTail(n, 0.005)
		want := [3]float64{math.Exp((means[(all-1)/2] + means[all/2]) / 2)}
		if k > 0 {
			want[1], want[2] = math.Exp(means[k-1]), math.Exp(means[all-k])
		}
		ratio, low, high := rankInterval(ratios, 0.01)
		for i, got := range []float64{ratio, low, high} {
			if math.Abs(got-want[i]) > 1e-9*want[i] {
				t.Errorf("of %d: %v, want %v", n, [3]float64{ratio, low, high}, want)
			}
		}
	}
	if ratio, _, _ := rankInterval(nil, 0.01); !math.IsNaN(ratio) {
		t.Errorf("the ratio of nothing is %g", ratio)
	}
}

// TestRatioInterval: the interval has the true ratio in it as often as it says, and is not much wider than the better of the two tests
// makes it.
func TestRatioInterval(t *testing.T) {
	for name, noise := range map[string]func(r *rand.Rand) float64{
		"normal": func(r *rand.Rand) float64 { return 0.15 * r.NormFloat64() },
		"seldom far off": func(r *rand.Rand) float64 {
			v := 0.02 * r.NormFloat64()
			if r.Float64() < 0.3 {
				v += 0.7 * r.NormFloat64()
			}
			return v
		},
		"two paces": func(r *rand.Rand) float64 { return 0.02*r.NormFloat64() + 0.4*float64(r.IntN(2)-r.IntN(2)) },
	} {
		const runs, chance, truth = 2000, 0.05, 1.1
		r, out, wide, best := rand.New(rand.NewPCG(3, 4)), 0, 0.0, 0.0
		for range runs {
			ratios := make([]float64, 45)
			for i := range ratios {
				ratios[i] = truth * math.Exp(noise(r))
			}
			_, low, high := RatioInterval(ratios, chance)
			if low > truth || high < truth {
				out++
			}
			_, l, h := MedianIntervalAt(ratios, chance)
			_, rl, rh := rankInterval(ratios, chance)
			wide, best = wide+math.Log(high/low), best+min(math.Log(h/l), math.Log(rh/rl))
		}
		if share := float64(out) / runs; share > chance+0.01 {
			t.Errorf("%s: %.1f %% leave the true ratio out, want %g %%", name, 100*share, 100*chance)
		}
		if wide > 1.5*best {
			t.Errorf("%s: %.3f wide, where the better of the two is %.3f", name, wide/runs, best/runs)
		}
	}
}
