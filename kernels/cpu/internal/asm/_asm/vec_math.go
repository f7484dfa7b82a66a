package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Predicates of VCMPPS: ordered ones are false where an operand is NaN.
const (
	compareEqual                    = 0
	compareLess                     = 1
	compareLessOrEqual              = 2
	compareUnordered                = 3
	compareNotEqual                 = 4
	compareNotGreaterOrEqual        = 9 // true where an operand is NaN
	roundEven                       = 8 // of VRNDSCALEPS and VROUNDPS, without the inexact exception
	roundDown                       = 9
	roundUp                         = 10
	signBit                  uint32 = 0x80000000
)

type vreg = reg.VecVirtual

// unaries are the functions of one operand, by the names of asm.UnaryOp.
var unaries = []unary{
	{"Neg", func(v vector, x, _, _ vreg) vreg {
		r := v.z()
		v.xor(signBit, x, r)
		return r
	}},
	{"Abs", func(v vector, x, _, _ vreg) vreg { return v.abs(x) }},
	{"Sqrt", func(v vector, x, _, _ vreg) vreg {
		r := v.z()
		v.c.VSQRTPS(x, r)
		return r
	}},
	{"Reciprocal", func(v vector, x, _, _ vreg) vreg {
		r := v.splat(1)
		v.c.VDIVPS(x, r, r)
		return r
	}},
	{"Floor", func(v vector, x, _, _ vreg) vreg { return v.round(x, roundDown) }},
	{"Ceil", func(v vector, x, _, _ vreg) vreg { return v.round(x, roundUp) }},
	{"Round", func(v vector, x, _, _ vreg) vreg { return v.round(x, roundEven) }},
	{"Exp", func(v vector, x, _, _ vreg) vreg { return v.exp(x) }},
	{"Log", func(v vector, x, _, _ vreg) vreg { return v.log(x) }},
	{"Tanh", func(v vector, x, _, _ vreg) vreg { return v.tanh(x) }},
	{"Erf", func(v vector, x, _, _ vreg) vreg { return v.erf(x) }},
	{"Sigmoid", func(v vector, x, _, _ vreg) vreg { return v.sigmoid(x) }},
	{"SiLU", func(v vector, x, _, _ vreg) vreg {
		r := v.sigmoid(x)
		v.c.VMULPS(x, r, r)
		return r
	}},
	{"GELU", func(v vector, x, _, _ vreg) vreg {
		if v.isa == avx512 {
			return v.gelu(x, v.shares[0])
		}
		t := v.z()
		v.mulBy(0.70710678118654752, x, t)
		r := v.erf(t)
		v.add(1, r, r)
		v.mulBy(0.5, x, t)
		v.c.VMULPS(t, r, r)
		return r
	}},
	{"GELUTanh", func(v vector, x, _, _ vreg) vreg {
		if v.isa == avx512 {
			return v.gelu(x, v.shares[1])
		}
		t, scale := v.z(), math.Sqrt(2/math.Pi)
		v.c.VMULPS(x, x, t)
		v.mulBy(0.044715*scale, t, t)
		v.add(scale, t, t)
		v.c.VMULPS(x, t, t)
		r := v.tanh(t)
		v.mulBy(0.5, r, r)
		v.add(0.5, r, r)
		v.c.VMULPS(x, r, r)
		return r
	}},
	{"HardSigmoid", func(v vector, x, a, b vreg) vreg { return v.hardSigmoid(x, a, b) }},
	{"HardSwish", func(v vector, x, a, b vreg) vreg {
		r := v.hardSigmoid(x, a, b)
		v.c.VMULPS(x, r, r)
		return r
	}},
	{"LeakyReLU", func(v vector, x, a, _ vreg) vreg {
		if v.isa == avx2 {
			r := v.z()
			v.c.VMULPS(a, x, r)
			v.c.VBLENDVPS(x, r, x, r) // by the sign bits of x
			return r
		}
		r, negative := v.copy(x), v.c.K()
		v.c.VPMOVD2M(x, negative)
		v.c.VMULPS(a, x, negative, r)
		return r
	}},
	{"Clamp", func(v vector, x, a, b vreg) vreg { return v.clamp(x, a, b) }},
	{"Affine", func(v vector, x, a, b vreg) vreg { // x*a + b, two roundings
		r := v.z()
		v.c.VMULPS(a, x, r)
		v.c.VADDPS(b, r, r)
		return r
	}},
	{"Sin", func(v vector, x, _, _ vreg) vreg { return v.sine(x, 0) }},
	{"Cos", func(v vector, x, _, _ vreg) vreg { return v.sine(x, 1) }},
}

// binaries are the functions of two operands, by the names of asm.BinaryOp.
var binaries = []binary{
	{"Add", func(v vector, x, y vreg) vreg { r := v.z(); v.c.VADDPS(y, x, r); return r }},
	{"Sub", func(v vector, x, y vreg) vreg { r := v.z(); v.c.VSUBPS(y, x, r); return r }},
	{"Mul", func(v vector, x, y vreg) vreg { r := v.z(); v.c.VMULPS(y, x, r); return r }},
	{"Div", func(v vector, x, y vreg) vreg { r := v.z(); v.c.VDIVPS(y, x, r); return r }},
	{"Max", func(v vector, x, y vreg) vreg { r := v.z(); v.c.VMAXPS(y, x, r); return v.keepNaN(x, y, r) }},
	{"Min", func(v vector, x, y vreg) vreg { r := v.z(); v.c.VMINPS(y, x, r); return v.keepNaN(x, y, r) }},
	{"Less", func(v vector, x, y vreg) vreg { return v.compare(x, y, compareLess) }},
	{"LessOrEqual", func(v vector, x, y vreg) vreg { return v.compare(x, y, compareLessOrEqual) }},
	{"Equal", func(v vector, x, y vreg) vreg { return v.compare(x, y, compareEqual) }},
}

// keepNaN replaces r by x+y where x or y is NaN.
func (v vector) keepNaN(x, y, r vreg) vreg {
	unordered := v.where(x, compareUnordered, y)
	if v.isa == avx512 {
		v.c.VADDPS(y, x, unordered, r)
		return r
	}
	sum := v.z()
	v.c.VADDPS(y, x, sum)
	v.replace(unordered, sum, r)
	return r
}

// compare returns 1 where the predicate holds, else 0.
func (v vector) compare(x, y vreg, predicate uint64) vreg {
	holds, one, r := v.where(x, predicate, y), v.splat(1), v.z()
	if v.isa == avx512 {
		v.c.VMOVAPS_Z(one, holds, r)
	} else {
		v.c.VANDPS(holds, one, r)
	}
	return r
}

func (v vector) abs(x vreg) vreg {
	r := v.z()
	v.and(^signBit, x, r)
	return r
}

func (v vector) round(x vreg, mode uint64) vreg {
	r := v.z()
	if v.isa == avx512 {
		v.c.VRNDSCALEPS(operand.Imm(mode), x, r)
	} else {
		v.c.VROUNDPS(operand.Imm(mode), x, r)
	}
	return r
}

// scale multiplies e by 2^n, n an integer between -252 and 254, rounding once where e is between 1/2 and 2: two factors
// of normal exponents, only the second of which may make the product subnormal.
func (v vector) scale(e, n vreg) {
	c := v.c
	if v.isa == avx512 {
		c.VSCALEFPS(n, e, e)
		return
	}
	whole, half, one := v.z(), v.z(), v.z()
	c.VCVTPS2DQ(n, whole)
	c.VPSRAD(operand.Imm(1), whole, half)
	c.VPSUBD(half, whole, whole)
	c.VBROADCASTSS(v.konst(1), one)
	for _, exponent := range []vreg{half, whole} {
		c.VPSLLD(operand.Imm(23), exponent, exponent)
		c.VPADDD(one, exponent, exponent)
		c.VMULPS(exponent, e, e)
	}
}

// withSign gives r, not negative, the sign of x.
func (v vector) withSign(r, x vreg) vreg {
	s := v.z()
	v.and(signBit, x, s)
	if v.isa == avx512 {
		v.c.VPORD(s, r, r)
	} else {
		v.c.VORPS(s, r, r)
	}
	return r
}

// reduceExp writes x as n*ln 2 + r with an integer n and |r| <= ln 2 / 2, and returns n, r and
// exp(r) - 1 = r + r*r*q(r). Its polynomial is a minimax fit, relative error 4e-9.
func (v vector) reduceExp(x vreg) (n, expm1 vreg) {
	c := v.c
	t := v.z()
	v.mulBy(1.44269504088896341, x, t)
	n = v.round(t, roundEven)
	r := v.copy(x)
	v.with(v.konst(0.693359375), c.VFNMADD231PS_BCST, c.VFNMADD231PS, n, r)
	v.with(v.konst(-2.12194440e-4), c.VFNMADD231PS_BCST, c.VFNMADD231PS, n, r)
	q := v.polynomial(r, 0.5, 0.16666506230831146, 0.041666168719530106, 0.008370321244001389, 0.0013952970039099455)
	square := v.z()
	c.VMULPS(r, r, square)
	c.VFMADD213PS(r, square, q)
	return n, q
}

// exp is within 2 units in the last place, subnormal results included.
func (v vector) exp(x vreg) vreg {
	n, e := v.reduceExp(v.clampTo(x, -104.5, 89.5))
	v.add(1, e, e)
	v.scale(e, n)
	return e
}

// sigmoid is e/(1+e) with e = exp(x), which keeps its relative precision where it is small: 1/(1+exp(-x)) is 0 from -89 on.
func (v vector) sigmoid(x vreg) vreg {
	n, e := v.reduceExp(v.clampTo(x, -104.5, 88))
	v.add(1, e, e)
	v.scale(e, n)
	more := v.splat(1)
	v.c.VADDPS(e, more, more)
	v.c.VDIVPS(more, e, e)
	return e
}

// tanh is e/(e+2) with e = exp(2|x|) - 1, which keeps its relative precision near 0.
func (v vector) tanh(x vreg) vreg {
	c := v.c
	a := v.z()
	c.VMINPS(v.abs(x), v.splat(10), a)
	c.VADDPS(a, a, a)
	n, e := v.reduceExp(a)
	power, less := v.splat(1), v.z()
	v.scale(power, n)
	v.with(v.konst(1), c.VSUBPS_BCST, c.VSUBPS, power, less)
	c.VFMADD213PS(less, power, e)
	v.add(2, e, power)
	c.VDIVPS(power, e, e)
	return v.withSign(e, x)
}

// erf is x*p(x*x) for |x| < 1 and 1 - exp(-g(|x|)) beyond, g = -log(erfc), both minimax fits; from 4 on it is 1.
func (v vector) erf(x vreg) vreg {
	c := v.c
	square := v.z()
	c.VMULPS(x, x, square)
	small := v.polynomial(square, erfSmall...)
	c.VMULPS(x, small, small)
	a := v.z()
	c.VMINPS(v.abs(x), v.splat(4), a)
	g := v.polynomial(a, erfLarge...)
	v.xor(signBit, g, g)
	n, e := v.reduceExp(g)
	v.add(1, e, e)
	v.scale(e, n)
	large := v.splat(1)
	c.VSUBPS(e, large, large)
	large = v.withSign(large, x)
	v.replace(v.where(a, compareLess, v.splat(1)), small, large)
	return large
}

// log is e*ln 2 + log1p(r) with x = 2^e * (1+r), 1+r in [0.75, 1.5): r - r*r/2 + r*r*r*q(r), a minimax fit of
// relative error 5e-9. Negative x give NaN, 0 gives minus infinity, infinity itself.
func (v vector) log(x vreg) vreg {
	c := v.c
	m, e := v.mantissa(x)
	r := v.z()
	v.with(v.konst(1), c.VSUBPS_BCST, c.VSUBPS, m, r)
	q := v.polynomial(r, logCoefficients...)
	square := v.z()
	c.VMULPS(r, r, square)
	c.VMULPS(r, q, q)
	c.VMULPS(square, q, q)
	v.with(v.konst(-2.12194440e-4), c.VFMADD231PS_BCST, c.VFMADD231PS, e, q)
	v.with(v.konst(0.5), c.VFNMADD231PS_BCST, c.VFNMADD231PS, square, q)
	c.VADDPS(q, r, r)
	v.with(v.konst(0.693359375), c.VFMADD231PS_BCST, c.VFMADD231PS, e, r)
	if v.isa == avx512 {
		for _, limit := range []float64{0, math.Inf(1)} { // where e is infinite, and the result
			v.replace(v.where(x, compareEqual, v.splat(limit)), e, r)
		}
		return r
	}
	for _, special := range []struct {
		predicate     uint64
		than, becomes float64
	}{
		{compareNotGreaterOrEqual, 0, math.NaN()},
		{compareEqual, 0, math.Inf(-1)},
		{compareEqual, math.Inf(1), math.Inf(1)},
	} {
		v.replace(v.where(x, special.predicate, v.splat(special.than)), v.splat(special.becomes), r)
	}
	return r
}

// mantissa writes a positive finite x as m * 2^e with m in [0.75, 1.5). With AVX-512, m is NaN for negative x, and e
// infinite for zero and infinity.
func (v vector) mantissa(x vreg) (m, e vreg) {
	c := v.c
	m, e = v.z(), v.z()
	if v.isa == avx512 {
		t := v.z()
		c.VGETMANTPS(operand.Imm(0b1011), x, m)
		c.VGETEXPPS(x, e)
		c.VGETEXPPS(m, t)
		c.VSUBPS(t, e, e)
		return m, e
	}
	subnormal, scaled, less := v.where(x, compareLess, v.splat(0x1p-126)), v.z(), v.splat(23)
	v.mulBy(0x1p23, x, scaled)
	c.VBLENDVPS(subnormal, scaled, x, m)
	c.VANDPS(subnormal, less, less)
	exponent := v.z()
	c.VBROADCASTSS(v.konst(0.75), exponent)
	c.VPSUBD(exponent, m, exponent)
	c.VPSRAD(operand.Imm(23), exponent, exponent)
	c.VCVTDQ2PS(exponent, e)
	c.VSUBPS(less, e, e)
	c.VPSLLD(operand.Imm(23), exponent, exponent)
	c.VPSUBD(exponent, m, m)
	return m, e
}

var (
	erfSmall = []float64{1.1283791065216064, -0.3761262595653534, 0.11283600330352783, -0.026854444295167923,
		0.005189535208046436, -0.0008020841050893068, 7.889119297033176e-05}
	erfLarge = []float64{-0.00018803816055878997, 1.1295784711837769, 0.6332198977470398, 0.10841856151819229,
		-0.02520824782550335, 0.00420455913990736, -0.00044133589835837483, 2.1686813852284104e-05}
	logCoefficients = []float64{0.33333447575569153, -0.2500019371509552, 0.19991089403629303, -0.16643743216991425,
		0.14467716217041016, -0.13186892867088318, 0.10582699626684189, -0.0461665503680706}
)

// sine is the sine of x plus so many quarter turns, |x| at most maxAngle. x = n*pi/2 + r, each part of pi/2 with one rounding, and of
// a quarter turn r is r + r*z*p(z) or 1 - z/2 + z*z*q(z), z = r*r, minimax fits of relative errors 4e-9 and 1e-10.
func (v vector) sine(x vreg, quarters uint32) vreg {
	c := v.c
	t := v.z()
	v.mulBy(2/math.Pi, x, t)
	n, r := v.round(t, roundEven), v.copy(x)
	for _, part := range []float64{1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15} {
		v.with(v.konst(part), c.VFNMADD231PS_BCST, c.VFNMADD231PS, n, r)
	}
	turns, odd, half := v.z(), v.z(), v.z()
	c.VCVTPS2DQ(n, turns)
	if quarters > 0 {
		v.with(v.bits(quarters), c.VPADDD_BCST, c.VPADDD, turns, turns)
	}
	c.VPSLLD(operand.Imm(31), turns, odd)
	c.VPSLLD(operand.Imm(30), turns, half)
	z := v.z()
	c.VMULPS(r, r, z)
	sine := v.polynomial(z, -0.16666653752326965, 0.008332131430506706, -0.00019510839774738997)
	c.VMULPS(z, sine, sine)
	c.VFMADD213PS(r, r, sine)
	cosine, less := v.polynomial(z, 0.04166664555668831, -0.0013887305976822972, 2.4431205019936897e-05), v.splat(1)
	v.with(v.konst(0.5), c.VFNMADD231PS_BCST, c.VFNMADD231PS, z, less)
	c.VMULPS(z, z, z)
	c.VFMADD213PS(less, z, cosine)
	var swap reg.Register = odd
	if v.isa == avx512 {
		k := c.K()
		c.VPMOVD2M(odd, k)
		swap = k
	}
	v.replace(swap, cosine, sine)
	v.and(signBit, half, half)
	if v.isa == avx512 {
		c.VPXORD(half, sine, sine)
	} else {
		c.VXORPS(half, sine, sine)
	}
	return sine
}

// hardSigmoid is max(0, min(1, a*x + b)), the product rounded.
func (v vector) hardSigmoid(x, a, b vreg) vreg {
	r := v.z()
	v.c.VMULPS(a, x, r)
	v.c.VADDPS(b, r, r)
	return v.clampTo(r, 0, 1)
}
