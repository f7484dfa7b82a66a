package sessions

import "testing"

func TestLabelOffset(t *testing.T) {
	for _, c := range []struct {
		name  string
		score score
		want  int
	}{
		{"no labels", score{}, 0},
		{"right", score{labelled: 100, ref1: 70, below: 3, above: 2}, 0},
		{"a background class", score{labelled: 100, ref1: 1, below: 70}, 1},
		{"none, and the labels count one", score{labelled: 100, ref1: 0, above: 45}, -1},
		{"an untrained model", score{labelled: 1000, ref1: 1, below: 3, above: 2}, 0},
		{"classes alike", score{labelled: 100, ref1: 30, below: 40}, 0},
	} {
		if got := c.score.offset(); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
