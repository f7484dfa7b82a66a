package emit

import (
	"math"

	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// tan is a polynomial of the angle to the nearest multiple of pi/2, or -1 by it where that is an odd one: the quotient of a sine
// and a cosine, which have an error of their own, would be wrong near the zeros of both.
func tan(k *ptx.K, x ptx.Float) ptx.Float {
	rest, quarters := quarterAngle(k, x)
	z := k.MulF(rest, rest)
	p := ptx.F(tanSeries[0])
	for _, c := range tanSeries[1:] {
		p = k.Fma(p, z, ptx.F(c))
	}
	y := k.Fma(k.MulF(p, z), rest, rest)
	half := k.MulF(quarters, ptx.F(0.5))
	odd := k.NeF(k.Round(half), half)
	return k.SelectF(odd, k.NegF(k.Rcp(y)), y)
}

// tanSeries are coefficients of (tan(y)/y - 1)/y^2 in powers of y^2 up to pi/4, fitted for the least relative error, 2e-8; the
// highest power first.
var tanSeries = [...]float32{0.009395734407, 0.003102754243, 0.0244406499, 0.05340839177, 0.1333883405, 0.3333315551}

// halfPi is pi/2 in three parts, the first short enough for its products to be exact.
var halfPi = [...]float32{1.5703125, 0.0004837512969970703, 7.549790126404332e-08}

// quarterAngle is x less whole quarter turns, and how many these are, less any even number for large x.
func quarterAngle(k *ptx.K, x ptx.Float) (rest, quarters ptx.Float) {
	q, y := k.Round(k.MulF(x, ptx.F(2/math.Pi))), x
	for _, part := range halfPi {
		y = k.Fma(q, ptx.F(-part), y)
	}
	rest, quarters = k.VarF(y), k.VarF(q)
	k.If(isFar(k, x), func() {
		part := farTurns(k, x) // of 2^64 to a turn: the two highest bits, rounded, are quarters
		n := k.ShrL(k.AddL(part, ptx.L(1<<61)), ptx.U(62), false)
		y := k.MulF(k.LongToFloat(k.SubL(part, k.ShlL(n, ptx.U(62))), true), ptx.F(turn64))
		k.SetF(rest, k.SelectF(k.LtF(x, ptx.F(0)), k.NegF(y), y))
		k.SetF(quarters, k.LongToFloat(n, false))
	})
	return rest, quarters
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
	near := k.VarF(ptx.F(0))
	k.SetF(near, y)
	k.If(isFar(k, x), func() { k.SetF(near, farAngle(k, x)) })
	return near
}

// isFar reports whether a finite angle is beyond nearAngle.
func isFar(k *ptx.K, x ptx.Float) ptx.Cond {
	a := k.AbsF(x)
	return k.Both(k.GtF(a, ptx.F(nearAngle)), k.LtF(a, ptx.F(float32(math.Inf(1)))))
}

// inverseTurn is 1 / (2 pi) in words, the first of which is its whole part: as many as float32's largest number needs.
var inverseTurn = [...]uint32{0, 0x28BE60DB, 0x9391054A, 0x7F09D5F4, 0x7D4D3770, 0x36D8A566, 0x4F10E410}

// farAngle is angle for finite numbers from 1 on.
func farAngle(k *ptx.K, x ptx.Float) ptx.Float {
	y := k.MulF(k.LongToFloat(farTurns(k, x), true), ptx.F(turn64))
	return k.SelectF(k.LtF(x, ptx.F(0)), k.NegF(y), y)
}

// turn64 is a turn's 2^64th part.
const turn64 = 2 * math.Pi / (1 << 32) / (1 << 32)

// farTurns is the part of a turn of a finite number's magnitude from 1 on (Payne and Hanek), of 2^64. A magnitude is m 2^e of 24 bits m, and of the product with
// 1 / (2 pi) whole turns are left out: the bits of 1 / (2 pi) before the e-th behind the point, and of m times the 64 after
// those, what is beyond 64 bits. The rest in two's complement is the part of a turn, from -1/2 to 1/2, within 2^-40.
func farTurns(k *ptx.K, x ptx.Float) ptx.Long {
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
	return k.MulL(k.LongOfUint(m), window)
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
