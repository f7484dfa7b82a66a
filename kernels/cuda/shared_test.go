package cuda

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/internal/suite"
	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/emit/emittest"
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
		k, err := codes.acquire(ctx, w)
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

// TestSharedRefused: tiles that take more shared memory than a block of the device can have are refused before they are
// emitted, and tell how much they take; others are not.
func TestSharedRefused(t *testing.T) {
	d := simulator.Device()
	d.SharedPerBlockMax = 48 << 10
	b := simulatedOn(t, d)
	refused, taken := 0, 0
	for _, c := range suite.Layers() {
		if c.Layer.Op != graph.Conv {
			continue
		}
		for _, tac := range b.Tactics(graph.Conv) {
			binding, ok := suite.Bind(c.Layer, tac, 0)
			if !ok {
				continue
			}
			err := tac.Match(binding)
			var takes, has int
			switch {
			case err == nil:
				taken++
			case strings.Contains(err.Error(), "bytes of shared memory"):
				refused++
				if _, err := fmt.Sscanf(err.Error(), "a block takes %d bytes of shared memory, the device has %d for one", &takes, &has); err != nil || takes <= has || has != 48<<10 {
					t.Errorf("%s: %v", tac.Name, tac.Match(binding))
				}
			}
		}
		if refused > 10 && taken > 10 {
			return
		}
	}
	t.Errorf("%d tactics refused, %d taken", refused, taken)
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
			w, err := e.Work(emit.Device{SM: 80}, b)
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
