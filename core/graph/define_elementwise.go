package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/elementwise"
)

// The methods here add layers that compute each element from those at its place in the inputs, which broadcast as in ONNX.

// Activation adds an element-wise operation on one tensor; params are its immediates, as in (elementwise.Clamp, 0, 6).
func (d *Definition) Activation(op elementwise.Op, x *Tensor, params ...float32) *Tensor {
	if info := op.Info(); info.Arity != 1 || info.Imms != len(params) {
		d.fail(fmt.Errorf("activation %s takes %d tensors and %d parameters, not 1 and %d", op, info.Arity, info.Imms, len(params)))
		return d.none()
	}
	return d.Program(elementwise.Unary(op, params...), x)
}

// Relu adds max(x, 0).
func (d *Definition) Relu(x *Tensor) *Tensor { return d.Activation(elementwise.Relu, x) }

// Sigmoid adds 1 / (1 + exp(-x)).
func (d *Definition) Sigmoid(x *Tensor) *Tensor { return d.Activation(elementwise.Sigmoid, x) }

// Tanh adds the hyperbolic tangent.
func (d *Definition) Tanh(x *Tensor) *Tensor { return d.Activation(elementwise.Tanh, x) }

// Clip adds max(lo, min(hi, x)).
func (d *Definition) Clip(x *Tensor, lo, hi float32) *Tensor {
	return d.Activation(elementwise.Clamp, x, lo, hi)
}

// ElementWise adds an operation on two tensors, which broadcast as in ONNX.
func (d *Definition) ElementWise(op elementwise.Op, a, b *Tensor) *Tensor {
	if op.Info().Arity != 2 {
		d.fail(fmt.Errorf("element-wise %s takes %d tensors, not 2", op, op.Info().Arity))
		return d.none()
	}
	return d.Program(elementwise.Binary(op), a, b)
}

// Program adds an element-wise program over its arguments, which broadcast as in ONNX. The layer's op is the one that
// imports the program's only operation from ONNX if there is one, else Pointwise.
func (d *Definition) Program(p elementwise.Program, args ...*Tensor) *Tensor {
	if len(p.Code) == 1 {
		return d.Layer(d.elementwise(p.Code[0].Op), Elementwise{p}, args...)
	}
	return d.Layer(Pointwise, Elementwise{p}, args...)
}

// elementwise returns the op whose layers do a single operation.
func (d *Definition) elementwise(op elementwise.Op) *Op {
	for _, e := range elementwiseTable {
		if e.op == op {
			return d.ops.Named(e.name)
		}
	}
	for _, c := range composed {
		if c.single == op && op != elementwise.Const {
			return d.ops.Named(c.name)
		}
	}
	return Pointwise
}

// Abs adds the magnitude.
func (d *Definition) Abs(x *Tensor) *Tensor { return d.Activation(elementwise.Abs, x) }

// Acos adds the arc cosine.
func (d *Definition) Acos(x *Tensor) *Tensor { return d.Activation(elementwise.Acos, x) }

// Acosh adds the inverse hyperbolic cosine.
func (d *Definition) Acosh(x *Tensor) *Tensor { return d.Activation(elementwise.Acosh, x) }

// Asin adds the arc sine.
func (d *Definition) Asin(x *Tensor) *Tensor { return d.Activation(elementwise.Asin, x) }

// Asinh adds the inverse hyperbolic sine.
func (d *Definition) Asinh(x *Tensor) *Tensor { return d.Activation(elementwise.Asinh, x) }

// Atan adds the arc tangent.
func (d *Definition) Atan(x *Tensor) *Tensor { return d.Activation(elementwise.Atan, x) }

// Atanh adds the inverse hyperbolic tangent.
func (d *Definition) Atanh(x *Tensor) *Tensor { return d.Activation(elementwise.Atanh, x) }

// Ceil adds the least integer that is not smaller.
func (d *Definition) Ceil(x *Tensor) *Tensor { return d.Activation(elementwise.Ceil, x) }

// Cos adds the cosine.
func (d *Definition) Cos(x *Tensor) *Tensor { return d.Activation(elementwise.Cos, x) }

// Cosh adds the hyperbolic cosine.
func (d *Definition) Cosh(x *Tensor) *Tensor { return d.Activation(elementwise.Cosh, x) }

// Erf adds the error function.
func (d *Definition) Erf(x *Tensor) *Tensor { return d.Activation(elementwise.Erf, x) }

// Exp adds the exponential.
func (d *Definition) Exp(x *Tensor) *Tensor { return d.Activation(elementwise.Exp, x) }

// Floor adds the largest integer that is not larger.
func (d *Definition) Floor(x *Tensor) *Tensor { return d.Activation(elementwise.Floor, x) }

// HardSwish adds x * max(0, min(1, x/6 + 0.5)).
func (d *Definition) HardSwish(x *Tensor) *Tensor { return d.Activation(elementwise.HardSwish, x) }

// Log adds the natural logarithm.
func (d *Definition) Log(x *Tensor) *Tensor { return d.Activation(elementwise.Log, x) }

// Neg adds -x.
func (d *Definition) Neg(x *Tensor) *Tensor { return d.Activation(elementwise.Neg, x) }

// Not adds the negation of a Bool.
func (d *Definition) Not(x *Tensor) *Tensor { return d.Activation(elementwise.Not, x) }

// Reciprocal adds 1/x.
func (d *Definition) Reciprocal(x *Tensor) *Tensor { return d.Activation(elementwise.Reciprocal, x) }

// Round adds the nearest integer, half to even.
func (d *Definition) Round(x *Tensor) *Tensor { return d.Activation(elementwise.Round, x) }

// Sign adds -1, 0 or 1.
func (d *Definition) Sign(x *Tensor) *Tensor { return d.Activation(elementwise.Sign, x) }

// Sin adds the sine.
func (d *Definition) Sin(x *Tensor) *Tensor { return d.Activation(elementwise.Sin, x) }

// Sinh adds the hyperbolic sine.
func (d *Definition) Sinh(x *Tensor) *Tensor { return d.Activation(elementwise.Sinh, x) }

// Softplus adds log(1 + exp(x)).
func (d *Definition) Softplus(x *Tensor) *Tensor { return d.Activation(elementwise.Softplus, x) }

// Softsign adds x / (1 + |x|).
func (d *Definition) Softsign(x *Tensor) *Tensor { return d.Activation(elementwise.Softsign, x) }

// Sqrt adds the square root.
func (d *Definition) Sqrt(x *Tensor) *Tensor { return d.Activation(elementwise.Sqrt, x) }

// Tan adds the tangent.
func (d *Definition) Tan(x *Tensor) *Tensor { return d.Activation(elementwise.Tan, x) }

// HardSigmoid adds max(0, min(1, alpha*x + beta)).
func (d *Definition) HardSigmoid(x *Tensor, alpha, beta float32) *Tensor {
	return d.Activation(elementwise.HardSigmoid, x, alpha, beta)
}

// LeakyRelu adds x where that is not negative, else alpha*x.
func (d *Definition) LeakyRelu(x *Tensor, alpha float32) *Tensor {
	return d.Activation(elementwise.LeakyRelu, x, alpha)
}

// Elu adds x where that is positive, else alpha * (exp(x) - 1).
func (d *Definition) Elu(x *Tensor, alpha float32) *Tensor {
	return d.Activation(elementwise.Elu, x, alpha)
}

// Selu adds gamma * x where x is positive, else gamma * alpha * (exp(x) - 1).
func (d *Definition) Selu(x *Tensor, alpha, gamma float32) *Tensor {
	return d.Activation(elementwise.Selu, x, alpha, gamma)
}

// Add adds a + b.
func (d *Definition) Add(a, b *Tensor) *Tensor { return d.ElementWise(elementwise.Add, a, b) }

// And adds a and b, Bools.
func (d *Definition) And(a, b *Tensor) *Tensor { return d.ElementWise(elementwise.And, a, b) }

// Div adds a / b; integers truncate.
func (d *Definition) Div(a, b *Tensor) *Tensor { return d.ElementWise(elementwise.Div, a, b) }

// Equal adds whether a equals b, as Bool.
func (d *Definition) Equal(a, b *Tensor) *Tensor { return d.ElementWise(elementwise.Equal, a, b) }

// Greater adds whether a > b, as Bool.
func (d *Definition) Greater(a, b *Tensor) *Tensor { return d.ElementWise(elementwise.Greater, a, b) }

// GreaterOrEqual adds whether a >= b, as Bool.
func (d *Definition) GreaterOrEqual(a, b *Tensor) *Tensor {
	return d.ElementWise(elementwise.GreaterEqual, a, b)
}

// Less adds whether a < b, as Bool.
func (d *Definition) Less(a, b *Tensor) *Tensor { return d.ElementWise(elementwise.Less, a, b) }

// LessOrEqual adds whether a <= b, as Bool.
func (d *Definition) LessOrEqual(a, b *Tensor) *Tensor {
	return d.ElementWise(elementwise.LessEqual, a, b)
}

// Mul adds a * b.
func (d *Definition) Mul(a, b *Tensor) *Tensor { return d.ElementWise(elementwise.Mul, a, b) }

// Or adds a or b, Bools.
func (d *Definition) Or(a, b *Tensor) *Tensor { return d.ElementWise(elementwise.Or, a, b) }

// Pow adds a to the power b.
func (d *Definition) Pow(a, b *Tensor) *Tensor { return d.ElementWise(elementwise.Pow, a, b) }

// PRelu adds a where that is not negative, else a * b.
func (d *Definition) PRelu(a, b *Tensor) *Tensor { return d.ElementWise(elementwise.PRelu, a, b) }

// Sub adds a - b.
func (d *Definition) Sub(a, b *Tensor) *Tensor { return d.ElementWise(elementwise.Sub, a, b) }

// Xor adds a or b but not both, Bools.
func (d *Definition) Xor(a, b *Tensor) *Tensor { return d.ElementWise(elementwise.Xor, a, b) }

// Where adds a where the Bool c holds, else b.
func (d *Definition) Where(c, a, b *Tensor) *Tensor {
	return d.Program(elementwise.Program{Args: 3, Code: []elementwise.Instr{{Op: elementwise.Select, Arg: [3]int{0, 1, 2}}}}, c, a, b)
}

// Celu adds max(0, x) + min(0, alpha * (exp(x/alpha) - 1)).
func (d *Definition) Celu(x *Tensor, alpha float32) *Tensor {
	return d.imported("Celu", map[string]Attr{"alpha": floatAttr(alpha)}, x)
}

// Gelu adds x * Phi(x), Phi being the distribution function of the normal distribution.
func (d *Definition) Gelu(x *Tensor) *Tensor {
	return d.imported("Gelu", nil, x)
}

// IsInf adds whether x is an infinity, as Bool.
func (d *Definition) IsInf(x *Tensor) *Tensor {
	return d.imported("IsInf", nil, x)
}

// IsNaN adds whether x is no number, as Bool.
func (d *Definition) IsNaN(x *Tensor) *Tensor {
	return d.imported("IsNaN", nil, x)
}

// Max adds the largest of any number of tensors.
func (d *Definition) Max(list ...*Tensor) *Tensor {
	return d.imported("Max", nil, list...)
}

// Mean adds the mean of any number of tensors.
func (d *Definition) Mean(list ...*Tensor) *Tensor {
	return d.imported("Mean", nil, list...)
}

// Min adds the smallest of any number of tensors.
func (d *Definition) Min(list ...*Tensor) *Tensor {
	return d.imported("Min", nil, list...)
}

// Sum adds the sum of any number of tensors.
func (d *Definition) Sum(list ...*Tensor) *Tensor {
	return d.imported("Sum", nil, list...)
}

// Mish adds x * tanh(softplus(x)).
func (d *Definition) Mish(x *Tensor) *Tensor {
	return d.imported("Mish", nil, x)
}

// Mod adds the remainder of a/b, with the sign of b.
func (d *Definition) Mod(a, b *Tensor) *Tensor {
	return d.imported("Mod", nil, a, b)
}

// Shrink adds x + bias below -lambda, x - bias above lambda, and 0 between.
func (d *Definition) Shrink(x *Tensor, lambda, bias float32) *Tensor {
	return d.imported("Shrink", map[string]Attr{"lambd": floatAttr(lambda), "bias": floatAttr(bias)}, x)
}

// Swish adds x * sigmoid(alpha * x).
func (d *Definition) Swish(x *Tensor, alpha float32) *Tensor {
	return d.imported("Swish", map[string]Attr{"alpha": floatAttr(alpha)}, x)
}

// ThresholdedRelu adds x where it is larger than alpha, else 0.
func (d *Definition) ThresholdedRelu(x *Tensor, alpha float32) *Tensor {
	return d.imported("ThresholdedRelu", map[string]Attr{"alpha": floatAttr(alpha)}, x)
}

// GeluTanh adds the approximation of [Definition.Gelu] by the hyperbolic tangent.
func (d *Definition) GeluTanh(x *Tensor) *Tensor { return d.Activation(elementwise.GeluTanh, x) }

// Fmod adds the remainder of a/b, with the sign of a.
func (d *Definition) Fmod(a, b *Tensor) *Tensor { return d.ElementWise(elementwise.Mod, a, b) }

// BitShift adds the integers a shifted by b bits, to the left or to the right.
func (d *Definition) BitShift(a, b *Tensor, left bool) *Tensor {
	return d.Layer(BitShift, ShiftAttrs{left}, a, b)
}

// BitwiseAnd adds the bits that are set in both integers.
func (d *Definition) BitwiseAnd(a, b *Tensor) *Tensor { return d.Layer(BitwiseAnd, nil, a, b) }

// BitwiseOr adds the bits that are set in one of the integers.
func (d *Definition) BitwiseOr(a, b *Tensor) *Tensor { return d.Layer(BitwiseOr, nil, a, b) }

// BitwiseXor adds the bits that are set in one of the integers but not in both.
func (d *Definition) BitwiseXor(a, b *Tensor) *Tensor { return d.Layer(BitwiseXor, nil, a, b) }

// BitwiseNot adds the bits that are not set.
func (d *Definition) BitwiseNot(x *Tensor) *Tensor { return d.Layer(BitwiseNot, nil, x) }

func floatAttr(f float32) Attr { return Attr{Kind: AttrFloat, Float: f} }
