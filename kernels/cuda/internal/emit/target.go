package emit

import (
	"cmp"
	"fmt"

	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// Device is what of a GPU decides which tactics it has.
type Device struct {
	SM     int // compute capability: 90 is 9.0
	Shared int // bytes of shared memory that a block may have
}

// On returns why the tactic does not compute a binding on a device; nil: it does.
func (t Tactic) On(d Device, b kernels.Binding) error {
	if err := t.RunsOn(d.SM); err != nil {
		return err
	}
	if err := t.Matches(b); err != nil {
		return err
	}
	for _, j := range t.Jobs(b) {
		if j.Shared > d.Shared {
			return fmt.Errorf("a block takes %d bytes of shared memory, the device has %d for one", j.Shared, d.Shared)
		}
	}
	return nil
}

// RunsOn refuses devices, by compute capability, that the code is not for.
func (t Tactic) RunsOn(sm int) error {
	target, others := t.target(), "later ones"
	if target.Arch {
		others = "no other"
	}
	if !target.RunsOn(sm) {
		return fmt.Errorf("its code is for %v and %s, the device is sm_%d", target, others, sm)
	}
	return nil
}

// target is what the code is made for.
func (t Tactic) target() ptx.Target { return cmp.Or(t.Target, ptx.SM80) }
