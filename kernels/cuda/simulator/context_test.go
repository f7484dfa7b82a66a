package simulator_test

import (
	"errors"
	"testing"

	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/driver/drivertest"
	"github.com/trtui/trtui/kernels/cuda/simulator"
)

// TestContext runs what every driver's context passes on each device that can be simulated.
func TestContext(t *testing.T) {
	for _, d := range simulator.Devices {
		t.Run(d.Name, func(t *testing.T) {
			s := simulator.New(d.Device, simulator.Options{})
			drivertest.Conformance(t, s, true)
			if left := s.Live(); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if _, err := s.MemAlloc(1); !errors.Is(err, &driver.Error{Result: driver.InvalidContext}) {
				t.Errorf("a closed device: %v", err)
			}
		})
	}
}

// TestSharedOfTheDevice launches code for sm_80 with as much shared memory as a block of the device has.
func TestSharedOfTheDevice(t *testing.T) {
	for _, d := range simulator.Devices {
		s := simulator.New(d.Device, simulator.Options{})
		m, _, err := s.ModuleLoad([]byte(drivertest.Text), driver.JITOptions{})
		if err != nil {
			t.Fatal(err)
		}
		f, _ := s.ModuleGetFunction(m, "add")
		l := driver.LaunchConfig{Grid: [3]int{1, 1, 1}, Block: [3]int{32, 1, 1}, Shared: d.Device.SharedPerBlockMax}
		if err := errors.Join(s.FuncSetMaxDynamicShared(f, l.Shared), s.LaunchKernel(f, l, 0, make([]byte, 16))); err != nil {
			t.Errorf("%s: %v", d.Name, err)
		}
	}
}

// TestAttributes launches with attributes, which are not every device's.
func TestAttributes(t *testing.T) {
	one := [3]int{1, 1, 1}
	for _, c := range []struct {
		sm   int
		l    driver.LaunchConfig
		want driver.Result
	}{
		{80, driver.LaunchConfig{Grid: one, Block: one}, driver.Success},
		{80, driver.LaunchConfig{Grid: one, Block: one, Overlap: true}, driver.NotSupported},
		{90, driver.LaunchConfig{Grid: [3]int{3, 1, 1}, Block: one, Cluster: [3]int{2, 1, 1}}, driver.InvalidValue},
		{90, driver.LaunchConfig{Grid: [3]int{4, 1, 1}, Block: one, Cluster: [3]int{2, 1, 1}}, driver.NotSupported},
	} {
		d := simulator.Device()
		d.SM = c.sm
		s := simulator.New(d, simulator.Options{})
		m, _, err := s.ModuleLoad([]byte(drivertest.Text), driver.JITOptions{})
		if err != nil {
			t.Fatal(err)
		}
		f, _ := s.ModuleGetFunction(m, "add")
		err = s.LaunchKernel(f, c.l, 0, make([]byte, 16))
		if c.want == driver.Success && err != nil || c.want != driver.Success && !errors.Is(err, &driver.Error{Result: c.want}) {
			t.Errorf("sm_%d, %+v: %v, want %v", c.sm, c.l, err, c.want)
		}
	}
}

// TestDoubleFrees gives everything back twice.
func TestDoubleFrees(t *testing.T) {
	s := simulator.New(simulator.Device(), simulator.Options{})
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
	if err := s.LaunchKernel(f, driver.LaunchConfig{Grid: [3]int{1, 1, 1}, Block: [3]int{1, 1, 1}}, st, make([]byte, 16)); err == nil {
		t.Error("a function of an unloaded module was launched")
	}
	if left := s.Live(); len(left) != 1 {
		t.Errorf("left behind: %v, want the stream", left)
	}
}
