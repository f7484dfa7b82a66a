package report

import "time"

// Fork is steps that run side by side, in lanes that do not depend on each other, or that could.
type Fork struct {
	Site      string        `json:",omitempty"` // identifies it in Config.Disable; empty in [Timings]
	Layers    []string      `json:",omitempty"` // the source layers of its steps; none in [Timings]
	Lanes     [][]LaneStep  // in order; the longest lane comes first
	InTurn    time.Duration // what all of them take one behind the other, each on all workers; of [Timings] the median; 0 where not measured
	Beside    time.Duration `output:"side_by_side"` // what they take side by side
	Gain      float64       `unit:"share"`          // the share of InTurn that is saved
	Predicted float64       `unit:"share"`          // and that was predicted by what each step takes on one worker and on all
	Reason    string        `json:",omitempty"`     // why the steps run in turn all the same, as of a [MissedSite]; empty where they run side by side
	Detail    string        `json:",omitempty"`
}

// Measured reports whether it was run both ways.
func (f *Fork) Measured() bool { return f.Beside > 0 }

// LaneStep is a step in a lane.
type LaneStep struct {
	Step   string
	Median time.Duration `json:",omitempty"` // side by side with those of other lanes; 0 where that was not measured
}

// Steps returns how many steps a fork has.
func (f *Fork) Steps() int {
	n := 0
	for _, lane := range f.Lanes {
		n += len(lane)
	}
	return n
}

// Saved returns how much time forks save.
func Saved(forks []Fork) (t time.Duration) {
	for _, f := range forks {
		t += f.InTurn - f.Beside
	}
	return t
}
