package program

import (
	"strings"
	"testing"

	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/driver/drivertest"
)

// TestLostGPU has a simulated GPU report an illegal address, after which every call fails until the device is opened anew:
// in one launch or graph of its first context alone, where the commands go on by themselves, or in every context, where the
// error names the layer.
func TestLostGPU(t *testing.T) {
	for _, c := range []struct {
		name, method string
		nth          int
		always       bool
		commands     []string
	}{
		{"a graph once", "GraphLaunch", 1, false, []string{"bench"}},
		{"a launch once", "LaunchKernel", 5, false, []string{"run"}},
		{"waiting once", "StreamSynchronize", 4, false, []string{"bench"}},
		{"a launch always", "LaunchKernel", 3, true, []string{"bench", "run"}},
	} {
		for _, name := range c.commands {
			t.Run(name+" "+c.name, func(t *testing.T) {
				contexts := 0
				table := simulatedGPUs(func(r *drivertest.Recorder) {
					if contexts++; contexts == 1 || c.always {
						r.Fail(c.method, c.nth, driver.IllegalAddress)
					}
				})
				command, args := benchCommand(tables{backends: table}), []string{"--backend", "gpu"}
				if name == "run" {
					command, args = runCommand(tables{backends: table}), []string{"--backends", "cpu,gpu", "--items", "1"}
				}
				out, err := call(t, command, args...)
				told := strings.Contains(out, "was lost and is restarted")
				switch {
				case contexts < 2:
					t.Errorf("the device was not opened again: %v\n%s", err, out)
				case !c.always && (err != nil || !told):
					t.Errorf("told %v, %v\n%s", told, err, out)
				case c.always && (err == nil || !strings.Contains(err.Error(), "layer ") || !strings.Contains(err.Error(), "tactic ")):
					t.Errorf("the error names no layer: %v", err)
				}
			})
		}
	}
}
