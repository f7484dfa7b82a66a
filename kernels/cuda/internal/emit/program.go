package emit

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// translatable returns an error that names an operation without a translation.
func translatable(p elementwise.Program) error {
	for _, in := range p.Code {
		if translations[in.Op] == nil {
			return fmt.Errorf("element-wise operation %s has no translation", in.Op)
		}
	}
	return nil
}

// Translate emits a program over its arguments and returns its result.
func Translate(k *ptx.K, p elementwise.Program, args []ptx.Float) ptx.Float {
	values := append([]ptx.Float(nil), args...)
	for _, in := range p.Code {
		var x [3]ptx.Float
		for i := range in.Op.Info().Arity {
			x[i] = values[in.Arg[i]]
		}
		values = append(values, translations[in.Op](k, x, in.Imm))
	}
	return values[len(values)-1]
}

// ClearPads makes zeros of what a program computed behind the last of a row's elements, where kernels that multiply by
// zeros there expect finite numbers.
func ClearPads(k *ptx.K, p elementwise.Program, column ptx.Uint, last, width int, x []ptx.Float) {
	if last == width || p.StaysFinite() {
		return
	}
	for i := range x {
		x[i] = k.SelectF(k.Lt(k.Add(column, ptx.U(i)), ptx.U(last)), x[i], ptx.F(0))
	}
}

type translation func(k *ptx.K, x [3]ptx.Float, imm [2]float32) ptx.Float

func of1(f func(*ptx.K, ptx.Float) ptx.Float) translation {
	return func(k *ptx.K, x [3]ptx.Float, _ [2]float32) ptx.Float { return f(k, x[0]) }
}

func of2(f func(*ptx.K, ptx.Float, ptx.Float) ptx.Float) translation {
	return func(k *ptx.K, x [3]ptx.Float, _ [2]float32) ptx.Float { return f(k, x[0], x[1]) }
}

// truth translates a comparison to 1 or 0.
func truth(f func(*ptx.K, ptx.Float, ptx.Float) ptx.Cond) translation {
	return of2(func(k *ptx.K, a, b ptx.Float) ptx.Float { return bit(k, f(k, a, b)) })
}

// bit is 1 where p holds, else 0.
func bit(k *ptx.K, p ptx.Cond) ptx.Float { return k.SelectF(p, ptx.F(1), ptx.F(0)) }

func isTrue(k *ptx.K, x ptx.Float) ptx.Cond { return k.NeF(x, ptx.F(0)) }

// translations says what each operation is in PTX. They are within a few ulp of the operation, or 1e-6 near 0. What
// activations are made of has no branches: reciprocals and quotients that are correctly rounded call a routine for operands
// near the ends of the range, and only operations that are these themselves are so exact.
var translations = map[elementwise.Op]translation{
	elementwise.Const:      func(_ *ptx.K, _ [3]ptx.Float, imm [2]float32) ptx.Float { return ptx.F(imm[0]) },
	elementwise.Add:        of2((*ptx.K).AddF),
	elementwise.Sub:        of2((*ptx.K).SubF),
	elementwise.Mul:        of2((*ptx.K).MulF),
	elementwise.Div:        of2((*ptx.K).DivF),
	elementwise.Max:        of2((*ptx.K).MaxNaN),
	elementwise.Min:        of2((*ptx.K).MinNaN),
	elementwise.Pow:        of2(Power),
	elementwise.Mod:        of2(remainder),
	elementwise.PRelu:      of2(func(k *ptx.K, x, y ptx.Float) ptx.Float { return leaky(k, x, y) }),
	elementwise.Neg:        of1((*ptx.K).NegF),
	elementwise.Abs:        of1((*ptx.K).AbsF),
	elementwise.Sign:       of1(sign),
	elementwise.Relu:       of1(func(k *ptx.K, x ptx.Float) ptx.Float { return k.MaxNaN(x, ptx.F(0)) }),
	elementwise.Clamp:      clamp,
	elementwise.Sqrt:       of1((*ptx.K).Sqrt),
	elementwise.Reciprocal: of1((*ptx.K).Rcp),
	elementwise.Exp:        of1(Exp),
	elementwise.Log:        of1(Log),
	elementwise.Sin:        of1(func(k *ptx.K, x ptx.Float) ptx.Float { return k.SinApprox(angle(k, x)) }),
	elementwise.Cos:        of1(func(k *ptx.K, x ptx.Float) ptx.Float { return k.CosApprox(angle(k, x)) }),
	elementwise.Tan:        of1(tan),
	elementwise.Asin:       of1(asin),
	elementwise.Acos:       of1(acos),
	elementwise.Atan:       of1(atan),
	elementwise.Sinh:       of1(sinh),
	elementwise.Cosh:       of1(cosh),
	elementwise.Asinh:      of1(asinh),
	elementwise.Acosh:      of1(acosh),
	elementwise.Atanh:      of1(atanh),
	elementwise.Tanh:       of1(tanh),
	elementwise.Erf:        of1(erf),
	elementwise.Sigmoid:    of1(sigmoid),
	elementwise.Floor:      of1((*ptx.K).Floor),
	elementwise.Ceil:       of1((*ptx.K).Ceil),
	elementwise.Round:      of1((*ptx.K).Round),
	elementwise.Silu:       of1(func(k *ptx.K, x ptx.Float) ptx.Float { return k.MulF(x, sigmoid(k, x)) }),
	elementwise.Gelu:       of1(gelu),
	elementwise.GeluTanh:   of1(geluTanh),
	elementwise.HardSigmoid: func(k *ptx.K, x [3]ptx.Float, imm [2]float32) ptx.Float {
		return unit01(k, k.Fma(x[0], ptx.F(imm[0]), ptx.F(imm[1])))
	},
	elementwise.HardSwish: of1(func(k *ptx.K, x ptx.Float) ptx.Float {
		return k.MulF(x, unit01(k, k.Fma(x, ptx.F(1.0/6), ptx.F(0.5))))
	}),
	elementwise.LeakyRelu: func(k *ptx.K, x [3]ptx.Float, imm [2]float32) ptx.Float { return leaky(k, x[0], ptx.F(imm[0])) },
	elementwise.Elu:       func(k *ptx.K, x [3]ptx.Float, imm [2]float32) ptx.Float { return elu(k, x[0], imm[0]) },
	elementwise.Selu: func(k *ptx.K, x [3]ptx.Float, imm [2]float32) ptx.Float {
		return k.MulF(ptx.F(imm[1]), elu(k, x[0], imm[0]))
	},
	elementwise.Softplus: of1(softplus),
	elementwise.Softsign: of1(func(k *ptx.K, x ptx.Float) ptx.Float {
		return k.DivF(x, k.AddF(ptx.F(1), k.AbsF(x)))
	}),
	elementwise.Equal:        truth((*ptx.K).EqF),
	elementwise.Less:         truth((*ptx.K).LtF),
	elementwise.LessEqual:    truth((*ptx.K).LeF),
	elementwise.Greater:      truth((*ptx.K).GtF),
	elementwise.GreaterEqual: truth((*ptx.K).GeF),
	elementwise.And: truth(func(k *ptx.K, a, b ptx.Float) ptx.Cond {
		return k.Both(isTrue(k, a), isTrue(k, b))
	}),
	elementwise.Or: truth(func(k *ptx.K, a, b ptx.Float) ptx.Cond {
		return k.Either(isTrue(k, a), isTrue(k, b))
	}),
	elementwise.Xor: of2(func(k *ptx.K, a, b ptx.Float) ptx.Float {
		return bit(k, k.NeF(bit(k, isTrue(k, a)), bit(k, isTrue(k, b))))
	}),
	elementwise.Not: of1(func(k *ptx.K, x ptx.Float) ptx.Float { return bit(k, isTrue(k, x).Not()) }),
	elementwise.Select: func(k *ptx.K, x [3]ptx.Float, _ [2]float32) ptx.Float {
		return k.SelectF(isTrue(k, x[0]), x[1], x[2])
	},
}

func clamp(k *ptx.K, x [3]ptx.Float, imm [2]float32) ptx.Float {
	y := x[0]
	if !math.IsInf(float64(imm[1]), 1) {
		y = k.MinNaN(ptx.F(imm[1]), y)
	}
	if !math.IsInf(float64(imm[0]), -1) {
		y = k.MaxNaN(ptx.F(imm[0]), y)
	}
	return y
}

// unit01 is x kept between 0 and 1.
func unit01(k *ptx.K, x ptx.Float) ptx.Float {
	return k.MaxNaN(ptx.F(0), k.MinNaN(ptx.F(1), x))
}

func leaky(k *ptx.K, x, slope ptx.Float) ptx.Float {
	return k.SelectF(k.LtF(x, ptx.F(0)), k.MulF(slope, x), x)
}

func sign(k *ptx.K, x ptx.Float) ptx.Float {
	y := k.SelectF(k.GtF(x, ptx.F(0)), ptx.F(1), x)
	return k.SelectF(k.LtF(x, ptx.F(0)), ptx.F(-1), y)
}

// Exp is e^x: x*log2(e) split into a whole number and a rest, so that the product's rounding does not grow with x.
func Exp(k *ptx.K, x ptx.Float) ptx.Float {
	const hi, lo = 1.4426950216293335, 1.925963033500312e-08 // log2(e) in two floats
	t := k.MulF(x, ptx.F(hi))
	rest := k.Fma(x, ptx.F(hi), k.NegF(t))
	rest = k.Fma(x, ptx.F(lo), rest)
	// 2^(t+rest) = 2^t * (1 + rest*ln 2); where 2^t is not finite the rest says nothing.
	y := k.Ex2(t)
	better := k.Fma(y, k.MulF(rest, ptx.F(math.Ln2)), y)
	return k.SelectF(k.LtF(k.AbsF(t), ptx.F(128)), better, y)
}

// Log is the natural logarithm of x.
func Log(k *ptx.K, x ptx.Float) ptx.Float { return k.MulF(k.Lg2(x), ptx.F(math.Ln2)) }

func sigmoid(k *ptx.K, x ptx.Float) ptx.Float {
	return k.RcpApprox(k.AddF(ptx.F(1), Exp(k, k.NegF(x))))
}

// expm1 is e^x - 1 for x up to 0: a series near 0, where the difference would lose its digits.
func expm1(k *ptx.K, x ptx.Float) ptx.Float {
	series := ptx.F(1.0 / 720)
	for _, c := range []float32{1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1} {
		series = k.Fma(series, x, ptx.F(c))
	}
	return k.SelectF(k.GtF(x, ptx.F(-0.3)), k.MulF(series, x), k.SubF(Exp(k, x), ptx.F(1)))
}

func elu(k *ptx.K, x ptx.Float, a float32) ptx.Float {
	return k.SelectF(k.LtF(x, ptx.F(0)), k.MulF(ptx.F(a), expm1(k, k.MinF(x, ptx.F(0)))), x)
}

// tanh is (1 - u) / (1 + u) with u = e^(-2|x|), and the sign of x.
func tanh(k *ptx.K, x ptx.Float) ptx.Float {
	m := expm1(k, k.MulF(ptx.F(-2), k.AbsF(x))) // u - 1
	return k.CopySign(x, k.DivApprox(k.NegF(m), k.AddF(m, ptx.F(2))))
}

// erf is nearErf, and near 0, where that is a small difference, its series.
func erf(k *ptx.K, x ptx.Float) ptx.Float {
	z := k.MulF(x, x)
	series := ptx.F(-2 / (math.SqrtPi * 1320))
	for _, c := range []float32{2 / (math.SqrtPi * 216), -2 / (math.SqrtPi * 42), 2 / (math.SqrtPi * 10), -2 / (math.SqrtPi * 3), 2 / math.SqrtPi} {
		series = k.Fma(series, z, ptx.F(c))
	}
	return k.SelectF(k.LtF(k.AbsF(x), ptx.F(0.5)), k.MulF(series, x), nearErf(k, x))
}

// nearErf is Abramowitz and Stegun's 7.1.26, whose error is below 1.5e-7: enough for what is added to 1.
func nearErf(k *ptx.K, x ptx.Float) ptx.Float {
	a := k.AbsF(x)
	t := k.RcpApprox(k.Fma(ptx.F(0.3275911), a, ptx.F(1)))
	p := ptx.F(1.061405429)
	for _, c := range []float32{-1.453152027, 1.421413741, -0.284496736, 0.254829592} {
		p = k.Fma(p, t, ptx.F(c))
	}
	y := k.MulF(k.MulF(p, t), Exp(k, k.NegF(k.MulF(a, a))))
	return k.CopySign(x, k.SubF(ptx.F(1), y))
}

func gelu(k *ptx.K, x ptx.Float) ptx.Float {
	return k.MulF(k.MulF(x, ptx.F(0.5)), k.AddF(ptx.F(1), nearErf(k, k.MulF(x, ptx.F(math.Sqrt2/2)))))
}

func geluTanh(k *ptx.K, x ptx.Float) ptx.Float {
	cube := k.MulF(k.MulF(x, x), x)
	inner := k.MulF(ptx.F(float32(math.Sqrt(2/math.Pi))), k.Fma(ptx.F(0.044715), cube, x))
	return k.MulF(k.MulF(x, ptx.F(0.5)), k.AddF(ptx.F(1), tanh(k, inner)))
}

// softplus is max(x, 0) + log(1 + e^-|x|), whose second part is all there is of numbers far below 0.
func softplus(k *ptx.K, x ptx.Float) ptx.Float {
	return k.AddF(k.MaxNaN(x, ptx.F(0)), log1p(k, Exp(k, k.NegF(k.AbsF(x)))))
}

// log1p is log(1 + x) of x in [0, 1], small ones included: 2 atanh(s), s = x / (2 + x), whose series in s*s is below 1e-8 of
// it behind the seventh term.
func log1p(k *ptx.K, x ptx.Float) ptx.Float {
	s := k.MulF(x, k.RcpApprox(k.AddF(ptx.F(2), x)))
	z := k.MulF(s, s)
	series := ptx.F(2.0 / 15)
	for _, c := range []float32{2.0 / 13, 2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3, 2} {
		series = k.Fma(series, z, ptx.F(c))
	}
	return k.MulF(series, s)
}

// Power is |x|^y by logarithms, negative where x is and y is odd, NaN where y is not whole.
func Power(k *ptx.K, x, y ptx.Float) ptx.Float {
	z := k.Ex2(k.MulF(y, k.Lg2(k.AbsF(x))))
	whole := k.EqF(k.Floor(y), y)
	half := k.MulF(y, ptx.F(0.5))
	even := k.EqF(k.Floor(half), half)
	negative := k.SelectF(even, z, k.NegF(z))
	negative = k.SelectF(whole, negative, ptx.F(float32(math.NaN())))
	z = k.SelectF(k.LtF(x, ptx.F(0)), negative, z)
	return k.SelectF(k.EqF(y, ptx.F(0)), ptx.F(1), z)
}

// remainder is x less the whole multiples of y that lie between it and 0, exactly, with the sign of x. Each round takes away what the
// quotient's 24 bits say; what is left of it is a number of 24 bits again, so that no round rounds. A quotient beyond float32 is that
// of a multiple of y.
func remainder(k *ptx.K, x, y ptx.Float) ptx.Float {
	const far = 0x1p127
	r := k.VarF(x)
	k.Loop(func(leave func(p ptx.Cond)) {
		leave(k.LtF(k.AbsF(r), k.AbsF(y)))
		step := y
		for range 2 {
			beyond := k.GtF(k.AbsF(k.DivF(r, step)), ptx.F(math.MaxFloat32))
			step = k.SelectF(beyond, k.MulF(step, ptx.F(far)), step)
		}
		k.SetF(r, k.Fma(k.NegF(k.Trunc(k.DivF(r, step))), step, r))
		leave(k.NeF(r, r))
		leave(k.NeF(y, y))
	})
	over := k.LtF(k.MulF(k.CopySign(x, ptx.F(1)), r), ptx.F(0)) // the quotient was rounded up
	z := k.SelectF(over, k.AddF(r, k.CopySign(x, y)), r)
	return k.CopySign(x, k.SelectF(k.EqF(y, y), z, y))
}
