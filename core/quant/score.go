package quant

import (
	"fmt"
	"slices"
)

// Score counts how well a classifier's outputs meet labels and a reference's choices. The zero value is empty.
type Score struct {
	Items   int // outputs scored
	Labeled int // of these, with a label
	Top1    int // label is the largest output
	Top5    int // label is among the five largest
	Paired  int // outputs with a reference
	Agree   int // whose largest output is the reference's
}

// Add scores outputs of items with the given number of classes, one item after the other. labels and ref may be nil;
// a label outside of the classes is an error, but for -1, which says that the item has none.
func (s *Score) Add(out []float32, classes int, labels []int, ref []float32) error {
	if classes < 1 || len(out)%classes != 0 {
		return fmt.Errorf("%d outputs are not items of %d classes", len(out), classes)
	}
	n := len(out) / classes
	if labels != nil && len(labels) != n {
		return fmt.Errorf("%d labels for %d items", len(labels), n)
	}
	if ref != nil && len(ref) != len(out) {
		return fmt.Errorf("reference has %d outputs, want %d", len(ref), len(out))
	}
	for i, label := range labels {
		if label < -1 || label >= classes {
			return fmt.Errorf("item %d: label %d is outside of %d classes", i, label, classes)
		}
	}
	s.Items += n
	for i := range n {
		row := out[i*classes : (i+1)*classes]
		if labels != nil && labels[i] >= 0 {
			s.Labeled++
			top := TopK(row, 5)
			if top[0] == labels[i] {
				s.Top1++
			}
			if slices.Contains(top, labels[i]) {
				s.Top5++
			}
		}
		if ref != nil {
			s.Paired++
			if ArgMax(row) == ArgMax(ref[i*classes:(i+1)*classes]) {
				s.Agree++
			}
		}
	}
	return nil
}

// Top1Percent returns the percentage of labelled items whose label is the largest output; 0 if none has a label.
func (s Score) Top1Percent() float64 { return percent(s.Top1, s.Labeled) }

// Top5Percent returns the percentage of labelled items whose label is among the five largest outputs.
func (s Score) Top5Percent() float64 { return percent(s.Top5, s.Labeled) }

// Agreement returns the percentage of items whose largest output is the reference's.
func (s Score) Agreement() float64 { return percent(s.Agree, s.Paired) }

func percent(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}

// ArgMax returns the index of the largest element, the first of equals; NaN is less than all numbers. -1 if row is
// empty.
func ArgMax(row []float32) int {
	best := -1
	for i, v := range row {
		if best < 0 || v > row[best] || row[best] != row[best] && v == v {
			best = i
		}
	}
	return best
}

// TopK returns the indices of the k largest elements, largest first and the first of equals first.
func TopK(row []float32, k int) []int {
	k = min(k, len(row))
	top := make([]int, 0, k+1)
	for i, v := range row {
		at := len(top)
		for at > 0 && (v > row[top[at-1]] || row[top[at-1]] != row[top[at-1]] && v == v) {
			at--
		}
		if at < k {
			top = slices.Insert(top, at, i)
			top = top[:min(k, len(top))]
		}
	}
	return top
}
