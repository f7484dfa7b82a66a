package dataset

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// grouped returns the set in items of as many as the inputs take at once, where their first axis is fixed at more than one. The last
// item, where it is short, repeats the last one there is, without a label. Items that have that axis already are whole.
func (s *Set) grouped(inputs []*graph.Tensor) *Set {
	n := groupOf(inputs)
	if s.Whole || n < 2 {
		return s
	}
	cut := *s
	cut.Whole = true
	if s.hasRanks(inputs) {
		return &cut
	}
	cut.Inputs = slices.Clone(s.Inputs)
	for k, in := range cut.Inputs {
		cut.Inputs[k].Dims = append([]int{n}, in.Dims...)
	}
	cut.boxes = nil
	cut.Name, cut.group, cut.length, cut.Labels = fmt.Sprintf("%s, %d at once", s.Name, n), n, (s.length+n-1)/n, nil
	cut.Identity.Hash += fmt.Sprintf(" by %d", n)
	cut.read = func(i, k int, dst *numeric.Value) error {
		return join(dst, s.Inputs[k].Dims, n, func(j int, item *numeric.Value) error { return s.read(min(i*n+j, s.length-1), k, item) })
	}
	for i := 0; s.Labels != nil && i < cut.length; i++ {
		labels := slices.Clone(s.Labels[i*n : min((i+1)*n, s.length)])
		for len(labels) < n {
			labels = append(labels, -1)
		}
		cut.Next = append(cut.Next, labels)
	}
	return &cut
}

// hasRanks reports whether items have as many axes as the inputs, the first included.
func (s *Set) hasRanks(inputs []*graph.Tensor) bool {
	for _, t := range inputs {
		if k := s.inputOf(inputs, t); k < 0 || len(s.Inputs[k].Dims) != len(t.Dims) {
			return false
		}
	}
	return true
}

// groupOf returns the extent at which the first axis of all inputs is fixed, 0 where there is none.
func groupOf(inputs []*graph.Tensor) int {
	n := 0
	for _, t := range inputs {
		if len(t.Dims) == 0 {
			return 0
		}
		if c, ok := t.Dims[0].IsConst(); !ok || n > 0 && c != n {
			return 0
		} else {
			n = c
		}
	}
	return n
}
