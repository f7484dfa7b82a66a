package main

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
)

// What GELU lacks to max(x, 0) is the same on both sides, g(|x|) = |x|*s(-|x|) with the share s. It is cut into 16 pieces about
// multiples of geluStep, a polynomial each, whose coefficients lie in a register a degree: VPERMPS finds them by the piece's
// number. From geluEnd on, g is below 2e-9 and stays what it is there.
const (
	geluStep   = 0.4
	geluDegree = 5
	geluEnd    = 15.49 * geluStep
	geluRound  = 12582912 // 1.5 * 2^23: a number plus that has its nearest integer in the low bits
)

// activations returns what emits GELU in the epilogues of a family, with tables and constants of its own.
func activations(c *build.Context, family string) vector {
	shares := [2]operand.Mem{geluTable(c, family+"GELUTable", normalShare), geluTable(c, family+"GELUTanhTable", tanhShare)}
	return vector{c: c, isa: avx512, shares: shares, pool: newConstantPool(c, family+"Constants")} // the last table: it grows
}

// geluTable stores the coefficients of a share, those of degree 0 first.
func geluTable(c *build.Context, name string, share func(x float64) float64) operand.Mem {
	table := c.StaticGlobal(name)
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 16 * (geluDegree + 1) { // in the order of their places
		f := geluPiece(i%16, func(t float64) float64 { return t * share(-t) })[i/16]
		c.AddDatum(4*i, operand.U32(math.Float32bits(float32(f))))
	}
	return table
}

// geluPiece interpolates g((k+u)*geluStep) for |u| <= 1/2 at Chebyshev's points; for k = 0, where u is not negative, without a
// constant, so that the relative error stays small near 0.
func geluPiece(k int, g func(t float64) float64) [geluDegree + 1]float64 {
	var p [geluDegree + 1]float64
	first, low := 0, -0.5
	if k == 0 {
		first, low = 1, 0
	}
	n := len(p) - first
	u, f := make([]float64, n), make([]float64, n)
	for i := range n {
		u[i] = low + (0.5-low)*(1-math.Cos(math.Pi*(float64(i)+0.5)/float64(n)))/2
		f[i] = g((float64(k) + u[i]) * geluStep)
		if k == 0 {
			f[i] /= u[i]
		}
	}
	for j := 1; j < n; j++ { // Newton's divided differences
		for i := n - 1; i >= j; i-- {
			f[i] = (f[i] - f[i-1]) / (u[i] - u[i-j])
		}
	}
	q := p[first:]
	for i := n - 1; i >= 0; i-- { // q = q*(x - u[i]) + f[i]
		for d := n - 1; d > 0; d-- {
			q[d] = q[d-1] - q[d]*u[i]
		}
		q[0] = f[i] - q[0]*u[i]
	}
	return p
}

// infinityFixed has VFIXUPIMM make a NaN of -Inf, class 4 of 8, and leave the rest.
const infinityFixed = 3 << (4 * 4)

// gelu is max(x, 0) - g(|x|) by a table of pieces. Of -Inf it is NaN, as the definition's product with 0 is.
func (v vector) gelu(x vreg, table operand.Mem) vreg {
	c := v.c
	t := v.z()
	c.VMINPS(v.abs(x), v.splat(geluEnd), t)
	piece, whole, u := v.splat(1/geluStep), v.z(), v.splat(1/geluStep)
	c.VFMADD213PS_BCST(v.konst(geluRound), t, piece)
	c.VADDPS_BCST(v.konst(-geluRound), piece, whole)
	c.VFMSUB213PS(whole, t, u)
	var g vreg
	for degree := geluDegree; degree >= 0; degree-- {
		coefficient := v.z()
		c.VPERMPS(table.Offset(64*degree), piece, coefficient)
		if degree < geluDegree {
			c.VFMADD231PS(u, g, coefficient)
		}
		g = coefficient
	}
	r := v.z()
	c.VXORPS(r, r, r)
	c.VMAXPS(x, r, r)
	c.VSUBPS(g, r, r)
	c.VFIXUPIMMPS_BCST(operand.Imm(0), v.bits(infinityFixed), x, r)
	return r
}

// normalShare is the share of GELU, the normal distribution, and tanhShare what stands for it.
func normalShare(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

func tanhShare(x float64) float64 {
	return 1 / (1 + math.Exp(-2*math.Sqrt(2/math.Pi)*x*(1+0.044715*x*x)))
}
