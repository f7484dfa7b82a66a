package cuda

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/internal/runtest"
	"github.com/trtui/trtui/internal/suite"
	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/emit/emittest"
	"github.com/trtui/trtui/kernels/cuda/simulator"
)

// hopper is a simulated device whose kernels overlap.
func hopper() driver.Device {
	return simulator.Devices[slices.IndexFunc(simulator.Devices, func(d simulator.Named) bool { return d.Name == "h100" })].Device
}

// overlapping is a device that launches every kernel as if another one were before it.
type overlapping struct{ *simulator.Context }

func (o overlapping) LaunchKernel(f driver.Function, l driver.LaunchConfig, s driver.Stream, params []byte) error {
	l.Overlap = true
	return o.Context.LaunchKernel(f, l, s, params)
}

// TestEveryKernelOverlaps runs every tactic on a layer of the suite, for a device on which kernels overlap, and as if each
// did: the simulator finds what is touched before the kernel has waited.
func TestEveryKernelOverlaps(t *testing.T) {
	b, err := OpenSimulatorOn(func() (driver.Context, error) { return overlapping{Simulate(hopper())}, nil })
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	seen := map[string]bool{}
	runtest.Tactics(t, b, suite.Layers(), func(layer, tactic string) bool {
		first := !seen[tactic]
		seen[tactic] = true
		return first
	})
	for _, e := range Tactics() {
		if e.RunsOn(hopper().SM) == nil && !seen[e.Name] {
			t.Errorf("no layer of the suite is computed by %s", e.Name)
		}
	}
}

// TestOverlap runs a network, from its stream and as a graph: kernels right behind others overlap with them, the first of
// either does not, nor do those of an old driver's graph, and the outputs are those of a device on which none do.
func TestOverlap(t *testing.T) {
	usual := simulated(t)
	want, _ := outputOf(t, usual, planned(t, usual))
	for _, version := range []driver.Version{12000, 12040} {
		d := hopper()
		d.Driver = version
		b, calls := recorded(t, d)
		p := planned(t, b)
		calls.Reset()
		got, _ := outputOf(t, b, p)
		if !bytes.Equal(got, want) {
			t.Error("the outputs differ")
		}
		overlaps, behind, captured := 0, false, false // behind: what was enqueued last is a kernel
		for _, c := range calls.Calls() {
			switch c.Method {
			case "LaunchKernel":
				overlap := strings.Contains(c.Args, "overlap")
				if overlap != (behind && (!captured || version >= graphsOverlap)) {
					t.Errorf("CUDA %s: %s: behind a kernel: %v, captured: %v", version, c, behind, captured)
				}
				if behind = true; overlap {
					overlaps++
				}
			case "Capture", "EndCapture":
				behind, captured = false, c.Method == "Capture"
			case "GraphLaunch", "EventRecord", "EventRecordExternal", "MemcpyHtoDAsync", "MemcpyDtoHAsync", "MemsetD8Async":
				behind = false
			}
		}
		if version >= graphsOverlap && overlaps == 0 {
			t.Errorf("no kernel overlaps with another:\n%s", calls)
		}
	}
}

// waitless is a device whose compiler leaves the waits of kernels out.
type waitless struct{ *simulator.Context }

func (c waitless) Link(text []byte, o driver.JITOptions) ([]byte, driver.JITLog, error) {
	return c.Context.Link(bytes.ReplaceAll(text, []byte("\tgriddepcontrol.wait;\n"), nil), o)
}

// TestOverlapWithoutWaiting: a kernel that overlaps and does not wait is found, by layer, kernel and line.
func TestOverlapWithoutWaiting(t *testing.T) {
	b, err := OpenSimulatorOn(func() (driver.Context, error) { return waitless{Simulate(hopper())}, nil })
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	c := ready(t, b, planned(t, b))
	_, err = once(c)
	if err == nil || !regexp.MustCompile(`layer .*: line \d+: .*overlap: \w+ global address \w+ before griddepcontrol.wait`).MatchString(err.Error()) {
		t.Errorf("got %v", err)
	}
}

// TestOverlapCode reads the machine code of overlapping kernels, a few of tiles and one of each other tactic: nothing that touches global memory stands before the wait.
func TestOverlapCode(t *testing.T) {
	emittest.Assembler(t)
	touches := regexp.MustCompile(`^(LD|LDG|ST|STG|RED|REDG|ATOM|ATOMG|LDGSTS|CCTL)$`)
	seen := map[string]bool{}
	for _, r := range append(residualRuns(t, 3)[:3], suiteAssemblies()...) {
		if seen[r.tactic.Name] || r.tactic.RunsOn(90) != nil {
			continue
		}
		seen[r.tactic.Name] = true
		binding, _ := emittest.BindingOf(r.layer, r.tactic)
		w, err := r.tactic.Work(emit.Device{SM: 90}, binding)
		if err != nil {
			t.Fatal(err)
		}
		if len(w.Module.Kernels) > 1 {
			continue // the disassembler puts one behind the other
		}
		t.Run(r.tactic.Name, func(t *testing.T) {
			t.Parallel()
			code := emittest.Disassemble(t, "sm_90", w.Module.String()).Names
			at := slices.Index(code, "ACQBULK")
			if at < 0 || slices.ContainsFunc(code[:at], touches.MatchString) {
				t.Errorf("it waits at %d of %v", at, code)
			}
		})
	}
}
