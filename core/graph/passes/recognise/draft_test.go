package recognise

import (
	"slices"
	"testing"

	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestWidened: with axes of extent 1 before its last ones a tensor can be given a shape whose extents are open.
func TestWidened(t *testing.T) {
	b, s := symbolic.Symbol("b"), symbolic.Symbol("s")
	four := symbolic.Const(4)
	for _, c := range []struct {
		from, to []symbolic.Dim
		want     []int
	}{
		{[]symbolic.Dim{b.Mul(four), s, s}, []symbolic.Dim{b, four, s, s}, []int{1}},
		{[]symbolic.Dim{b, s}, []symbolic.Dim{b, four, four, s}, []int{1, 2}},
		{[]symbolic.Dim{b, s}, []symbolic.Dim{b, s}, nil},
		{[]symbolic.Dim{b, s}, []symbolic.Dim{s, b, four}, nil},
	} {
		got := widened(c.from, c.to)
		if !slices.Equal(got, c.want) {
			t.Errorf("%v to %v: %v, want %v", c.from, c.to, got, c.want)
		}
	}
}
