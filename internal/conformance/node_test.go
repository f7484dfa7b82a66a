package conformance_test

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/conformance"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/kernels/cuda"
)

// TestNodeConformance runs ONNX's own node cases. None may fail, and of the core ones of operators that are imported at
// all nine in ten must pass.
func TestNodeConformance(t *testing.T) {
	dir := os.Getenv("TRTUI_DATA")
	if dir == "" {
		t.Skip("TRTUI_DATA is not set: no external cases to test with")
	}
	archive := filepath.Join(dir, "onnx", "onnx-node-open.tar.gz")
	report := conform(t, conformance.Evaluate, archive)
	tiers := caseTiers(t, filepath.Join(dir, "onnx", "onnx-node-open.manifest.tsv"))
	passed, refused := 0, 0
	for _, c := range report.Cases {
		switch {
		case c.Status == conformance.Failed:
			t.Errorf("%s: %s", c.Case, c.Reason)
		case tiers[c.Case] != "core" || strings.Contains(c.Reason, "operator is not supported"):
		case c.Status == conformance.Passed:
			passed++
		default:
			refused++
			t.Logf("%s: %s", c.Case, c.Reason)
		}
	}
	if passed < 9*refused {
		t.Errorf("%d core cases passed, %d were refused", passed, refused)
	}
	t.Logf("%d passed, %d failed, %d unsupported; core cases of imported operators: %d passed, %d unsupported", report.Passed, report.Failed, report.Unsupported, passed, refused)
}

// TestNodeConformanceOfEngines runs the same cases through the builder and the kernels of the CPU and of the simulated
// GPU: none may fail, and no fewer may pass than did.
func TestNodeConformanceOfEngines(t *testing.T) {
	dir := os.Getenv("TRTUI_DATA")
	if dir == "" {
		t.Skip("TRTUI_DATA is not set: no external cases to test with")
	}
	for name, c := range map[string]struct {
		open  func() (run.Backend, error)
		least int
	}{
		"cpu":     {func() (run.Backend, error) { return cpu.Open(0), nil }, 607},
		"cudasim": {func() (run.Backend, error) { return cuda.OpenSimulator() }, 586},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := c.open()
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			report := conform(t, conformance.Engine(b), filepath.Join(dir, "onnx", "onnx-node-open.tar.gz"))
			for _, c := range report.Cases {
				if c.Status == conformance.Failed {
					t.Errorf("%s: %s", c.Case, c.Reason)
				}
			}
			if report.Passed < c.least {
				t.Errorf("%d cases passed, %d did", report.Passed, c.least)
			}
		})
	}
}

// caseTiers reads the tier of each case from a manifest.
func caseTiers(t *testing.T, path string) map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tiers := map[string]string{}
	lines := bufio.NewScanner(f)
	lines.Scan()
	column := slices.Index(strings.Split(lines.Text(), "\t"), "tier")
	for lines.Scan() {
		cells := strings.Split(lines.Text(), "\t")
		tiers[cells[0]] = cells[column]
	}
	return tiers
}
