package model

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/sessions/config"
)

// TestDerive: an extent that nobody gave is what layers imply of the others, at the best shapes and at the ends of ranges; where they
// imply nothing it stays open.
func TestDerive(t *testing.T) {
	input := func(d *graph.Definition, name string, of numeric.DataType, dims ...string) *graph.Tensor {
		var list []symbolic.Dim
		for _, s := range dims {
			list = append(list, symbolic.Symbol(s))
		}
		return d.Input(name, of, list...)
	}
	joined := func(d *graph.Definition) *graph.Tensor {
		return d.Concat(1, input(d, "past", numeric.F32, "batch", "old"), input(d, "x", numeric.F32, "batch", "new"))
	}
	at := func(old, new int, mask ...int) map[string][]int {
		shapes := map[string][]int{"past": {1, old}, "x": {1, new}}
		if len(mask) > 0 {
			shapes["mask"] = []int{1, mask[0]}
		}
		return shapes
	}
	for _, c := range []struct {
		name   string
		output func(d *graph.Definition) *graph.Tensor
		cfg    config.Config
		want   config.Config
		said   string
	}{
		{"added", func(d *graph.Definition) *graph.Tensor {
			return d.Add(joined(d), input(d, "mask", numeric.F32, "batch", "total"))
		},
			config.Config{Shapes: at(8, 1), MinShapes: at(0, 1), MaxShapes: at(64, 16), Profiles: []config.Profile{{Shapes: at(0, 5), MinShapes: at(0, 2), MaxShapes: at(0, 16)}}},
			config.Config{Shapes: at(8, 1, 9), MinShapes: at(0, 1, 1), MaxShapes: at(64, 16, 80), Profiles: []config.Profile{{Shapes: at(0, 5, 5), MinShapes: at(0, 2, 2), MaxShapes: at(0, 16, 16)}}},
			"[{total new + old mask [1 9]}]"},
		{"given", func(d *graph.Definition) *graph.Tensor {
			return d.Add(joined(d), input(d, "mask", numeric.F32, "batch", "total"))
		},
			config.Config{Shapes: at(8, 1, 9), MinShapes: at(1, 1), MaxShapes: at(64, 16)},
			config.Config{Shapes: at(8, 1, 9), MinShapes: at(1, 1, 2), MaxShapes: at(64, 16, 80)}, "[]"},
		{"read at places", func(d *graph.Definition) *graph.Tensor {
			return d.Concat(1, joined(d), d.Cast(input(d, "mask", numeric.I64, "batch", "total"), numeric.F32))
		}, config.Config{Shapes: at(8, 4), MaxShapes: at(20, 4)}, config.Config{Shapes: at(8, 4, 12), MaxShapes: at(20, 4, 24)}, "[{total new + old mask [1 12]}]"},
		{"no mask", func(d *graph.Definition) *graph.Tensor {
			return d.Concat(1, joined(d), input(d, "mask", numeric.F32, "batch", "total"))
		}, config.Config{Shapes: at(8, 4)}, config.Config{Shapes: at(8, 4)}, "[]"},
		{"nothing joined", func(d *graph.Definition) *graph.Tensor {
			return d.Add(input(d, "x", numeric.F32, "batch", "new"), d.Reduce(graph.ReduceMax, input(d, "mask", numeric.F32, "batch", "total"), true, 1))
		}, config.Config{Shapes: map[string][]int{"x": {1, 3}}}, config.Config{Shapes: map[string][]int{"x": {1, 3}}}, "[]"},
	} {
		d := graph.Define("derived")
		d.Output("y", c.output(d))
		n, err := d.Network()
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		list := Derive(&Model{Network: n}, &c.cfg)
		same := func(a, b map[string][]int) bool { return maps.EqualFunc(a, b, slices.Equal) }
		if !same(c.cfg.Shapes, c.want.Shapes) || !same(c.cfg.MinShapes, c.want.MinShapes) || !same(c.cfg.MaxShapes, c.want.MaxShapes) || len(c.cfg.Profiles) != len(c.want.Profiles) {
			t.Errorf("%s: %+v, want %+v", c.name, c.cfg, c.want)
			continue
		}
		for k, p := range c.cfg.Profiles {
			if want := c.want.Profiles[k]; !same(p.Shapes, want.Shapes) || !same(p.MinShapes, want.MinShapes) || !same(p.MaxShapes, want.MaxShapes) {
				t.Errorf("%s: profile %d is %+v, want %+v", c.name, k+1, p, want)
			}
		}
		if got := fmt.Sprint(list); got != c.said {
			t.Errorf("%s: said %s, want %s", c.name, got, c.said)
		}
	}
}
