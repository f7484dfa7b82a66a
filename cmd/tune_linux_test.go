package cmd

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What a search is to keep and cannot ends it before it begins where that is known, and is an error behind its result otherwise.
func TestSearchCannotBeKept(t *testing.T) {
	args := withRough(t, []string{"tune-precision", "--items", "8", "--precision", "fp32", "--layer-precisions", "head/classify/Gemm:int8", "--raise-to", "fp32",
		"--min-sqnr", "20", "--timing-cache", "none", "-q"})
	missing := filepath.Join(t.TempDir(), "missing", "state.json")
	if out, errs := command(t, exitFailure, append(args, "--resume", missing)...); out != "" || !strings.Contains(errs, missing) {
		t.Errorf("%q, %q", out, errs)
	}
	state := filepath.Join(t.TempDir(), "state.json")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", append([]string{"-c", `ulimit -f 1; exec "$0" "$@"`, os.Args[0]}, append(args, "--resume", state)...)...)
	cmd.Env = append(os.Environ(), roleVar+"=program", "XDG_CACHE_HOME="+t.TempDir())
	var errs strings.Builder
	cmd.Stderr = &errs
	out, _ := cmd.Output()
	if code := cmd.ProcessState.ExitCode(); code != exitFailure || !strings.Contains(string(out), "best") || !strings.Contains(errs.String(), "search state: write "+state) {
		t.Errorf("exit code %d\n%s\n%s", code, out, &errs)
	}
}
