package passes

import (
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes/recognise"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestGatherInOrder: a flat index of places that is made of extents that are not known takes all elements in their order, or not.
func TestGatherInOrder(t *testing.T) {
	for _, c := range []struct {
		name    string
		inOrder bool
		rows    int64 // the axis of x whose extent is the number of rows
		width   int64 // and that by whose extent their places differ
	}{
		{"rows of columns", true, 0, 1},
		{"columns of rows", false, 1, 0}, // in order, but no Reshape makes that shape of two extents that are not known
		{"rows that overlap", false, 0, 0},
	} {
		d := graph.Define("flat")
		x := d.Input("x", numeric.F32, symbolic.Symbol("batch"), symbolic.Symbol("keys"))
		list := func(name string, e ...int64) *graph.Tensor { return d.Constant(name, numeric.Values(numeric.I64, e)) }
		scalar := func(name string, e int64) *graph.Tensor {
			v := numeric.NewValue(numeric.I64)
			v.I64()[0] = e
			return d.Constant(name, v)
		}
		extents, zero, one := d.ShapeOf(x), scalar("zero", 0), scalar("one", 1)
		places := func(axis int64, shape ...int) *graph.Tensor {
			return d.Reshape(d.Sequence(zero, d.Gather(extents, scalar("axis", axis), 0), one), shape...)
		}
		index := d.Add(d.Mul(places(c.rows, -1, 1), d.Gather(extents, list("width", c.width), 0)), places(1-c.rows, 1, -1))
		d.Output("y", d.Named("y").Gather(d.Reshape(x, -1, 1), index, 0))
		n, err := d.Network()
		if err != nil {
			t.Fatal(err)
		}
		got, steps := runPass(t, n, []pass.Pass{recognise.Attention}, pass.Config{Shapes: map[string]int{"batch": 3, "keys": 5}})
		if fired := len(steps[0].Fired) == 1; fired != c.inOrder {
			t.Errorf("%s: fired %+v in\n%s", c.name, steps[0].Fired, got)
		}
		if c.inOrder {
			sameMeaning(t, n, got, 0)
		}
	}
}

// TestGatherOfOne: the only element of a list is all of them, by an index that has no axis.
func TestGatherOfOne(t *testing.T) {
	d := graph.Define("one")
	x := d.Input("x", numeric.I64, symbolic.Const(1))
	d.Output("y", d.Named("y").Gather(x, d.Constant("zero", numeric.NewValue(numeric.I64)), 0))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	got, steps := runPass(t, n, []pass.Pass{recognise.Attention}, pass.Config{})
	if len(steps[0].Fired) != 1 {
		t.Errorf("not fired in\n%s", got)
	}
	sameMeaning(t, n, got, 0)
}
