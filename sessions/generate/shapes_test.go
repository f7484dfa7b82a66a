package generate

import (
	"fmt"
	"slices"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// A model of texts has usual shapes, whatever exporters name its axes; another one has none.
func TestUsualShapes(t *testing.T) {
	one, sym := symbolic.Const(1), symbolic.Symbol
	for _, c := range []struct {
		name   string
		inputs func(n *graph.Network)
		want   string
	}{
		{"tokens", func(n *graph.Network) { n.AddInput("input_ids", numeric.I64, sym("b"), sym("s")) }, "[1 128]"},
		{"tokens, mask and types of an encoder", func(n *graph.Network) {
			n.AddInput("input_ids", numeric.I64, sym("b"), sym("s"))
			n.AddInput("attention_mask", numeric.I64, sym("b"), sym("s"))
			n.AddInput("token_type_ids", numeric.I64, sym("b"), sym("s"))
		}, "[1 128] [1 128] [1 128]"},
		{"a mask of an axis of its own behind a past", func(n *graph.Network) {
			n.AddInput("input_ids", numeric.I64, sym("b"), sym("s"))
			n.AddInput("attention_mask", numeric.I64, sym("b"), sym("total"))
			n.AddInput("past_key_values.0.key", numeric.F32, sym("b"), symbolic.Const(2), sym("past"), symbolic.Const(8))
		}, "[1 1] [1 128] [1 2 127 8]"},
		{"a mask whose axis is a sum", func(n *graph.Network) {
			n.AddInput("input_ids", numeric.I64, sym("b"), sym("s"))
			n.AddInput("past_key_values.0.key", numeric.F32, sym("b"), symbolic.Const(2), sym("past"), symbolic.Const(8))
			n.AddInput("attention_mask", numeric.I64, sym("b"), sym("past").Add(sym("s")))
		}, "[1 1] [1 2 127 8] [1 128]"},
		{"a past of a fixed length", func(n *graph.Network) {
			n.AddInput("input_ids", numeric.I64, one, sym("s"))
			n.AddInput("attention_mask", numeric.I64, one, sym("total"))
			n.AddInput("past_key_values.0.key", numeric.F32, one, symbolic.Const(2), symbolic.Const(31), symbolic.Const(8))
		}, "[1 1] [1 32] [1 2 31 8]"},
		{"what an encoder made", func(n *graph.Network) {
			n.AddInput("encoder_attention_mask", numeric.I64, sym("b"), sym("encoded"))
			n.AddInput("input_ids", numeric.I64, sym("b"), sym("s"))
			n.AddInput("encoder_hidden_states", numeric.F32, sym("b"), sym("encoded"), symbolic.Const(16))
		}, "[1 128] [1 128] [1 128 16]"},
		{"images", func(n *graph.Network) { n.AddInput("x", numeric.F32, sym("b"), symbolic.Const(3), sym("h"), sym("w")) }, ""},
		{"a mask alone", func(n *graph.Network) { n.AddInput("mask", numeric.F32, sym("b"), sym("s")) }, ""},
		{"features", func(n *graph.Network) { n.AddInput("x", numeric.F32, sym("b"), sym("f")) }, ""},
	} {
		n := graph.NewNetwork(c.name)
		c.inputs(n)
		shapes, _ := UsualShapes(n)
		got := ""
		for i, x := range n.Inputs {
			if shapes == nil {
				break
			}
			if i > 0 {
				got += " "
			}
			got += fmt.Sprint(shapes[x.Name])
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Where the layers take no more, the text is shorter.
func TestUsualShapesFit(t *testing.T) {
	d := graph.Define("short")
	ids := d.Input("input_ids", numeric.I64, symbolic.Const(1), symbolic.Symbol("s"))
	x := d.Gather(d.Constant("words", numeric.NewValue(numeric.F32, 10, 4)), ids, 0)
	d.Output("y", d.Add(x, d.Constant("places", numeric.NewValue(numeric.F32, 1, 64, 4))))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	shapes, _ := UsualShapes(n)
	if got := fmt.Sprint(shapes["input_ids"]); got != "[1 64]" {
		t.Errorf("shape %s, want [1 64]", got)
	}
}

// Where the layers take no usual length, as of an export in which that of its example was left, the text has one that they take.
func TestUsualShapesOfExample(t *testing.T) {
	d := graph.Define("baked")
	ids := d.Input("input_ids", numeric.I64, symbolic.Const(1), symbolic.Symbol("s"))
	x := d.Gather(d.Constant("words", numeric.NewValue(numeric.F32, 10, 4)), ids, 0)
	d.Output("y", d.Reshape(x, 12, 4))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	if shapes, what := UsualShapes(n); fmt.Sprint(shapes["input_ids"]) != "[1 12]" || what != "the longest text that its layers take" {
		t.Errorf("shape %v, %s, want 12 tokens", shapes, what)
	}
}

// TestUsualShapesOfPlaces: a text is no longer than the places that a model counts of its tokens have in a table.
func TestUsualShapesOfPlaces(t *testing.T) {
	number := func(n int64) numeric.Value { return numeric.Values(numeric.I64, []int64{n}) }
	for _, c := range []struct {
		rows int
		want []int
	}{{131, []int{1, 128}}, {130, []int{1, 128}}, {129, []int{1, 64}}, {66, []int{1, 64}}, {40, []int{1, 32}}, {4, []int{1, 2}}} {
		d := graph.Define("counted")
		ids := d.Input("input_ids", numeric.I64, symbolic.Symbol("b"), symbolic.Symbol("s"))
		pad := d.Constant("pad", number(1))
		seen := d.Cast(d.Not(d.Equal(ids, pad)), numeric.I64)
		places := d.Add(d.Mul(d.CumSum(seen, graph.CumAttrs{Axis: 1}), seen), pad)
		words := d.Gather(d.Weights("words", make([]float32, 50*8), 50, 8), ids, 0)
		d.Output("y", d.Add(words, d.Gather(d.Weights("places", make([]float32, c.rows*8), c.rows, 8), places, 0)))
		n, err := d.Network()
		if err != nil {
			t.Fatal(err)
		}
		shapes, _ := UsualShapes(n)
		if got := shapes["input_ids"]; !slices.Equal(got, c.want) {
			t.Errorf("%d places: %v, want %v", c.rows, got, c.want)
		}
	}
}
