package model

import (
	"fmt"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestUsualShapes: a model of images or sounds has the usual shapes that its layers take, whatever is open; others have none.
func TestUsualShapes(t *testing.T) {
	sym, fixed := symbolic.Symbol, symbolic.Const
	weights := func(d *graph.Definition, dims ...int) *graph.Tensor {
		return d.Constant("w", numeric.NewValue(numeric.F32, dims...))
	}
	for _, c := range []struct {
		name, what string
		define     func(d *graph.Definition) *graph.Tensor
		want       string
	}{
		{"an image, all of it open", "an image of a usual size", func(d *graph.Definition) *graph.Tensor {
			return d.Conv(d.Input("pixel_values", numeric.F32, sym("n"), sym("c"), sym("h"), sym("w")), weights(d, 8, 3, 3, 3), nil, graph.ConvAttrs{})
		}, "[1 3 224 224]"},
		{"a grey image", "an image of a usual size", func(d *graph.Definition) *graph.Tensor {
			return d.Conv(d.Input("x", numeric.F32, fixed(1), sym("c"), fixed(28), sym("w")), weights(d, 8, 1, 3, 3), nil, graph.ConvAttrs{})
		}, "[1 1 28 224]"},
		{"channels last", "an image of a usual size", func(d *graph.Definition) *graph.Tensor {
			return d.Relu(d.Input("x", numeric.F32, sym("n"), sym("h"), sym("w"), fixed(3)))
		}, "[1 224 224 3]"},
		{"a place for each pixel", "an image of a usual size", func(d *graph.Definition) *graph.Tensor {
			return d.Add(d.Input("x", numeric.F32, sym("n"), fixed(3), sym("h"), sym("w")), weights(d, 1, 3, 96, 96))
		}, "[1 3 96 96]"},
		{"more channels than an image has", "", func(d *graph.Definition) *graph.Tensor {
			return d.Conv(d.Input("x", numeric.F32, sym("n"), sym("c"), sym("h"), sym("w")), weights(d, 8, 64, 3, 3), nil, graph.ConvAttrs{})
		}, "[]"},
		{"samples", "a sound of the usual length", func(d *graph.Definition) *graph.Tensor {
			return d.Relu(d.Input("input_values", numeric.F32, sym("n"), sym("t")))
		}, "[1 16000]"},
		{"frames", "a sound of the usual length", func(d *graph.Definition) *graph.Tensor {
			return d.Relu(d.Input("input_features", numeric.F32, sym("n"), fixed(80), sym("t")))
		}, "[1 80 3000]"},
		{"numbers", "", func(d *graph.Definition) *graph.Tensor {
			return d.Relu(d.Input("x", numeric.F32, sym("n"), sym("t")))
		}, "[]"},
	} {
		d := graph.Define(c.name)
		d.Output("y", c.define(d))
		n, err := d.Network()
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		shapes, what := UsualShapes(n)
		if got := fmt.Sprint(shapes[n.Inputs[0].Name]); got != c.want || what != c.what {
			t.Errorf("%s: %s of %q, want %s of %q", c.name, got, what, c.want, c.what)
		}
	}
}
