package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/trtui/trtui/sessions/config"
)

// Search is the search for the precision of each layer that meets a goal (trtui tune-precision).
type Search struct {
	Base         config.Config `output:"base_config"` // from which it starts
	Goal         Goal
	Output       string        `json:",omitempty"` // whose SQNR is told, where there are others
	AllPredicted bool          `json:",omitempty"` // what is predicted is of all outputs together, as where boxes come of them
	Points       []SearchPoint // engines that were built and measured, in order
	Best         *int          // index of the point that meets the goal best; nil: none does yet
	Nearest      *int          `json:",omitempty"` // where none does, the one that comes nearest
	Predictions  int           // variants whose error was found without an engine
	Resumed      int           `json:",omitempty"` // points that a state brought
	Live         bool          // it goes on
	Elapsed      time.Duration
}

// SearchPoint is an engine that a search built.
type SearchPoint struct {
	Point
	Why       string        // it was tried
	Raised    int           // layers that are not in INT8
	Task      *TaskMetric   `json:",omitempty"`                 // nil: it is not known, as without labels
	Drop      *float64      `unit:"points" json:",omitempty"`   // of it below FP32's; nil as it is
	Predicted float64       `unit:"db" exact:"predicted_exact"` // SQNR on items of calibration
	Tuned     time.Duration // sum of all steps by the tuner
	Meets     bool          // the goal
}

// Predicts names what predictions are of.
func (s *Search) Predicts() string {
	switch {
	case s.AllPredicted:
		return "all outputs"
	case s.Output != "":
		return "the first output"
	}
	return "the output"
}

// Goal is what a search is to reach: the least time within bounds of accuracy, or where there are none, the most accuracy within
// a time. What is nil or 0 is no bound.
type Goal struct {
	MinSQNR      *float64      `unit:"db" json:",omitempty"`     // of the first output
	MaxDrop      *float64      `unit:"points" json:",omitempty"` // of the task's measure below FP32's, in percentage points
	MinAgreement *float64      `unit:"share" json:",omitempty"`
	MaxLatency   time.Duration `json:",omitempty"` // median of an inference
}

// Accuracy reports whether the goal bounds accuracy.
func (g Goal) Accuracy() bool { return g.MinSQNR != nil || g.MaxDrop != nil || g.MinAgreement != nil }

// IsZero reports whether there is no bound.
func (g Goal) IsZero() bool { return !g.Accuracy() && g.MaxLatency == 0 }

func (g Goal) String() string {
	var parts []string
	if g.MinSQNR != nil {
		parts = append(parts, fmt.Sprintf("SQNR of %.4g dB at least", *g.MinSQNR))
	}
	if g.MaxDrop != nil {
		parts = append(parts, fmt.Sprintf("the task's measure within %.4g points of FP32's", *g.MaxDrop))
	}
	if g.MinAgreement != nil {
		parts = append(parts, fmt.Sprintf("agreement of %.4g %% at least", 100**g.MinAgreement))
	}
	if g.MaxLatency > 0 {
		parts = append(parts, fmt.Sprintf("latency of %v at most", g.MaxLatency))
	}
	return strings.Join(parts, ", ")
}

// Accurate reports whether a point is within the bounds of accuracy; what is not known of it is not.
func (g Goal) Accurate(p *SearchPoint) bool {
	return (g.MinSQNR == nil || p.SQNR != nil && *p.SQNR >= *g.MinSQNR) &&
		(g.MaxDrop == nil || p.Drop != nil && *p.Drop <= *g.MaxDrop) &&
		(g.MinAgreement == nil || p.Agreement != nil && *p.Agreement >= *g.MinAgreement)
}

// Add adds a point and finds the best again: of those that meet the goal the one of least time, or where accuracy has no bound the
// most accurate one.
func (s *Search) Add(p SearchPoint) {
	p.Meets = s.Goal.Accurate(&p) && (s.Goal.MaxLatency == 0 || p.Latency > 0 && p.Latency <= s.Goal.MaxLatency)
	s.Points = append(s.Points, p)
	s.Best, s.Nearest = nil, nil
	for i := range s.Points {
		if q := &s.Points[i]; q.Meets && (s.Best == nil || s.better(q, &s.Points[*s.Best])) {
			s.Best = &i
		}
	}
	if s.Best != nil {
		return
	}
	for i := range s.Points {
		if s.Nearest == nil || s.nearer(&s.Points[i], &s.Points[*s.Nearest]) {
			s.Nearest = &i
		}
	}
}

func (s *Search) better(p, than *SearchPoint) bool {
	if s.Goal.Accuracy() {
		return p.Tuned < than.Tuned || p.Tuned == than.Tuned && sqnrOf(p) > sqnrOf(than)
	}
	return sqnrOf(p) > sqnrOf(than)
}

// nearer compares points that do not meet the goal: by accuracy where that is bounded, else by latency.
func (s *Search) nearer(p, than *SearchPoint) bool {
	if s.Goal.Accuracy() {
		return sqnrOf(p) > sqnrOf(than)
	}
	return p.Latency < than.Latency
}

func sqnrOf(p *SearchPoint) float64 {
	if p.SQNR == nil {
		return -MaxDB
	}
	return *p.SQNR
}

// Chosen returns the best point, or where none meets the goal the nearest; nil where there is none.
func (s *Search) Chosen() *SearchPoint {
	for _, i := range []*int{s.Best, s.Nearest} {
		if i != nil {
			return &s.Points[*i]
		}
	}
	return nil
}
