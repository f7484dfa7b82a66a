package cuda

import (
	"errors"
	"testing"

	"github.com/trtui/trtui/core/run/suite"
	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/emit"
	"github.com/trtui/trtui/kernels/cuda/emit/emittest"
	"github.com/trtui/trtui/kernels/cuda/simulator"
)

// forgetful is a device whose functions are never allowed more dynamic shared memory than every device has.
type forgetful struct{ driver.Context }

func (forgetful) FuncSetMaxDynamicShared(driver.Function, int) error { return nil }

// TestDynamicShared launches a kernel of ours that takes more shared memory than every device has, with the call that
// allows it and without.
func TestDynamicShared(t *testing.T) {
	w, l := largeLaunch(t)
	for _, forgets := range []bool{false, true} {
		s := Simulate(simulator.Device())
		ctx := driver.Context(s)
		if forgets {
			ctx = forgetful{s}
		}
		codes := newCodeCache()
		k, err := codes.acquire(ctx, w.Module)
		if err != nil {
			t.Fatal(err)
		}
		f, err := k.function(l)
		if err != nil {
			t.Fatal(err)
		}
		err = ctx.LaunchKernel(f, configOf(l), 0, nil)
		if refused := errors.Is(err, &driver.Error{Result: driver.InvalidValue}); refused != forgets {
			t.Errorf("forgets %v: %v", forgets, err)
		}
		if err := s.FuncSetMaxDynamicShared(f, s.Device().SharedPerBlockMax+1); err == nil {
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
func largeLaunch(t *testing.T) (*emit.Work, emit.Launch) {
	t.Helper()
	for _, c := range suite.Layers() {
		for _, e := range Tactics() {
			b, ok := emittest.BindingOf(c.Layer, e)
			if e.Op != c.Layer.Op || e.Emit == nil || !ok || e.Matches(b) != nil {
				continue
			}
			w, err := e.Work(b)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range w.Launches {
				if l.Shared > 48<<10 {
					return w, l
				}
			}
		}
	}
	t.Fatal("no kernel takes more than 48 KiB of shared memory")
	return nil, emit.Launch{}
}
