package report

import (
	"fmt"
	"time"
)

// Progress says how far a job is.
type Progress struct {
	Phase string // "collecting activations"
	Item  string // the layer, tactic or batch at hand
	Done  int
	Total int // 0: unknown
	// Share is how much of the phase is done, 0 to 1, where more is known of that than Done and Total tell; 0: they tell all.
	Share float64       `json:",omitempty"`
	Left  time.Duration `json:",omitempty"` // that the phase will take, about; 0: unknown
}

// Fraction returns how much of the phase is done, 0 to 1; negative where that is unknown.
func (p Progress) Fraction() float64 {
	switch {
	case p.Share > 0:
		return min(p.Share, 1)
	case p.Total > 0:
		return min(float64(p.Done)/float64(p.Total), 1)
	}
	return -1
}

// Counted is the phase and how far it is, as in "timing tactics 12/40".
func (p Progress) Counted() string {
	switch {
	case p.Total > 0:
		return fmt.Sprintf("%s %d/%d", p.Phase, p.Done, p.Total)
	case p.Done > 0:
		return fmt.Sprintf("%s %d", p.Phase, p.Done)
	}
	return p.Phase
}

// String is Counted with what is at hand: "timing tactics 12/40: conv1: conv_f32_avx512".
func (p Progress) String() string {
	if p.Item == "" {
		return p.Counted()
	}
	return p.Counted() + ": " + p.Item
}

// Within returns the progress of a phase where a share of the next so many items is done.
func (p Progress) Within(items int, share float64, at string) Progress {
	items = min(items, p.Total-p.Done)
	p.Item, p.Share = at, (float64(p.Done)+share*float64(items))/float64(max(p.Total, 1))
	return p
}
