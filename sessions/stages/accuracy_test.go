package stages

import (
	"testing"

	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions/report"
)

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

// Reports write ratios as core/quant computes them.
func TestMaxDB(t *testing.T) {
	if report.MaxDB != quant.MaxDB {
		t.Errorf("equality is %v dB in reports and %v dB in errors", float64(report.MaxDB), float64(quant.MaxDB))
	}
}
