package stages

import (
	"testing"

	"github.com/trtui/trtui/sessions/report"
)

// TestConfirming: a set that lacks what it was predicted to have gives way to another one without an engine, and so does one that has more
// than it need have where less is faster.
func TestConfirming(t *testing.T) {
	type set struct{ predicted, own, time float64 }
	for _, c := range []struct {
		name string
		sets []set
		want int
		ok   bool
	}{
		{"as predicted", []set{{36, 36, 10}, {40.5, 40.5, 20}, {46, 46, 30}}, 1, true},
		{"better than predicted", []set{{37, 36, 10}, {38, 40.2, 20}, {40.5, 43, 30}}, 1, true},
		{"worse than predicted", []set{{40.5, 39, 10}, {41.2, 40.5, 20}, {50, 49, 30}}, 1, true},
		{"better, but not the faster one", []set{{38, 39, 10}, {40.5, 43, 20}}, 1, true},
		{"out of reach", []set{{30, 31, 10}, {34, 35, 20}}, 1, false},
	} {
		var bias float64
		looked := 0
		got, ok, err := confirming{
			solve: func(most float64) (predicted, bool, error) {
				p := func(i int) predicted {
					return predicted{chosen: []int{i}, noise: report.Noise(c.sets[i].predicted), time: c.sets[i].time}
				}
				for i := range c.sets { // the fastest first
					if p(i).noise <= most {
						return p(i), true, nil
					}
				}
				return p(len(c.sets) - 1), false, nil
			},
			own: func(p predicted) (float64, error) {
				looked++
				return report.Noise(c.sets[p.chosen[0]].own), nil
			},
			late: func() bool { return false },
		}.of(40, &bias)
		if err != nil || got.chosen[0] != c.want || ok != c.ok || looked > mostConfirmed {
			t.Errorf("%s: set %v after %d, reached %t, %v", c.name, got.chosen, looked, ok, err)
		}
	}
}
