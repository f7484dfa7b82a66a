package cmd

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui/kernels/cuda/bringup"
)

// TestFindingText: what a compiler did is not claimed of a device that has none.
func TestFindingText(t *testing.T) {
	local := 8
	for _, c := range []struct {
		f    bringup.Finding
		want string
	}{
		{bringup.Finding{Check: "jit", Name: "x", OK: true, JITms: 1.5, Registers: 40, LocalBytes: &local, SharedBytes: 64}, "jit        x: JIT 1.5 ms, 40 registers, 8 bytes local, 64 bytes shared"},
		{bringup.Finding{Check: "jit", Name: "x", OK: true, Estimated: true, JITms: 1.5, Registers: 40, SharedBytes: 64},
			"jit        x: read by the host in 1.5 ms, 40 live registers, spills not known, 64 bytes shared"},
	} {
		if got := findingText(c.f); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// TestInspectEngineSimulated: estimates have no distribution, and data without labels no score by them.
func TestInspectEngineSimulated(t *testing.T) {
	file := filepath.Join(t.TempDir(), "digits.engine")
	command(t, 0, "build", "--keep-source", "-o", file)
	for _, c := range []struct {
		args      string
		want, not []string
	}{
		{"--backend cudasim", []string{"estimated µs", "labels: top-1"}, []string{"median", "p99", "CV %", "threads"}},
		{"--backend cpu " + file, []string{"median µs", "no labels, agreement with FP32"}, []string{"top-1"}},
	} {
		args := append(strings.Fields("inspect engine --timing-cache none"), strings.Fields(c.args)...)
		out, _ := command(t, 0, args...)
		for _, w := range c.want {
			if !strings.Contains(out, w) {
				t.Errorf("%s: no %q in\n%s", c.args, w, out)
			}
		}
		for _, w := range c.not {
			if strings.Contains(out, w) {
				t.Errorf("%s: %q in\n%s", c.args, w, out)
			}
		}
	}
}

// TestGPUFormat: the form of the output is chosen as everywhere else, and -q leaves progress out.
func TestGPUFormat(t *testing.T) {
	for _, c := range []string{"bringup", "selftest"} {
		if _, errs := command(t, exitFailure, "gpu", c, "--backend", "cudasim", "--format", "xml"); !strings.Contains(errs, `--format "xml": want text or json`) {
			t.Error(errs)
		}
	}
	if out, errs := command(t, 0, "gpu", "bringup", "--backend", "cudasim", "--steps", "device", "--format", "json", "-q"); !strings.HasPrefix(out, `{"schema"`) || errs != "" {
		t.Errorf("%s\n%s", errs, out)
	}
}
