package onnx

import (
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// TestOlder compares nodes of operator sets before 7 with ONNX Runtime, and names operators that changed since and have no case;
// see testdata/older.py.
func TestOlder(t *testing.T) {
	covered := map[string]bool{}
	for _, c := range readNodes(t, "testdata/older.json") {
		covered[c.Op] = true
		t.Run(c.Name, func(t *testing.T) { c.evaluate(t, false) })
	}
	for _, op := range []string{"Affine", "Crop", "ImageScaler", "ParametricSoftplus", "Scale", "ScaledTanh"} {
		if !covered[op] {
			t.Errorf("no case of %s", op)
		}
	}
	for op := range older {
		if graph.Ops().Onnx("", op) != nil && !covered[op] {
			t.Errorf("no case of %s", op)
		}
	}
}

// TestOlderErrors imports nodes that say what no newer one does.
func TestOlderErrors(t *testing.T) {
	old := func(version int64, fields ...[]byte) []byte {
		return msg(num(1, 3), opsetField("", version), sub(7, msg(append(fields, str(2, "g"))...)))
	}
	x, y := input("x", 2, 3, 4), output("y", 2, 3, 4)
	name := func(attr, value string) []byte { return sub(5, msg(str(1, attr), num(20, kindString), str(4, value))) }
	for _, c := range []struct {
		model []byte
		want  string
	}{
		{old(6, x, input("b", 3), nodeField("Add", "a", list("x", "b"), list("y"), intAttr("axis", 1)), y),
			"Add (node a): operator set 6: inputs f32[2,3,4] and f32[3] differ, and broadcast is 0"},
		{old(6, x, input("b", 3, 4), nodeField("Add", "a", list("x", "b"), list("y"), intAttr("axis", 2), intAttr("broadcast", 1)), y),
			"inputs f32[2,3,4] and f32[3,4] do not meet at axis 2"},
		{old(6, x, input("b", 1, 2, 3, 4), nodeField("Add", "a", list("x", "b"), list("y"), intAttr("broadcast", 1)), y), "do not meet at axis -1"},
		{old(6, x, nodeField("Add", "a", list("x"), list("y")), y), "an input is missing"},
		{old(1, x, nodeField("Cast", "c", list("x"), list("y"), name("to", "FLOAT7")), y), `there is no type "FLOAT7" to cast to`},
		{old(1, x, nodeField("Cast", "c", list("x"), list("y"), name("to", "COMPLEX64")), y), "element type 14 of ONNX is not supported"},
		{old(1, x, input("n", 1), initializer("k", numeric.Values(numeric.I64, []int64{3})), nodeField("Tile", "t", list("x", "n", "k"), list("y")), y), "must be constant whole numbers"},
		{old(1, x, initializer("n", numeric.Values(numeric.I64, []int64{2})), initializer("k", numeric.Values(numeric.I64, []int64{3})),
			nodeField("Tile", "t", list("x", "n", "k"), list("y")), y), "axis 3 is not one of f32[2,3,4]"},
		{old(1, x, initializer("n", numeric.Values(numeric.F32, []float32{0.5})), nodeField("Split", "s", list("x", "n"), list("y")), y), "must be constant whole numbers"},
		{old(6, x, input("s", 3, 4), nodeField("BatchNormalization", "b", list("x", "s", "s", "s"), list("y"), intAttr("spatial", 0)), y), "4 inputs, want 5"},
		{old(6, x, input("s", 4, 4), nodeField("BatchNormalization", "b", list("x", "s", "s", "s", "s"), list("y"), intAttr("spatial", 0)), y), "input 1 is f32[4,4], want the shape of an item of f32[2,3,4]"},
		{old(6, x, nodeField("Relu", "r", list("x"), list("y"), intAttr("odd", 1)), y), "attribute odd is not supported"},
	} {
		_, err := Parse(graph.Ops(), "m.onnx", c.model)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}
