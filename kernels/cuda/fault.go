package cuda

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/driver"
)

// FaultVariable is the environment variable that makes kernels of the simulated device ail, so that what measures a GPU can
// be rehearsed: FAULT:TACTIC by comma. A launch of the tactic never ends (hang), leaves other numbers (wrong), or fails so
// that the device is lost (lost). On a GPU it has no effect.
const FaultVariable = "TRTUI_SIM_FAULT"

// The faults.
const (
	faultHang  = "hang"
	faultWrong = "wrong"
	faultLost  = "lost"
)

// readFaults returns the faults by tactic.
func readFaults() (map[string]string, error) {
	faults := map[string]string{}
	for one := range strings.SplitSeq(os.Getenv(FaultVariable), ",") {
		if one == "" {
			continue
		}
		fault, tactic, _ := strings.Cut(one, ":")
		if fault != faultHang && fault != faultWrong && fault != faultLost || tactic == "" {
			return nil, fmt.Errorf("%s: %q: want hang:TACTIC, wrong:TACTIC or lost:TACTIC", FaultVariable, one)
		}
		faults[tactic] = fault
	}
	return faults, nil
}

// ail gives kernels of the tactics their faults.
func (b *Backend) ail(faults map[string]string) {
	for i, t := range b.tactics {
		fault := faults[t.Name]
		if fault == "" {
			continue
		}
		b.tactics[i].Bind = func(binding kernels.Binding) (kernels.Kernel, error) {
			k, err := t.Bind(binding)
			if one, ok := k.(*bound); ok {
				k = &ailing{one, fault, binding}
			}
			return k, err
		}
	}
}

// ailing is a kernel with a fault.
type ailing struct {
	*bound
	fault   string
	binding kernels.Binding
}

// Launch launches the kernel, or does what the fault says.
func (a *ailing) Launch(s kernels.Stream, in, out []kernels.Mem, workspace kernels.Mem) error {
	switch a.fault {
	case faultHang:
		for {
			time.Sleep(time.Hour)
		}
	case faultLost:
		return &driver.Error{Result: driver.IllegalAddress, Call: FaultVariable}
	}
	err := a.bound.Launch(s, in, out, workspace)
	if n := min(2, a.binding.Out[0].Span()); err == nil && n > 0 {
		err = a.ctx.MemsetD8Async(driver.Ptr(out[0].Addr), 0x4b, n, s.(*Stream).handle)
	}
	return err
}
