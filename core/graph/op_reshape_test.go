package graph

import (
	"testing"

	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestReshapeOfNothing: the -1 of a shape stands for what is left beside copied axes, none of whose elements there may be.
func TestReshapeOfNothing(t *testing.T) {
	for _, tt := range []struct {
		in, shape []int
		want      string // "" for an error
	}{
		{[]int{0, 6}, []int{0, 2, -1}, "[0,2,3]"},
		{[]int{0, 1}, []int{0, 1, -1}, "[0,1,1]"},
		{[]int{2, 0, 3}, []int{0, 0, -1}, "[2,0,3]"},
		{[]int{2, 0, 3}, []int{0, -1}, "[2,0]"},
		{[]int{0, 6}, []int{0, 4, -1}, ""},
		{[]int{2, 6}, []int{0, 2, -1}, "[2,2,3]"},
	} {
		got, err := reshapeDims(symbolic.Shape(tt.in...), symbolic.Shape(tt.shape...), false)
		if text := symbolic.Format(got); err == nil && text != tt.want || err != nil && tt.want != "" {
			t.Errorf("%v to %v: %s, %v; want %s", tt.in, tt.shape, text, err, tt.want)
		}
	}
}
