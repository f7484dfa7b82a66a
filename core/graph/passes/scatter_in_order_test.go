package passes

import (
	"slices"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes/recognise"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestScatterInOrder: what is assigned to a part of a tensor of open extents, by indices that follow from places, is joined with the rest.
func TestScatterInOrder(t *testing.T) {
	for _, c := range []struct {
		name        string
		from, count int64 // of the columns that are written, of 7
		row         int64 // the first one
		twice       bool  // the columns behind them are written, too
		reason      pass.Reason
		ops         []string // of the layers that are left
	}{
		{name: "first columns", count: 3, ops: []string{"Slice", "Concat"}},
		{name: "columns between", from: 2, count: 3, ops: []string{"Slice", "Slice", "Concat"}},
		{name: "all columns", count: 7, ops: nil},
		{name: "columns in two parts", count: 3, twice: true, ops: []string{"Concat"}},
		{name: "from another row on", row: 1, count: 3, reason: pass.WrongShape},
	} {
		d := graph.Define("written")
		rows := symbolic.Symbol("rows")
		x := d.Input("x", numeric.F32, rows, symbolic.Const(7))
		scalar := func(e int64) *graph.Tensor {
			return d.Constant("number", numeric.Values(numeric.I64, []int64{e}, []int{}...))
		}
		write := func(x *graph.Tensor, name string, from, count int64) *graph.Tensor {
			u := d.Input(name, numeric.F32, rows, symbolic.Const(int(count)))
			extents := d.ShapeOf(u)
			row := d.Reshape(d.Sequence(scalar(c.row), d.Add(d.Gather(extents, scalar(0), 0), scalar(c.row)), scalar(1)), -1, 1)
			column := d.Sequence(scalar(from), scalar(from+count), scalar(1))
			part := func(t *graph.Tensor) *graph.Tensor { return d.Unsqueeze(d.Layer(graph.Expand, nil, t, extents), 2) }
			return d.Layer(graph.ScatterND, graph.ScatterAttrs{Reduction: "none"}, x, d.Concat(2, part(row), part(column)), u)
		}
		y := write(x, "u", c.from, c.count)
		if c.twice {
			y = write(y, "v", c.count, 7-c.count)
		}
		d.Output("y", d.Relu(y))
		n, err := d.Network()
		if err != nil {
			t.Fatal(err)
		}
		got, steps := runPass(t, n, []pass.Pass{recognise.Attention}, pass.Config{Shapes: map[string]int{"rows": 3}})
		if c.reason != "" {
			if len(steps[0].Fired) > 0 || len(steps[0].Missed) != 1 || steps[0].Missed[0].Reason != c.reason {
				t.Errorf("%s: fired %+v, missed %+v", c.name, steps[0].Fired, steps[0].Missed)
			}
			continue
		}
		got, _ = runPass(t, got, Standard(), pass.Config{Shapes: map[string]int{"rows": 3}})
		var ops []string
		for _, l := range got.Layers {
			ops = append(ops, l.Op.Name)
		}
		if !slices.Equal(ops, append(c.ops, "Relu")) {
			t.Errorf("%s: %v in\n%s", c.name, ops, got)
		}
		sameMeaning(t, n, got, 0)
	}
}
