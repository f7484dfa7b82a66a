package cuda

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/driver"
)

// Backend is one GPU, or its simulator.
type Backend struct {
	ctx     driver.Context
	info    run.Info
	tactics []kernels.Tactic
	codes   codeCache
	monitor *driver.Monitor // nil where NVML is missing
}

// New returns the backend over a driver's context, which it closes when it is closed.
func New(ctx driver.Context, name string) *Backend {
	d := ctx.Device()
	b := &Backend{ctx: ctx, info: run.Info{
		Name: name, Device: d.Name, Fingerprint: fmt.Sprintf("cuda %s sm_%d driver %s", d.Name, d.SM, d.Driver),
	}}
	b.codes = codeCache{modules: map[string]*code{}, adopted: map[string][]byte{}}
	b.tactics = b.table()
	return b
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
	p, err := b.ctx.MemAlloc(n)
	if err != nil {
		return kernels.Mem{}, fmt.Errorf("allocate %d bytes on %s: %w", n, b.info.Name, err)
	}
	m := kernels.Mem{Addr: uint64(p)}
	if err = b.ctx.MemsetD8Async(p, 0, n, 0); err == nil {
		err = b.ctx.StreamSynchronize(0)
	}
	if err != nil {
		b.Free(m)
		return kernels.Mem{}, err
	}
	return m, nil
}

// Free gives memory from Alloc back.
func (b *Backend) Free(m kernels.Mem) {
	if m.Addr != 0 {
		_ = b.ctx.MemFree(driver.Ptr(m.Addr)) // a failure is one of earlier work, which has its own reporter
	}
}

// Slice returns a part of m.
func (b *Backend) Slice(m kernels.Mem, offset, _ int) kernels.Mem {
	return kernels.Mem{Addr: m.Addr + uint64(offset)}
}

// Upload copies src to dst, behind what is in the stream.
func (b *Backend) Upload(s kernels.Stream, dst kernels.Mem, src []byte) error {
	return s.(*stream).upload(driver.Ptr(dst.Addr), src)
}

// Download copies src to dst, behind what is in the stream, and waits for it.
func (b *Backend) Download(s kernels.Stream, dst []byte, src kernels.Mem) error {
	return s.(*stream).download(dst, driver.Ptr(src.Addr))
}

// Close gives the device back.
func (b *Backend) Close() error {
	if b.monitor != nil {
		_ = b.monitor.Close() // it only ever read
	}
	return b.ctx.Close()
}
