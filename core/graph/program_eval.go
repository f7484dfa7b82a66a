package graph

import "math"

// Eval returns p's value for one element; vals has room for Args+len(Code) values and holds the arguments first.
// Each operation is computed in float64 and rounded to float32, but for + - * / and comparisons, which are float32's own.
func (p Program) Eval(vals []float32) float32 { return evalProgram(p, vals) }

// evalProgram is Eval in float32 or in float64, where nothing is rounded to float32.
func evalProgram[T float32 | float64](p Program, vals []T) T {
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
	case EltConst:
		return a
	case EltAdd:
		return x + y
	case EltSub:
		return x - y
	case EltMul:
		return x * y
	case EltDiv:
		return x / y
	case EltMax:
		return max(x, y)
	case EltMin:
		return min(x, y)
	case EltPRelu:
		if x >= 0 {
			return x
		}
		return y * x
	case EltNeg:
		return -x
	case EltRelu:
		return max(x, 0)
	case EltClamp:
		return max(a, min(b, x))
	case EltLeakyRelu:
		if x >= 0 {
			return x
		}
		return a * x
	case EltHardSigmoid:
		return max(0, min(1, a*x+b))
	case EltEqual:
		return truth[T](x == y)
	case EltLess:
		return truth[T](x < y)
	case EltLessEqual:
		return truth[T](x <= y)
	case EltGreater:
		return truth[T](x > y)
	case EltGreaterEqual:
		return truth[T](x >= y)
	case EltAnd:
		return truth[T](x != 0 && y != 0)
	case EltOr:
		return truth[T](x != 0 || y != 0)
	case EltXor:
		return truth[T]((x != 0) != (y != 0))
	case EltNot:
		return truth[T](x == 0)
	case EltSelect:
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
	case EltPow:
		return math.Pow(x, y)
	case EltMod:
		return math.Mod(x, y)
	case EltAbs:
		return math.Abs(x)
	case EltSign:
		switch {
		case x > 0:
			return 1
		case x < 0:
			return -1
		}
		return x
	case EltSqrt:
		return math.Sqrt(x)
	case EltReciprocal:
		return 1 / x
	case EltExp:
		return math.Exp(x)
	case EltLog:
		return math.Log(x)
	case EltSin:
		return math.Sin(x)
	case EltCos:
		return math.Cos(x)
	case EltTanh:
		return math.Tanh(x)
	case EltErf:
		return math.Erf(x)
	case EltSigmoid:
		return sigmoid(x)
	case EltTan, EltAsin, EltAcos, EltAtan, EltSinh, EltCosh, EltAsinh, EltAcosh, EltAtanh:
		return trigonometry[in.Op-EltTan](x)
	case EltFloor:
		return math.Floor(x)
	case EltCeil:
		return math.Ceil(x)
	case EltRound:
		return math.RoundToEven(x)
	case EltSilu:
		return x * sigmoid(x)
	case EltGelu:
		return x * 0.5 * (1 + math.Erf(x/math.Sqrt2))
	case EltGeluTanh:
		return x * 0.5 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
	case EltHardSwish:
		return x * max(0, min(1, x/6+0.5))
	case EltElu:
		return elu(x, a)
	case EltSelu:
		return b * elu(x, a)
	case EltSoftplus:
		return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x)))
	case EltSoftsign:
		return x / (1 + math.Abs(x))
	}
	panic("graph: no evaluation for " + in.Op.String())
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
