package program

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// TestWithoutNVIDIA starts the program, this test's binary in its role, where there is no NVIDIA library: it starts, works
// on the CPU, and says what --backend cuda lacks.
func TestWithoutNVIDIA(t *testing.T) {
	const role = "TRTUI_TEST_COMMAND"
	if command := os.Getenv(role); command != "" {
		os.Exit(execute(context.Background(), strings.Fields(command), os.Stdout, os.Stderr))
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	missing := "TRTUI_LIBCUDA"
	if runtime.GOOS != "linux" {
		missing = "no CUDA"
	}
	for _, c := range []struct {
		command string
		code    int
		want    string
	}{
		{"--help", 0, "conformance"},
		{"inspect passes --backend cpu", 0, "Conv"},
		{"inspect engine --backend cuda", exitFailure, "no CUDA: "},
		{"inspect engine --backend cuda", exitFailure, missing},
		{"inspect engine --backend cuda:3", exitFailure, "backend cuda:3: "},
	} {
		cmd := exec.Command(self, "-test.run=^TestWithoutNVIDIA$")
		cmd.Env = append(os.Environ(), role+"="+c.command, "LD_LIBRARY_PATH=", "TRTUI_LIBCUDA="+t.TempDir()+"/libcuda.so.1")
		out, err := cmd.CombinedOutput()
		code := 0
		if exit := new(exec.ExitError); errors.As(err, &exit) {
			code = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		if code != c.code || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: exit code %d, want %d and %q in:\n%s", c.command, code, c.code, c.want, out)
		}
	}
}
