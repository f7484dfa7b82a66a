package cmd

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda"
	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/simulator"
)

// ailing is a simulated GPU on which softmax does everything that a kernel may do wrong.
type ailing struct{ run.Backend }

// faults are by tactic and the first output's elements.
var faults = map[string]string{
	"softmax_linear 10": "wrong", "softmax_linear 3000": "hang", "softmax_nhwc 10": "crash", "softmax_nhwc 3000": "lost",
}

func (a ailing) Tactics(op *graph.Op) []kernels.Tactic {
	list := slices.Clone(a.Backend.Tactics(op))
	for i, tac := range list {
		list[i].Bind = func(b kernels.Binding) (kernels.Kernel, error) {
			k, err := tac.Bind(b)
			return faulty{k, a, faults[fmt.Sprint(tac.Name, " ", numeric.Count(b.Out[0].Dims))]}, err
		}
	}
	return list
}

type faulty struct {
	kernels.Kernel
	backend run.Backend
	fault   string
}

// lostError is an error after which a context is lost.
type lostError struct{ error }

func (lostError) Sticky() bool { return true }

func (f faulty) Launch(s kernels.Stream, in, out []kernels.Mem, scratch kernels.Mem) error {
	switch f.fault {
	case "hang":
		select {}
	case "crash":
		os.Exit(3)
	case "lost":
		return lostError{errors.New("illegal address")}
	}
	err := f.Kernel.Launch(s, in, out, scratch)
	if f.fault == "wrong" {
		err = errors.Join(err, f.backend.Upload(s, out[0], []byte{0, 0, 0x80, 0x40}))
	}
	return err
}

func (f faulty) Constants() []byte {
	r, _ := f.Kernel.(kernels.Resident)
	return r.Constants()
}
func (f faulty) Place(m kernels.Mem) { f.Kernel.(kernels.Resident).Place(m) }
func (f faulty) Close() error        { return kernels.Close(f.Kernel) }

// ailingTable is the program's table with that GPU; "gone" opens once in a directory and never again.
func ailingTable() []backend {
	return append(backends[:1:1], backend{name: "gpu", doc: "for tests", open: func(_, _ int) (run.Backend, error) {
		b, err := cuda.OpenSimulator()
		return ailing{b}, err
	}, native: true}, backend{name: "none", doc: "for tests", open: func(_, _ int) (run.Backend, error) {
		return nil, errors.New("no CUDA: it is not there")
	}, native: true}, backend{name: "gone", doc: "for tests", open: func(_, _ int) (run.Backend, error) {
		f, err := os.OpenFile(filepath.Join(os.Getenv(workerRole), "opened"), os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return nil, errors.New("the device fell off the bus")
		}
		f.Close()
		b, err := cuda.OpenSimulator()
		return ailing{b}, err
	}, native: true}, backend{name: "sick", doc: "for tests", open: func(_, _ int) (run.Backend, error) {
		return cuda.OpenSimulatorOn(func() (driver.Context, error) { return sickContext{cuda.Simulate(simulator.Device())}, nil })
	}, native: true}, backend{name: "chosen", doc: "for tests", devices: cuda.SimulatedDevices(), open: func(device, _ int) (run.Backend, error) {
		return cuda.OpenSimulated(device)
	}, native: true})
}

const workerRole = "TRTUI_TEST_WORKER"

// TestGPUWorker is the program that the other tests start as a worker.
func TestGPUWorker(t *testing.T) {
	if os.Getenv(workerRole) == "" {
		t.Skip("for the tests of trtui gpu selftest and bringup")
	}
	args := flag.Args()
	c := (&selftestFlags{gpuFlags: onGPU(tables{backends: ailingTable()})}).command()
	if args[1] == "bringup" {
		c = (&bringupFlags{gpuFlags: onGPU(tables{backends: ailingTable()})}).command()
	}
	c.SetArgs(args[2:])
	c.SilenceErrors, c.SilenceUsage = true, true
	if err := c.ExecuteContext(context.Background()); err != nil {
		fmt.Fprintf(os.Stderr, "trtui: %v\n", err)
		os.Exit(exitTold)
	}
	os.Exit(0)
}

// workedBy returns flags whose worker is this test's program.
func workedBy(t *testing.T) gpuFlags {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(workerRole, t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // of compiled code
	return gpuFlags{device: deviceFlags{table: ailingTable()}, program: []string{self, "-test.run=^TestGPUWorker$", "--"}}
}

// TestSelftestSurvives runs kernels that are wrong, hang, end the process and lose the device: each is a row of its own,
// those that do it again and again are left out, and all others run.
func TestSelftestSurvives(t *testing.T) {
	o := &selftestFlags{gpuFlags: workedBy(t)}
	rows, out, err := gpuCall(t, o.command(), "--backend", "gpu", "--filter", "softmax_f", "--reps", "1", "--format", "json", "--patience", "3s")
	if !errors.Is(err, errNo) || len(rows) < 40 {
		t.Fatalf("%v, %d rows\n%s", err, len(rows), out)
	}
	sum := rows[len(rows)-1]
	found := map[string]int{}
	for _, r := range rows[:len(rows)-1] {
		kind := "fine"
		for _, word := range []string{"repetition 1", "did not answer", "exit status 3", "illegal address", "left out"} {
			if text, _ := r["error"].(string); strings.Contains(text, word) {
				kind = word
			}
		}
		if (kind == "fine") != (r["ok"] == true) {
			t.Errorf("%v", r)
		}
		found[kind]++
	}
	if found["fine"] < 4 || found["repetition 1"] < 1 || found["did not answer"] != 2 || found["exit status 3"]+found["illegal address"] < 2 || found["left out"] < 4 {
		t.Errorf("found %v", found)
	}
	if sum["complete"] != true || sum["ran"] != float64(len(rows)-1) || sum["pairs"] != sum["ran"] || sum["contexts_lost"] != 4.0 || sum["tactics_ran"] != 2.0 {
		t.Errorf("%v", sum)
	}
}

// TestWorkerFlags: a worker is given the flags that have a value, since one without is an error.
func TestWorkerFlags(t *testing.T) {
	o := &gpuFlags{}
	o.device.backend = "cuda"
	w := o.workerFor(io.Discard, "selftest", "--filter", "", "--pairs", "all", "--skip", "")
	if want := []string{"gpu", "selftest", "--worker", "--backend", "cuda", "--pairs", "all"}; !slices.Equal(w.Args, want) {
		t.Errorf("%q, want %q", w.Args, want)
	}
}

// TestWorkerDevice: the process that does the work opens the device that --device chose.
func TestWorkerDevice(t *testing.T) {
	devices := cuda.SimulatedDevices()
	var heads []string
	for _, device := range []string{devices[0], devices[len(devices)-1]} {
		for _, c := range []*cobra.Command{(&bringupFlags{gpuFlags: workedBy(t)}).command(), (&selftestFlags{gpuFlags: workedBy(t)}).command()} {
			args := []string{"--backend", "chosen", "--device", device, "--format", "json", "--steps", "device"}
			if c.Use == "selftest" {
				args = append(args[:6], "--filter", "softmax", "--pairs", "tactic", "--reps", "1")
			}
			_, out, err := gpuCall(t, c, args...)
			if err != nil {
				t.Fatalf("%s: %v\n%s", c.Use, err, out)
			}
			heads = append(heads, strings.SplitN(out, "\n", 2)[0])
		}
	}
	if heads[0] != heads[1] || heads[2] != heads[3] || heads[0] == heads[2] {
		t.Errorf("the heads of bringup and selftest, of %s and of %s:\n%s", devices[0], devices[len(devices)-1], strings.Join(heads, "\n"))
	}
}

// TestSelftestWithoutDevice: a device that is not there, and one that does not come back.
func TestSelftestWithoutDevice(t *testing.T) {
	o := &selftestFlags{gpuFlags: workedBy(t)}
	_, out, err := gpuCall(t, o.command(), "--backend", "none", "--filter", "softmax_f", "--format", "json")
	if !errors.Is(err, errReported) {
		t.Errorf("%v, %q", err, out)
	}
	o = &selftestFlags{gpuFlags: workedBy(t)}
	rows, out, err := gpuCall(t, o.command(), "--backend", "gone", "--filter", "softmax_f", "--reps", "1", "--format", "json", "--patience", "3s")
	if err == nil || !strings.Contains(err.Error(), "the device does not start again") || len(rows) < 2 {
		t.Fatalf("%v, %d rows\n%s", err, len(rows), out)
	}
	if sum := rows[len(rows)-1]; sum["complete"] != false || sum["ran"] != float64(len(rows)-1) {
		t.Errorf("%v", sum)
	}
}

// TestBringupSurvives: a step whose process ends, and a backend that is none of CUDA's; a device that is not there.
func TestBringupSurvives(t *testing.T) {
	o := &bringupFlags{gpuFlags: workedBy(t)}
	rows, out, err := gpuCall(t, o.command(), "--backend", "sick", "--steps", "device,copy,cubin", "--format", "json")
	if !errors.Is(err, errNo) || len(rows) < 10 {
		t.Fatalf("%v\n%s", err, out)
	}
	failed, fine := map[string]string{}, map[string]bool{}
	for _, r := range rows[:len(rows)-1] {
		step := r["check"].(string)
		if r["ok"] == true {
			fine[step] = true
		} else {
			failed[step] += r["error"].(string)
		}
	}
	if !fine["device"] || !fine["cubin"] || len(failed) != 1 || !strings.Contains(failed["copy"], "exit status 7") {
		t.Errorf("failed %v, fine %v", failed, fine)
	}
	if sum := rows[len(rows)-1]; sum["complete"] != true || sum["failed"] != 1.0 || sum["findings"] != float64(len(rows)-1) {
		t.Errorf("%v", sum)
	}
	o = &bringupFlags{gpuFlags: workedBy(t)}
	if rows, out, err := gpuCall(t, o.command(), "--backend", "none", "--format", "json"); !errors.Is(err, errReported) || len(rows) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// sickContext ends the process where device memory is copied.
type sickContext struct{ driver.Context }

func (sickContext) MemcpyDtoDAsync(driver.Ptr, driver.Ptr, int, driver.Stream) error {
	os.Exit(7)
	return nil
}

// TestSelftestResumes goes on behind the rows of an earlier run.
func TestSelftestResumes(t *testing.T) {
	args := []string{"--backend", "cudasim", "--filter", "softmax_f32_[1 1", "--reps", "1", "--format", "json"}
	rows, out, err := gpuCall(t, selftestCommand(tables{backends: backends}), args...)
	if err != nil || len(rows) < 6 {
		t.Fatalf("%v\n%s", err, out)
	}
	earlier := filepath.Join(t.TempDir(), "rows")
	lines := strings.SplitAfter(out, "\n")
	if err := os.WriteFile(earlier, []byte(strings.Join(lines[:4], "")+`{"ok":false,"tac`), 0o600); err != nil {
		t.Fatal(err)
	}
	rest, out, err := gpuCall(t, selftestCommand(tables{backends: backends}), append(args, "--resume", earlier)...)
	if err != nil || len(rest) != len(rows)-3 || rest[0]["tactic"] != rows[3]["tactic"] || rest[0]["shape"] != rows[3]["shape"] {
		t.Fatalf("%v: %d rows after 3 of %d\n%s", err, len(rest), len(rows), out)
	}
	if a, b := rest[len(rest)-1], rows[len(rows)-1]; a["ran"] != b["ran"] || a["complete"] != true || a["tactics_ran"] != b["tactics_ran"] {
		t.Errorf("%v, want as in %v", a, b)
	}
}
