//go:build amd64 && !noasm

package asm

import "unsafe"

// requantArgs is Requant as the assembly reads it, strides in bytes; the offsets are known to the generator.
type requantArgs struct {
	scale, bias                  *float32
	out                          unsafe.Pointer
	outPixel, outBlock           int
	residual                     *byte
	residualPixel, residualBlock int
	inner, outer                 [2]float32
	residualScale, residualZero  float32
	outScale                     float32
	outZero                      int32
	clampInner, storeFloat       uint32
	residualFloat                uint32
	flip                         uint32  // in each byte
	inverse                      inverse // of outScale
	betweenScale                 float32
	between                      [2]float32 // the least and the most that its bytes stand for
	betweenInverse               inverse    // of its scale
	activation                   uint32
	sums                         *float32
	rows                         *float32 // of the next pixel: the assembly counts it on
}

// inverse is 1 over a scale, rounded, and what that lacks; 0 where a quotient by way of it might not be the one that a division
// rounds to.
type inverse [2]float32

func inverseOf(scale float32) inverse {
	if scale < 0x1p-100 || scale > 0x1p100 {
		return inverse{}
	}
	exact := 1 / float64(scale)
	return inverse{float32(exact), float32(exact - float64(float32(exact)))}
}

// args checks that the slices reach the last of n pixels and translates r.
func (r *Requant) args(n, blocks int) requantArgs {
	_, _ = r.Scale[16*blocks-1], r.Bias[16*blocks-1]
	a := requantArgs{scale: &r.Scale[0], bias: &r.Bias[0], outPixel: r.OutPixel, outBlock: r.OutBlock,
		inner: r.Inner, outer: r.Outer, residualScale: r.ResidualScale, residualZero: r.ResidualZero,
		outScale: r.OutScale, outZero: r.OutZero, inverse: inverseOf(r.OutScale), betweenScale: r.Between.Scale, activation: uint32(r.Activation)}
	if r.Rows != nil {
		_, _ = r.Rows[2*n-1], r.Sums[16*blocks-1]
		a.rows, a.sums = &r.Rows[0], &r.Sums[0]
	}
	last := (n-1)*r.OutPixel + (blocks-1)*r.OutBlock + 15
	if r.Float != nil {
		_ = r.Float[last]
		a.out, a.storeFloat = unsafe.Pointer(&r.Float[0]), 1
		a.outPixel, a.outBlock = 4*r.OutPixel, 4*r.OutBlock
	} else {
		_ = r.Out[last]
		a.out = unsafe.Pointer(&r.Out[0])
	}
	if r.Float == nil {
		a.outer = within(r.Outer, r.OutScale, r.OutZero)
		a.flip = uint32(r.Flip) * 0x01010101
	}
	if r.ClampInner {
		a.clampInner = 1
	}
	if a.betweenScale != 0 {
		a.between, a.betweenInverse = within(unlimited, a.betweenScale, r.Between.Zero), inverseOf(a.betweenScale)
	}
	if r.Residual != nil {
		_ = r.Residual[(n-1)*r.ResidualPixel+(blocks-1)*r.ResidualBlock+15]
		a.residual, a.residualPixel, a.residualBlock = &r.Residual[0], r.ResidualPixel, r.ResidualBlock
	}
	if r.Addend != nil {
		_ = r.Addend[(n-1)*r.ResidualPixel+(blocks-1)*r.ResidualBlock+15]
		a.residual, a.residualFloat = (*byte)(unsafe.Pointer(&r.Addend[0])), 1
		a.residualPixel, a.residualBlock = 4*r.ResidualPixel, 4*r.ResidualBlock
	}
	return a
}

// after returns the arguments of what follows n pixels, which the assembly has done.
func (a requantArgs) after(n int) requantArgs {
	a.out = unsafe.Add(a.out, n*a.outPixel)
	if a.residual != nil {
		a.residual = (*byte)(unsafe.Add(unsafe.Pointer(a.residual), n*a.residualPixel))
	}
	return a
}
