package cmd

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestBatchOfRange: of an engine of a range --batch sets the batch alone, other open axes are at their best, and exec builds the range and
// infers at --shapes.
func TestBatchOfRange(t *testing.T) {
	d := graph.Define("open")
	d.Output("y", d.Relu(d.Input("x", numeric.F32, symbolic.Symbol("N"), symbolic.Const(3), symbolic.Symbol("L"))))
	model, engine := definedFile(t, d), filepath.Join(t.TempDir(), "open.engine")
	ranged := []string{"--minShapes=x:1x3x2", "--optShapes=x:2x3x8", "--maxShapes=x:4x3x16"}
	if out, err := call(t, buildCommand(tables{backends: testTable()}), append([]string{model, "-q", "-o", engine}, ranged...)...); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	quick := []string{"--duration", "1ms", "--iterations", "1", engine}
	for _, args := range [][]string{{"--batch", "3"}, {"--batch", "3", "--sweep", "L=4..8"}} {
		out, err := call(t, benchCommand(tables{backends: testTable()}), append(args, quick...)...)
		if err != nil || strings.Contains(out, "planned again") || len(args) == 2 && !strings.Contains(out, "(288 bytes)") { // 3x3x8
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
	if _, err := call(t, benchCommand(tables{backends: testTable()}), append([]string{"--batch", "5"}, quick...)...); err == nil || !strings.Contains(err.Error(), "is 5, the engine was built for 1 to 4") {
		t.Errorf("batch 5: %v", err)
	}
	saved := filepath.Join(t.TempDir(), "saved.engine")
	exec := append([]string{"exec", "--onnx=" + model, "--warmUp=0", "--duration=0", "--iterations=1", "--quiet", "--dumpOutput"}, ranged...)
	for shapes, want := range map[string]string{"x:3x3x5": "y: (3x3x5)", "x:1x3x16": "y: (1x3x16)"} {
		if out, _ := command(t, 0, append(exec, "--shapes="+shapes, "--saveEngine="+saved)...); !strings.Contains(out, want) || !strings.Contains(out, "Throughput") {
			t.Errorf("exec at %s:\n%s", shapes, out)
		}
	}
	if out, err := call(t, inspectEngine(tables{backends: testTable()}), saved); err != nil || !strings.Contains(out, "x:2x3x8, from 1x3x2 to 4x3x16") {
		t.Errorf("the engine of exec: %v\n%s", err, out)
	}
	if _, errs := command(t, exitFailure, append(exec, "--shapes=x:5x3x5")...); !strings.Contains(errs, "is 5, the engine was built for 1 to 4") {
		t.Errorf("exec out of range: %s", errs)
	}
}
