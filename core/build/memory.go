package build

import (
	"math"
	"math/rand/v2"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
)

// buffer is memory of the device that one measurement after another uses as its i-th input, or as its i-th output. What an
// input was filled with stays: kernels do not write their inputs.
type buffer struct {
	mem    kernels.Mem
	size   int
	typ    numeric.DataType // of the elements that it was filled with
	filled int              // bytes
}

// memory returns n bytes of the i-th of some buffers.
func (t *tuner) memory(list *[]buffer, i, n int) (kernels.Mem, error) {
	for len(*list) <= i {
		*list = append(*list, buffer{})
	}
	m := &(*list)[i]
	if m.size < n {
		t.backend.Free(m.mem)
		*m = buffer{}
		mem, err := t.backend.Alloc(n)
		if err != nil {
			return mem, err
		}
		*m = buffer{mem: mem, size: n}
	}
	return t.backend.Slice(m.mem, 0, n), nil
}

// input returns memory that holds a tensor of numbers, as the i-th input. The tactics of a layer share it: to make and copy
// a large tensor takes a hundred times as long as a GPU's kernel that reads it.
func (t *tuner) input(i int, d kernels.Desc) (kernels.Mem, error) {
	n := d.Span()
	mem, err := t.memory(&t.inputs, i, n)
	if err != nil {
		return mem, err
	}
	b := &t.inputs[i]
	if b.typ == d.Type && b.filled >= n {
		return mem, nil
	}
	data := make([]byte, n)
	fill(data, d.Type)
	if err := t.backend.Upload(t.stream, mem, data); err != nil {
		b.filled = 0
		return mem, err
	}
	b.typ, b.filled = d.Type, n
	return mem, nil
}

// fillPeriod is after how many bytes the numbers of fill begin again.
const fillPeriod = 1 << 20

// fill stores numbers of the size that activations have, so that no kernel meets subnormals or NaN. Those of a type that
// begins a longer slice are those of a shorter one.
func fill(data []byte, typ numeric.DataType) {
	rnd := rand.New(rand.NewPCG(1, 2))
	first := data[:min(len(data), fillPeriod)]
	switch typ {
	case numeric.F32:
		v := numeric.View[uint32](first)
		for i := range v {
			v[i] = math.Float32bits(rnd.Float32()*4 - 2)
		}
	case numeric.F16:
		v := numeric.View[uint16](first)
		for i := range v {
			v[i] = numeric.F32ToF16(rnd.Float32()*4 - 2)
		}
	case numeric.I8, numeric.U8:
		for i := range first {
			first[i] = byte(rnd.Uint32())
		}
	}
	for n := len(first); n < len(data); n *= 2 {
		copy(data[n:], data[:n])
	}
}

// close gives the memory back.
func (t *tuner) close() {
	if t.sweep != nil {
		t.backend.Free(t.sweep.mem)
	}
	for _, list := range [][]buffer{t.inputs, t.outputs} {
		for _, m := range list {
			t.backend.Free(m.mem)
		}
	}
}
