package moves

import (
	"slices"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/kernels"
)

// TestKnownOf: the rows of a table up to an extent are known where all that says which is, and not where the table is computed.
func TestKnownOf(t *testing.T) {
	for _, table := range []bool{true, false} {
		d := graph.Define("net")
		list := func(name string, e ...int64) *graph.Tensor { return d.Constant(name, numeric.Values(numeric.I64, e)) }
		x := d.Input("x", numeric.F32, symbolic.Const(4), symbolic.Const(2))
		if table {
			x = d.Weights("table", []float32{0, 1, 2, 3, 4, 5, 6, 7}, 4, 2)
		}
		y := d.Layer(graph.Slice, graph.SliceAttrs{}, x, list("begin", 1), list("end", 3), list("axes", 0))
		l := y.Producer
		b := kernels.Binding{Layer: l, Out: []kernels.Desc{{Type: y.Type, Dims: symbolic.Eval(y.Dims, nil)}}}
		for _, in := range l.Inputs {
			b.In, b.Consts = append(b.In, kernels.Desc{Type: in.Type, Dims: symbolic.Eval(in.Dims, nil)}), append(b.Consts, in.Weights)
		}
		v, err := knownOf(b)
		switch {
		case table && (err != nil || !slices.Equal(v.F32(), []float32{2, 3, 4, 5})):
			t.Errorf("%v: rows of a table are %v", err, v)
		case !table && err == nil:
			t.Errorf("rows of an input are known: %v", v)
		}
	}
}
