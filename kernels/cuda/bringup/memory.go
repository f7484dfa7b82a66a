package bringup

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// Sizes of the copies in bytes: over the bus, and within the device, many times the L2.
const (
	hostCopy, deviceCopy   = 256 << 20, 1 << 30
	smallHost, smallDevice = 64 << 10, 64 << 10
)

// copies measures the driver's copies and ours, and checks that ours arrive.
func (p *probe) copies() (err error) {
	ctx, n, h := p.backend.Context(), deviceCopy, hostCopy
	if p.small {
		n, h = smallDevice, smallHost
	}
	var mem [2]driver.Ptr
	for i := range mem {
		if mem[i], err = ctx.MemAlloc(n); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, ctx.MemFree(mem[i])) }()
	}
	pinned, err := ctx.MemHostAlloc(h)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ctx.MemFreeHost(pinned)) }()
	for i := range pinned {
		pinned[i] = byte(i*7 ^ i>>11)
	}
	to, from, s := mem[1], mem[0], p.stream.Handle()
	for _, c := range []struct {
		name  string
		bytes int
		moved int // times that a byte is read or written in device memory
		f     func() error
	}{
		{"host to device, pinned", h, 1, func() error { return ctx.MemcpyHtoDAsync(from, pinned, s) }},
		{"device to host, pinned", h, 1, func() error { return ctx.MemcpyDtoHAsync(pinned, from, s) }},
		{"memset", n, 1, func() error { return ctx.MemsetD32Async(to, 0x3f800000, n/4, s) }},
		{"within the device", n, 2, func() error { return ctx.MemcpyDtoDAsync(to, from, n, s) }},
	} {
		if p.small && c.name == "memset" { // word by word in the simulator
			continue
		}
		d, err := p.measure(c.f)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		p.report(Finding{Name: c.name, Bytes: c.bytes, US: microseconds(d), GBs: perSecond(float64(c.moved*c.bytes), d)})
	}
	if err := p.pageable(from, pinned); err != nil {
		return err
	}
	for _, vectors := range []int{1, 2, 4, 8} {
		if err := p.copyKernel(vectors, to, from, n); err != nil {
			return fmt.Errorf("copy kernel of %d vectors: %w", vectors, err)
		}
	}
	return nil
}

// pageable measures the copy of ordinary memory, by the host's clock.
func (p *probe) pageable(to driver.Ptr, data []byte) error {
	plain := bytes.Clone(data)
	start := time.Now()
	if err := p.backend.Context().MemcpyHtoD(to, plain); err != nil {
		return err
	}
	f := Finding{Name: "host to device, pageable", Bytes: len(plain)}
	if d := time.Since(start); !p.small { // a simulator's clock is not the host's
		f.HostUS, f.GBs = microseconds(d), perSecond(float64(len(plain)), d)
	}
	p.report(f)
	return nil
}

// copyKernel measures a kernel in which each thread copies so many vectors of 16 bytes.
func (p *probe) copyKernel(vectors int, to, from driver.Ptr, n int) error {
	k, err := p.bind(emitCopy(vectors, n))
	if err != nil {
		return err
	}
	ctx := p.backend.Context()
	if err := ctx.MemsetD8Async(to, 0xff, n, p.stream.Handle()); err != nil {
		return err
	}
	in, out := []kernels.Mem{{Addr: uint64(from)}}, []kernels.Mem{{Addr: uint64(to)}}
	d, err := p.measure(func() error { return k.Launch(p.stream, in, out, kernels.Mem{}) })
	if err != nil {
		return err
	}
	const sample = 32 << 10
	want, got := make([]byte, sample), make([]byte, sample)
	for _, at := range []int{0, n/2 - sample/2, n - sample} {
		if err := ctx.MemcpyDtoH(want, from+driver.Ptr(at)); err != nil {
			return err
		}
		if err := ctx.MemcpyDtoH(got, to+driver.Ptr(at)); err != nil {
			return err
		}
		if !bytes.Equal(got, want) {
			return fmt.Errorf("bytes from %d on were not copied", at)
		}
	}
	p.report(Finding{Name: fmt.Sprintf("kernel, %d x 16 bytes a thread", vectors), Bytes: n, US: microseconds(d), GBs: perSecond(float64(2*n), d)})
	return nil
}

// emitCopy emits a copy of n bytes, a multiple of 32 KB: vector i of a thread lies 256 vectors behind vector i-1, so that a
// warp reads 512 bytes in a row.
func emitCopy(vectors, n int) *emit.Work {
	const threads = 256
	w := emit.NewWork()
	k := w.Module.Kernel("copy", threads)
	x, y := k.Pointer("x"), k.Pointer("y")
	at := k.Mad(k.BlockX(), ptx.U(threads*vectors), k.Thread())
	from, to := k.Offset(x, at, 16), k.Offset(y, at, 16)
	var loaded [][]ptx.Word
	for i := range vectors {
		loaded = append(loaded, k.Load(from.At(i*threads*16), 4))
	}
	for i, v := range loaded {
		k.Store(to.At(i*threads*16), v...)
	}
	k.End()
	w.Launches = []emit.Launch{{
		Kernel: "copy", Grid: [3]int{n / (threads * vectors * 16), 1, 1}, Block: [3]int{threads, 1, 1},
		Args: []emit.Arg{emit.InArg(0), emit.OutArg(0)},
	}}
	return w
}
