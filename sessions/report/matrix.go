package report

import "time"

// Matrix has more than two things side by side: configurations, engines or states of recordings (trtui diff A B C).
type Matrix struct {
	Sides   []MatrixSide
	Columns *Columns // their layers, a column each, which has the side's name as its label
	Pareto  *Pareto  // latency against the first measure that most sides have, memory where none is known
	Notes   []string `json:",omitempty"` // what to know before comparing, of each beside the first
}

// MatrixSide is one of them.
type MatrixSide struct {
	DiffSide
	Speed *Speed `json:",omitempty"` // beside the first; nil for that
	Front bool   // none other is faster and as good
}

// Spread is the difference between the longest and the shortest time of a row, over the columns that have it.
func (r *ColumnRow) Spread() time.Duration {
	var least, most time.Duration
	first := true
	for _, c := range r.Cells {
		if c == nil {
			continue
		}
		if first {
			least, most, first = c.Median, c.Median, false
		}
		least, most = min(least, c.Median), max(most, c.Median)
	}
	return most - least
}
