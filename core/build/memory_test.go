package build

import (
	"bytes"
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
)

// countingBackend is a device that counts what is uploaded to it.
type countingBackend struct {
	run.Backend
	uploads, allocated, freed int
}

func (b *countingBackend) Alloc(n int) (kernels.Mem, error) {
	b.allocated++
	return kernels.Mem{Host: make([]byte, n)}, nil
}
func (b *countingBackend) Free(m kernels.Mem) {
	if m.Host != nil {
		b.freed++
	}
}
func (b *countingBackend) Slice(m kernels.Mem, offset, n int) kernels.Mem {
	return kernels.Mem{Host: m.Host[offset : offset+n]}
}
func (b *countingBackend) Upload(_ kernels.Stream, dst kernels.Mem, src []byte) error {
	b.uploads++
	copy(dst.Host, src)
	return nil
}

// TestInputsAreFilledOnce takes the inputs of measurements: the numbers of a tensor are made when the memory does not hold
// them yet, and are the same whatever was measured before.
func TestInputsAreFilledOnce(t *testing.T) {
	b := &countingBackend{}
	u := &tuner{backend: b}
	for _, c := range []struct {
		i       int
		typ     numeric.DataType
		n       int
		uploads int // so far
	}{
		{0, numeric.F16, 1000, 1}, {0, numeric.F16, 1000, 1}, {0, numeric.F16, 10, 1}, {0, numeric.F16, 2000, 2}, {1, numeric.F16, 2000, 3},
		{0, numeric.I8, 10, 4}, {0, numeric.F16, 2000, 5}, {0, numeric.F16, fillPeriod, 6},
	} {
		mem, err := u.input(c.i, kernels.Desc{Type: c.typ, Dims: []int{c.n}})
		if err != nil || b.uploads != c.uploads {
			t.Fatalf("%+v: %v, %d uploads", c, err, b.uploads)
		}
		want := make([]byte, c.n*c.typ.Size())
		fill(want, c.typ)
		if !bytes.Equal(mem.Host, want) {
			t.Errorf("%+v: the memory holds other numbers", c)
		}
		if _, err := u.memory(&u.outputs, 0, c.n); err != nil {
			t.Fatal(err)
		}
	}
	u.close()
	if b.allocated == 0 || b.allocated != b.freed {
		t.Errorf("%d pieces of memory taken, %d given back", b.allocated, b.freed)
	}
}
