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

// bars are the archives of ONNX's own cases with what must pass of them: counts that do not fall, by executor, and shares of the
// cases whose operators are imported, by tier. No case may fail. The table that the tests log is in docs/operators.md.
var bars = []struct {
	archive string
	least   map[string]int
	shares  map[string]float64
}{
	{"onnx-node-open", map[string]int{"eval": 797, "cpu": 797, "cudasim": 673}, map[string]float64{"core": 0.995, "extended": 0.85}},
	{"onnx-pytorch-open", map[string]int{"eval": 61, "cpu": 61, "cudasim": 59}, map[string]float64{"core": 0.995, "extended": 0.95}},
}

// TestNodeConformance runs ONNX's own cases by the layers' definition and, through the builder, by the kernels of the CPU and of the
// simulated GPU.
func TestNodeConformance(t *testing.T) {
	dir := os.Getenv("TRTUI_DATA")
	if dir == "" {
		t.Skip("TRTUI_DATA is not set: no external cases to test with")
	}
	for _, by := range []struct {
		name string
		open func() (run.Backend, error)
	}{
		{"eval", nil},
		{"cpu", func() (run.Backend, error) { return cpu.Open(0), nil }},
		{"cudasim", func() (run.Backend, error) { return cuda.OpenSimulator() }},
	} {
		execute := conformance.Executor(conformance.Evaluate)
		if by.open != nil {
			b, err := by.open()
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			execute = conformance.Engine(b)
		}
		for _, bar := range bars {
			t.Run(by.name+"/"+bar.archive, func(t *testing.T) {
				report := conform(t, execute, filepath.Join(dir, "onnx", bar.archive+".tar.gz"))
				if report.Passed < bar.least[by.name] {
					t.Errorf("%d cases passed, %d did", report.Passed, bar.least[by.name])
				}
				tiers := tally(t, report, caseTiers(t, filepath.Join(dir, "onnx", bar.archive+".manifest.tsv")))
				for name, c := range tiers {
					t.Logf("%-8s %3d passed, %d unsupported, %d of operators that are not imported", name, c.passed, c.refused, c.unknown)
					if share := float64(c.passed) / float64(c.passed+c.refused); by.name != "cudasim" && share < bar.shares[name] {
						t.Errorf("%s: %.1f %% of the cases of imported operators passed, want %.1f %%", name, 100*share, 100*bar.shares[name])
					}
				}
			})
		}
	}
}

// outcome counts the cases of a tier.
type outcome struct{ passed, refused, unknown int }

// tally counts a report's cases by tier; one that failed is an error.
func tally(t *testing.T, report conformance.Report, tiers map[string]string) map[string]outcome {
	t.Helper()
	counts := map[string]outcome{}
	for _, c := range report.Cases {
		o := counts[tiers[c.Case]]
		switch {
		case c.Status == conformance.Failed:
			t.Errorf("%s: %s", c.Case, c.Reason)
		case c.Status == conformance.Passed:
			o.passed++
		case strings.Contains(c.Reason, "operator is not supported"):
			o.unknown++
		default:
			o.refused++
		}
		counts[tiers[c.Case]] = o
	}
	return counts
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
