package cmd

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestRunCompare: models, engines and configurations are run on the same inputs.
func TestRunCompare(t *testing.T) {
	dir := t.TempDir()
	engine, model := filepath.Join(dir, "digits.engine"), filepath.Join(dir, "digits.onnx")
	command(t, 0, "build", "-o", engine, "--precision", "fp16")
	command(t, 0, "export", "-o", model)
	for _, c := range []struct {
		code  int
		flags string
		wants string
	}{
		{0, "--compare @fp16", "cpu (a) against @fp16 (b);0.03 RMS(b);PASSED"},
		{0, "--compare " + engine + " --backends cpu,eval", "against eval (b);against " + engine + " (b);PASSED"},
		{0, model + " --compare " + engine + " --per-layer", "head/classify/Gemm;PASSED"},
		{0, "--compare " + model, "0.0001 RMS(b);0 differ at all"},
		{exitNo, "--compare @fp16 --atol 1e-7 --rtol 0", "FAILED"},
		{exitFailure, "--compare @fp32", "is what is run anyway"},
		{exitFailure, "--compare @fp8", "neither fp32, fp16 nor int8"},
		{exitFailure, "--compare " + filepath.Join(dir, "none.onnx"), "none.onnx"},
	} {
		out, errs := command(t, c.code, append([]string{"run", "--items", "2"}, strings.Fields(c.flags)...)...)
		for text := range strings.SplitSeq(c.wants, ";") {
			if !strings.Contains(out+errs, text) {
				t.Errorf("%s: no %q in\n%.2000s", c.flags, text, out+errs)
			}
		}
	}
}
