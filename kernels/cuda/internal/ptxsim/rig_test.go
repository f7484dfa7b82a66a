package ptxsim

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// rig is a program and its device, for tests.
type rig struct {
	t   testing.TB
	mem *Memory
	p   *Program
	opt Options
}

func newRig(t testing.TB, text string) *rig {
	t.Helper()
	m, err := ptx.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return rigOf(t, m)
}

func rigOf(t testing.TB, m *ptx.Module) *rig {
	t.Helper()
	r := &rig{t: t, mem: NewMemory(0)}
	var err error
	if r.p, err = Load(r.mem, m); err != nil {
		t.Fatal(err)
	}
	return r
}

// put uploads a slice of numbers or structs.
func (r *rig) put(v any) uint64 {
	r.t.Helper()
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
		r.t.Fatal(err)
	}
	addr := r.alloc(b.Len())
	if err := r.mem.Write(addr, b.Bytes()); err != nil {
		r.t.Fatal(err)
	}
	return addr
}

// alloc makes n bytes that hold nothing.
func (r *rig) alloc(n int) uint64 {
	r.t.Helper()
	addr, err := r.mem.Alloc(int64(n))
	if err != nil {
		r.t.Fatal(err)
	}
	return addr
}

// get downloads n numbers, all of which a kernel must have written.
func get[T any](r *rig, addr uint64, n int) []T {
	r.t.Helper()
	out := make([]T, n)
	p := make([]byte, binary.Size(out))
	if have, err := r.mem.Written(addr, int64(len(p))); err != nil || have != int64(len(p)) {
		r.t.Fatalf("%d of %d bytes are written (%v)", have, len(p), err)
	}
	if err := r.mem.Read(addr, p); err != nil {
		r.t.Fatal(err)
	}
	if err := binary.Read(bytes.NewReader(p), binary.LittleEndian, out); err != nil {
		r.t.Fatal(err)
	}
	return out
}

// try runs a kernel; args are its parameters, of their exact sizes.
func (r *rig) try(name string, grid, block [3]int, shared int, args ...any) (*Stats, error) {
	r.t.Helper()
	size, offsets, err := r.p.ParamBytes(name)
	if err != nil {
		r.t.Fatal(err)
	}
	if len(offsets) != len(args) {
		r.t.Fatalf("kernel %s takes %d parameters, not %d", name, len(offsets), len(args))
	}
	params := make([]byte, size)
	for i, a := range args {
		var b bytes.Buffer
		if err := binary.Write(&b, binary.LittleEndian, a); err != nil {
			r.t.Fatal(err)
		}
		copy(params[offsets[i]:], b.Bytes())
	}
	return r.p.Launch(r.t.Context(), name, Shape{Grid: grid, Block: block, Shared: shared}, params, r.opt)
}

func (r *rig) run(name string, grid, block [3]int, args ...any) *Stats {
	r.t.Helper()
	s, err := r.try(name, grid, block, 0, args...)
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

// faultOf is the kind of fault that err is; "" of none.
func faultOf(err error) Kind {
	var f *Fault
	if errors.As(err, &f) {
		return f.Kind
	}
	return ""
}

// line is a grid or block of one dimension.
func line(n int) [3]int { return [3]int{n, 1, 1} }
