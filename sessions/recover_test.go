package sessions_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

var errLost = errors.New("the device fell off the bus")

// fragile is the CPU in the role of a device that is lost when its softmax is launched for the fatal-th time, and every
// time after that where it is always so.
type fragile struct {
	run.Backend
	always bool

	mu         sync.Mutex
	fatal      int // launches from now on
	lost       bool
	recoveries int
}

func (f *fragile) Info() run.Info {
	i := f.Backend.Info()
	i.Fingerprint, i.Estimated, i.Threads = "fragile", true, 1
	return i
}

func (f *fragile) Tactics(op *graph.Op) []kernels.Tactic {
	list := append([]kernels.Tactic(nil), f.Backend.Tactics(op)...)
	for i := range list {
		bind := list[i].Bind
		list[i].Bind = func(b kernels.Binding) (kernels.Kernel, error) {
			k, err := bind(b)
			return fragileKernel{k, f, op == graph.Softmax}, err
		}
	}
	return list
}

func (f *fragile) Lost(err error) bool { return errors.Is(err, errLost) }

func (f *fragile) Recover() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lost = false
	f.recoveries++
	return nil
}

type fragileKernel struct {
	kernels.Kernel
	device *fragile
	weak   bool
}

func (k fragileKernel) Launch(s kernels.Stream, in, out []kernels.Mem, workspace kernels.Mem) error {
	d := k.device
	d.mu.Lock()
	defer d.mu.Unlock()
	if k.weak {
		if d.fatal--; d.fatal == 0 || d.fatal < 0 && d.always {
			d.lost = true
		}
	}
	if d.lost {
		return errLost
	}
	return k.Kernel.Launch(s, in, out, workspace)
}

// A session whose device is lost starts it anew, once, and finishes what it was doing; where a layer is at fault every time,
// the error names it, and the next configuration finds the device ready.
func TestLostDevice(t *testing.T) {
	for _, always := range []bool{false, true} {
		t.Run(fmt.Sprintf("always %v", always), func(t *testing.T) {
			d := &fragile{Backend: cpu.Open(0), fatal: 3, always: always}
			defer d.Close()
			s := sessions.Open(embedded(t), workplace(t, d), config.Config{Precision: config.FP32, Batch: 1})
			defer s.Close()
			var snap *report.Snapshot
			for snap = range s.Events() {
				if snap.Err != "" || snap.Settled() && snap.Busy == nil {
					break
				}
			}
			warned := false
			for _, l := range snap.Log {
				warned = warned || l.Level == "warning" && strings.Contains(l.Text, "restarted: ")
			}
			if !warned {
				t.Errorf("the log says nothing: %v", snap.Log)
			}
			d.mu.Lock()
			defer d.mu.Unlock()
			if d.lost {
				t.Error("the device was left lost")
			}
			switch {
			case !always && (snap.Err != "" || d.recoveries != 1):
				t.Errorf("after %d recoveries: %s", d.recoveries, snap.Err)
			case always && (!strings.Contains(snap.Err, "layer softmax/Softmax: tactic ") || d.recoveries != 2):
				t.Errorf("after %d recoveries: %s", d.recoveries, snap.Err)
			}
		})
	}
}

// A runner does the same.
func TestRunnerSurvives(t *testing.T) {
	d := &fragile{Backend: cpu.Open(0), fatal: 1}
	defer d.Close()
	var told []string
	r := sessions.NewRunner(embedded(t), workplace(t, d), func(p report.Progress) { told = append(told, p.Phase) })
	snap, err := r.Report(t.Context(), config.Config{Precision: config.FP32, Batch: 1}, report.PartTimings, run.Profiling{Iterations: 1, PerStep: true})
	if err != nil || snap.Timings == nil || d.recoveries != 1 {
		t.Errorf("after %d recoveries: %v", d.recoveries, err)
	}
	if !strings.Contains(strings.Join(told, " "), "device lost") {
		t.Errorf("nobody was told: %v", told)
	}
}

// So does a comparison of devices; where a layer is at fault every time the error names it and the device is left ready.
func TestCompareSurvives(t *testing.T) {
	for _, always := range []bool{false, true} {
		t.Run(fmt.Sprintf("always %v", always), func(t *testing.T) {
			host := cpu.Open(0)
			defer host.Close()
			d := &fragile{Backend: cpu.Open(0), fatal: 2, always: always}
			defer d.Close()
			w := workplace(t, host)
			var warned []string
			w.Host, w.Warn = host, func(text string) { warned = append(warned, text) }
			on := []sessions.Contender{{Name: "cpu", Backend: host}, {Name: "fragile", Backend: d}}
			how := compare.Options{Check: compare.Check{Tolerance: report.Tolerance{Abs: 1e-5, Rel: 1e-4}}}
			r, err := sessions.Compare(t.Context(), embedded(t), w, config.Config{Precision: config.FP32, Batch: 1}, on, how, nil)
			switch {
			case d.lost:
				t.Error("the device was left lost")
			case !always && (err != nil || !r.Passed || d.recoveries != 1):
				t.Errorf("after %d recoveries: %v", d.recoveries, err)
			case always && (err == nil || !strings.Contains(err.Error(), "layer softmax/Softmax: tactic ") || d.recoveries != 2):
				t.Errorf("after %d recoveries: %v", d.recoveries, err)
			case len(warned) == 0 || !strings.Contains(warned[0], "restarted: "):
				t.Errorf("warned of %q", warned)
			}
		})
	}
}
