package cuda

import (
	"fmt"

	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/driver"
)

// Upload copies src to dst, behind what is in the stream.
func (b *Backend) Upload(s kernels.Stream, dst kernels.Mem, src []byte) error {
	return s.(*Stream).upload(driver.Ptr(dst.Addr), src)
}

// Download copies src to dst, behind what is in the stream, and waits for it.
func (b *Backend) Download(s kernels.Stream, dst []byte, src kernels.Mem) error {
	return s.(*Stream).download(dst, driver.Ptr(src.Addr))
}

// CacheBytes returns the size of the device's second-level cache, which all multiprocessors share.
func (s *Stream) CacheBytes() int { return s.ctx.Device().L2Bytes }

// Copy copies n bytes within the device's memory, behind what is in the stream.
func (s *Stream) Copy(dst, src kernels.Mem, n int) error {
	return s.ctx.MemcpyDtoDAsync(driver.Ptr(dst.Addr), driver.Ptr(src.Addr), n, s.handle)
}

// Clear sets n bytes of the device's memory to 0, behind what is in the stream.
func (s *Stream) Clear(m kernels.Mem, n int) error {
	return s.ctx.MemsetD8Async(driver.Ptr(m.Addr), 0, n, s.handle)
}

// room returns a buffer of at least n bytes that nothing uses any more; n is at most maxStaging.
func (s *Stream) room(n int) (*staging, error) {
	s.behindKernel = false
	p := &s.buffers[s.turn]
	s.turn = (s.turn + 1) % len(s.buffers)
	if err := p.wait(s.ctx); err != nil {
		return nil, err
	}
	if p.done == 0 {
		var err error
		if p.done, err = s.ctx.EventCreate(false); err != nil {
			return nil, err
		}
	}
	if len(p.data) >= n {
		return p, nil
	}
	if p.data != nil {
		if err := s.ctx.MemFreeHost(p.data); err != nil {
			return nil, err
		}
		p.data = nil
	}
	size := minStaging
	for size < n {
		size *= 2
	}
	data, err := s.ctx.MemHostAlloc(size)
	if err != nil {
		return nil, fmt.Errorf("allocate %d bytes of page-locked memory for copies: %w", size, err)
	}
	p.data = data
	return p, nil
}

// sent marks the copy through p that was enqueued last.
func (s *Stream) sent(p *staging) error {
	p.busy = true
	err := s.ctx.EventRecord(p.done, s.handle)
	if err != nil {
		p.busy = false
		_ = s.ctx.StreamSynchronize(s.handle) // the buffer must not be touched before; the error is the record's
	}
	return err
}

// upload copies src to dst in the stream. When it returns, src may be changed.
func (s *Stream) upload(dst driver.Ptr, src []byte) error {
	for len(src) > 0 {
		n := min(len(src), maxStaging)
		p, err := s.room(n)
		if err != nil {
			return err
		}
		copy(p.data, src[:n])
		if err := s.ctx.MemcpyHtoDAsync(dst, p.data[:n], s.handle); err != nil {
			return err
		}
		if err := s.sent(p); err != nil {
			return err
		}
		src, dst = src[n:], dst+driver.Ptr(n)
	}
	return nil
}

// download fills dst from src, behind what is in the stream.
func (s *Stream) download(dst []byte, src driver.Ptr) error {
	var last *staging // the copy that was enqueued before, and where its bytes go
	var to []byte
	for len(dst) > 0 || last != nil {
		var p *staging
		n := min(len(dst), maxStaging)
		if n > 0 {
			var err error
			if p, err = s.room(n); err != nil {
				return err
			}
			if err := s.ctx.MemcpyDtoHAsync(p.data[:n], src, s.handle); err != nil {
				return err
			}
			if err := s.sent(p); err != nil {
				return err
			}
		}
		if last != nil {
			if err := last.wait(s.ctx); err != nil {
				return err
			}
			copy(to, last.data)
		}
		last, to = p, dst[:n]
		dst, src = dst[n:], src+driver.Ptr(n)
	}
	return nil
}
