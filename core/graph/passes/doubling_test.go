package passes

import (
	"context"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestDoubling: networks whose values are used again and again, which as trees are larger than any memory, take time by
// their layers.
func TestDoubling(t *testing.T) {
	for name, next := range map[string]func(d *graph.Definition, x *graph.Tensor) *graph.Tensor{
		"add x, x": func(d *graph.Definition, x *graph.Tensor) *graph.Tensor { return d.ElementWise(elementwise.Add, x, x) },
		"add x, tanh x": func(d *graph.Definition, x *graph.Tensor) *graph.Tensor {
			return d.ElementWise(elementwise.Add, x, d.Tanh(x))
		},
		"mul x, sigmoid x": func(d *graph.Definition, x *graph.Tensor) *graph.Tensor {
			return d.ElementWise(elementwise.Mul, x, d.Sigmoid(x))
		},
		"sub exp x, exp -x": func(d *graph.Definition, x *graph.Tensor) *graph.Tensor {
			return d.ElementWise(elementwise.Sub, d.Activation(elementwise.Exp, x), d.Activation(elementwise.Exp, d.Activation(elementwise.Neg, x)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := graph.Define(name)
			x := d.Input("x", numeric.F32, symbolic.Const(4))
			for range 200 {
				x = next(d, x)
			}
			d.Output("y", x)
			n, err := d.Network()
			if err != nil {
				t.Fatal(err)
			}
			after, _, err := Run(context.Background(), n, Standard(), pass.Config{})
			if err != nil {
				t.Fatal(err)
			}
			if length := len(after.String()); length > 200<<10 {
				t.Errorf("the text of %d layers has %d bytes", len(after.Layers), length)
			}
		})
	}
}

// TestDoubledAngles: so do rotary embeddings by angles that are made so.
func TestDoubledAngles(t *testing.T) {
	n := newNet(t, "angles")
	half := n.input("angles", 2, 3, 4)
	angles := n.join("Both", half, half)
	for range 100 {
		angles = n.binary("Add", elementwise.Add, angles, angles)
	}
	y := n.halves(n.input("x", 2, 3, 8), n.elt("Cos", elementwise.Cos, nil, angles), n.elt("Sin", elementwise.Sin, nil, angles))
	if _, _, err := Run(t.Context(), n.output(y), Standard(), pass.Config{}); err != nil {
		t.Fatal(err)
	}
}
