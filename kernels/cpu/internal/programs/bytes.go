package programs

import (
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
)

// A program from bytes to bytes is one pass over them where it adds two tensors, or takes one as it is, and clamps the result, and by
// way of a table where it reads one tensor and numbers.

// onBytes is such a program.
type onBytes struct {
	limits [2]float32
	do     func(r *onBytes, dst, a, b []byte)
	from   [2]asm.Quantization
	to     asm.Quantization
	quant  asm.QuantKernel
	inputs []int      // the arguments that are tensors, one or two
	table  *[256]byte // of the result for each byte, or nil
}

// asBytes returns the program as a pass over bytes, nil if it is none.
func (r *Program) asBytes() *onBytes {
	p := r.program
	if r.codec.Kind != numeric.I8 && r.codec.Kind != numeric.U8 {
		return nil
	}
	b := &onBytes{limits: NoLimits(), do: (*onBytes).requantize, to: r.codec.Affine, quant: r.codec.Quant}
	for i, a := range r.args {
		switch {
		case a.one:
		case len(b.inputs) == 2 || a.Data != nil || !a.whole || a.Codec.Kind != numeric.I8 && a.Codec.Kind != numeric.U8:
			return nil
		default:
			b.from[len(b.inputs)] = a.Codec.Affine
			b.inputs = append(b.inputs, i)
		}
	}
	switch {
	case b.sums(p):
		return b
	case len(b.inputs) == 1:
		b.do, b.table = (*onBytes).look, new([256]byte)
		r.tabulate(b)
		return b
	}
	return nil
}

// sums reads a program that adds or takes and clamps, and reports whether p is one.
func (b *onBytes) sums(p elementwise.Program) bool {
	if len(b.inputs) != p.Args || p.Args == 2 && len(p.Code) == 0 {
		return false
	}
	for i, in := range p.Code {
		last := 0
		if i > 0 {
			last = p.Args + i - 1
		}
		if in.Op == elementwise.Add && i == 0 && p.Args == 2 && in.Arg[0]+in.Arg[1] == 1 {
			b.do = (*onBytes).add
			continue
		}
		lo, hi, ok := ClampOf(in, last)
		if !ok {
			return false
		}
		b.limits = Intersect(b.limits, lo, hi)
	}
	return true
}

// tabulate computes the program of each byte.
func (r *Program) tabulate(b *onBytes) {
	var bytes [256]byte
	for i := range bytes {
		bytes[i] = byte(i)
	}
	var reals [256]float32
	b.quant.Dequantize(reals[:], bytes[:], b.from[0])
	values := make([]float32, len(r.args)+len(r.program.Code))
	for i, a := range r.args {
		if a.one {
			values[i] = a.Data[0]
		}
	}
	for i, x := range reals {
		values[b.inputs[0]] = x
		reals[i] = r.program.Eval(values)
	}
	b.quant.Quantize(b.table[:], reals[:], b.to)
}

func (r *onBytes) add(dst, x, y []byte) { r.quant.Add(dst, x, y, r.from[0], r.from[1], r.limits, r.to) }

func (r *onBytes) look(dst, x, _ []byte) { r.quant.Map(dst, x, r.table) }

func (r *onBytes) requantize(dst, x, _ []byte) { r.quant.Requantize(dst, x, r.from[0], r.limits, r.to) }

// bytes computes size elements from at on of batch n.
func (r *Program) bytes(before kernels.Mem, in []kernels.Mem, out kernels.Mem, n, at, size int) {
	var x [2][]byte
	for i, a := range r.onBytes.inputs {
		arg := &r.args[a]
		m := before
		if arg.Input >= 0 {
			m = in[arg.Input]
		}
		x[i] = m.Host[n*arg.batch+at:][:size]
	}
	r.onBytes.do(r.onBytes, out.Host[n*r.stride+at:][:size], x[0], x[1])
}
