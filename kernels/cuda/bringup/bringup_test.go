package bringup

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda"
	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/simulator"
)

// TestBringup runs all steps on the simulated device, with work done at once and as late as it may be: each of them finds
// something, and nothing is wrong.
func TestBringup(t *testing.T) {
	t.Run("eager", func(t *testing.T) { bringup(t, cuda.OpenSimulator) })
	t.Run("late", func(t *testing.T) {
		bringup(t, func() (*cuda.Backend, error) {
			return cuda.OpenSimulatorOn(func() (driver.Context, error) {
				s := cuda.Simulate(simulator.Device())
				s.Order, s.Streams = simulator.Late, true
				return s, nil
			})
		})
	})
}

func bringup(t *testing.T, open func() (*cuda.Backend, error)) {
	seen := map[string]int{}
	names := map[string]bool{}
	err := Run(context.Background(), open, nil, func(f Finding) {
		seen[f.Check]++
		names[f.Check+" "+f.Name] = true
		if f.Name == "all" && !strings.Contains(f.Value, "; spills not known, ") {
			t.Errorf("all of the simulated device: %q", f.Value)
		}
		if !f.OK || f.Error != "" || !f.Estimated || f.LocalBytes != nil {
			t.Errorf("%+v", f)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range Steps() {
		if seen[s] == 0 {
			t.Errorf("step %s found nothing", s)
		}
	}
	for _, want := range []string{"peak f16_mma", "peak i8_mma", "peak f32_simt", "jit all", "cubin what is not PTX"} {
		if !names[want] {
			t.Errorf("no finding %q", want)
		}
	}
}

// TestBringupSteps: only the steps that were asked for run, and none after the end of the context.
func TestBringupSteps(t *testing.T) {
	var checks []string
	report := func(f Finding) { checks = append(checks, f.Check) }
	if err := Run(context.Background(), cuda.OpenSimulator, []string{"launch"}, report); err != nil || strings.Join(checks, " ") != "launch" {
		t.Errorf("%v: %v", checks, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Run(ctx, cuda.OpenSimulator, nil, report); !errors.Is(err, context.Canceled) || len(checks) != 1 {
		t.Errorf("%v: %v", checks, err)
	}
}

// ailing is a simulated device whose graphs fail in one way or another.
type ailing struct {
	*simulator.Context
	result driver.Result
}

func (a ailing) GraphInstantiate(driver.Graph) (driver.GraphExec, error) {
	if a.result == driver.Success {
		panic("no graph")
	}
	return 0, &driver.Error{Call: "cuGraphInstantiateWithFlags", Result: a.result}
}

// TestBringupFailures: a failure and a panic are findings, and the steps behind go on, on a new context where the old one
// is lost.
func TestBringupFailures(t *testing.T) {
	for _, c := range []struct {
		result driver.Result
		opened int
	}{{driver.Success, 1}, {driver.InvalidValue, 1}, {driver.IllegalAddress, 3}} {
		opened, failed, fine := 0, map[string]string{}, map[string]bool{}
		open := func() (*cuda.Backend, error) {
			opened++
			return cuda.OpenSimulatorOn(func() (driver.Context, error) { return ailing{cuda.Simulate(simulator.Device()), c.result}, nil })
		}
		err := Run(context.Background(), open, []string{"graph", "event", "cubin"}, func(f Finding) {
			if fine[f.Check] = f.OK; !f.OK {
				failed[f.Check] = f.Error
			}
		})
		if err != nil || len(failed) != 2 || failed["graph"] == "" || failed["event"] == "" || !fine["cubin"] || opened != c.opened {
			t.Errorf("%v: %v, opened %d times: %v", c.result, failed, opened, err)
		}
	}
}

// linking is a simulated sm_90 device whose driver gives compiled code away: the text with a head.
type linking struct{ *simulator.Context }

const elfHead = "\x7fELF"

func (l linking) Link(text []byte, _ driver.JITOptions) ([]byte, driver.JITLog, error) {
	log := driver.JITLog{Wall: time.Millisecond, Info: "info    : Used 9 registers\nptxas info : (C7508) something ignored\n"}
	return append([]byte(elfHead), text...), log, nil
}

func (l linking) ModuleLoad(image []byte, o driver.JITOptions) (driver.Module, driver.JITLog, error) {
	return l.Context.ModuleLoad(bytes.TrimPrefix(image, []byte(elfHead)), o)
}

// TestBringupCubins: compiled code is measured and loaded, for the device's own architecture too, with its warnings.
func TestBringupCubins(t *testing.T) {
	d := simulator.Device()
	d.SM = 90
	open := func() (*cuda.Backend, error) { return cuda.New(linking{cuda.Simulate(d)}, "cuda:0"), nil }
	found := map[string]Finding{}
	if err := Run(context.Background(), open, []string{"cubin"}, func(f Finding) { found[f.Name] = f }); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"device", "sm_90a"} {
		f := found[name]
		if !f.OK || f.Value != "the cubin loads" || f.Bytes == 0 || f.JITms != 1 || f.Log != "ptxas info : (C7508) something ignored" {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// TestPeakSums compares what a peak kernel adds up with the products of the matrices that its lanes hold, by the layouts
// of MmaF16 and MmaI8.
func TestPeakSums(t *testing.T) {
	b, err := cuda.OpenSimulator()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	s, err := b.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p := &probe{ctx: context.Background(), backend: b, stream: s.(*cuda.Stream), small: true}
	defer func() {
		for _, k := range p.bound {
			if err := kernels.Close(k); err != nil {
				t.Error(err)
			}
		}
	}()
	for _, u := range []emit.Unit{emit.TensorF16, emit.TensorI8, emit.SimtF32} {
		data := peakData(u)
		got, _, err := p.runPeak(u, peakUnroll, 1, data, false)
		if err != nil {
			t.Fatal(err)
		}
		for lane := range 32 {
			for i := range 4 {
				if sum, want := peakSum(u, got[4*lane+i]), peakUnroll*peakWant(u, data, lane, i); sum != want {
					t.Errorf("%s, lane %d, word %d: %v, want %v", u, lane, i, sum, want)
				}
			}
		}
	}
}

// peakWant is what one round adds to word i of a lane.
func peakWant(u emit.Unit, data []byte, lane, i int) float64 {
	if u == emit.SimtF32 {
		sum := 0.0
		for j := range 8 {
			sum += element(numeric.F32, data, lane*peakWords+j) * element(numeric.F32, data, lane*peakWords+8+i)
		}
		return sum
	}
	per, typ := 2, numeric.F16 // elements of a word
	if u == emit.TensorI8 {
		per, typ = 4, numeric.I8
	}
	at := func(lane, word, e int) float64 { return element(typ, data, (lane*peakWords+word)*per+e) }
	// A's element (row, k) and B's (k, column): half the depth is in one word of four lanes, the rest in another.
	a := func(row, k int) float64 {
		half, k := k/(4*per), k%(4*per)
		return at(row%8*4+k/per, row/8+2*half, k%per)
	}
	b := func(product, k, column int) float64 {
		half, k := k/(4*per), k%(4*per)
		return at(column*4+k/per, 4+2*product+half, k%per)
	}
	row, column := lane/4+8*(i/2), 2*(lane%4)+i%2
	sum := 0.0
	for product := range peakSums {
		for k := range 8 * per {
			sum += a(row, k) * b(product, k, column)
		}
	}
	return sum
}
