package report

import (
	"time"

	"github.com/trtui/trtui/sessions/config"
)

// Point is a configuration that was tried, by what one chooses among configurations: what a search records and a plot of latency
// against accuracy shows.
type Point struct {
	Config     config.Config
	Latency    time.Duration `output:"median"`                // of an inference; 0: it was not measured
	Low, High  time.Duration `json:",omitempty"`              // in which the median lies with 99 % confidence; 0: not known
	Estimated  bool          `json:",omitempty"`              // the latency is a model's, not measured
	Beside     *Beside       `json:",omitempty"`              // nil: it was measured by itself
	SQNR       *float64      `unit:"db" exact:"exact"`        // of the first output; nil: accuracy is not known
	Top1       *float64      `unit:"share"`                   // nil without labels
	Agreement  *float64      `unit:"share"`                   // of first classes with FP32's; nil without classes
	Perplexity *float64      `json:",omitempty"`              // of a text
	Items      int           `json:",omitempty"`              // on which accuracy was measured
	Weights    int           `json:",omitempty" unit:"bytes"` // 0: there are none, or it is not known, as of the arena
	Arena      int           `json:",omitempty" unit:"bytes"`
}

// Know takes over of another point of the same engine what one lacks of accuracy and memory.
func (p *Point) Know(o *Point) {
	if p.SQNR == nil && p.Top1 == nil && p.Agreement == nil && p.Perplexity == nil {
		p.SQNR, p.Top1, p.Agreement, p.Perplexity, p.Items = o.SQNR, o.Top1, o.Agreement, o.Perplexity, o.Items
	}
	if p.Weights == 0 {
		p.Weights, p.Arena = o.Weights, o.Arena
	}
}

// Front marks the points that no other is better than in one measure and as good in the other: cost is better where it is less,
// gain where it is more. A point without one of the measures, for which ok is false, is not on the front. Of equal points the
// first is.
func Front(n int, measure func(i int) (cost, gain float64, ok bool)) []bool {
	front := make([]bool, n)
	for i := range n {
		cost, gain, ok := measure(i)
		front[i] = ok
		for j := 0; ok && j < n && front[i]; j++ {
			c, g, known := measure(j)
			if j == i || !known || c > cost || g < gain {
				continue
			}
			front[i] = c == cost && g == gain && i < j
		}
	}
	return front
}
