package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cuda"
	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/driver/drivertest"
)

// simulatedGPUs is the program's table with simulated GPUs whose calls are recorded: gpu:0 is the usual one, gpu:1 has a newer
// driver. calls is told of each context that is opened.
func simulatedGPUs(calls func(*drivertest.Recorder)) []backend {
	return append(backends[:1:1], backend{"gpu", "for tests", true, func(device, _ int) (run.Backend, error) {
		d := cuda.SimulatedDevice()
		d.Driver += driver.Version(device) * 1000
		return cuda.OpenSimulatorOn(func() (driver.Context, error) {
			r := drivertest.Record(cuda.Simulate(d))
			calls(r)
			return r, nil
		})
	}, false})
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
	gpu := func() *options { return &options{table: table} }
	distinct, _ := steps("build", func() (string, error) {
		return call(t, gpu().buildCommand(), "--backend", "gpu", "--precision", "fp16", "-o", file)
	})
	if distinct == 0 {
		t.Fatal("nothing was compiled")
	}
	if compiled, loaded := steps("bench", func() (string, error) {
		return call(t, gpu().benchCommand(), file, "--backend", "gpu")
	}); compiled != 0 || loaded != distinct {
		t.Errorf("the engine's own device compiled %d kernels of %d, and loaded %d", compiled, distinct, loaded)
	}
	var out string
	if compiled, _ := steps("bench under a newer driver", func() (text string, err error) {
		out, err = call(t, gpu().benchCommand(), file, "--backend", "gpu:1", "-v")
		return out, err
	}); compiled != distinct {
		t.Errorf("a newer driver compiled %d kernels, want %d\n%s", compiled, distinct, out)
	}
	if !strings.Contains(out, "estimated latency") {
		t.Errorf("the bench says:\n%s", out)
	}
}
