package cpu

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/asm"
)

// registers is an epilogue as convolutions and matrix products compute it on their results in registers: an optional
// residual of the output's shape, then a clamp.
type registers struct {
	residual int // index among the layer's inputs; -1 for none
	limits   [2]float32
}

// inRegisters reads the layer's epilogue as such; the error says which operation does not fit.
func inRegisters(b kernels.Binding) (registers, error) {
	l := b.Layer
	e := registers{residual: -1, limits: NoLimits()}
	p := l.Epilogue
	first := len(l.OpInputs()) - 1 // argument a of the program is input first+a
	clamped := false
	for i, in := range p.Code {
		last := 0
		if i > 0 {
			last = p.Args + i - 1
		}
		switch {
		case in.Op == graph.EltAdd && (in.Arg[0] == last || in.Arg[1] == last):
			arg := in.Arg[0] + in.Arg[1] - last
			switch {
			case clamped:
				return e, fmt.Errorf("a residual is added after the activation")
			case e.residual >= 0 || arg == 0 || arg >= p.Args:
				return e, fmt.Errorf("epilogue %s adds more than one residual", p)
			}
			e.residual = first + arg
			if d := b.In[e.residual]; b.Consts[e.residual] != nil || d.Type != graph.F32 || graph.Count(d.Dims) != graph.Count(b.Out[0].Dims) {
				return e, fmt.Errorf("residual %v is not an activation of the output's shape", d)
			}
		case in.Op == graph.EltRelu && in.Arg[0] == last:
			e.limits, clamped = intersect(e.limits, 0, float32(math.Inf(1))), true
		case in.Op == graph.EltClamp && in.Arg[0] == last:
			e.limits, clamped = intersect(e.limits, in.Imm[0], in.Imm[1]), true
		default:
			return e, fmt.Errorf("the kernel has no %s in registers", in.Op)
		}
	}
	return e, nil
}

// intersect returns the clamp to limits followed by the clamp to lo and hi.
func intersect(limits [2]float32, lo, hi float32) [2]float32 {
	return [2]float32{max(lo, min(hi, limits[0])), max(lo, min(hi, limits[1]))}
}

// epilogue is how a layer's epilogue is computed in float32: in registers, or else by a program over the result.
type epilogue struct {
	registers
	program *programRun
}

// matchEpilogue returns why a layer's epilogue cannot be computed.
func matchEpilogue(b kernels.Binding) error {
	_, err := newEpilogue(b, 0)
	return err
}

func newEpilogue(b kernels.Binding, isa asm.Features) (epilogue, error) {
	r, err := inRegisters(b)
	if err == nil {
		return epilogue{registers: r}, nil
	}
	e := epilogue{registers: registers{residual: -1, limits: NoLimits()}}
	e.program, err = trailing(b, isa)
	return e, err
}

// trailing returns the layer's epilogue as a program over its float32 output; nil if it has none.
func trailing(b kernels.Binding, isa asm.Features) (*programRun, error) {
	if b.Layer.Epilogue.Args == 0 {
		return nil, nil
	}
	return newProgramRun(b, b.Layer.Epilogue, len(b.Layer.OpInputs()), &own{desc: b.Out[0]}, isa)
}
