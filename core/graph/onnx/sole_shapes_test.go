package onnx

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// TestSoleShapes: a long chain of extents, which as an expression of them is too long to be kept, is a number where the shapes of the
// inputs are given. A model that can be imported for all shapes is.
func TestSoleShapes(t *testing.T) {
	chain := func(steps int) []byte {
		fields := [][]byte{
			input("x", "b", "n"), nodeField("Shape", "shape", list("x"), list("s")), nodeField("Gather", "rows", list("s", "i0"), list("b0")), nodeField("Gather", "columns", list("s", "i1"), list("n0")),
			initializer("v", numeric.Values(numeric.F32, []float32{1}, 1, 1)),
		}
		for name, v := range map[string]int64{"i0": 0, "i1": 1, "one": 1, "two": 2, "three": 3, "most": 1000, "lead": 2} {
			fields = append(fields, initializer(name, numeric.Values(numeric.I64, []int64{v}, 1)))
		}
		last := "n0"
		for k := range steps {
			by := [...]string{"b0", "n0", "three", "two", "one", "most", "most"}[k%7]
			op := [...]string{"Add", "Mul", "Div", "Max", "Sub", "Mod", "Min"}[k%7]
			next := fmt.Sprint("c", k)
			fields = append(fields, nodeField(op, next, list(last, by), list(next)))
			last = next
		}
		return modelBytes(append(fields, nodeField("Min", "min", list(last, "most"), list("m")),
			nodeField("Concat", "concat", list("lead", "m"), list("e"), intAttr("axis", 0)), nodeField("Expand", "expand", list("v", "e"), list("y0")),
			nodeField("ReduceMean", "mean", list("x"), list("r"), intAttr("keepdims", 0)), nodeField("Add", "add", list("y0", "r"), list("y")), output("y", nil, nil))...)
	}
	if _, err := Parse(graph.Ops(), "m.onnx", chain(45)); !errors.As(err, new(*ImportError)) || !strings.Contains(err.Error(), "node expand") {
		t.Fatalf("for all shapes: %v", err)
	}
	at := func(b, n int) int { // as the chain computes
		v := n
		for k := range 45 {
			switch k % 7 {
			case 0:
				v += b
			case 1:
				v *= n
			case 2:
				v /= 3
			case 3:
				v = max(v, 2)
			case 4:
				v--
			case 5:
				v %= 1000
			case 6:
				v = min(v, 1000)
			}
		}
		return min(v, 1000)
	}
	for _, name := range []string{"x", ""} {
		n, err := Importer{Ops: graph.Ops(), Shapes: map[string][]int{name: {2, 64}}}.Parse("m.onnx", chain(45))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := n.Outputs[0].TypeString(), fmt.Sprintf("f32[2,%d]", at(2, 64)); got != want {
			t.Errorf("y is %s, want %s", got, want)
		}
	}
	if n, err := (Importer{Ops: graph.Ops(), Shapes: map[string][]int{"x": {2, 64}}}).Parse("m.onnx", chain(4)); err != nil || n.Inputs[0].TypeString() != "f32[b,n]" {
		t.Errorf("of what can be imported for all shapes: %v", err)
	}
	if _, err := (Importer{Ops: graph.Ops(), Shapes: map[string][]int{"x": {2, 64, 1}}}).Parse("m.onnx", chain(45)); err == nil {
		t.Error("shapes of another number of axes")
	}
}
