package programs

import (
	"math"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
)

// unaryOps and binaryOps are the element-wise operations that are one function on vectors.
var (
	unaryOps = map[elementwise.Op]asm.UnaryOp{
		elementwise.Neg: asm.Neg, elementwise.Abs: asm.Abs, elementwise.Sqrt: asm.Sqrt, elementwise.Reciprocal: asm.Reciprocal,
		elementwise.Floor: asm.Floor, elementwise.Ceil: asm.Ceil, elementwise.Round: asm.Round, elementwise.Exp: asm.Exp, elementwise.Log: asm.Log,
		elementwise.Tanh: asm.Tanh, elementwise.Erf: asm.Erf, elementwise.Sigmoid: asm.Sigmoid, elementwise.Silu: asm.SiLU,
		elementwise.Gelu: asm.GELU, elementwise.GeluTanh: asm.GELUTanh, elementwise.HardSigmoid: asm.HardSigmoid, elementwise.HardSwish: asm.HardSwish,
		elementwise.LeakyRelu: asm.LeakyReLU, elementwise.Sin: asm.Sin, elementwise.Cos: asm.Cos, elementwise.Relu: asm.Clamp, elementwise.Clamp: asm.Clamp,
	}
	binaryOps = map[elementwise.Op]asm.BinaryOp{
		elementwise.Add: asm.Add, elementwise.Sub: asm.Sub, elementwise.Mul: asm.Mul, elementwise.Div: asm.Div, elementwise.Max: asm.Max,
		elementwise.Min: asm.Min, elementwise.Less: asm.Less, elementwise.LessEqual: asm.LessOrEqual, elementwise.Equal: asm.Equal,
		elementwise.Greater: asm.Less, elementwise.GreaterEqual: asm.LessOrEqual, // with the operands exchanged
	}
)

// logicOps are operations on truth values, as functions of what is not.
var logicOps = map[elementwise.Op]asm.BinaryOp{elementwise.And: asm.Max, elementwise.Or: asm.Min, elementwise.Xor: asm.Equal}

// vectorInstr is one instruction of a program as functions on vectors.
type vectorInstr struct {
	in     elementwise.Instr
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
func prepareInstr(in elementwise.Instr) vectorInstr {
	v := vectorInstr{in: in, a: in.Imm[0], b: in.Imm[1]}
	if op, ok := unaryOps[in.Op]; ok {
		v.form, v.unary = unaryForm, op
		switch in.Op {
		case elementwise.Relu:
			v.a, v.b = 0, float32(math.Inf(1))
		case elementwise.HardSwish:
			v.a, v.b = 1.0/6, 0.5
		}
		return v
	}
	if op, ok := binaryOps[in.Op]; ok {
		v.form, v.binary = binaryForm, op
		if in.Op == elementwise.Greater || in.Op == elementwise.GreaterEqual {
			v.form = swappedForm
		}
		return v
	}
	v.binary = logicOps[in.Op]
	switch in.Op {
	case elementwise.Const, elementwise.Pow, elementwise.PRelu, elementwise.Elu, elementwise.Selu, elementwise.Softplus, elementwise.Softsign,
		elementwise.Sign, elementwise.And, elementwise.Or, elementwise.Xor, elementwise.Not, elementwise.Select:
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
	case elementwise.Pow:
		return true
	case elementwise.Select, elementwise.PRelu:
		return operand > 0
	}
	return false
}

// rooms is how many strips of room an instruction has.
const rooms = 2

// run computes the instruction; dst may be any operand, room is rooms times as long as a strip.
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
	aboveOne  = math.Nextafter32(1, 2)
)

// composed computes operations that are several functions on vectors.
func (v *vectorInstr) composed(k *asm.VecKernel, dst, x, y, z, room []float32) {
	room, more := room[:len(dst)], room[len(room)/rooms:][:len(dst)]
	switch v.in.Op {
	case elementwise.Const:
		dst[0] = v.a
		repeat(dst, 1)
	case elementwise.Pow:
		k.Pow(dst, x, y)
	case elementwise.Select:
		k.Select(dst, x, y, z)
	case elementwise.PRelu: // x times 1 or y; a slope that is no number has no say where x is not negative
		k.Binary(asm.LessOrEqual, room, zero, x)
		k.Select(room, room, one, y)
		k.Binary(asm.Mul, dst, x, room)
	case elementwise.Elu, elementwise.Selu: // max(x, 0) + a*(exp(x)-1) of min(x, 0), which is 2t/(1-t) with t = tanh(x/2), exact near 0
		k.Unary(asm.Clamp, room, x, -infinity, 0)
		k.Unary(asm.Affine, room, room, 0.5, 0)
		k.Unary(asm.Tanh, room, room, 0, 0)
		k.Unary(asm.Reciprocal, room, room, 0, 0)
		k.Unary(asm.Affine, room, room, 0.5, -0.5)
		k.Unary(asm.Reciprocal, room, room, 0, 0)
		k.Unary(asm.Affine, room, room, v.a, 0)
		k.Unary(asm.Clamp, dst, x, 0, infinity)
		k.Binary(asm.Add, dst, dst, room)
		if v.in.Op == elementwise.Selu {
			k.Unary(asm.Affine, dst, dst, v.b, 0)
		}
	case elementwise.Softplus: // max(x, 0) + log(1+t) of t = exp(-|x|); log(u)*t/(u-1) with u = 1+t has the digits that u loses
		k.Unary(asm.Abs, room, x, 0, 0)
		k.Unary(asm.Neg, room, room, 0, 0)
		k.Unary(asm.Exp, room, room, 0, 0)
		k.Unary(asm.Clamp, dst, x, 0, infinity)
		k.Unary(asm.Affine, more, room, 1, 1)
		k.Unary(asm.Clamp, more, more, aboveOne, infinity)
		k.Unary(asm.Affine, more, more, 1, -1)
		k.Binary(asm.Div, room, room, more)
		k.Unary(asm.Affine, more, more, 1, 1)
		k.Unary(asm.Log, more, more, 0, 0)
		k.Binary(asm.Mul, room, room, more)
		k.Binary(asm.Add, dst, dst, room)
	case elementwise.Softsign:
		k.Unary(asm.Abs, room, x, 0, 0)
		k.Unary(asm.Affine, room, room, 1, 1)
		k.Binary(asm.Div, dst, x, room)
	case elementwise.Sign: // zeros and what is no number stay
		k.Binary(asm.Less, room, zero, x)
		k.Binary(asm.Less, more, x, zero)
		k.Binary(asm.Sub, room, room, more)
		k.Select(dst, room, room, x)
	case elementwise.Not:
		k.Binary(asm.Equal, dst, x, zero)
	case elementwise.And, elementwise.Or, elementwise.Xor: // of what is not
		k.Binary(asm.Equal, room, x, zero)
		k.Binary(asm.Equal, dst, y, zero)
		k.Binary(v.binary, dst, dst, room)
		k.Binary(asm.Equal, dst, dst, zero)
	}
}

// scalarInstr computes an instruction one element at a time.
func scalarInstr(dst, x, y, z []float32, in *elementwise.Instr) {
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
