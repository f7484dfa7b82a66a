package simulator_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/driver/drivertest"
	"github.com/trtui/trtui/kernels/cuda/internal/ptxsim"
	"github.com/trtui/trtui/kernels/cuda/simulator"
)

// lazy are orders in which work is not done when the call returns.
func lazy() []simulator.Options {
	list := []simulator.Options{{Order: simulator.Late}}
	for seed := range uint64(5) {
		list = append(list, simulator.Options{Order: simulator.Mixed, Seed: seed})
	}
	return list
}

// TestOrders runs what every driver's context passes, in all orders.
func TestOrders(t *testing.T) {
	for _, o := range lazy() {
		t.Run(fmt.Sprintf("%d_%d", o.Order, o.Seed), func(t *testing.T) {
			s := simulator.New(simulator.Device(), o)
			drivertest.Conformance(t, s, true)
			if left := s.Live(); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// rig is a context with what tests of orders use.
type rig struct {
	*testing.T
	*simulator.Context
	module driver.Module
	add    driver.Function
	s      [2]driver.Stream
	e      driver.Event
	p      driver.Ptr // 1024 zeros
	h      []byte     // 1024 bytes, page-locked
}

func newRig(t *testing.T, o simulator.Options) *rig {
	r := &rig{T: t, Context: simulator.New(simulator.Device(), o)}
	var err [6]error
	r.module, _, err[0] = r.ModuleLoad([]byte(drivertest.Text), driver.JITOptions{})
	r.add, err[1] = r.ModuleGetFunction(r.module, "add")
	for i := range r.s {
		r.s[i], err[2] = r.StreamCreate(0)
	}
	r.e, err[3] = r.EventCreate(true)
	r.p, err[4] = r.MemAlloc(1024)
	r.h, err[5] = r.MemHostAlloc(1024)
	r.ok(append(err[:], r.MemcpyHtoD(r.p, make([]byte, 1024)))...)
	return r
}

func (r *rig) ok(errs ...error) {
	r.Helper()
	if err := errors.Join(errs...); err != nil {
		r.Fatal(err)
	}
}

// node adds v to n words at p.
func (r *rig) node(p driver.Ptr, v, n uint32) driver.KernelNode {
	params := binary.LittleEndian.AppendUint64(nil, uint64(p))
	params = binary.LittleEndian.AppendUint32(params, v)
	params = binary.LittleEndian.AppendUint32(params, n)
	return driver.KernelNode{Function: r.add, Grid: [3]int{int(n+127) / 128, 1, 1}, Block: [3]int{128, 1, 1}, Params: params}
}

func (r *rig) launch(s driver.Stream, v, n uint32) error {
	k := r.node(r.p, v, n)
	return r.LaunchKernel(k.Function, k.Config(), s, k.Params)
}

// word is the first word at p.
func (r *rig) word() uint32 {
	r.Helper()
	var b [4]byte
	r.ok(r.MemcpyDtoH(b[:], r.p))
	return binary.LittleEndian.Uint32(b[:])
}

// graph captures a launch in the first stream.
func (r *rig) graph(v uint32) (x driver.GraphExec, node driver.GraphNode) {
	r.Helper()
	g, err := r.Capture(r.s[0], func() (err error) {
		if err = r.launch(r.s[0], v, 256); err == nil {
			node, err = r.CapturedNode(r.s[0])
		}
		return err
	})
	r.ok(err)
	x, err = r.GraphInstantiate(g)
	r.ok(err, r.GraphDestroy(g))
	return x, node
}

// TestMistakes forgets to wait, in all ways that staging and lifetime know: what is done at once does not show it, every other
// order that does nothing in between does.
func TestMistakes(t *testing.T) {
	for _, c := range []struct {
		name, want string
		do         func(r *rig) error
	}{
		{"a staging buffer is filled again", `^cuStreamSynchronize \(cuMemcpyHtoDAsync_v2 of 1024 bytes at 0x\w+ in stream 0x\w+: the host has changed the source before the copy`, func(r *rig) error {
			r.ok(r.MemcpyHtoDAsync(r.p, r.h, r.s[0]))
			r.h[5] = 7
			return r.StreamSynchronize(r.s[0])
		}},
		{"an output is read", "^the output is wrong", func(r *rig) error {
			r.ok(r.MemcpyDtoHAsync(r.h, r.p, r.s[0]))
			if bytes.Count(r.h, []byte{0}) != len(r.h) {
				return errors.New("the output is wrong")
			}
			return nil
		}},
		{"where an output comes is written to", "the host has written to where the copy goes", func(r *rig) error {
			r.ok(r.MemcpyDtoHAsync(r.h, r.p, r.s[0]))
			r.h[0] = 9
			return r.Synchronize()
		}},
		{"host memory is given back", `^cuMemFreeHost is undefined here: 1024 bytes are given back and cuMemcpyDtoHAsync_v2 of 1024 bytes at \S+ in the default stream is not done`, func(r *rig) error {
			r.ok(r.MemcpyDtoHAsync(r.h, r.p, 0))
			return r.MemFreeHost(r.h)
		}},
		{"a module is unloaded", `^cuModuleUnload is undefined here: the module is unloaded and cuLaunchKernel of kernel add in stream`, func(r *rig) error {
			r.ok(r.launch(r.s[0], 1, 256))
			return r.ModuleUnload(r.module)
		}},
		{"another stream is waited for", "^the sum is 0", func(r *rig) error {
			r.ok(r.launch(r.s[0], 1, 256), r.StreamSynchronize(r.s[1]))
			if v := r.word(); v != 1 {
				return fmt.Errorf("the sum is %d", v)
			}
			return nil
		}},
		{"an event is waited for that was recorded before", "^the sum is 0", func(r *rig) error {
			r.ok(r.EventRecord(r.e, r.s[0]), r.launch(r.s[0], 1, 256), r.EventSynchronize(r.e))
			if v := r.word(); v != 1 {
				return fmt.Errorf("the sum is %d", v)
			}
			return nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := c.do(newRig(t, simulator.Options{})); err != nil {
				t.Errorf("where all is done at once: %v", err)
			}
			if err := c.do(newRig(t, simulator.Options{Order: simulator.Late})); err == nil || !regexp.MustCompile(c.want).MatchString(err.Error()) {
				t.Errorf("late: %v", err)
			}
			found := 0
			for seed := range uint64(20) {
				if c.do(newRig(t, simulator.Options{Order: simulator.Mixed, Seed: seed})) != nil {
					found++
				}
			}
			if found == 0 {
				t.Error("no seed finds it")
			}
		})
	}
}

// TestStale launches a graph of whose things some are gone: that is found in every order.
func TestStale(t *testing.T) {
	for _, o := range append(lazy(), simulator.Options{}) {
		r := newRig(t, o)
		x, _ := r.graph(1)
		r.ok(r.ModuleUnload(r.module))
		if err := r.GraphLaunch(x, r.s[0]); err == nil || !strings.Contains(err.Error(), "kernel add is launched, whose module was unloaded") {
			t.Errorf("an unloaded module: %v", err)
		}
		if err := r.Synchronize(); !errors.Is(err, &driver.Error{Result: driver.Unknown}) || !strings.HasPrefix(err.Error(), "cuCtxSynchronize: cuGraphLaunch is undefined here: ") {
			t.Errorf("afterwards: %v", err)
		}
		r = newRig(t, o)
		if err := r.MemcpyHtoDAsync(r.p, make([]byte, 8), 0); !errors.Is(err, &driver.Error{Result: driver.InvalidValue}) {
			t.Errorf("memory that is not page-locked: %v", err)
		}
	}
}

// TestLateFault: work that does wrong fails a later call, and all after that, with the place; the context is lost.
func TestLateFault(t *testing.T) {
	for _, o := range lazy() {
		r := newRig(t, o)
		err := r.launch(r.s[0], 1, 1000) // of 256 words
		if o.Order == simulator.Late && err != nil {
			t.Errorf("the launch: %v", err)
		}
		err = r.StreamSynchronize(r.s[0])
		want := regexp.MustCompile(`^cuStreamSynchronize \(cuLaunchKernel of kernel add in stream \S+: kernel add: block \(2,0,0\).* line \d+: ld.global.*out of bounds.*CUDA_ERROR_ILLEGAL_ADDRESS.*context is lost$`)
		if err == nil || !want.MatchString(err.Error()) || !errors.As(err, new(*ptxsim.Fault)) {
			t.Errorf("%+v: %v", o, err)
		}
		var e *driver.Error
		if _, err := r.MemAlloc(1); !errors.As(err, &e) || !e.Sticky() || e.Call != "cuMemAlloc_v2" {
			t.Errorf("afterwards: %v", err)
		}
		r.ok(r.Close())
	}
}

// TestDefined does while work is pending what a driver's manual defines.
func TestDefined(t *testing.T) {
	for _, o := range lazy() {
		r := newRig(t, o)
		late := o.Order == simulator.Late
		x, node := r.graph(1)
		k := r.node(r.p, 100, 256)
		k.Node = node
		other, err := r.EventCreate(true)
		r.ok(err, r.EventRecord(r.e, r.s[0]), r.GraphLaunch(x, r.s[0]), r.EventRecord(other, r.s[0]))
		if _, err := r.EventElapsed(r.e, other); late && !errors.Is(err, &driver.Error{Result: driver.NotReady}) {
			t.Errorf("the time of events that have not happened: %v", err)
		}
		if done, err := r.StreamQuery(r.s[0]); late && (done || err != nil) {
			t.Errorf("a stream with work: %v, %v", done, err)
		}
		r.ok(r.GraphExecKernelNodeSetParams(x, k)) // of launches to come
		for asked := 0; ; asked++ {
			done, err := r.EventQuery(other)
			if r.ok(err); done {
				break
			}
			if asked > 10 {
				t.Fatal("an event is never seen to happen")
			}
		}
		if v := r.word(); v != 1 {
			t.Errorf("after the graph, the sum is %d", v)
		}
		r.ok(r.GraphLaunch(x, r.s[1]), r.GraphLaunch(x, r.s[0]), r.GraphExecDestroy(x)) // one after the other
		r.ok(r.EventRecord(r.e, r.s[0]), r.StreamDestroy(r.s[0]), r.StreamWaitEvent(r.s[1], r.e), r.EventDestroy(r.e))
		r.ok(r.launch(r.s[1], 1000, 256), r.StreamSynchronize(r.s[1]))
		if v := r.word(); v != 1201 {
			t.Errorf("after what was destroyed, the sum is %d", v)
		}
		r.ok(r.launch(r.s[1], 5000, 256))
		q, err := r.MemAlloc(1)
		r.ok(err, r.MemFree(q)) // waits for all
		if v := r.word(); v != 6201 {
			t.Errorf("after MemFree, the sum is %d", v)
		}
	}
}
