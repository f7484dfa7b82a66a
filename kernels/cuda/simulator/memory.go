package simulator

import (
	"errors"

	"github.com/trtui/trtui/kernels/cuda/driver"
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
	delete(s.blocks, p)
	return s.memory.Free(uint64(p))
}

func (s *Context) MemHostAlloc(n int) ([]byte, error) {
	const call = "cuMemHostAlloc"
	unlock, err := s.enter(call)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if n < 1 {
		return nil, fail(call, driver.InvalidValue, "%d bytes", n)
	}
	b := make([]byte, n)
	s.host[&b[0]] = n
	return b, nil
}

func (s *Context) MemFreeHost(b []byte) error {
	const call = "cuMemFreeHost"
	unlock, err := s.enter(call)
	if err != nil {
		return err
	}
	defer unlock()
	if len(b) == 0 || s.host[&b[0]] == 0 {
		return fail(call, driver.InvalidValue, "no page-locked memory starts there")
	}
	delete(s.host, &b[0])
	return nil
}

// invalidAddress is the driver's error for what the simulator's memory refuses.
func invalidAddress(call string, err error) error {
	if err == nil {
		return nil
	}
	return fail(call, driver.InvalidValue, "%v", err)
}

func (s *Context) MemcpyHtoD(dst driver.Ptr, src []byte) error {
	return s.MemcpyHtoDAsync(dst, src, 0)
}

func (s *Context) MemcpyDtoH(dst []byte, src driver.Ptr) error {
	return s.MemcpyDtoHAsync(dst, src, 0)
}

func (s *Context) MemcpyHtoDAsync(dst driver.Ptr, src []byte, st driver.Stream) error {
	const call = "cuMemcpyHtoDAsync_v2"
	return s.work(call, st, func() error { return invalidAddress(call, s.memory.Write(uint64(dst), src)) })
}

func (s *Context) MemcpyDtoHAsync(dst []byte, src driver.Ptr, st driver.Stream) error {
	const call = "cuMemcpyDtoHAsync_v2"
	return s.work(call, st, func() error { return invalidAddress(call, s.memory.Read(uint64(src), dst)) })
}

func (s *Context) MemcpyDtoDAsync(dst, src driver.Ptr, n int, st driver.Stream) error {
	const call = "cuMemcpyDtoDAsync_v2"
	return s.work(call, st, func() error { return invalidAddress(call, s.memory.Copy(uint64(dst), uint64(src), int64(n))) })
}

func (s *Context) MemsetD8Async(dst driver.Ptr, v uint8, n int, st driver.Stream) error {
	const call = "cuMemsetD8Async"
	return s.work(call, st, func() error { return invalidAddress(call, s.memory.Fill(uint64(dst), v, int64(n))) })
}

func (s *Context) MemsetD32Async(dst driver.Ptr, v uint32, n int, st driver.Stream) error {
	const call = "cuMemsetD32Async"
	return s.work(call, st, func() error {
		word := []byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)}
		var errs error
		for i := range n {
			if errs = errors.Join(errs, s.memory.Write(uint64(dst)+uint64(4*i), word)); errs != nil {
				break
			}
		}
		return invalidAddress(call, errs)
	})
}
