package cuda

import (
	"errors"
	"testing"

	"github.com/trtui/trtui/core/run/suite"
	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/driver/drivertest"
)

// TestSimulatorIsADriver runs what every driver's context passes.
func TestSimulatorIsADriver(t *testing.T) {
	s := newSimulator()
	drivertest.Conformance(t, s, true)
	if left := s.live(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.MemAlloc(1); !errors.Is(err, &driver.Error{Result: driver.InvalidContext}) {
		t.Errorf("a closed device: %v", err)
	}
}

// TestSimulatorFindsDoubleFrees gives everything back twice.
func TestSimulatorFindsDoubleFrees(t *testing.T) {
	s := newSimulator()
	p, _ := s.MemAlloc(10)
	h, _ := s.MemHostAlloc(10)
	m, _, err := s.ModuleLoad([]byte(drivertest.Text), driver.JITOptions{})
	if err != nil {
		t.Fatal(err)
	}
	f, _ := s.ModuleGetFunction(m, "add")
	st, _ := s.StreamCreate(0)
	e, _ := s.EventCreate(true)
	g, _ := s.Capture(st, func() error { return nil })
	x, _ := s.GraphInstantiate(g)
	for what, free := range map[string]func() error{
		"memory":      func() error { return s.MemFree(p) },
		"host memory": func() error { return s.MemFreeHost(h) },
		"module":      func() error { return s.ModuleUnload(m) },
		"event":       func() error { return s.EventDestroy(e) },
		"graph":       func() error { return s.GraphDestroy(g) },
		"exec":        func() error { return s.GraphExecDestroy(x) },
	} {
		if err := free(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if free() == nil {
			t.Errorf("%s was given back twice", what)
		}
	}
	if err := s.LaunchKernel(f, [3]int{1, 1, 1}, [3]int{1, 1, 1}, 0, st, make([]byte, 16)); err == nil {
		t.Error("a function of an unloaded module was launched")
	}
	if left := s.live(); len(left) != 1 {
		t.Errorf("left behind: %v, want the stream", left)
	}
}

// forgetful is a device whose functions are never allowed more dynamic shared memory than every device has.
type forgetful struct{ driver.Context }

func (forgetful) FuncSetMaxDynamicShared(driver.Function, int) error { return nil }

// TestDynamicShared launches a kernel of ours that takes more shared memory than every device has, with the call that
// allows it and without.
func TestDynamicShared(t *testing.T) {
	w, l := largeLaunch(t)
	for _, forgets := range []bool{false, true} {
		s := newSimulator()
		ctx := driver.Context(s)
		if forgets {
			ctx = forgetful{s}
		}
		codes := newCodeCache()
		k, err := codes.acquire(ctx, w.module)
		if err != nil {
			t.Fatal(err)
		}
		f, err := k.function(l)
		if err != nil {
			t.Fatal(err)
		}
		err = ctx.LaunchKernel(f, l.grid, l.block, l.shared, 0, nil)
		if refused := errors.Is(err, &driver.Error{Result: driver.InvalidValue}); refused != forgets {
			t.Errorf("forgets %v: %v", forgets, err)
		}
		if err := s.FuncSetMaxDynamicShared(f, s.device.SharedPerBlockMax+1); err == nil {
			t.Error("more than a block can have was allowed")
		}
		if err := codes.release(k); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// largeLaunch finds a kernel that takes more than 48 KiB of shared memory.
func largeLaunch(t *testing.T) (*work, launch) {
	t.Helper()
	for _, c := range suite.Layers() {
		for _, e := range emitters() {
			b, ok := bindingOf(c.Layer, e)
			if e.op != c.Layer.Op || e.emit == nil || !ok || e.matches(b) != nil {
				continue
			}
			w, err := e.emit(b)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range w.launches {
				if l.shared > 48<<10 {
					return w, l
				}
			}
		}
	}
	t.Fatal("no kernel takes more than 48 KiB of shared memory")
	return nil, launch{}
}
