package cmd

import (
	"strings"
	"testing"
)

// A model of texts opens without shapes, and what is shown says at which; what is built of it has to be said.
func TestUsualShapes(t *testing.T) {
	const model = "../sessions/generate/testdata/gpt2.onnx"
	out, _ := command(t, 0, "bench", model, "--iterations", "1", "--duration", "1ms", "-q")
	if !strings.Contains(out, "usual shapes: no shapes were given: the times are of a text of the usual length, input_ids:1x1, attention_mask:1x128") {
		t.Errorf("bench: %s", out)
	}
	out, errs := command(t, 0, "inspect", "memory", model, "-q")
	if !strings.Contains(errs, "no shapes were given") || out == "" {
		t.Errorf("inspect memory: %s%s", out, errs)
	}
	out, errs = command(t, 0, "lint", model, "-q", "--fail-on", "none")
	if !strings.Contains(errs, "no shapes were given") || !strings.Contains(out, "findings by") {
		t.Errorf("lint: %s%s", out, errs)
	}
	if out, _ := command(t, 0, "export", "svg", model, "-o", "-", "-q"); !strings.Contains(out, "usual shapes") {
		t.Errorf("export svg: %.400s", out)
	}
	if _, errs := command(t, exitFailure, "build", model, "-o", t.TempDir()+"/x.engine", "-q"); !strings.Contains(errs, "has no value") {
		t.Errorf("build: %s", errs)
	}
	_, errs = command(t, exitFailure, "build", model, "--minShapes", "input_ids:1x1,attention_mask:1x2", "-o", t.TempDir()+"/x.engine", "-q")
	if !strings.Contains(errs, "add --maxShapes, as in --minShapes attention_mask:1x2,input_ids:1x1 --maxShapes attention_mask:8x16,input_ids:8x8") {
		t.Errorf("least shapes alone: %s", errs)
	}
}
