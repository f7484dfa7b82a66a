package report

import "testing"

// Guesses tells a network that is right about as often as chance is, on items enough to say so.
func TestGuesses(t *testing.T) {
	for _, c := range []struct {
		name        string
		items       int
		own, fp32   float64
		alone, want bool
		classes     int
	}{
		{"as good as chance", 1500, 0.9, 0.101, false, true, 10},
		{"better", 1500, 0.1, 0.92, false, false, 10},
		{"few items", 19, 0.1, 0.1, false, false, 10},
		{"an engine alone", 100, 0.12, -1, true, true, 10},
		{"no labels", 100, -1, -1, false, false, 10},
		{"a number alone", 100, 0.1, 0.1, false, false, 1},
	} {
		s := &Snapshot{Model: &Model{Outputs: []Tensor{{Shape: []int{1, c.classes}}}}, Accuracy: &Accuracy{Items: c.items, Alone: c.alone, Labels: LabelAccuracy{Top1: c.own, FP32Top1: c.fp32}}}
		got := s.Guesses()
		if (got != nil) != c.want {
			t.Errorf("%s: %+v, want %t", c.name, got, c.want)
		}
		if got != nil && (got.Classes != 10 || got.Bound < 0.1 || got.Bound > 0.17) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	if (&Snapshot{}).Guesses() != nil {
		t.Error("nothing is known, and it is a guess")
	}
}
