package quant

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestChoose compares what is chosen with the best of all choices.
func TestChoose(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		parts := make([][]Option, 1+rnd.IntN(7))
		total := 0.0
		for i := range parts {
			for range rnd.IntN(3) {
				o := Option{Noise: rnd.ExpFloat64() - 0.1, Time: rnd.ExpFloat64() - 0.2}
				parts[i] = append(parts[i], o)
				total += max(o.Noise, 0)
			}
		}
		sum := func(choice []int) (noise, time float64) {
			for i, k := range choice {
				if k >= 0 {
					noise, time = noise+parts[i][k].Noise, time+parts[i][k].Time
				}
			}
			return noise, time
		}
		need, limit := total*rnd.Float64()*0.8, rnd.Float64()*3
		bestTime, bestNoise, reachable := math.Inf(1), 0.0, false
		choice := make([]int, len(parts))
		var all func(i int)
		all = func(i int) {
			if i == len(parts) {
				noise, time := sum(choice)
				if noise >= need {
					bestTime, reachable = min(bestTime, time), true
				}
				if time <= limit {
					bestNoise = max(bestNoise, noise)
				}
				return
			}
			for k := -1; k < len(parts[i]); k++ {
				choice[i] = k
				all(i + 1)
			}
		}
		all(0)
		got, ok := Cheapest(parts, need)
		noise, time := sum(got)
		if ok != reachable {
			t.Errorf("need %g of %v: reachable %v, found %v", need, parts, reachable, ok)
		}
		if ok && noise < need-1e-9 {
			t.Errorf("%v takes %g, not %g", got, noise, need)
		}
		// Options that are louder and quicker are not used, and the last two-thousandth of the need may cost another option.
		louder := false
		for _, options := range parts {
			for _, o := range options {
				louder = louder || o.Noise < 0 && o.Time < 0
			}
		}
		if ok && !louder && time > bestTime+1e-9 {
			if near, reached := Cheapest(parts, need*1.002); reached {
				if _, at := sum(near); time > at+1e-9 {
					t.Errorf("need %g of %v: %v takes %g, %g would do", need, parts, got, time, bestTime)
				}
			}
		}
		quiet := Quietest(parts, limit)
		noise, time = sum(quiet)
		if time > limit+1e-9 || noise > bestNoise+1e-9 || noise < 0 {
			t.Errorf("limit %g of %v: %v takes %g, noise %g of %g", limit, parts, quiet, time, noise, bestNoise)
		}
	}
}

func TestChooseNothing(t *testing.T) {
	if c, ok := Cheapest(nil, 0); !ok || len(c) != 0 {
		t.Errorf("nothing is needed of nothing: %v, %v", c, ok)
	}
	if c, ok := Cheapest([][]Option{{{1, 1}}}, 2); ok || c[0] != 0 {
		t.Errorf("more is needed than there is: %v, %v", c, ok)
	}
	if c, ok := Cheapest([][]Option{{{1, 1}}, {{3, -1}}}, 0); !ok || c[0] != -1 || c[1] != 0 {
		t.Errorf("what is quicker and quieter is taken: %v, %v", c, ok)
	}
	if c := Quietest([][]Option{{{1, 1}}, {{3, -1}}}, 0); c[0] != -1 || c[1] != 0 {
		t.Errorf("within no time: %v", c)
	}
}
