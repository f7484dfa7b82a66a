package dataset

import (
	"slices"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Random integers are those that the layers which read them can use, and the set's name tells them.
func TestRandomIntegers(t *testing.T) {
	at := func(n int) []symbolic.Dim { return []symbolic.Dim{symbolic.Symbol("batch"), symbolic.Const(n)} }
	table := func(rows int) numeric.Value { return numeric.NewValue(numeric.F32, rows, 4) }
	for _, c := range []struct {
		name      string
		typ       numeric.DataType
		use       func(n *graph.Network, x *graph.Tensor) *graph.Tensor
		low, high int64
	}{
		{"rows", numeric.I64, func(n *graph.Network, x *graph.Tensor) *graph.Tensor {
			return add(t, n, graph.Gather, graph.GatherAttrs{}, n.AddConst("table", table(2)), x)
		}, 0, 1},
		{"the fewest rows, behind views and casts", numeric.I64, func(n *graph.Network, x *graph.Tensor) *graph.Tensor {
			add(t, n, graph.Gather, graph.GatherAttrs{}, n.AddConst("table", table(300)), x)
			flat := add(t, n, graph.Cast, graph.CastAttrs{To: numeric.I32}, add(t, n, graph.Flatten, graph.FlattenAttrs{Axis: 1}, x))
			return add(t, n, graph.Gather, graph.GatherAttrs{}, n.AddConst("small", table(7)), flat)
		}, 0, 6},
		{"the elements that are replaced", numeric.I64, func(n *graph.Network, x *graph.Tensor) *graph.Tensor {
			return add(t, n, graph.ScatterElements, graph.ScatterAttrs{Axis: 1, Reduction: "none"}, n.AddInput("data", numeric.F32, at(6)...), x, n.AddInput("updates", numeric.F32, at(40)...))
		}, 0, 5},
		{"places of a tuple, out of a block", numeric.I64, func(n *graph.Network, x *graph.Tensor) *graph.Tensor {
			n.AddConst("pairs", numeric.Values(numeric.I64, []int64{-1, 20, 2}, 3))
			pairs := add(t, n, graph.Reshape, graph.ReshapeAttrs{}, x, n.Tensor("pairs"))
			return add(t, n, graph.GatherND, graph.GatherNDAttrs{}, n.AddConst("table", table(3)), pairs)
		}, 0, 2},
		{"a byte of many rows", numeric.I8, func(n *graph.Network, x *graph.Tensor) *graph.Tensor {
			return add(t, n, graph.Gather, graph.GatherAttrs{}, n.AddConst("table", table(1000)), x)
		}, 0, 127},
		{"classes", numeric.I64, func(n *graph.Network, x *graph.Tensor) *graph.Tensor {
			values := numeric.NewValue(numeric.F32, 2)
			return add(t, n, graph.OneHot, graph.OneHotAttrs{Axis: 2, Depth: 3}, x, n.AddConst("values", values))
		}, 0, 2},
		{"a mask", numeric.I64, func(n *graph.Network, x *graph.Tensor) *graph.Tensor {
			return add(t, n, graph.Cast, graph.CastAttrs{To: numeric.F32}, x)
		}, 1, 1},
		{"pixels", numeric.U8, func(n *graph.Network, x *graph.Tensor) *graph.Tensor {
			return add(t, n, graph.Cast, graph.CastAttrs{To: numeric.F32}, x)
		}, 0, 255},
		{"nothing tells", numeric.I32, func(n *graph.Network, x *graph.Tensor) *graph.Tensor {
			return add(t, n, graph.Identity, nil, x)
		}, 0, 9},
	} {
		n := graph.NewNetwork(c.name)
		x := n.AddInput("x", c.typ, at(40)...)
		n.MarkOutput(c.use(n, x))
		if got := integersOf(x, nil); got != (integers{c.low, c.high}) {
			t.Errorf("%s: %v, want %d to %d", c.name, got, c.low, c.high)
		}
		s, err := Random(n.Inputs, nil, 20, 1)
		if err != nil {
			t.Fatal(err)
		}
		all, err := s.Feed(n.Inputs, 0, 20)
		if err != nil {
			t.Fatal(err)
		}
		ints := all["x"].Ints()
		if low, high := slices.Min(ints), slices.Max(ints); low < c.low || high > c.high || c.high-c.low < 10 && (low > c.low || high < c.high) {
			t.Errorf("%s: from %d to %d, want %d to %d", c.name, low, high, c.low, c.high)
		}
	}
	n := graph.NewNetwork("names")
	ids := n.AddInput("ids", numeric.I64, at(3)...)
	n.AddInput("x", numeric.F32, at(3)...)
	n.MarkOutput(add(t, n, graph.Gather, graph.GatherAttrs{}, n.AddConst("table", table(2)), ids))
	if s, err := Random(n.Inputs, nil, 1, 1); err != nil || s.Name != "random (ids 0 to 1)" {
		t.Errorf("%q %v", s.Name, err)
	}
}

func add(t *testing.T, n *graph.Network, op *graph.Op, attrs any, inputs ...*graph.Tensor) *graph.Tensor {
	t.Helper()
	l, err := n.Add("", op, attrs, inputs)
	if err != nil {
		t.Fatal(err)
	}
	return l.Outputs[0]
}
