package programs

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
)

// NoLimits clamps nothing.
func NoLimits() [2]float32 {
	return [2]float32{float32(math.Inf(-1)), float32(math.Inf(1))}
}

// registers is an epilogue as convolutions and matrix products compute it on their results in registers: of products a row, then an
// optional residual of the output's shape, then a clamp.
type registers struct {
	Row      int // index among the layer's inputs of a constant for each column, which a product adds as its bias; 0 for none
	Residual int // index among the layer's inputs; -1 for none
	Limits   [2]float32
}

// inRegisters reads the layer's epilogue as such; the error says which operation does not fit.
func inRegisters(b kernels.Binding, product bool) (registers, error) {
	l := b.Layer
	e := registers{Residual: -1, Limits: NoLimits()}
	p := l.Epilogue
	first := len(l.OpInputs()) - 1 // argument a of the program is input first+a
	clamped := false
	for i, in := range p.Code {
		last := 0
		if i > 0 {
			last = p.Args + i - 1
		}
		switch {
		case product && RowAt(b, i) > 0:
			e.Row = RowAt(b, i)
		case in.Op == elementwise.Add && (in.Arg[0] == last || in.Arg[1] == last):
			arg := in.Arg[0] + in.Arg[1] - last
			switch {
			case clamped:
				return e, fmt.Errorf("a residual is added after the activation")
			case e.Residual >= 0 || arg == 0 || arg >= p.Args:
				return e, fmt.Errorf("epilogue %s adds more than one residual", p)
			}
			e.Residual = first + arg
			if d := b.In[e.Residual]; b.Consts[e.Residual] != nil || d.Type != numeric.F32 || numeric.Count(d.Dims) != numeric.Count(b.Out[0].Dims) {
				return e, fmt.Errorf("residual %v is not an activation of the output's shape", d)
			}
		default:
			lo, hi, ok := ClampOf(in, last)
			if !ok {
				return e, fmt.Errorf("the kernel has no %s in registers", in.Op)
			}
			e.Limits, clamped = Intersect(e.Limits, lo, hi), true
		}
	}
	return e, nil
}

// ClampOf returns the limits of an instruction that but clamps a value.
func ClampOf(in elementwise.Instr, value int) (lo, hi float32, ok bool) {
	switch {
	case in.Arg[0] != value:
		return 0, 0, false
	case in.Op == elementwise.Relu:
		return 0, float32(math.Inf(1)), true
	case in.Op == elementwise.Clamp:
		return in.Imm[0], in.Imm[1], true
	}
	return 0, 0, false
}

// RoundingAt returns the scale and zero point of the unsigned bytes to which the instructions from the one at on round a value, as
// match.Rounding has it, and how many these are: 0 where they do not.
func RoundingAt(p elementwise.Program, at, value int) (scale float32, zero int32, steps int) {
	if len(p.Code)-at < 8 {
		return 0, 0, 0
	}
	code, first := p.Code[at:][:8], p.Args+at
	for i, want := range []elementwise.Instr{
		{Op: elementwise.Const}, {Op: elementwise.Div, Arg: [3]int{value, first}}, {Op: elementwise.Round, Arg: [3]int{first + 1}},
		{Op: elementwise.Const}, {Op: elementwise.Max, Arg: [3]int{first + 2, first + 3}},
		{Op: elementwise.Const}, {Op: elementwise.Min, Arg: [3]int{first + 4, first + 5}}, {Op: elementwise.Mul, Arg: [3]int{first + 6, first}},
	} {
		if code[i].Op != want.Op || code[i].Arg != want.Arg {
			return 0, 0, 0
		}
	}
	scale, least, most := code[0].Imm[0], code[3].Imm[0], code[5].Imm[0]
	if !(scale > 0 && scale < 0x1p100) || least < -255 || least > 0 || least != float32(int32(least)) || most != least+255 {
		return 0, 0, 0
	}
	return scale, int32(-least), len(code)
}

// Intersect returns the clamp to limits followed by the clamp to lo and hi.
func Intersect(limits [2]float32, lo, hi float32) [2]float32 {
	return [2]float32{max(lo, min(hi, limits[0])), max(lo, min(hi, limits[1]))}
}

// Epilogue is how a layer's epilogue is computed in float32: in registers, or else by a program over the result.
type Epilogue struct {
	registers
	Program *Program
}

// Match returns why a layer's epilogue cannot be computed.
func Match(b kernels.Binding) error {
	_, err := NewEpilogue(b, 0)
	return err
}

// NewEpilogue returns the epilogue of a convolution.
func NewEpilogue(b kernels.Binding, isa asm.Features) (Epilogue, error) {
	return epilogueOf(b, isa, false)
}

// NewProductEpilogue returns the epilogue of a matrix product that adds a row itself.
func NewProductEpilogue(b kernels.Binding, isa asm.Features) (Epilogue, error) {
	return epilogueOf(b, isa, true)
}

func epilogueOf(b kernels.Binding, isa asm.Features, product bool) (Epilogue, error) {
	r, err := inRegisters(b, product)
	if err == nil {
		return Epilogue{registers: r}, nil
	}
	e := Epilogue{registers: registers{Residual: -1, Limits: NoLimits()}}
	p := b.Layer.Epilogue
	if product {
		p, e.Row = WithoutRow(b, p)
	}
	e.Program, err = trailing(b, p, isa)
	return e, err
}

// Trailing returns the layer's epilogue as a program over its float32 output; nil if it has none.
func Trailing(b kernels.Binding, isa asm.Features) (*Program, error) {
	return trailing(b, b.Layer.Epilogue, isa)
}

func trailing(b kernels.Binding, p elementwise.Program, isa asm.Features) (*Program, error) {
	if p.Args == 0 {
		return nil, nil
	}
	return New(b, p, len(b.Layer.OpInputs()), &Own{Desc: b.Out[0]}, isa)
}
