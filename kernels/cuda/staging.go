package cuda

import "github.com/trtui/trtui/kernels/cuda/driver"

// Copies go through two buffers of page-locked memory in turn: while the device copies one, the host fills or empties the
// other. Page-locked memory is taken from the whole machine, so it is bounded.
const (
	maxStaging = 16 << 20
	minStaging = 64 << 10
)

// staging is one of the buffers.
type staging struct {
	data []byte       // page-locked
	done driver.Event // the last copy
	busy bool         // it may still run
}

// wait waits for the last copy through the buffer.
func (p *staging) wait(ctx driver.Context) error {
	if !p.busy {
		return nil
	}
	p.busy = false
	return ctx.EventSynchronize(p.done)
}

func (p *staging) close(ctx driver.Context) error {
	var err error
	if p.data != nil {
		err = ctx.MemFreeHost(p.data)
	}
	if p.done != 0 {
		if e := ctx.EventDestroy(p.done); err == nil {
			err = e
		}
	}
	*p = staging{}
	return err
}
