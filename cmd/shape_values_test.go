package cmd

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestShapeValues: the flags of profiles and --shapes have the values of an input on whose elements shapes depend, and random data has
// them too; what is missing or out of range is said by input, element and value.
func TestShapeValues(t *testing.T) {
	d := graph.Define("values")
	x := d.Input("x", numeric.F32, symbolic.Const(1), symbolic.Const(3))
	d.Output("y", d.Relu(d.ExpandTo(x, d.ShapeInput("to", symbolic.Symbol("rows"), symbolic.Const(3)))))
	model, engine := definedFile(t, d), filepath.Join(t.TempDir(), "values.engine")
	out, err := call(t, buildCommand(tables{backends: testTable()}), model, "-q", "-o", engine, "--minShapes", "to:1x3", "--optShapes", "to:4x3", "--maxShapes", "to:9x3")
	if err != nil || !strings.Contains(out, "to:4x3, from 1x3 to 9x3") {
		t.Errorf("build: %v\n%s", err, out)
	}
	if out, err := call(t, runCommand(tables{backends: testTable()}), model, "--backends", "cpu,eval", "--items", "2", "--shapes", "to:7x3"); err != nil || !strings.Contains(out, "y f32[7 3]") || !strings.Contains(out, "PASSED") {
		t.Errorf("run: %v\n%s", err, out)
	}
	if out, err := call(t, benchCommand(tables{backends: testTable()}), engine, "--duration", "1ms", "--iterations", "1", "--shapes", "to:9x3"); err != nil || strings.Contains(out, "planned again") {
		t.Errorf("bench: %v\n%s", err, out)
	}
	d = graph.Define("inferred")
	d.Output("y", d.Relu(d.ReshapeTo(d.Input("x", numeric.F32, symbolic.Const(4), symbolic.Const(3)), d.ShapeInput("to", symbolic.Symbol("rows"), symbolic.Symbol("columns")))))
	inferred := definedFile(t, d)
	if out, err := call(t, runCommand(tables{backends: testTable()}), inferred, "--backends", "cpu,eval", "--items", "2", "--shapes", "to:2x-1"); err != nil || !strings.Contains(out, "y f32[2 6]") || !strings.Contains(out, "PASSED") {
		t.Errorf("run with what is left: %v\n%s", err, out)
	}
	for _, c := range []struct{ shapes, want string }{
		{"to:-1x3", "input to: element 0 is -1, and no Reshape from a shape that is known says what that is"},
		{"to:10x3", "input to: element 0 (to_0) is 10, the engine was built for 1 to 9"},
		{"to:10", "1 value, but shapes depend on the 2 elements of the input, whose values these are; give as many, as in to:64x64"},
	} {
		if _, err := call(t, benchCommand(tables{backends: testTable()}), engine, "--shapes", c.shapes); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("bench at %s: %v, want %q", c.shapes, err, c.want)
		}
	}
	if _, err := call(t, benchCommand(tables{backends: testTable()}), model); err == nil || !strings.Contains(err.Error(), "shapes depend on the elements of input to, i64[2]") {
		t.Errorf("bench without values: %v", err)
	}
}
