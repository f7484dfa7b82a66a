package cuda

import (
	"fmt"

	"github.com/trtui/trtui/kernels/cuda/driver"
)

// oldest is the architecture of the oldest GPU that the kernels run on: it has asynchronous copies and the tensor cores'
// instructions for bytes.
const oldest = 80

// Open returns the backend of an NVIDIA GPU by its number: "cuda:0" and so on.
func Open(ordinal int) (*Backend, error) {
	ctx, err := driver.Open(ordinal)
	if err != nil {
		return nil, err
	}
	if d := ctx.Device(); d.SM < oldest {
		_ = ctx.Close() // what matters is why
		return nil, fmt.Errorf("%s is sm_%d; the kernels need sm_%d (Ampere) or newer", d.Name, d.SM, oldest)
	}
	b := New(ctx, fmt.Sprintf("cuda:%d", ordinal))
	b.open = func() (driver.Context, error) { return driver.Open(ordinal) }
	if m, err := driver.OpenMonitor(ctx.Device().PCI); err == nil { // without it the screens show a little less
		b.monitor = m
	}
	return b, nil
}
