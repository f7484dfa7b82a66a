package elementwise

import "math"

// Eval returns p's value for one element; vals has room for Args+len(Code) values and holds the arguments first.
// Each operation is computed in float64 and rounded to float32, but for + - * / and comparisons, which are float32's own.
func (p Program) Eval(vals []float32) float32 { return eval(p, vals) }

// eval is Eval in float32 or in float64, where nothing is rounded to float32.
func eval[T float32 | float64](p Program, vals []T) T {
	for i, in := range p.Code {
		x, y, z := T(0), T(0), T(0)
		switch in.Op.Info().Arity {
		case 3:
			z = vals[in.Arg[2]]
			fallthrough
		case 2:
			y = vals[in.Arg[1]]
			fallthrough
		case 1:
			x = vals[in.Arg[0]]
		}
		vals[p.Args+i] = evalInstr(in, x, y, z)
	}
	return vals[p.Result()]
}

// Eval returns the operation's result for as many arguments as it has.
func (in Instr) Eval(x, y, z float32) float32 { return evalInstr(in, x, y, z) }

func evalInstr[T float32 | float64](in Instr, x, y, z T) T {
	a, b := T(in.Imm[0]), T(in.Imm[1])
	switch in.Op {
	case Const:
		return a
	case Add:
		return x + y
	case Sub:
		return x - y
	case Mul:
		return x * y
	case Div:
		return x / y
	case Max:
		return max(x, y)
	case Min:
		return min(x, y)
	case PRelu:
		if x >= 0 {
			return x
		}
		return y * x
	case Neg:
		return -x
	case Relu:
		return max(x, 0)
	case Clamp:
		return max(a, min(b, x))
	case LeakyRelu:
		if x >= 0 {
			return x
		}
		return a * x
	case HardSigmoid:
		return max(0, min(1, a*x+b))
	case Equal:
		return truth[T](x == y)
	case Less:
		return truth[T](x < y)
	case LessEqual:
		return truth[T](x <= y)
	case Greater:
		return truth[T](x > y)
	case GreaterEqual:
		return truth[T](x >= y)
	case And:
		return truth[T](x != 0 && y != 0)
	case Or:
		return truth[T](x != 0 || y != 0)
	case Xor:
		return truth[T]((x != 0) != (y != 0))
	case Not:
		return truth[T](x == 0)
	case Select:
		if x != 0 {
			return y
		}
		return z
	}
	return T(in.eval64(float64(x), float64(y)))
}

// eval64 computes the operations whose float64 result is rounded once.
func (in Instr) eval64(x, y float64) float64 {
	a, b := float64(in.Imm[0]), float64(in.Imm[1])
	switch in.Op {
	case Pow:
		return math.Pow(x, y)
	case Mod:
		return math.Mod(x, y)
	case Abs:
		return math.Abs(x)
	case Sign:
		switch {
		case x > 0:
			return 1
		case x < 0:
			return -1
		}
		return x
	case Sqrt:
		return math.Sqrt(x)
	case Reciprocal:
		return 1 / x
	case Exp:
		return math.Exp(x)
	case Log:
		return math.Log(x)
	case Sin:
		return math.Sin(x)
	case Cos:
		return math.Cos(x)
	case Tanh:
		return math.Tanh(x)
	case Erf:
		return math.Erf(x)
	case Sigmoid:
		return sigmoid(x)
	case Tan, Asin, Acos, Atan, Sinh, Cosh, Asinh, Acosh, Atanh:
		return trigonometry[in.Op-Tan](x)
	case Floor:
		return math.Floor(x)
	case Ceil:
		return math.Ceil(x)
	case Round:
		return math.RoundToEven(x)
	case Silu:
		return x * sigmoid(x)
	case Gelu:
		return x * 0.5 * (1 + math.Erf(x/math.Sqrt2))
	case GeluTanh:
		return x * 0.5 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
	case HardSwish:
		return x * max(0, min(1, x/6+0.5))
	case Elu:
		return elu(x, a)
	case Selu:
		return b * elu(x, a)
	case Softplus:
		return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x)))
	case Softsign:
		return x / (1 + math.Abs(x))
	}
	panic("elementwise: no evaluation for " + in.Op.String())
}

var trigonometry = [...]func(float64) float64{
	math.Tan, math.Asin, math.Acos, math.Atan, math.Sinh, math.Cosh, math.Asinh, math.Acosh, math.Atanh,
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func elu(x, a float64) float64 {
	if x >= 0 {
		return x
	}
	return a * math.Expm1(x)
}

func truth[T float32 | float64 | int64](b bool) T {
	if b {
		return 1
	}
	return 0
}
