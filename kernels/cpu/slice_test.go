package cpu

import (
	"bytes"
	"context"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
)

// TestSliceToExtent cuts a constant and an input at an extent that another input has, as rotary embeddings do, at several shapes.
func TestSliceToExtent(t *testing.T) {
	b := Open(2)
	defer b.Close()
	d := graph.Define("rows")
	x := d.Input("x", numeric.F32, symbolic.Symbol("rows"), symbolic.Const(3))
	long := d.Input("long", numeric.F32, symbolic.Shape(40, 3)...)
	table := make([]float32, 40*3)
	for i := range table {
		table[i] = float32(i)
	}
	ints := func(name string, list ...int64) *graph.Tensor {
		return d.Constant(name, numeric.Values(numeric.I64, list))
	}
	end := d.Layer(graph.ShapeOf, graph.ShapeAttrs{Start: 0, End: 1}, x)
	cut := func(name string, of *graph.Tensor, start int64) {
		d.Output(name, d.Layer(graph.Slice, graph.SliceAttrs{}, of, ints(name+"_starts", start), end, ints(name+"_axes", 0)))
	}
	cut("of_constant", d.Weights("table", table, 40, 3), 0)
	cut("of_input", long, 0)
	cut("from_two", d.Weights("again", table, 40, 3), 2)
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	x3 := run.Extents{Opt: map[string]int{"rows": 8}, Min: map[string]int{"rows": 3}, Max: map[string]int{"rows": 40}}
	p, err := run.NewPlanOf(ctx, n, x3, b, run.BestGuess)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range p.Steps {
		if s.Tactic == "eval" {
			t.Errorf("%s runs by its definition", s.Name)
		}
	}
	l, err := run.Load(ctx, p, b)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := l.NewContext()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, rows := range []int{8, 3, 40, 17} {
		in := map[string]numeric.Value{"x": numeric.NewValue(numeric.F32, rows, 3), "long": numeric.Values(numeric.F32, table, 40, 3)}
		if err := c.SetShapes(map[string][]int{"x": {rows, 3}, "long": {40, 3}}); err != nil {
			t.Fatal(err)
		}
		if err := c.SetInputs(in); err != nil {
			t.Fatal(err)
		}
		if err := c.Execute(); err != nil {
			t.Fatal(err)
		}
		want, err := n.Eval(ctx, in, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Outputs()
		if err != nil {
			t.Fatal(err)
		}
		for name, w := range want {
			if !bytes.Equal(got[name].Data, w.Data) {
				t.Errorf("%d rows: %s is %v, want %v", rows, name, got[name].Floats(), w.Floats())
			}
		}
	}
}
