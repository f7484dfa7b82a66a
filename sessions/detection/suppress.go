package detection

import (
	"cmp"
	"math"
	"slices"
)

// Of networks that find an object many times: which of their boxes stay.
const (
	leastScore  = 0.001 // of a box that counts
	sameObject  = 0.7   // overlap with a better box of the class from which on a box is of the same object
	mostRaw     = 4096  // boxes of the highest scores that are looked at
	mostStaying = 300
)

// suppressed returns the boxes of the highest scores that overlap no better one of their class, those first.
func suppressed(found []Found) []Found {
	slices.SortStableFunc(found, func(a, b Found) int { return cmp.Compare(b.Score, a.Score) })
	found = found[:min(len(found), mostRaw)]
	var kept []Found
	for i := range found {
		f := &found[i]
		if !slices.ContainsFunc(kept, func(k Found) bool { return k.Class == f.Class && f.overlap(&k.Box) > sameObject }) {
			kept = append(kept, *f)
		}
		if len(kept) == mostStaying {
			break
		}
	}
	return kept
}

// counted leaves out boxes that are no numbers or of no score.
func counted(found []Found) []Found {
	return slices.DeleteFunc(found, func(f Found) bool {
		sum := f.X0 + f.Y0 + f.X1 + f.Y1
		return !(f.Score > leastScore) || math.IsInf(f.Score, 0) || math.IsNaN(sum) || math.IsInf(sum, 0)
	})
}
