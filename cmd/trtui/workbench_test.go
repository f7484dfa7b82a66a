package main

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// TestWorkbenchRefuses checks what is said, and with which exit code, before a screen is opened.
func TestWorkbenchRefuses(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"conformanc"}, exitUsage, "did you mean conformance?"},
		{[]string{"a.onnx", "b.onnx"}, exitUsage, "accepts at most 1 arg"},
		{[]string{"--batch", "0"}, exitUsage, "--batch 0: want 1 to"},
		{[]string{"--precision", "int3"}, exitUsage, `--precision "int3": want fp32, fp16 or int8`},
		{[]string{"--precision-constraints", "none"}, exitUsage, `--precision-constraints "none": want prefer or obey`},
		{[]string{"--calibrator", "guess"}, exitUsage, "--calibrator: "},
		{[]string{"--theme", "pink"}, exitUsage, `--theme "pink": want dark or light`},
		{[]string{"--backend", "tpu"}, exitUsage, `--backend "tpu"`},
		{[]string{filepath.Join(t.TempDir(), "none.onnx")}, exitFailure, "none.onnx: no such file"},
		{[]string{t.TempDir()}, exitFailure, "is a directory"},
	} {
		var errOut bytes.Buffer
		code := execute(t.Context(), c.args, io.Discard, &errOut)
		if code != c.code || !strings.Contains(errOut.String(), c.says) {
			t.Errorf("%v: exit code %d, want %d, and %q in\n%s", c.args, code, c.code, c.says, &errOut)
		}
	}
}
