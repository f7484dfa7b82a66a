package graph

import (
	"testing"

	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestBatchAt: items lie along first axes that are symbols of their own, where these have one extent.
func TestBatchAt(t *testing.T) {
	input := func(name string, dims ...any) *Tensor {
		t := &Tensor{Name: name}
		for _, d := range dims {
			if s, ok := d.(string); ok {
				t.Dims = append(t.Dims, symbolic.Symbol(s))
			} else {
				t.Dims = append(t.Dims, symbolic.Const(d.(int)))
			}
		}
		return t
	}
	for _, c := range []struct {
		what   string
		inputs []*Tensor
		env    map[string]int
		want   string
		size   int
	}{
		{"one symbol", []*Tensor{input("x", "n", 3), input("y", "n", "k")}, map[string]int{"n": 4, "k": 9}, "xy", 4},
		{"beside fixed ones", []*Tensor{input("w", 3), input("x", "n", 3), input("s")}, map[string]int{"n": 4}, "x", 4},
		{"two symbols of one extent", []*Tensor{input("x", "n", 3), input("y", "m", 3)}, map[string]int{"n": 4, "m": 4}, "xy", 4},
		{"two symbols of two", []*Tensor{input("x", "n", 3), input("y", "m", 3)}, map[string]int{"n": 4, "m": 5}, "", 1},
		{"one without a value", []*Tensor{input("x", "n", 3), input("y", "m", 3)}, map[string]int{"n": 4}, "xy", 4},
		{"an axis of another input", []*Tensor{input("tokens", "n", "length"), input("at", "length")}, map[string]int{"n": 2, "length": 7}, "tokens", 2},
		{"an axis of its own", []*Tensor{input("x", "n", "n")}, map[string]int{"n": 4}, "", 1},
		{"no values", []*Tensor{input("x", "n", 3)}, nil, "x", 1},
		{"nothing open", []*Tensor{input("x", 4, 3)}, nil, "", 1},
	} {
		batched, size := BatchAt(c.inputs, c.env)
		got := ""
		for _, b := range batched {
			got += b.Name
		}
		if got != c.want || size != c.size {
			t.Errorf("%s: %d in %q, want %d in %q", c.what, size, got, c.size, c.want)
		}
	}
}
