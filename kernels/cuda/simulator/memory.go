package simulator

import (
	"fmt"

	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/internal/ptxsim"
)

func (s *Context) MemGetInfo() (free, total uint64, err error) {
	unlock, err := s.enter("cuMemGetInfo_v2")
	if err != nil {
		return 0, 0, err
	}
	defer unlock()
	return memoryBytes - uint64(s.memory.Used()), memoryBytes, nil
}

func (s *Context) MemAlloc(n int) (driver.Ptr, error) {
	const call = "cuMemAlloc_v2"
	unlock, err := s.enter(call)
	if err != nil {
		return 0, err
	}
	defer unlock()
	if n < 1 {
		return 0, fail(call, driver.InvalidValue, "%d bytes", n)
	}
	p, err := s.memory.Alloc(int64(n))
	if err != nil {
		return 0, fail(call, driver.OutOfMemory, "%d bytes", n)
	}
	s.blocks[driver.Ptr(p)] = n
	return driver.Ptr(p), nil
}

// MemFree waits for all work, as drivers do; but not for what other goroutines have done at once, which may take a person's
// time.
func (s *Context) MemFree(p driver.Ptr) error {
	const call = "cuMemFree_v2"
	unlock, err := s.enter(call)
	if err != nil {
		return err
	}
	defer unlock()
	if _, ok := s.blocks[p]; !ok {
		return fail(call, driver.InvalidValue, "%#x is no allocation", uint64(p))
	}
	if s.Order != Eager || len(s.busy) == 0 {
		if err := s.drain(call); err != nil {
			return err
		}
	}
	delete(s.blocks, p)
	return s.memory.Free(uint64(p))
}

// invalidAddress is the driver's error for what the simulator's memory refuses.
func invalidAddress(call string, err error) error {
	if err == nil {
		return nil
	}
	return fail(call, driver.InvalidValue, "%v", err)
}

// copyNow copies in the default stream and waits for it; w has what it reads or writes. The host's memory may be any.
func (s *Context) copyNow(call string, p driver.Ptr, n int, w node) error {
	q, unlock, err := s.queue(call, 0)
	if err != nil {
		return err
	}
	defer unlock()
	if err := invalidAddress(call, s.memory.Contains(uint64(p), int64(n))); err != nil {
		return err
	}
	w.what = sized(n, p)
	t, err := s.submit(call, q, w)
	if err != nil {
		return err
	}
	return s.wait(call, t)
}

// rangeAt is n bytes at p.
func rangeAt(p driver.Ptr, n int) []ptxsim.Range {
	if n <= 0 {
		return nil
	}
	return []ptxsim.Range{{From: uint64(p), To: uint64(p) + uint64(n)}}
}

// sized names bytes of device memory.
func sized(n int, p driver.Ptr) string { return fmt.Sprintf("of %d bytes at %#x", n, uint64(p)) }

func (s *Context) MemcpyHtoD(dst driver.Ptr, src []byte) error {
	return s.copyNow("cuMemcpyHtoD_v2", dst, len(src), node{writes: rangeAt(dst, len(src)), run: func(*stream) error { return s.memory.Write(uint64(dst), src) }})
}

func (s *Context) MemcpyDtoH(dst []byte, src driver.Ptr) error {
	return s.copyNow("cuMemcpyDtoH_v2", src, len(dst), node{reads: rangeAt(src, len(dst)), run: func(*stream) error { return s.memory.Read(uint64(src), dst) }})
}

func (s *Context) MemcpyHtoDAsync(dst driver.Ptr, src []byte, st driver.Stream) error {
	return s.work("cuMemcpyHtoDAsync_v2", st, dst, len(src), node{from: src, run: func(*stream) error { return s.memory.Write(uint64(dst), src) }})
}

func (s *Context) MemcpyDtoHAsync(dst []byte, src driver.Ptr, st driver.Stream) error {
	return s.work("cuMemcpyDtoHAsync_v2", st, src, len(dst), node{to: dst, run: func(*stream) error { return s.memory.Read(uint64(src), dst) }})
}

func (s *Context) MemcpyDtoDAsync(dst, src driver.Ptr, n int, st driver.Stream) error {
	const call = "cuMemcpyDtoDAsync_v2"
	if err := invalidAddress(call, s.memory.Contains(uint64(src), int64(n))); err != nil {
		return err
	}
	return s.work(call, st, dst, n, node{reads: rangeAt(src, n), run: func(*stream) error { return s.memory.Copy(uint64(dst), uint64(src), int64(n)) }})
}

func (s *Context) MemsetD8Async(dst driver.Ptr, v uint8, n int, st driver.Stream) error {
	return s.work("cuMemsetD8Async", st, dst, n, node{run: func(*stream) error { return s.memory.Fill(uint64(dst), v, int64(n)) }})
}

func (s *Context) MemsetD32Async(dst driver.Ptr, v uint32, n int, st driver.Stream) error {
	return s.work("cuMemsetD32Async", st, dst, 4*n, node{run: func(*stream) error {
		word := []byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)}
		for i := range n {
			if err := s.memory.Write(uint64(dst)+uint64(4*i), word); err != nil {
				return err
			}
		}
		return nil
	}})
}
