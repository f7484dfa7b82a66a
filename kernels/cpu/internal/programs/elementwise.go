package programs

import (
	"math"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
)

// unaryOps and binaryOps are the element-wise operations that are one function on vectors.
var (
	unaryOps = map[graph.EltOp]asm.UnaryOp{
		graph.EltNeg: asm.Neg, graph.EltAbs: asm.Abs, graph.EltSqrt: asm.Sqrt, graph.EltReciprocal: asm.Reciprocal,
		graph.EltFloor: asm.Floor, graph.EltCeil: asm.Ceil, graph.EltRound: asm.Round, graph.EltExp: asm.Exp, graph.EltLog: asm.Log,
		graph.EltTanh: asm.Tanh, graph.EltErf: asm.Erf, graph.EltSigmoid: asm.Sigmoid, graph.EltSilu: asm.SiLU,
		graph.EltGelu: asm.GELU, graph.EltGeluTanh: asm.GELUTanh, graph.EltHardSigmoid: asm.HardSigmoid, graph.EltHardSwish: asm.HardSwish,
		graph.EltLeakyRelu: asm.LeakyReLU, graph.EltRelu: asm.Clamp, graph.EltClamp: asm.Clamp,
	}
	binaryOps = map[graph.EltOp]asm.BinaryOp{
		graph.EltAdd: asm.Add, graph.EltSub: asm.Sub, graph.EltMul: asm.Mul, graph.EltDiv: asm.Div, graph.EltMax: asm.Max,
		graph.EltMin: asm.Min, graph.EltLess: asm.Less, graph.EltLessEqual: asm.LessOrEqual, graph.EltEqual: asm.Equal,
		graph.EltGreater: asm.Less, graph.EltGreaterEqual: asm.LessOrEqual, // with the operands exchanged
	}
)

// vectorInstr is one instruction of a program as functions on vectors.
type vectorInstr struct {
	in     graph.Instr
	form   vectorForm
	unary  asm.UnaryOp
	binary asm.BinaryOp
	a, b   float32
}

type vectorForm uint8

const (
	scalarForm vectorForm = iota // one element at a time
	unaryForm
	binaryForm
	swappedForm // a binary function of y and x
	composedForm
	mergedForm // part of the next instruction
	affineForm // a sum whose first operand is a product, both by one value
)

// prepareInstr says how an instruction is computed.
func prepareInstr(in graph.Instr) vectorInstr {
	v := vectorInstr{in: in, a: in.Imm[0], b: in.Imm[1]}
	if op, ok := unaryOps[in.Op]; ok {
		v.form, v.unary = unaryForm, op
		switch in.Op {
		case graph.EltRelu:
			v.a, v.b = 0, float32(math.Inf(1))
		case graph.EltHardSwish:
			v.a, v.b = 1.0/6, 0.5
		}
		return v
	}
	if op, ok := binaryOps[in.Op]; ok {
		v.form, v.binary = binaryForm, op
		if in.Op == graph.EltGreater || in.Op == graph.EltGreaterEqual {
			v.form = swappedForm
		}
		return v
	}
	switch in.Op {
	case graph.EltConst, graph.EltPow, graph.EltPRelu, graph.EltElu, graph.EltSelu, graph.EltSelect:
		v.form = composedForm
	}
	return v
}

// broadcasts reports whether the instruction takes an operand of one element for all.
func (v *vectorInstr) broadcasts(operand int) bool {
	switch v.form {
	case binaryForm, swappedForm:
		return true
	}
	switch v.in.Op {
	case graph.EltPow:
		return true
	case graph.EltSelect, graph.EltPRelu:
		return operand > 0
	}
	return false
}

// run computes the instruction; dst may be any operand, room is as long.
func (v *vectorInstr) run(k *asm.VecKernel, dst, x, y, z, room []float32) {
	switch v.form {
	case unaryForm:
		k.Unary(v.unary, dst, x, v.a, v.b)
	case binaryForm:
		k.Binary(v.binary, dst, x, y)
	case swappedForm:
		k.Binary(v.binary, dst, y, x)
	case composedForm:
		v.composed(k, dst, x, y, z, room)
	default:
		scalarInstr(dst, x, y, z, &v.in)
	}
}

// What composed operations compare and multiply with.
var (
	infinity  = float32(math.Inf(1))
	zero, one = []float32{0}, []float32{1}
)

// composed computes operations that are several functions on vectors.
func (v *vectorInstr) composed(k *asm.VecKernel, dst, x, y, z, room []float32) {
	switch v.in.Op {
	case graph.EltConst:
		dst[0] = v.a
		repeat(dst, 1)
	case graph.EltPow:
		k.Pow(dst, x, y)
	case graph.EltSelect:
		k.Select(dst, x, y, z)
	case graph.EltPRelu: // x times 1 or y; a slope that is no number has no say where x is not negative
		k.Binary(asm.LessOrEqual, room, zero, x)
		k.Select(room, room, one, y)
		k.Binary(asm.Mul, dst, x, room)
	case graph.EltElu, graph.EltSelu: // max(x, 0) + a*(exp(x)-1) of min(x, 0), which is 2t/(1-t) with t = tanh(x/2), exact near 0
		k.Unary(asm.Clamp, room, x, -infinity, 0)
		k.Unary(asm.Affine, room, room, 0.5, 0)
		k.Unary(asm.Tanh, room, room, 0, 0)
		k.Unary(asm.Reciprocal, room, room, 0, 0)
		k.Unary(asm.Affine, room, room, 0.5, -0.5)
		k.Unary(asm.Reciprocal, room, room, 0, 0)
		k.Unary(asm.Affine, room, room, v.a, 0)
		k.Unary(asm.Clamp, dst, x, 0, infinity)
		k.Binary(asm.Add, dst, dst, room)
		if v.in.Op == graph.EltSelu {
			k.Unary(asm.Affine, dst, dst, v.b, 0)
		}
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
