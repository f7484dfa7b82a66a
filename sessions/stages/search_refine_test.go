package stages

import (
	"testing"

	"github.com/trtui/trtui/sessions/config"
)

// TestAims: what is within the bound is better than what is not; of what is, the least of the other quantity; of what is not, the
// nearest to the bound.
func TestAims(t *testing.T) {
	quiet, middle, fast := predicted{noise: 1, time: 90}, predicted{noise: 2, time: 50}, predicted{noise: 9, time: 10}
	for _, c := range []struct {
		name         string
		a            aim
		better, than predicted
	}{
		{"within a time, the least noise", leastNoise(100), quiet, middle},
		{"within a time, not beyond it", leastNoise(60), middle, quiet},
		{"no time is enough, the fastest", leastNoise(5), fast, middle},
		{"within a noise, the fastest", leastTime(10), fast, quiet},
		{"within a noise, not beyond it", leastTime(2), middle, fast},
		{"no noise is little enough, the quietest", leastTime(0.5), quiet, fast},
	} {
		if !c.a.better(c.better, c.than) || c.a.better(c.than, c.better) {
			t.Errorf("%s: %+v, not %+v", c.name, c.than, c.better)
		}
	}
}

// TestUnquantised: where every part is raised to FP32 what is built is the model as it was, and is called that.
func TestUnquantised(t *testing.T) {
	s := space{parts: make([]studied, 2), choices: [][]choice{{{to: config.FP16}, {to: config.FP32}}, {{to: config.FP32}}}}
	for _, c := range []struct {
		chosen []int
		want   bool
	}{
		{[]int{1, 0}, true}, {[]int{1, -1}, false}, {[]int{0, 0}, false}, {[]int{-1, -1}, false}, {nil, false},
	} {
		if got := s.unquantised(c.chosen); got != c.want {
			t.Errorf("%v: %t", c.chosen, got)
		}
	}
}
