//go:build linux && (amd64 || arm64) && !nocuda

package driver

import (
	"runtime"
	"unsafe"
)

// data is the address of a slice's first byte. The asynchronous copies get it from memory outside the Go heap, as
// [Memory] demands.
func data(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }

func (g *gpu) Synchronize() error { return g.do(cuCtxSynchronize) }

func (g *gpu) MemGetInfo() (free, total uint64, err error) {
	err = g.doPointers(cuMemGetInfo, uintptr(unsafe.Pointer(&free)), uintptr(unsafe.Pointer(&total)))
	return free, total, err
}

func (g *gpu) MemAlloc(n int) (Ptr, error) {
	var p Ptr
	if n < 1 {
		return 0, g.invalid(cuMemAlloc, "%d bytes", n)
	}
	if err := g.doPointers(cuMemAlloc, uintptr(unsafe.Pointer(&p)), uintptr(n)); err != nil {
		return 0, detail(err, "%d bytes", n)
	}
	return p, nil
}

func (g *gpu) MemFree(p Ptr) error { return g.do(cuMemFree, uintptr(p)) }

func (g *gpu) MemHostAlloc(n int) ([]byte, error) {
	const portable = 1 // page-locked for whatever context is current
	var p unsafe.Pointer
	if n < 1 {
		return nil, g.invalid(cuMemHostAlloc, "%d bytes", n)
	}
	if err := g.doPointers(cuMemHostAlloc, uintptr(unsafe.Pointer(&p)), uintptr(n), portable); err != nil {
		return nil, detail(err, "%d bytes", n)
	}
	return unsafe.Slice((*byte)(p), n), nil
}

func (g *gpu) MemFreeHost(b []byte) error { return g.do(cuMemFreeHost, uintptr(data(b))) }

// MemcpyHtoD waits for the default stream as well: with pageable memory the driver's function returns once it has read
// src, which may be before the device has it, and our streams do not wait for the default stream.
func (g *gpu) MemcpyHtoD(dst Ptr, src []byte) error {
	if len(src) == 0 {
		return nil
	}
	if err := g.doPointers(cuMemcpyHtoD, uintptr(dst), uintptr(data(src)), uintptr(len(src))); err != nil {
		return detail(err, "%d bytes", len(src))
	}
	return g.StreamSynchronize(0)
}

func (g *gpu) MemcpyDtoH(dst []byte, src Ptr) error {
	if len(dst) == 0 {
		return nil
	}
	err := g.doPointers(cuMemcpyDtoH, uintptr(data(dst)), uintptr(src), uintptr(len(dst)))
	return detail(err, "%d bytes", len(dst))
}

func (g *gpu) MemcpyHtoDAsync(dst Ptr, src []byte, s Stream) error {
	if len(src) == 0 {
		return nil
	}
	err := g.do(cuMemcpyHtoDAsync, uintptr(dst), uintptr(data(src)), uintptr(len(src)), uintptr(s))
	runtime.KeepAlive(src)
	return err
}

func (g *gpu) MemcpyDtoHAsync(dst []byte, src Ptr, s Stream) error {
	if len(dst) == 0 {
		return nil
	}
	err := g.do(cuMemcpyDtoHAsync, uintptr(data(dst)), uintptr(src), uintptr(len(dst)), uintptr(s))
	runtime.KeepAlive(dst)
	return err
}

func (g *gpu) MemcpyDtoDAsync(dst, src Ptr, n int, s Stream) error {
	if n <= 0 {
		return g.nothing(cuMemcpyDtoDAsync, n)
	}
	return g.do(cuMemcpyDtoDAsync, uintptr(dst), uintptr(src), uintptr(n), uintptr(s))
}

func (g *gpu) MemsetD8Async(dst Ptr, v uint8, n int, s Stream) error {
	if n <= 0 {
		return g.nothing(cuMemsetD8Async, n)
	}
	return g.do(cuMemsetD8Async, uintptr(dst), uintptr(v), uintptr(n), uintptr(s))
}

func (g *gpu) MemsetD32Async(dst Ptr, v uint32, n int, s Stream) error {
	if n <= 0 {
		return g.nothing(cuMemsetD32Async, n)
	}
	return g.do(cuMemsetD32Async, uintptr(dst), uintptr(v), uintptr(n), uintptr(s))
}

// invalid is the error of a call that is not worth making.
func (g *gpu) invalid(s symbol, format string, args ...any) error {
	return detail(&Error{Call: g.cuda.functions[s].name, Result: InvalidValue}, format, args...)
}

// nothing is the result of work on n <= 0 elements.
func (g *gpu) nothing(s symbol, n int) error {
	if n < 0 {
		return g.invalid(s, "%d elements", n)
	}
	return nil
}
