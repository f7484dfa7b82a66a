package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions/report"
)

// simulated is the CPU in the role of a device whose times are estimates. drift, if not zero, is added to the first
// element of every softmax.
type simulated struct {
	run.Backend
	drift   float32
	without *graph.Op // that it has no tactics for
}

func (s *simulated) Info() run.Info {
	i := s.Backend.Info()
	i.Name, i.Device, i.Fingerprint, i.Estimated = "sim", "a simulated device", "sim 1", true
	return i
}

func (s *simulated) Tactics(op *graph.Op) []kernels.Tactic {
	if op == s.without {
		return nil
	}
	list := s.Backend.Tactics(op)
	if s.drift == 0 || op != graph.Softmax {
		return list
	}
	var drifting []kernels.Tactic
	for _, t := range list {
		bind := t.Bind
		t.Bind = func(b kernels.Binding) (kernels.Kernel, error) {
			k, err := bind(b)
			return drift{k, s.drift}, err
		}
		drifting = append(drifting, t)
	}
	return drifting
}

type drift struct {
	kernels.Kernel
	by float32
}

func (d drift) Launch(s kernels.Stream, in, out []kernels.Mem, workspace kernels.Mem) error {
	err := d.Kernel.Launch(s, in, out, workspace)
	if err == nil {
		err = s.Wait()
	}
	numeric.View[float32](out[0].Host[:4])[0] += d.by
	return err
}

// testTable is the program's table with simulated devices: sim:1 computes something else, sim:2 has no softmax.
func testTable() []backend {
	return append(backends[:len(backends):len(backends)], backend{name: "sim", doc: "for tests", many: true, open: func(device, threads int) (run.Backend, error) {
		s := &simulated{Backend: cpu.Open(threads)}
		switch device {
		case 0:
		case 1:
			s.drift = 0.25
		case 2:
			s.without = graph.Softmax
		default:
			return nil, errors.New("there is no such device")
		}
		return s, nil
	}})
}

// call runs one command on its own and returns what it printed.
func call(t *testing.T, c *cobra.Command, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c.SetArgs(args)
	c.SetOut(&out)
	c.SetErr(&out)
	c.SilenceErrors, c.SilenceUsage = true, true
	err := c.Execute()
	return out.String(), err
}

func TestFindBackend(t *testing.T) {
	table := testTable()
	for _, c := range []struct {
		name   string
		row    string
		device int
	}{
		{"cpu", "cpu", 0}, {"sim", "sim", 0}, {"sim:0", "sim", 0}, {"sim:12", "sim", 12},
		{"cpu:1", "", 0}, {"sim:-1", "", 0}, {"sim:x", "", 0}, {"sim:", "", 0}, {"gpu", "", 0}, {"", "", 0},
	} {
		row, device, err := findBackend(table, "backend", c.name, "other")
		if row.name != c.row || device != c.device || (err == nil) != (c.row != "") {
			t.Errorf("%q: %q %d, %v", c.name, row.name, device, err)
		}
		if err != nil && !strings.Contains(err.Error(), "--backend \""+c.name+"\": this program has "+backendNames(table)+", other") {
			t.Errorf("%q: the error does not name the backends: %v", c.name, err)
		}
	}
	o := &deviceFlags{table: table}
	if _, err := o.open("sim:7"); err == nil || !strings.Contains(err.Error(), "backend sim:7: there is no such device") {
		t.Errorf("sim:7: %v", err)
	}
}

// TestDevice simulates a device by its name, and refuses names that none has, or that none was asked for.
func TestDevice(t *testing.T) {
	for name, want := range map[string]string{"a100-like": "cuda simulated sm_80 GPU sm_80 ", "h100": "cuda simulated H100 sm_90 ", "h200": "cuda simulated H200 sm_90 "} {
		o := &deviceFlags{table: backends, device: name}
		b, err := o.open("cudasim")
		if err != nil {
			t.Fatal(err)
		}
		if got := b.Info().Fingerprint; !strings.HasPrefix(got, want) {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
		b.Close()
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"inspect", "tactics", "--backend", "cudasim", "--device", "h10"}, `--device "h10": cudasim has a100-like, h100, h200`},
		{[]string{"inspect", "tactics", "--device", "h100"}, "--device h100: it chooses a device of --backend cudasim, which was not given"},
		{[]string{"run", "--backends", "cpu,eval", "--device", "h100"}, "--device h100: it chooses a device of --backend cudasim, which was not given"},
		{[]string{"conformance", "x", "--backend", "cudasim", "--device", "a100"}, `--device "a100": cudasim has a100-like, h100, h200`},
		{[]string{"gpu", "bringup", "--backend", "cudasim", "--device", "cuda"}, `--device "cuda": cudasim has a100-like, h100, h200`},
	} {
		if _, errs := command(t, 2, c.args...); !strings.Contains(errs, c.want) {
			t.Errorf("%v: %s", c.args, errs)
		}
	}
	if out, _ := command(t, 0, "gpu", "bringup", "--backend", "cudasim", "--device", "h100", "--steps", "device", "-q"); !strings.Contains(out, "132") {
		t.Errorf("bringup finds\n%s", out)
	}
}

// An estimated device gets few items and its reference from the host.
func TestOpenEstimated(t *testing.T) {
	for _, c := range []struct {
		backend, items string
		want           int
		name           string
		host           bool
	}{
		{"cpu", "", 1000, "1,000 embedded digits", false},
		{"cpu", "20", 20, "first 20 of 1,000 embedded digits", false},
		{"sim", "", 8, "first 8 of 1,000 embedded digits", true},
		{"sim", "100-119", 20, "items 100-119 of 1,000 embedded digits", true},
	} {
		o := onBackends(tables{backends: testTable()})
		o.register(&cobra.Command{}, takeAll)
		o.device.backend, o.data.items, o.device.timings = c.backend, c.items, "none"
		p, err := o.open("")
		if err != nil {
			t.Fatal(err)
		}
		if p.work.Data.Len() != c.want || p.work.Data.Name() != c.name || (p.work.Host != nil) != c.host {
			t.Errorf("%s %s: %d items, %q, host %v", c.backend, c.items, p.work.Data.Len(), p.work.Data.Name(), p.work.Host)
		}
		if p.work.CalData.Len() != 300 {
			t.Errorf("%s: %d items to calibrate on", c.backend, p.work.CalData.Len())
		}
		p.close()
	}
	o := onBackends(tables{backends: testTable()})
	o.register(&cobra.Command{}, takeAll)
	o.data.items, o.device.timings = "990-1000", "none"
	if _, err := o.open(""); err == nil || !strings.Contains(err.Error(), "which has 1000") {
		t.Errorf("items behind the last: %v", err)
	}
}

func TestRun(t *testing.T) {
	for _, c := range []struct {
		args   string
		failed bool
		want   []string
	}{
		{"--backends cpu,eval", false, []string{"first 8 of 1,000 embedded digits", "cpu (a) against eval (b)", "PASSED: the outputs agree", "worst elements"}},
		{"--backends cpu,eval --precision int8 --items 3 --per-layer", false, []string{"int8 (mse), 3 items", "Quantize_image", "exact", "PASSED"}},
		{"--backends eval,cpu --precision fp16 --items 3", false, []string{"eval (a) against cpu (b)", "PASSED"}},
		{"--backends cpu,sim,eval --items 2", false, []string{"cpu (a) against sim (b)", "cpu (a) against eval (b)", "a simulated device"}},
		{"--backends cpu,sim:1 --items 2 --per-layer", true, []string{"FAILED: 1 of 1 output over the tolerance", "|a - b|        max 0.25 at item 0 [0,0]", "first over the tolerance"}},
		{"--backends cpu,sim:1 --items 2 --atol 0.3", false, []string{"PASSED"}},
		{"--backends cpu,eval --items 2 --atol 0 --rtol 0", true, []string{"FAILED"}},
		{"--items 4", false, []string{"probabilities f32[1 10]: mean 0.1", "top 5", "7: 0.99"}},
		{"--backend eval --items 1", false, []string{"eval: the layers' own definition"}},
		{"--backend sim --items 1", false, []string{"sim: a simulated device"}},
	} {
		t.Run(c.args, func(t *testing.T) {
			out, err := call(t, runCommand(tables{backends: testTable()}), withRough(t, append([]string{"run"}, strings.Fields(c.args)...))[1:]...)
			if errors.Is(err, errNo) != c.failed || err != nil && !c.failed {
				t.Errorf("error %v\n%s", err, out)
			}
			for _, w := range c.want {
				if !strings.Contains(out, w) {
					t.Errorf("%q is not in\n%s", w, out)
				}
			}
		})
	}
}

func TestRunRefuses(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--backends cpu,gpu", `--backends "gpu": this program has cpu, cuda, cuda:N, cudasim, sim, sim:N, eval`},
		{"--backends cpu,", `--backends "": this program has`},
		{"--backends=", "--backends names none: this program has"},
		{"--backend gpu", `--backend "gpu": this program has cpu, cuda, cuda:N, cudasim, sim, sim:N, eval`},
		{"--backends cpu --backend cpu", "give one of the two"},
		{"--atol -1", "of 0 or more"},
		{"--rtol NaN", "of 0 or more"},
		{"--items 0", "COUNT"},
	} {
		if _, err := call(t, runCommand(tables{backends: testTable()}), strings.Fields(c.args)...); err == nil || !errors.As(err, new(usageError)) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.args, err, c.want)
		}
	}
}

func TestAbove(t *testing.T) {
	if x := 1.0049; above(x) < x || math.Abs(above(x)-x) > 0.01 {
		t.Errorf("above(%g) is %g", x, above(x))
	}
}

// What a device does not compute is listed with every tactic's reason.
func TestInspectTacticsOfUnsupported(t *testing.T) {
	for _, c := range []struct{ format, want string }{
		{"text", "softmax/Softmax (Softmax)\nthere is no tactic for Softmax"},
		{"json", `"softmax/Softmax"`},
	} {
		cmd := inspectPart(onBackends(tables{backends: testTable()}), takeAll, "tactics", "", report.PartTactics, writeTactics)
		out, err := call(t, cmd, "--backend", "sim:2", "--format", c.format)
		if !errors.Is(err, errNo) || !strings.Contains(out, c.want) {
			t.Errorf("%s: %v\n%s", c.format, err, out)
		}
	}
	_, err := call(t, runCommand(tables{backends: testTable()}), "--backends", "cpu,sim:2")
	if hint := hintOn(err); !strings.Contains(hint, "trtui inspect tactics [MODEL] --backend sim") || !strings.Contains(hint, "--backend cpu") {
		t.Errorf("%v: %q", err, hint)
	}
}

func TestLimitedCPU(t *testing.T) {
	t.Setenv(cpuFeatures, "generic")
	b, err := openCPU(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if info := b.Info(); !strings.Contains(info.Fingerprint, " generic ") {
		t.Errorf("fingerprint %q of a CPU limited to generic", info.Fingerprint)
	}
	t.Setenv(cpuFeatures, "sse9")
	if _, err := openCPU(0, 1); err == nil || !strings.Contains(err.Error(), "TRTUI_CPU_FEATURES=sse9") {
		t.Errorf("%s=sse9: %v", cpuFeatures, err)
	}
}

// TestCrowded: more threads than there are processors are taken, and it is said what they are worth.
func TestCrowded(t *testing.T) {
	n := runtime.NumCPU()
	for threads, want := range map[int]bool{0: false, n: false, n + 1: true} {
		_, errs := command(t, 0, "bench", "--threads", fmt.Sprint(threads), "--duration", "1ms", "--iterations", "1")
		if got := strings.Contains(errs, fmt.Sprintf("warning: --threads %d: this process has", threads)); got != want {
			t.Errorf("%d threads of %d: %q", threads, n, errs)
		}
	}
}
