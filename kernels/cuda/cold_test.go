package cuda

import (
	"strings"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/driver/drivertest"
)

// TestTimedCold plans the small network by times on a device that runs nothing: constants are copied within the device, and its
// cache is emptied before rounds. Whichever of the first allocations fails, nothing is left behind; where memory is short what can be done
// without is, and where the device is lost that is the error.
func TestTimedCold(t *testing.T) {
	d := drivertest.Device()
	d.L2Bytes = 64 << 10
	timed := func(f *fake) error {
		_, err := build.Plan(t.Context(), small(t), nil, f, build.PlanConfig{})
		if left := f.memory.Live(); len(left) > 0 && !f.Lost(err) {
			t.Errorf("%v; left behind: %v", err, left)
		}
		return err
	}
	f := newFake(d)
	if err := timed(f); err != nil {
		t.Fatal(err)
	}
	swept := 0
	for _, c := range f.calls.Calls() {
		if c.Method == "MemsetD8Async" && strings.Contains(c.Args, " 131072 ") {
			swept++
		}
	}
	if copies := f.calls.Count("MemcpyDtoDAsync"); copies == 0 || swept < 5 {
		t.Errorf("%d copies within the device, its cache was emptied %d times", copies, swept)
	}
	for _, n := range []int{1, 2, 3, 5, 6, 8} { // of the counters, and then of the first tactic's measurement
		g := newFake(d)
		g.calls.Fail("MemAlloc", n, driver.OutOfMemory)
		if err := timed(g); err != nil && n > 1 {
			t.Errorf("allocation %d: %v", n, err)
		}
		g = newFake(d)
		g.calls.Fail("MemAlloc", n, driver.IllegalAddress)
		if err := timed(g); !g.Lost(err) {
			t.Errorf("allocation %d lost the device: %v", n, err)
		}
	}
}
