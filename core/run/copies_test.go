package run_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// TestWhyCopied: a layer whose op only arranges memory, and that launches a kernel, says why; one that launches none says nothing.
func TestWhyCopied(t *testing.T) {
	backend := cpu.Open(1)
	for _, c := range []struct {
		name, op, want string // the reason; "": it is done in memory
		define         func(d *graph.Definition, x *graph.Tensor) *graph.Tensor
	}{
		{"view", "Reshape", "", func(d *graph.Definition, x *graph.Tensor) *graph.Tensor { return d.Reshape(d.Relu(x), 2, 60) }},
		{"view of the input", "Reshape", "an output of the network and x an input", func(d *graph.Definition, x *graph.Tensor) *graph.Tensor { return d.Reshape(x, 2, 60) }},
		{"slice", "Slice", "", func(d *graph.Definition, x *graph.Tensor) *graph.Tensor {
			return d.Relu(d.Slice(d.Relu(x), graph.SliceAttrs{Starts: []int{1}, Ends: []int{2}, Axes: []int{0}}))
		}},
		{"steps", "Slice", "steps of 2 on axis 1", func(d *graph.Definition, x *graph.Tensor) *graph.Tensor {
			return d.Relu(d.Slice(d.Relu(x), graph.SliceAttrs{Starts: []int{0}, Ends: []int{3}, Axes: []int{1}, Steps: []int{2}}))
		}},
		{"two axes", "Slice", "axes 1 and 2 are cut", func(d *graph.Definition, x *graph.Tensor) *graph.Tensor {
			return d.Relu(d.Slice(d.Relu(x), graph.SliceAttrs{Starts: []int{0, 1}, Ends: []int{2, 3}, Axes: []int{1, 2}}))
		}},
		{"join", "Concat", "", func(d *graph.Definition, x *graph.Tensor) *graph.Tensor {
			return d.Relu(d.Concat(0, d.Relu(x), d.Sigmoid(x)))
		}},
		{"inner axis", "Concat", "axis 2 is not the outermost", func(d *graph.Definition, x *graph.Tensor) *graph.Tensor {
			return d.Relu(d.Concat(2, d.Relu(x), d.Sigmoid(x)))
		}},
		{"of an input", "Concat", "x is an input or output of the network", func(d *graph.Definition, x *graph.Tensor) *graph.Tensor {
			return d.Relu(d.Concat(0, d.Relu(x), x))
		}},
		{"to an output", "Concat", "is an output of the network, with memory of its own", func(d *graph.Definition, x *graph.Tensor) *graph.Tensor {
			return d.Concat(0, d.Relu(x), d.Sigmoid(x))
		}},
	} {
		d := graph.Define(c.name)
		x := d.Input("x", numeric.F32, symbolic.Const(2), symbolic.Const(3), symbolic.Const(4), symbolic.Const(5))
		d.Output("y", c.define(d, x))
		n, err := d.Network()
		if err != nil {
			t.Fatal(c.name, err)
		}
		p, err := run.NewPlan(t.Context(), n, nil, backend, run.BestGuess)
		if err != nil {
			t.Fatal(c.name, err)
		}
		at := slices.IndexFunc(p.Steps, func(s run.Step) bool { return !s.Reformat && s.Layer.Op.Name == c.op })
		s := p.Steps[at]
		why := ""
		for _, k := range s.Candidates {
			if k.Tactic == run.InMemory {
				why = k.Reason
				if k.Code == "" {
					t.Errorf("%s: %s has no code", c.name, k.Reason)
				}
				if !k.Unfit {
					t.Errorf("%s: %+v could be pinned", c.name, k)
				}
			}
		}
		if !strings.Contains(why, c.want) || (s.Tactic == run.InMemory) != (c.want == "") || (why == "") != (c.want == "") {
			t.Errorf("%s: %s, %q, want %q", c.name, s.Tactic, why, c.want)
		}
	}
}
