package sessions

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
)

// TestMatched: tensors go by their names, else by their order where they are as many.
func TestMatched(t *testing.T) {
	tensors := func(names string) (list []*graph.Tensor) {
		for name := range strings.FieldsSeq(names) {
			list = append(list, &graph.Tensor{Name: name})
		}
		return list
	}
	for _, c := range []struct{ tensors, others, want string }{
		{"a b", "b a c", "map[a:a b:b]"},
		{"a b", "x a", "map[a:x b:a]"}, // one has no name there: all go by their order
		{"a", "x", "map[a:x]"},
		{"a b", "x y z", "output a is not among the other's, which are x, y, z"},
	} {
		by, err := matched("output", tensors(c.tensors), tensors(c.others))
		got := fmt.Sprint(by)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s of %s: %s, want %s", c.tensors, c.others, got, c.want)
		}
	}
}
