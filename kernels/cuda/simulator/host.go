package simulator

import (
	"bytes"
	"errors"
	"hash/maphash"
	"unsafe"

	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/internal/ptxsim"
)

// unfilled is what page-locked memory holds from the moment that a copy to it is enqueued until the copy is done: whoever
// reads it too early gets nothing that looks like a result.
const unfilled = 0xa5

// hashSeed is that of all hashes of sources.
var hashSeed = maphash.MakeSeed()

// staged is what is known of a copy's page-locked memory, which the host must leave alone until the copy is done.
type staged struct {
	source bool // sum holds
	sum    uint64
	filled bool // with unfilled
}

// spanOf is the addresses of host memory.
func spanOf(b []byte) ptxsim.Range {
	at := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
	return ptxsim.Range{From: at, To: at + uint64(len(b))}
}

// usesHost reports whether t reads or writes some of b.
func (t *task) usesHost(b []byte) bool { return overlap(t.from, b) || overlap(t.to, b) }

// overlap reports whether a and b have bytes in common.
func overlap(a, b []byte) bool {
	x, y := spanOf(a), spanOf(b)
	return len(a) > 0 && len(b) > 0 && x.From < y.To && y.From < x.To
}

// locked reports whether b lies within memory of MemHostAlloc.
func (s *Context) locked(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	x := spanOf(b)
	for p, n := range s.host {
		if at := uint64(uintptr(unsafe.Pointer(p))); at <= x.From && x.To <= at+uint64(n) {
			return true
		}
	}
	return false
}

// stage prepares to find out whether the host leaves the memory of copy t alone. Where other copies through the same memory
// are pending nothing is to be found out.
func (s *Context) stage(t *task) {
	if len(t.from)+len(t.to) == 0 || s.pending(func(o *task) bool { return o.usesHost(t.from) || o.usesHost(t.to) }) != nil {
		return
	}
	if len(t.from) > 0 {
		t.staged.source, t.staged.sum = true, maphash.Bytes(hashSeed, t.from)
		return
	}
	for i := range t.to {
		t.to[i] = unfilled
	}
	t.staged.filled = true
}

// intact is the error of a copy where the host has changed what it was to read or to fill.
func (t *task) intact() error {
	switch {
	case t.staged.source && maphash.Bytes(hashSeed, t.from) != t.staged.sum:
		return errors.New("the host has changed the source before the copy was done")
	case t.staged.filled && bytes.Count(t.to, []byte{unfilled}) != len(t.to):
		return errors.New("the host has written to where the copy goes before it was done")
	}
	return nil
}

// MemHostAlloc returns memory that holds nothing of use.
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
	b := bytes.Repeat([]byte{unfilled}, n)
	s.host[&b[0]] = n
	return b, nil
}

// MemFreeHost takes it that the driver does not wait: its manual does not say that it does.
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
	whole := unsafe.Slice(&b[0], s.host[&b[0]])
	if t := s.pending(func(t *task) bool { return t.usesHost(whole) }); t != nil {
		return s.misuse(call, "%d bytes are given back and %s is not done", len(whole), t.name())
	}
	delete(s.host, &b[0])
	return nil
}
