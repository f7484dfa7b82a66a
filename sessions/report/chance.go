package report

import "math"

// LeastItems is how many items a verdict on right answers wants: of fewer nothing follows.
const LeastItems = 20

// Chance is what guessing gives a network on so many items.
type Chance struct {
	Classes int
	Bound   float64 // share of right answers, within two standard deviations
}

// Guesses returns what guessing gives where a network cannot be told from one that guesses: its share of right answers, FP32's, or the
// engine's own where there is no FP32, is within that. Nil where it can, or the data do not say.
func (s *Snapshot) Guesses() *Chance {
	a := s.Accuracy
	if a == nil || a.Items < LeastItems || a.Labels.Offset != 0 || a.Labels.Tokens > 0 || s.Model == nil || len(s.Model.Outputs) == 0 {
		return nil
	}
	top1 := a.Labels.FP32Top1
	if a.Alone {
		top1 = a.Labels.Top1
	}
	dims := s.Model.Outputs[0].Shape
	if top1 < 0 || len(dims) == 0 || dims[len(dims)-1] < 2 {
		return nil
	}
	c := &Chance{Classes: dims[len(dims)-1]}
	p := 1 / float64(c.Classes)
	c.Bound = p + 2*math.Sqrt(p*(1-p)/float64(a.Items))
	if top1 > c.Bound {
		return nil
	}
	return c
}
