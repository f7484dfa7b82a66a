package drivertest

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/trtui/trtui/kernels/cuda/driver"
)

// flow is what a backend does with one small engine: it stops at the first error and gives everything back.
func flow(c driver.Context) (err error) {
	var undo []func() error
	defer func() {
		for i := len(undo) - 1; i >= 0; i-- {
			if e := undo[i](); err == nil {
				err = e
			}
		}
	}()
	owned := func(e error, free func() error) bool {
		if err = e; err == nil {
			undo = append(undo, free)
		}
		return err == nil
	}
	p, e := c.MemAlloc(64)
	if !owned(e, func() error { return c.MemFree(p) }) {
		return err
	}
	h, e := c.MemHostAlloc(64)
	if !owned(e, func() error { return c.MemFreeHost(h) }) {
		return err
	}
	m, _, e := c.ModuleLoad([]byte(Text), driver.JITOptions{})
	if !owned(e, func() error { return c.ModuleUnload(m) }) {
		return err
	}
	f, err := c.ModuleGetFunction(m, "add")
	if err != nil {
		return err
	}
	s, e := c.StreamCreate(-1)
	if !owned(e, func() error { return c.StreamDestroy(s) }) {
		return err
	}
	var node driver.GraphNode
	g, e := c.Capture(s, func() error {
		for i := range h {
			h[i] = byte(i)
		}
		if err := c.MemcpyHtoDAsync(p, h, s); err != nil {
			return err
		}
		if err := c.LaunchKernel(f, driver.LaunchConfig{Grid: [3]int{1, 1, 1}, Block: [3]int{32, 1, 1}}, s, make([]byte, 8)); err != nil {
			return err
		}
		node, err = c.CapturedNode(s)
		return err
	})
	if !owned(e, func() error { return c.GraphDestroy(g) }) {
		return err
	}
	x, e := c.GraphInstantiate(g)
	if !owned(e, func() error { return c.GraphExecDestroy(x) }) {
		return err
	}
	n := driver.KernelNode{Node: node, Function: f, Grid: [3]int{2, 1, 1}, Block: [3]int{64, 1, 1}, Params: make([]byte, 8)}
	if err := c.GraphExecKernelNodeSetParams(x, n); err != nil {
		return err
	}
	if err := c.GraphLaunch(x, s); err != nil {
		return err
	}
	if err := c.StreamSynchronize(s); err != nil {
		return err
	}
	got := make([]byte, 64)
	if err := c.MemcpyDtoH(got, p); err != nil {
		return err
	}
	if got[63] != 63 {
		return errors.New("the graph's copy did not happen")
	}
	return nil
}

func TestConformance(t *testing.T) {
	m := New(Device())
	Conformance(t, Record(m), false)
	if live := m.Live(); live != nil {
		t.Errorf("left: %v", live)
	}
}

func TestFlow(t *testing.T) {
	m := New(Device())
	r := Record(m)
	if err := flow(r); err != nil {
		t.Fatal(err)
	}
	if live := m.Live(); live != nil {
		t.Errorf("left: %v", live)
	}
	golden.RequireEqual(t, r.String())
}

// TestFailures fails each call of the flow in turn: the error arrives, and nothing is left but what could not be freed.
func TestFailures(t *testing.T) {
	r := Record(New(Device()))
	if err := flow(r); err != nil {
		t.Fatal(err)
	}
	for i, c := range r.Calls() {
		m := New(Device())
		r := Record(m)
		r.Fail("*", i+1, driver.OutOfMemory)
		err := flow(r)
		if !errors.Is(err, &driver.Error{Result: driver.OutOfMemory}) {
			t.Errorf("%s failed, but the flow returned %v", c, err)
		}
		if n := len(m.Live()); n > 1 || n == 1 && !strings.Contains(c.Method, "Destroy") &&
			!strings.Contains(c.Method, "Free") && c.Method != "ModuleUnload" {
			t.Errorf("%s failed, left: %v", c, m.Live())
		}
	}
}

func TestSticky(t *testing.T) {
	r := Record(New(Device()))
	r.Fail("Synchronize", 1, driver.IllegalAddress)
	if _, err := r.MemAlloc(1); err != nil {
		t.Fatal(err)
	}
	var e *driver.Error
	if err := r.Synchronize(); !errors.As(err, &e) || !e.Sticky() {
		t.Fatalf("got %v", err)
	}
	if _, err := r.MemAlloc(1); !errors.As(err, &e) || e.Result != driver.IllegalAddress {
		t.Errorf("after a sticky error: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// TestJudge has calls end as a function says, a device that it loses stays so.
func TestJudge(t *testing.T) {
	r, n := Record(New(Device())), 0
	r.Judge = func(method string) driver.Result {
		n++
		return []driver.Result{driver.Success, driver.OutOfMemory, driver.Success, driver.LaunchFailed, driver.Success}[n-1]
	}
	for i, want := range []driver.Result{driver.Success, driver.OutOfMemory, driver.Success, driver.LaunchFailed, driver.LaunchFailed} {
		_, err := r.MemAlloc(1)
		var e *driver.Error
		if got := errors.As(err, &e); got != (want != driver.Success) || got && e.Result != want {
			t.Errorf("call %d: %v, want %v", i, err, want)
		}
	}
}

// TestRecorderCoversContext calls every method with zero values: all but Device are logged under their names.
func TestRecorderCoversContext(t *testing.T) {
	it := reflect.TypeFor[driver.Context]()
	for i := range it.NumMethod() {
		name := it.Method(i).Name
		if name == "Device" {
			continue
		}
		r := Record(New(Device()))
		r.Fail(name, 1, driver.Unknown)
		f := reflect.ValueOf(r).MethodByName(name)
		in := make([]reflect.Value, f.Type().NumIn())
		for j := range in {
			in[j] = reflect.Zero(f.Type().In(j))
		}
		out := f.Call(in)
		if err, _ := out[len(out)-1].Interface().(error); err == nil {
			t.Errorf("%s does not fail when told to", name)
		}
		if r.Count(name) != 1 {
			t.Errorf("%s is not logged: %v", name, r.Calls())
		}
	}
}

func TestMemoryChecks(t *testing.T) {
	d := Device()
	d.Memory = 1000
	m := New(d)
	p, err := m.MemAlloc(100)
	if err != nil {
		t.Fatal(err)
	}
	mod, _, err := m.ModuleLoad([]byte(Text), driver.JITOptions{})
	if err != nil {
		t.Fatal(err)
	}
	add, err := m.ModuleGetFunction(mod, "add")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		err  error
		want driver.Result
	}{
		{"past the end", m.MemcpyHtoD(p+50, make([]byte, 51)), driver.InvalidValue},
		{"before the start", m.MemcpyHtoD(p-1, make([]byte, 1)), driver.InvalidValue},
		{"inside", m.MemcpyHtoD(p+50, make([]byte, 50)), driver.Success},
		{"free of a part", m.MemFree(p + 1), driver.InvalidValue},
		{"no stream", m.StreamSynchronize(77), driver.InvalidHandle},
		{"set", m.MemsetD32Async(p+4, 0x01020304, 2, 0), driver.Success},
		{"negative set", m.MemsetD8Async(p, 0, -1, 0), driver.InvalidValue},
		{"clusters that do not divide the grid", m.LaunchKernel(add, driver.LaunchConfig{Grid: [3]int{6, 1, 1}, Block: [3]int{1, 1, 1}, Cluster: [3]int{4, 1, 1}}, 0, nil), driver.InvalidValue},
		{"clusters that divide it", m.LaunchKernel(add, driver.LaunchConfig{Grid: [3]int{6, 1, 1}, Block: [3]int{1, 1, 1}, Cluster: [3]int{3, 1, 1}}, 0, nil), driver.Success},
		{"launch of nothing", m.LaunchKernel(5, driver.LaunchConfig{Grid: [3]int{1, 1, 1}, Block: [3]int{1, 1, 1}}, 0, nil), driver.InvalidHandle},
	} {
		if got := result(c.err); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, c.err, c.want)
		}
	}
	if _, err := m.MemAlloc(901); result(err) != driver.OutOfMemory {
		t.Errorf("too much memory: %v", err)
	}
	got := make([]byte, 5)
	if err := m.MemcpyDtoH(got, p+8); err != nil || string(got) != "\x04\x03\x02\x01\xcd" {
		t.Errorf("read %x, %v", got, err)
	}
}

func result(err error) driver.Result {
	var e *driver.Error
	if errors.As(err, &e) {
		return e.Result
	}
	return driver.Success
}
