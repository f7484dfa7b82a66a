package program

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cuda"
	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/driver/drivertest"
	"github.com/trtui/trtui/kernels/cuda/simulator"
)

// simulatedGPUs is the program's table with simulated GPUs whose calls are recorded: gpu:0 is the usual one, gpu:1 has a newer
// driver. calls is told of each context that is opened.
func simulatedGPUs(calls func(*drivertest.Recorder)) []backend {
	return append(backends[:1:1], backend{name: "gpu", doc: "for tests", many: true, open: func(device, _ int) (run.Backend, error) {
		d := simulator.Device()
		d.Driver += driver.Version(device) * 1000
		return cuda.OpenSimulatorOn(func() (driver.Context, error) {
			r := drivertest.Record(cuda.Simulate(d))
			calls(r)
			return r, nil
		})
	}})
}

// TestCompiledCodeInEngines builds an engine on a simulated GPU and measures it there, where nothing is compiled again, and
// under a newer driver, where everything is.
func TestCompiledCodeInEngines(t *testing.T) {
	var calls *drivertest.Recorder
	table := simulatedGPUs(func(r *drivertest.Recorder) { calls = r })
	file := filepath.Join(t.TempDir(), "digits.engine")
	steps := func(what string, command func() (string, error)) (compiled, loaded int) {
		t.Helper()
		out, err := command()
		if err != nil {
			t.Fatalf("%s: %v\n%s", what, err, out)
		}
		t.Logf("%s: %d compilations, %d modules", what, calls.Count("Link"), calls.Count("ModuleLoad"))
		return calls.Count("Link"), calls.Count("ModuleLoad")
	}
	distinct, _ := steps("build", func() (string, error) {
		return call(t, buildCommand(tables{backends: table}), "--backend", "gpu", "--precision", "fp16", "-o", file)
	})
	if distinct == 0 {
		t.Fatal("nothing was compiled")
	}
	if compiled, loaded := steps("bench", func() (string, error) {
		return call(t, benchCommand(tables{backends: table}), file, "--backend", "gpu")
	}); compiled != 0 || loaded != distinct {
		t.Errorf("the engine's own device compiled %d kernels of %d, and loaded %d", compiled, distinct, loaded)
	}
	var out string
	if compiled, _ := steps("bench under a newer driver", func() (text string, err error) {
		out, err = call(t, benchCommand(tables{backends: table}), file, "--backend", "gpu:1", "-v")
		return out, err
	}); compiled != distinct {
		t.Errorf("a newer driver compiled %d kernels, want %d\n%s", compiled, distinct, out)
	}
	if !strings.Contains(out, "estimated latency") {
		t.Errorf("the bench says:\n%s", out)
	}
}

// TestCodeCache measures the same model in one run after another: the second one finds all code in the folder, and says so.
// Without the flag a simulated GPU keeps none, and a folder that cannot be used is said once.
func TestCodeCache(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := filepath.Join(t.TempDir(), "code")
	var calls *drivertest.Recorder
	bench := func(args ...string) (out string, compiled int) {
		t.Helper()
		table := simulatedGPUs(func(r *drivertest.Recorder) { calls = r })
		out, err := call(t, benchCommand(tables{backends: table}), append(args, "--backend", "gpu", "--timing-cache", "none", "-v")...)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return out, calls.Count("Link")
	}
	says := func(out, want string, times int) {
		t.Helper()
		if n := strings.Count(out, want); n != times {
			t.Errorf("%q is there %d times, want %d:\n%s", want, n, times, out)
		}
	}
	out, n := bench("--code-cache", dir)
	says(out, fmt.Sprintf("compiled %d kernels, 0 from the code cache", n), 1)
	if out, again := bench("--code-cache", dir); n == 0 || again > 0 {
		t.Errorf("%d kernels were compiled, and then %d", n, again)
	} else {
		says(out, fmt.Sprintf("compiled 0 kernels, %d from the code cache", n), 1)
	}
	if _, again := bench(); again != n {
		t.Errorf("%d kernels were compiled without a folder, want %d", again, n)
	}
	if own := ownCache("code"); own != "" {
		if _, err := os.Stat(own); err == nil {
			t.Errorf("a simulated GPU's code is in %s", own)
		}
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	out, again := bench("--code-cache", file)
	if says(out, "code cache: ", 1); again != n {
		t.Errorf("%d kernels were compiled beside an unusable folder, want %d", again, n)
	}
}

// TestForbid leaves tactics out by name and by a file of names: as after a selftest that found them bad.
func TestForbid(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bad")
	tacticsOf := func(args ...string) map[string]bool {
		t.Helper()
		out, _ := command(t, 0, append([]string{"bench", "--backend", "cudasim", "--per-layer", "--format", "json", "--timing-cache", "none"}, args...)...)
		var report struct{ Layers []struct{ Tactic string } }
		if err := json.Unmarshal([]byte(out), &report); err != nil || len(report.Layers) == 0 {
			t.Fatalf("%v\n%s", err, out)
		}
		used := map[string]bool{}
		for _, l := range report.Layers {
			used[l.Tactic] = true
		}
		return used
	}
	var tiled, names []string
	for name := range tacticsOf() {
		if strings.HasPrefix(name, "conv_f32_simt") {
			tiled = append(tiled, name)
		}
	}
	if len(tiled) == 0 {
		t.Fatal("no tiles are in use")
	}
	if err := os.WriteFile(file, []byte(strings.Join(tiled, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name := range tacticsOf("--forbid-tactic", "@"+file, "--forbid-tactic", "softmax_linear") {
		if slices.Contains(tiled, name) || name == "softmax_linear" {
			t.Errorf("%s is forbidden and in use", name)
		}
		names = append(names, name)
	}
	if len(names) < 3 {
		t.Errorf("tactics in use: %v", names)
	}
	if _, errs := command(t, exitFailure, "bench", "--forbid-tactic", "@"+file+"x"); !strings.Contains(errs, "--forbid-tactic: open") {
		t.Errorf("a file that is not there: %s", errs)
	}
}
