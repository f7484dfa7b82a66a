package graph

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// shaped gives x [n] the shape that an input says, and repeats a row as often as another says.
func shaped(t *testing.T) *Network {
	d := Define("shaped")
	x, to := d.Input("x", numeric.F32, symbolic.Symbol("n")), d.ShapeInput("to", symbolic.Symbol("rows"), symbolic.Symbol("columns"))
	d.Output("y", d.Relu(d.ReshapeTo(x, to)))
	d.Output("z", d.ExpandTo(d.Weights("row", []float32{1, 2}, 1, 2), d.ShapeInput("times", symbolic.Symbol("times"), symbolic.Const(2))))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestInferredElements: an element of the shape of a Reshape is inferred where it is -1, or 0, as ONNX has them.
func TestInferredElements(t *testing.T) {
	n := shaped(t)
	ints := func(list ...int64) numeric.Value { return numeric.Values(numeric.I64, list, len(list)) }
	x := numeric.Values(numeric.F32, []float32{1, -2, 3, 4, 5, 6}, 6)
	for _, c := range []struct {
		to   []int64
		want []int
	}{{[]int64{2, -1}, []int{2, 3}}, {[]int64{-1, 6}, []int{1, 6}}, {[]int64{0, -1}, []int{6, 1}}, {[]int64{0, 1}, []int{6, 1}}} {
		out, err := n.Eval(context.Background(), map[string]numeric.Value{"x": x, "to": ints(c.to...), "times": ints(3, 2)}, nil)
		if err != nil || !slices.Equal(out["y"].Dims, c.want) {
			t.Errorf("%v: %v, %v", c.to, out["y"].Dims, err)
		}
	}
	for _, c := range []struct {
		to, times []int
		want      string
	}{
		{[]int{-1, -1}, []int{3, 2}, "its shape has more than one -1"},
		{[]int{4, -1}, []int{3, 2}, "its shape has a -1 beside 4 elements, and its input f32[n] has 6"},
		{[]int{-1, 0}, []int{3, 2}, "its shape is 0 on axis 1, but its input has 1 axes"},
		{[]int{2, 3}, []int{-1, 2}, "input times: element 0 is -1, and no Reshape"},
	} {
		if _, err := n.BindShapes(map[string][]int{"x": {6}, "to": c.to, "times": c.times}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// TestShapeInputs: shapes follow the elements of inputs, which are what is said of these inputs' shapes.
func TestShapeInputs(t *testing.T) {
	n := shaped(t)
	ints := func(list ...int64) numeric.Value { return numeric.Values(numeric.I64, list, len(list)) }
	in := map[string]numeric.Value{"x": numeric.Values(numeric.F32, []float32{1, -2, 3, 4, 5, 6}, 6), "to": ints(2, 3), "times": ints(3, 2)}
	out, err := n.Eval(context.Background(), in, nil)
	if err != nil || !slices.Equal(out["y"].Dims, []int{2, 3}) || !slices.Equal(out["z"].F32(), []float32{1, 2, 1, 2, 1, 2}) {
		t.Fatalf("%v %v", out, err)
	}
	env, err := n.BindShapes(map[string][]int{"x": {6}, "to": {3, 2}, "times": {1, 2}})
	if err != nil || env["rows"] != 3 || env["columns"] != 2 || env["times"] != 1 || n.CheckShapes(env) != nil {
		t.Errorf("%v %v", env, err)
	}
	if got := n.ShapesAt(env); !slices.Equal(got["to"], []int{3, 2}) || !slices.Equal(got["x"], []int{6}) || !slices.Equal(n.Inputs[1].ShapeValue(env).I64(), []int64{3, 2}) {
		t.Errorf("%v", got)
	}
	for _, c := range []struct {
		name string
		v    numeric.Value
		want string
	}{
		{"to", ints(2, -3), "input to: element 1 is -3, want 0 to"},
		{"to", ints(2, 3, 1), "input to: data is i64[3], the network needs to i64[2]"},
		{"to", ints(4, 2), "Reshape"},
		{"times", ints(3, 1), "input times: shape [3 1] does not fit times i64[2]: element 1 must be 2"},
	} {
		wrong := map[string]numeric.Value{"x": in["x"], "to": in["to"], "times": in["times"], c.name: c.v}
		if _, err := n.Eval(context.Background(), wrong, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: %v, want %q", c.name, c.v.I64(), err, c.want)
		}
	}
	if _, err := n.BindShapes(map[string][]int{"x": {6}, "to": {3}, "times": {1, 2}}); err == nil || !strings.Contains(err.Error(), "input to: 1 values [3], the network needs those of its 2 elements") {
		t.Error(err)
	}
	var sections [][]byte
	data, err := n.Encode(func(b []byte) int { sections = append(sections, bytes.Clone(b)); return len(sections) - 1 })
	if err != nil {
		t.Fatal(err)
	}
	again, err := DecodeNetwork(Ops(), data, func(i int) ([]byte, error) { return sections[i], nil })
	if err != nil || again.String() != n.String() || !again.Inputs[1].IsShape || !n.Clone().Inputs[2].IsShape {
		t.Errorf("%v %v", again, err)
	}
}

// TestNoShapeInput: what is no list of few integers says no shape.
func TestNoShapeInput(t *testing.T) {
	n := NewNetwork("n")
	for name, x := range map[string]*Tensor{
		"real": n.AddInput("real", numeric.F32, symbolic.Const(1)), "matrix": n.AddInput("matrix", numeric.I64, symbolic.Const(1), symbolic.Const(1)), "open": n.AddInput("open", numeric.I64, symbolic.Symbol("n")),
		"two": n.AddInput("two", numeric.I64, symbolic.Const(2)), "constant": n.AddConst("constant", numeric.Values(numeric.I64, []int64{1}, 1)),
	} {
		if err := x.MakeShape(symbolic.Symbol("s")); err == nil || x.IsShape {
			t.Errorf("%s is one", name)
		}
	}
	if err := n.AddInput("sum", numeric.I64, symbolic.Const(1)).MakeShape(symbolic.Symbol("s").AddN(1)); err == nil {
		t.Error("a sum is an element")
	}
}

// TestSharedExtent: shapes that differ in an extent that inputs share are refused, by its symbol and both places; an element that is to be
// inferred differs from nothing.
func TestSharedExtent(t *testing.T) {
	d := Define("shared")
	batch, rows := symbolic.Symbol("batch"), symbolic.Symbol("rows")
	a, b := d.Input("a", numeric.F32, batch, rows), d.Input("b", numeric.F32, batch, symbolic.Const(1))
	d.Output("y", d.ReshapeTo(d.Add(a, b), d.ShapeInput("to", batch, symbolic.Symbol("columns"))))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		shapes map[string][]int
		want   string
	}{
		{map[string][]int{"a": {3, 4}, "b": {2, 1}, "to": {3, 4}}, "batch is 3 on axis 0 of input a, but 2 on axis 0 of input b"},
		{map[string][]int{"a": {3, 4}, "b": {3, 1}, "to": {6, 2}}, "batch is 3 on axis 0 of input a, but 6 on element 0 of input to"},
		{map[string][]int{"b": {3, 1}, "to": {6, 2}}, "batch is 3 on axis 0 of input b, but 6 on element 0 of input to"},
		{map[string][]int{"a": {3, 4}, "b": {3, 1}, "to": {-1, 4}}, ""},
		{map[string][]int{"a": {3, 4}}, ""},
	} {
		err := n.CheckShared(c.shapes)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: %v, want %q", c.shapes, err, c.want)
		}
		if _, bound := n.BindSome(map[string]int{"batch": 3, "rows": 4, "columns": 4}, c.shapes); (bound == nil) != (err == nil) {
			t.Errorf("%v: %v", c.shapes, bound)
		}
	}
}
