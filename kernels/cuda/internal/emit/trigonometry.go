package emit

import (
	"math"

	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

func tan(k *ptx.K, x ptx.Float) ptx.Float {
	x = angle(k, x)
	return k.DivF(k.SinApprox(x), k.CosApprox(x))
}

// nearAngle is up to where 2 pi in three parts is enough.
const nearAngle = 1 << 16

// angle is x less whole turns, between -pi and pi: with 2 pi in three parts (Cody and Waite), of large numbers by the bits of
// 1 / (2 pi).
func angle(k *ptx.K, x ptx.Float) ptx.Float {
	turns, y := k.Round(k.MulF(x, ptx.F(1/(2*math.Pi)))), x
	for _, part := range []float32{-6.28125, -0.0019350051879882812, -3.0199159819e-07} {
		y = k.Fma(turns, ptx.F(part), y)
	}
	near, a := k.VarF(ptx.F(0)), k.AbsF(x)
	k.SetF(near, y)
	k.If(k.Both(k.GtF(a, ptx.F(nearAngle)), k.LtF(a, ptx.F(float32(math.Inf(1))))), func() { k.SetF(near, farAngle(k, x)) })
	return near
}

// inverseTurn is 1 / (2 pi) in words, the first of which is its whole part: as many as float32's largest number needs.
var inverseTurn = [...]uint32{0, 0x28BE60DB, 0x9391054A, 0x7F09D5F4, 0x7D4D3770, 0x36D8A566, 0x4F10E410}

// farAngle is angle for finite numbers from 1 on (Payne and Hanek). A magnitude is m 2^e of 24 bits m, and of the product with
// 1 / (2 pi) whole turns are left out: the bits of 1 / (2 pi) before the e-th behind the point, and of m times the 64 after
// those, what is beyond 64 bits. The rest in two's complement is the part of a turn, from -1/2 to 1/2, within 2^-40.
func farAngle(k *ptx.K, x ptx.Float) ptx.Float {
	bits := k.Bits(x)
	m := k.Or(k.Bfe(bits, 0, 23), ptx.U(1<<23))
	at := k.Sub(k.Bfe(bits, 23, 8), ptx.U(150-32)) // in inverseTurn: e and the whole part
	shift, first := k.And(at, ptx.U(31)), k.Shr(at, 5)
	word := func(behind int) ptx.Long {
		w := ptx.W(inverseTurn[behind]).Uint()
		for i := 1; i+2 < len(inverseTurn); i++ {
			w = k.Select(k.Eq(first, ptx.U(i)), ptx.W(inverseTurn[i+behind]).Uint(), w)
		}
		return k.LongOfUint(w)
	}
	window := k.OrL(k.ShlL(word(0), ptx.U(32)), word(1))
	window = k.OrL(k.ShlL(window, shift), k.ShrL(k.ShlL(word(2), shift), ptx.U(32), false))
	part := k.LongToFloat(k.MulL(k.LongOfUint(m), window), true)
	y := k.MulF(part, ptx.F(2*math.Pi/(1<<32)/(1<<32)))
	return k.SelectF(k.LtF(x, ptx.F(0)), k.NegF(y), y)
}

// atan is Abramowitz and Stegun's 4.4.49 up to 1, whose error is below 2e-8, and pi/2 less that of the reciprocal above.
func atan(k *ptx.K, x ptx.Float) ptx.Float {
	a := k.AbsF(x)
	large := k.GtF(a, ptx.F(1))
	t := k.SelectF(large, k.RcpApprox(a), a)
	z := k.MulF(t, t)
	p := ptx.F(0.0028662257)
	for _, c := range []float32{-0.0161657367, 0.0429096138, -0.0752896400, 0.1065626393, -0.1420889944, 0.1999355085, -0.3333314528, 1} {
		p = k.Fma(p, z, ptx.F(c))
	}
	y := k.MulF(p, t)
	y = k.SelectF(large, k.SubF(ptx.F(math.Pi/2), y), y)
	return k.CopySign(x, y)
}

// asin is atan(x / sqrt(1 - x*x)).
func asin(k *ptx.K, x ptx.Float) ptx.Float {
	root := k.Sqrt(k.MulF(k.SubF(ptx.F(1), x), k.AddF(ptx.F(1), x)))
	return atan(k, k.DivF(x, root))
}

// acos is 2 atan(sqrt((1 - x) / (1 + x))).
func acos(k *ptx.K, x ptx.Float) ptx.Float {
	root := k.Sqrt(k.DivF(k.SubF(ptx.F(1), x), k.AddF(ptx.F(1), x)))
	return k.MulF(ptx.F(2), atan(k, root))
}

// sinh is (e^a - e^-a) / 2 of the magnitude a, up to 1 its series.
func sinh(k *ptx.K, x ptx.Float) ptx.Float {
	a := k.AbsF(x)
	e := Exp(k, a)
	y := k.MulF(ptx.F(0.5), k.SubF(e, k.RcpApprox(e)))
	z := k.MulF(a, a)
	series := ptx.F(1.0 / 362880)
	for _, c := range []float32{1.0 / 5040, 1.0 / 120, 1.0 / 6, 1} {
		series = k.Fma(series, z, ptx.F(c))
	}
	return k.CopySign(x, k.SelectF(k.LtF(a, ptx.F(1)), k.MulF(series, a), y))
}

func cosh(k *ptx.K, x ptx.Float) ptx.Float {
	e := Exp(k, k.AbsF(x))
	return k.MulF(ptx.F(0.5), k.AddF(e, k.Rcp(e)))
}

// asinh is log(a + sqrt(a*a + 1)) of the magnitude a, near 0 its series.
func asinh(k *ptx.K, x ptx.Float) ptx.Float {
	a := k.AbsF(x)
	y := Log(k, k.AddF(a, k.Sqrt(k.Fma(a, a, ptx.F(1)))))
	z := k.MulF(a, a)
	series := ptx.F(-15.0 / 336)
	for _, c := range []float32{3.0 / 40, -1.0 / 6, 1} {
		series = k.Fma(series, z, ptx.F(c))
	}
	return k.CopySign(x, k.SelectF(k.LtF(a, ptx.F(0.1)), k.MulF(series, a), y))
}

func acosh(k *ptx.K, x ptx.Float) ptx.Float {
	return Log(k, k.AddF(x, k.Sqrt(k.MulF(k.SubF(x, ptx.F(1)), k.AddF(x, ptx.F(1))))))
}

// atanh is log((1 + x) / (1 - x)) / 2, near 0 its series.
func atanh(k *ptx.K, x ptx.Float) ptx.Float {
	y := k.MulF(ptx.F(0.5), Log(k, k.DivF(k.AddF(ptx.F(1), x), k.SubF(ptx.F(1), x))))
	z := k.MulF(x, x)
	series := ptx.F(1.0 / 7)
	for _, c := range []float32{1.0 / 5, 1.0 / 3, 1} {
		series = k.Fma(series, z, ptx.F(c))
	}
	return k.SelectF(k.LtF(k.AbsF(x), ptx.F(0.1)), k.MulF(series, x), y)
}
