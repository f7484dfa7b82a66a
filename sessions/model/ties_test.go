package model

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestTies: what follows what is found out around extents that fit, moves with it, and is not varied by itself.
func TestTies(t *testing.T) {
	input := func(d *graph.Definition, name string, dims ...string) *graph.Tensor {
		var list []symbolic.Dim
		for _, s := range dims {
			list = append(list, symbolic.Symbol(s))
		}
		return d.Input(name, numeric.F32, list...)
	}
	for _, c := range []struct {
		name         string
		output       func(d *graph.Definition) *graph.Tensor
		at           map[string]int
		follower     string
		sum          string
		given        map[string]int
		moved        map[string]int
		varied, says string
	}{
		{"past and new", func(d *graph.Definition) *graph.Tensor {
			return d.Add(d.Concat(1, input(d, "past", "batch", "old"), input(d, "x", "batch", "new")), input(d, "mask", "batch", "total"))
		}, map[string]int{"batch": 2, "old": 8, "new": 1, "total": 9}, "total", "new + old",
			map[string]int{"old": 20, "batch": 3}, map[string]int{"batch": 3, "old": 20, "new": 1, "total": 21}, "total", "axis total follows others, as new + old"},
		{"few", func(d *graph.Definition) *graph.Tensor {
			return d.Add(d.Concat(1, input(d, "past", "batch", "old"), input(d, "x", "batch", "new")), input(d, "mask", "batch", "total"))
		}, map[string]int{"batch": 1, "old": 3, "new": 2, "total": 5}, "total", "new + old",
			map[string]int{"old": 6, "new": 1}, map[string]int{"batch": 1, "old": 6, "new": 1, "total": 7}, "total", "axis total follows others, as new + old"},
		{"both moved", func(d *graph.Definition) *graph.Tensor {
			return d.Add(d.Concat(1, input(d, "past", "batch", "old"), input(d, "x", "batch", "new")), input(d, "mask", "batch", "total"))
		}, map[string]int{"batch": 2, "old": 8, "new": 4, "total": 12}, "total", "new + old",
			map[string]int{"old": 20, "new": 2}, map[string]int{"batch": 2, "old": 20, "new": 2, "total": 22}, "new", ""},
		{"one more", func(d *graph.Definition) *graph.Tensor {
			return d.Add(d.Concat(1, input(d, "past", "batch", "old"), d.Weights("w", []float32{1}, 1, 1)), input(d, "mask", "one", "total"))
		}, map[string]int{"batch": 1, "old": 8, "one": 1, "total": 9}, "total", "old + 1",
			map[string]int{"total": 20}, map[string]int{"batch": 1, "old": 19, "one": 1, "total": 20}, "total", ""},
		{"the same", func(d *graph.Definition) *graph.Tensor { return d.Add(input(d, "a", "m"), input(d, "b", "n")) },
			map[string]int{"m": 5, "n": 5}, "n", "m", map[string]int{"n": 3}, map[string]int{"m": 3, "n": 3}, "m,n", "axis n follows others, as m"},
		{"read at places", func(d *graph.Definition) *graph.Tensor {
			return d.Concat(1, d.Concat(1, input(d, "past", "batch", "old"), input(d, "x", "batch", "new")), input(d, "mask", "batch", "total"))
		}, map[string]int{"batch": 2, "old": 8, "new": 4, "total": 12}, "total", "new + old",
			map[string]int{"old": 20}, map[string]int{"batch": 2, "old": 20, "new": 4, "total": 24}, "old,total", "axis total follows others"},
		{"of another length", func(d *graph.Definition) *graph.Tensor {
			return d.Concat(1, d.Concat(1, input(d, "past", "batch", "old"), input(d, "x", "batch", "new")), input(d, "mask", "batch", "total"))
		}, map[string]int{"batch": 2, "old": 8, "new": 4, "total": 13}, "", "",
			map[string]int{"old": 20}, map[string]int{"batch": 2, "old": 20, "new": 4, "total": 13}, "total", ""},
		{"by themselves", func(d *graph.Definition) *graph.Tensor { return d.Relu(input(d, "a", "m", "n")) },
			map[string]int{"m": 5, "n": 6}, "", "", map[string]int{"n": 3}, map[string]int{"m": 5, "n": 3}, "m,n", ""},
		{"multiples", func(d *graph.Definition) *graph.Tensor { return d.Reshape(input(d, "a", "m", "n"), 0, -1, 8) },
			map[string]int{"m": 5, "n": 16}, "", "", map[string]int{"n": 24}, map[string]int{"m": 5, "n": 24}, "n", ""},
		{"what does not fit", func(d *graph.Definition) *graph.Tensor { return d.Add(input(d, "a", "m"), input(d, "b", "n")) },
			map[string]int{"m": 5, "n": 6}, "", "", map[string]int{"n": 3}, map[string]int{"m": 5, "n": 3}, "n", ""},
	} {
		d := graph.Define("tied")
		d.Output("y", c.output(d))
		n, err := d.Network()
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		ties := FindTies(&Model{Network: n}, c.at)
		if tie := ties.Of(c.follower); (tie == nil) != (c.sum == "") || tie != nil && tie.String() != c.sum {
			t.Errorf("%s: %v", c.name, ties.list)
		}
		if got := ties.Move(c.at, c.given); !maps.Equal(got, c.moved) {
			t.Errorf("%s: %v moves to %v, want %v", c.name, c.given, got, c.moved)
		}
		if got := fmt.Sprint(ties.Check(strings.Split(c.varied, ","))); (got == "<nil>") != (c.says == "") || !strings.Contains(got, c.says) {
			t.Errorf("%s: %s: %s", c.name, c.varied, got)
		}
	}
}
