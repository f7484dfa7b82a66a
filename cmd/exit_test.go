package cmd

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// An answer of no and the lack of an answer end differently, whatever the command, as those of diff do.
func TestExitCodes(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none.onnx")
	for _, c := range []struct {
		code int
		args []string
	}{
		{0, []string{"run", "--items", "1", "--backends", "cpu,cpu"}},
		{exitNo, []string{"run", "--items", "1", "--backends", "cpu,eval", "--atol", "0", "--rtol", "0"}},
		{exitFailure, []string{"run", none}},
		{exitFailure, []string{"run", "--no-such-flag"}},
		{exitFailure, []string{"bench", none}},
		{exitFailure, []string{"conformance", none}},
		{exitFailure, []string{"no-such-command"}},
		{exitFailure, []string{"gpu", "selftest", "--backend", "cudasim", "--filter", "no such kernel"}},
	} {
		args := c.args
		if args[0] == "run" || args[0] == "bench" {
			args = append(args, "-q")
		}
		var out, errOut bytes.Buffer
		if code := executeOn(t.Context(), quick, args, &out, &errOut); code != c.code {
			t.Errorf("trtui %s: exit code %d, want %d\n%s", strings.Join(args, " "), code, c.code, &errOut)
		}
	}
	for _, command := range []string{"", "run", "bench", "conformance", "gpu selftest", "inspect model"} {
		var out bytes.Buffer
		if code := executeOn(t.Context(), quick, append(strings.Fields(command), "--help"), &out, &out); code != 0 || !strings.Contains(out.String(), exitHelp) {
			t.Errorf("trtui %s --help, which ends with %d, does not tell the exit codes:\n%s", command, code, &out)
		}
	}
}
