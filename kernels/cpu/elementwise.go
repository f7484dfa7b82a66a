package cpu

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels/cpu/asm"
)

// vectorKernel computes element-wise operations over slices.
type vectorKernel struct{}

// vectorFor returns the kernel for what features allow.
func vectorFor(asm.Features) vectorKernel { return vectorKernel{} }

// instr computes one instruction over slices of equal length; dst may be any of them.
func (k *vectorKernel) instr(dst, x, y, z []float32, in *graph.Instr) {
	switch in.Op {
	case graph.EltAdd:
		for i := range dst {
			dst[i] = x[i] + y[i]
		}
	case graph.EltSub:
		for i := range dst {
			dst[i] = x[i] - y[i]
		}
	case graph.EltMul:
		for i := range dst {
			dst[i] = x[i] * y[i]
		}
	case graph.EltRelu:
		for i := range dst {
			dst[i] = max(x[i], 0)
		}
	case graph.EltClamp:
		lo, hi := in.Imm[0], in.Imm[1]
		for i := range dst {
			dst[i] = max(lo, min(hi, x[i]))
		}
	default:
		scalarInstr(dst, x, y, z, in)
	}
}

// scalarInstr computes an instruction one element at a time.
func scalarInstr(dst, x, y, z []float32, in *graph.Instr) {
	arity := in.Op.Info().Arity
	for i := range dst {
		var a, b, c float32
		if arity > 0 {
			a = x[i]
		}
		if arity > 1 {
			b = y[i]
		}
		if arity > 2 {
			c = z[i]
		}
		dst[i] = in.Eval(a, b, c)
	}
}
