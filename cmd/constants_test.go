package cmd

import (
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/internal/onnxruntime"
)

// TestConstants: an input becomes a constant, which ONNX Runtime is given beside the others.
func TestConstants(t *testing.T) {
	d := graph.Define("scaled")
	x, by := d.Input("x", numeric.F32, symbolic.Const(2)), d.Input("by", numeric.F32, symbolic.Const(1))
	d.Output("y", d.Mul(x, by))
	path := definedFile(t, d)
	out, _ := command(t, 0, "inspect", "model", path, "--constants", "by=2.5")
	if strings.Contains(out, "input  by") || !strings.Contains(out, "input  x ") {
		t.Errorf("inspect model:\n%s", out)
	}
	for _, c := range []struct{ value, want string }{
		{"by", "want INPUT=VALUE"}, {"by=", "want INPUT=VALUE"},
		{"bye=1", "there is no such input"}, {"by=one", "want a number"},
	} {
		if _, errs := command(t, exitFailure, "inspect", "model", path, "--constants", c.value); !strings.Contains(errs, c.want) {
			t.Errorf("%s: %s", c.value, errs)
		}
	}
	r, err := onnxruntime.Open(t.Context(), onnxruntime.Options{})
	if err != nil {
		t.Skipf("it is not compared: %v", err)
	}
	r.Close()
	if out, _ := command(t, 0, "run", path, "--constants", "by=2.5", "--backends", "cpu,onnxruntime", "-q"); !strings.Contains(out, "PASSED") {
		t.Errorf("run:\n%s", out)
	}
}
