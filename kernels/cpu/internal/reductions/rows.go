package reductions

import (
	"fmt"
	"sync"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// room is what one worker keeps partial results in.
type room struct{ floats []float32 }

var rooms = sync.Pool{New: func() any { return &room{} }}

// takeRoom returns room for at least n elements, to be put back.
func takeRoom(n int) *room {
	r := rooms.Get().(*room)
	if len(r.floats) < n {
		r.floats = work.AlignedFloats(n)
	}
	return r
}

// rowKernel computes rows of float32 that do not depend on each other, and then the layer's program over all of them.
type rowKernel struct {
	rows, size int                         // of a row: elements, as many of the input as of the output
	cost       int                         // bytes that computing an element is as much work as
	row        func(u int, y, x []float32) // computes row u; several at a time
	program    *programs.Program
	job        *work.Job[rowLaunch]
}

// rowLaunch is the state of one launch.
type rowLaunch struct {
	kernel *rowKernel
	x, y   []float32
}

// bindRows completes a kernel with the layer's program.
func bindRows(b kernels.Binding, isa asm.Features, k *rowKernel) (kernels.Kernel, error) {
	var err error
	k.program, err = programs.Trailing(b, isa)
	k.job = work.NewJob((*rowLaunch).do)
	return k, err
}

// do computes a row.
func (l *rowLaunch) do(u, _ int) {
	k := l.kernel
	k.row(u, l.y[u*k.size:][:k.size], l.x[u*k.size:][:k.size])
}

// Launch computes all rows.
func (k *rowKernel) Launch(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	if x := numeric.View[float32](in[0].Host); k.size > 0 {
		k.job.Each(work.LoopOver(st, k.cost*len(x)), k.rows, rowLaunch{k, x, numeric.View[float32](out[0].Host)})
	}
	if k.program != nil {
		k.program.Launch(work.Loop(st), out[0], in, out[0])
	}
	return nil
}

// quantizedRows returns what the bytes of a layer's result stand for, nil where it is float32; and why a kernel of rows of float32
// does not compute the layer.
func quantizedRows(b kernels.Binding) (*asm.Quantization, error) {
	y := b.Layer.Outputs[0]
	if t := b.Out[0].Type; len(b.Out) != 1 || t != numeric.I8 && t != numeric.U8 {
		if err := b.Only(numeric.F32); err != nil {
			return nil, err
		}
		_, err := programs.Trailing(b, 0)
		return nil, err
	}
	switch {
	case b.In[0].Type != numeric.F32:
		return nil, fmt.Errorf("input %v is not %s", b.In[0], numeric.F32)
	case !y.Quantized() || y.Range.PerChannel():
		return nil, fmt.Errorf("output %s is not 8-bit with one scale", y.Name)
	case b.Layer.Epilogue.Args > 0:
		return nil, fmt.Errorf("the kernel has no epilogue before bytes")
	}
	return &asm.Quantization{Scale: y.Range.ScaleAt(0), Zero: y.Range.ZeroAt(0), Signed: y.Type == numeric.I8}, nil
}

// byteRows is a rowKernel whose results are quantised while they are in the cache.
type byteRows struct {
	rowKernel
	to    asm.Quantization
	quant asm.QuantKernel
	job   *work.Job[byteRowsLaunch]
}

// byteRowsLaunch is the state of one launch.
type byteRowsLaunch struct {
	kernel *byteRows
	x      []float32
	y      []byte
}

// do computes a row.
func (l *byteRowsLaunch) do(u, _ int) {
	k := l.kernel
	r := takeRoom(k.size)
	k.row(u, r.floats[:k.size], l.x[u*k.size:][:k.size])
	k.quant.Quantize(l.y[u*k.size:][:k.size], r.floats[:k.size], k.to)
	rooms.Put(r)
}

// Launch computes all rows.
func (k *byteRows) Launch(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	if x := numeric.View[float32](in[0].Host); k.size > 0 {
		k.job.Each(work.LoopOver(st, k.cost*len(x)), k.rows, byteRowsLaunch{k, x, out[0].Host})
	}
	return nil
}
