package cuda

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/driver"
)

// Backend is one GPU, or its simulator.
type Backend struct {
	info    run.Info
	tactics []kernels.Tactic
	codes   codeCache
	monitor *driver.Monitor                // nil where NVML is missing
	open    func() (driver.Context, error) // opens the device anew; nil where that cannot be done

	mu      sync.Mutex
	ctx     driver.Context     // replaced by Recover; use Context
	held    map[driver.Ptr]int // bytes of each allocation
	streams int                // that are open
}

// New returns the backend over a driver's context, which it closes when it is closed.
func New(ctx driver.Context, name string) *Backend {
	d := ctx.Device()
	b := &Backend{ctx: ctx, held: map[driver.Ptr]int{}, info: run.Info{
		Name: name, Device: d.Name, Align: 16, Fingerprint: fmt.Sprintf("cuda %s sm_%d driver %s", d.Name, d.SM, d.Compiler()),
	}}
	b.codes = newCodeCache()
	b.tactics = b.table()
	return b
}

// Context returns the driver's context, which is another one after Recover.
func (b *Backend) Context() driver.Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ctx
}

// Info describes the device.
func (b *Backend) Info() run.Info { return b.info }

// Tactics returns the ways to compute op. Those of Pointwise compute every op that is an element-wise program.
func (b *Backend) Tactics(op *graph.Op) []kernels.Tactic {
	_, elementwise := op.Attrs.(graph.Elementwise)
	var list []kernels.Tactic
	for _, t := range b.tactics {
		if t.Op == op || t.Op == graph.Pointwise && elementwise {
			list = append(list, t)
		}
	}
	return list
}

// Alloc returns zeroed device memory.
func (b *Backend) Alloc(n int) (kernels.Mem, error) {
	if n == 0 {
		return kernels.Mem{}, nil
	}
	ctx := b.Context()
	p, err := ctx.MemAlloc(n)
	if err != nil {
		return kernels.Mem{}, b.refused(ctx, n, err)
	}
	b.mu.Lock()
	b.held[p] = n
	b.mu.Unlock()
	m := kernels.Mem{Addr: uint64(p)}
	if err = ctx.MemsetD8Async(p, 0, n, 0); err == nil {
		err = ctx.StreamSynchronize(0)
	}
	if err != nil {
		b.Free(m)
		return kernels.Mem{}, fmt.Errorf("clear %d bytes on %s: %w", n, b.info.Name, err)
	}
	return m, nil
}

// MemoryInfo returns how much of the device's memory is free, and how much there is, in bytes.
func (b *Backend) MemoryInfo() (free, total int64, err error) {
	f, t, err := b.Context().MemGetInfo()
	return int64(f), int64(t), err
}

// refused explains an allocation that failed: what was wanted, and what there is.
func (b *Backend) refused(ctx driver.Context, n int, err error) error {
	var e *driver.Error
	if errors.As(err, &e) && e.OutOfMemory() {
		if free, total, infoErr := ctx.MemGetInfo(); infoErr == nil {
			return fmt.Errorf("allocate %d bytes on %s, where %d of %d are free: %w; choose a smaller batch, or end what else uses the device",
				n, b.info.Name, free, total, err)
		}
	}
	return fmt.Errorf("allocate %d bytes on %s: %w", n, b.info.Name, err)
}

// Free gives memory from Alloc back.
func (b *Backend) Free(m kernels.Mem) {
	if m.Addr == 0 {
		return
	}
	b.mu.Lock()
	delete(b.held, driver.Ptr(m.Addr))
	b.mu.Unlock()
	_ = b.Context().MemFree(driver.Ptr(m.Addr)) // a failure is one of earlier work, which has its own reporter
}

// Slice returns a part of m.
func (b *Backend) Slice(m kernels.Mem, offset, _ int) kernels.Mem {
	return kernels.Mem{Addr: m.Addr + uint64(offset)}
}

// Close gives the device back. What was loaded on it is closed before.
func (b *Backend) Close() error {
	if b.monitor != nil {
		_ = b.monitor.Close() // it only ever read
	}
	return b.Context().Close()
}

// Lost reports whether err says that the device's context is beyond use: a kernel failed, say, after which the driver
// refuses everything.
func (b *Backend) Lost(err error) bool {
	var e *driver.Error
	return errors.As(err, &e) && e.Sticky()
}

// Recover makes a lost device ready again. Code that was compiled is kept, what was loaded and allocated is not: all of it
// has to be closed before, since an address or a handle of the old context may mean something else in the new one.
func (b *Backend) Recover() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	modules := b.codes.modules()
	if len(b.held) > 0 || b.streams > 0 || modules > 0 {
		return fmt.Errorf("%s cannot start anew: %d allocations, %d streams and %d modules of the lost context are still held; close the engines on it first",
			b.info.Name, len(b.held), b.streams, modules)
	}
	if b.open == nil {
		return fmt.Errorf("%s cannot start anew: its context was made elsewhere", b.info.Name)
	}
	closed := b.ctx.Close()
	ctx, err := b.open()
	if err != nil {
		return fmt.Errorf("%s does not start again after an error; start the program again: %w", b.info.Name, errors.Join(err, closed))
	}
	b.ctx = ctx
	return nil
}

// Adopt takes binaries from an engine file. What was made for another device or driver has other keys and is never
// looked up.
func (b *Backend) Adopt(list []kernels.Code) {
	d := b.Context().Device()
	target := strings.TrimPrefix(codeKey(d, ""), codeKey(d, "")[:2*sha256.Size])
	for _, c := range list {
		if strings.HasSuffix(c.Key, target) {
			b.codes.keep(c.Key, compiled{cubin: c.Data})
		}
	}
}

// KeepCode keeps compiled code in the files of a folder, which other processes may use at the same time. It is called
// before anything is bound.
func (b *Backend) KeepCode(dir string) { b.codes.files = newCodeFiles(dir) }

// CodeUse tells how much code was compiled and how much was found in files.
func (b *Backend) CodeUse() run.CodeUse {
	b.codes.mu.Lock()
	use := b.codes.use
	b.codes.mu.Unlock()
	if b.codes.files != nil {
		use.Err = b.codes.files.failed()
	}
	return use
}
