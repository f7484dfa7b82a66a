package cmd

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui/sessions/report"
)

// TestLint ends with 1 where something is as grave as --fail-on says, of a model and of a recording, and says what helps.
func TestLint(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the embedded model")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "s.trtui")
	command(t, 0, append(rough(t), "record", "-o", file, "--precision", "int8", "--calibrator", "mse", "--items", "40", "-q")...)
	text, _ := command(t, 0, "lint", file, "--fail-on", "none")
	for _, want := range []string{"digits, int8", "channel-padding", "-> the model itself", "findings by"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	command(t, 0, "lint", file)
	command(t, 1, "lint", file, "--fail-on", "hint")
	if _, stderr := command(t, 2, "lint", file, "--fail-on", "all"); !strings.Contains(stderr, `--fail-on "all"`) {
		t.Errorf("stderr is %q", stderr)
	}
	command(t, 2, "lint", filepath.Join(dir, "missing.trtui"))
	text, _ = command(t, 1, append(rough(t), "lint", "--precision", "int8", "--disable", "fuse-activation", "--fail-on", "warning")...)
	if !strings.Contains(text, "disabled-rules") || !strings.Contains(text, "leave out --disable") {
		t.Errorf("the switched-off rule is not found in\n%s", text)
	}
}

// TestRemedies has a flag or a command for each.
func TestRemedies(t *testing.T) {
	for _, r := range report.Remedies() {
		if hintOnRemedy(r, nil) == "" {
			t.Errorf("nothing is said of %s", r)
		}
	}
}

// TestRaiseNamed: of a tensor whose readers are to be raised, the flag has their names.
func TestRaiseNamed(t *testing.T) {
	got := hintOnRemedy(report.RemedyPrecision, []string{"/b/o/MatMul", "a,b"})
	if want := "--layer-precisions '/b/o/MatMul:fp32,a*b:fp32' has it read as a float"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
