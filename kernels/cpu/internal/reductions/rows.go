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
	rows, size int                             // of a row: elements, as many of the input as of the output
	cost       int                             // bytes that computing an element is as much work as
	compute    func(first int, y, x []float32) // computes rows that follow each other; several times at once
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

// rowsUnit is how many elements of rows, or one row, are a unit of work.
const rowsUnit = 4096

// perUnit returns the rows of a unit.
func (k *rowKernel) perUnit() int { return max(1, rowsUnit/k.size) }

// units returns how many there are.
func (k *rowKernel) units() int { return (k.rows + k.perUnit() - 1) / k.perUnit() }

// unit returns the rows of a unit, and where its elements begin and end.
func (k *rowKernel) unit(u int) (first, from, to int) {
	first = u * k.perUnit()
	return first, first * k.size, min(k.rows, first+k.perUnit()) * k.size
}

// do computes the rows of a unit.
func (l *rowLaunch) do(u, _ int) {
	first, from, to := l.kernel.unit(u)
	l.kernel.compute(first, l.y[from:to], l.x[from:to])
}

// Launch computes all rows.
func (k *rowKernel) Launch(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	if x := numeric.View[float32](in[0].Host); k.size > 0 {
		k.job.Each(work.LoopOver(st, k.cost*len(x)), k.units(), rowLaunch{k, x, numeric.View[float32](out[0].Host)})
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

// do computes the rows of a unit.
func (l *byteRowsLaunch) do(u, _ int) {
	k := l.kernel
	first, from, to := k.unit(u)
	r := takeRoom(to - from)
	k.compute(first, r.floats[:to-from], l.x[from:to])
	k.quant.Quantize(l.y[from:to], r.floats[:to-from], k.to)
	rooms.Put(r)
}

// Launch computes all rows.
func (k *byteRows) Launch(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	if x := numeric.View[float32](in[0].Host); k.size > 0 {
		k.job.Each(work.LoopOver(st, k.cost*len(x)), k.units(), byteRowsLaunch{k, x, out[0].Host})
	}
	return nil
}
