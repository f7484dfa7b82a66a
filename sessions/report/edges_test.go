package report

import (
	"reflect"
	"testing"
)

// TestEdges: a layer that reads a tensor twice has one edge to it, and what no layer makes has none.
func TestEdges(t *testing.T) {
	layer := func(name string, inputs ...string) Layer {
		return Layer{Name: name, Inputs: inputs, Outputs: []Tensor{{Name: name + ":0"}, {Name: name + ":1"}}}
	}
	e := EdgesOf([]Layer{layer("a", "x"), layer("b", "a:0", "y"), layer("c", "a:1", "a:0", "a:0"), layer("d", "c:0", "b:0")})
	if want := [][]int{nil, {0}, {0}, {2, 1}}; !reflect.DeepEqual(e.Reads, want) {
		t.Errorf("reads %v, want %v", e.Reads, want)
	}
	if want := [][]int{{1, 2}, {3}, {3}, nil}; !reflect.DeepEqual(e.Readers, want) {
		t.Errorf("readers %v, want %v", e.Readers, want)
	}
}
