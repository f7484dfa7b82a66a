package programs

import (
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
)

// A program from bytes to bytes that adds two tensors, or takes one as it is, and clamps the result is one pass over them.

// onBytes is such a program.
type onBytes struct {
	limits [2]float32
	do     func(r *onBytes, dst, a, b []byte)
	from   [2]asm.Quantization
	to     asm.Quantization
	quant  asm.QuantKernel
}

// asBytes returns the program as a pass over bytes, nil if it is none.
func (r *Program) asBytes() *onBytes {
	p := r.program
	if r.codec.Kind != numeric.I8 && r.codec.Kind != numeric.U8 || p.Args > 2 || p.Args == 2 && len(p.Code) == 0 {
		return nil
	}
	b := &onBytes{limits: NoLimits(), do: (*onBytes).requantize, to: r.codec.Affine, quant: r.codec.Quant}
	for i, a := range r.args {
		if a.Data != nil || !a.whole || a.Codec.Kind != numeric.I8 && a.Codec.Kind != numeric.U8 {
			return nil
		}
		b.from[i] = a.Codec.Affine
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
			return nil
		}
		b.limits = Intersect(b.limits, lo, hi)
	}
	return b
}

func (r *onBytes) add(dst, x, y []byte) { r.quant.Add(dst, x, y, r.from[0], r.from[1], r.limits, r.to) }

func (r *onBytes) requantize(dst, x, _ []byte) { r.quant.Requantize(dst, x, r.from[0], r.limits, r.to) }

// bytes computes size elements from at on of batch n.
func (r *Program) bytes(before kernels.Mem, in []kernels.Mem, out kernels.Mem, n, at, size int) {
	var x [2][]byte
	for a := range r.args {
		arg := &r.args[a]
		m := before
		if arg.Input >= 0 {
			m = in[arg.Input]
		}
		x[a] = m.Host[n*arg.batch+at:][:size]
	}
	r.onBytes.do(r.onBytes, out.Host[n*r.stride+at:][:size], x[0], x[1])
}
