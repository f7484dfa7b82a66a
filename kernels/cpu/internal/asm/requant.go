package asm

import "math"

// Requant turns int32 sums into real values and these into bytes. For channel o of a pixel, with s the
// exact sum, every operation rounded to float32 on its own (no fused multiply-add):
//
//	f = float32(s)*Scale[o]
//	f = (f + Rows[2*x]*Sums[o]) * Rows[2*x+1]               if Rows is set, for pixel x
//	f = f + Bias[o]
//	f = GELU(f), or its tanh form                           if Activation says so
//	f = min(max(f, Inner[0]), Inner[1])                     if ClampInner
//	f = (saturate(roundToEven(f/Between.Scale) + Between.Zero) - Between.Zero)*Between.Scale  if Between.Scale is set
//	f = f + (float32(residual) - ResidualZero)*ResidualScale  if Residual is set
//	f = f + addend                                          if Addend is set
//	f = min(max(f, Outer[0]), Outer[1])
//	byte = saturate(roundToEven(f/OutScale) + OutZero), OutZero of NaN
//
// Bytes are unsigned. Signed tensors are kept in offset binary: the byte of q is q+128, and a zero point z
// is given as z+128, which yields the same real values and, read back, the same integers.
//
// A pixel's channels are blocks of 16: block b of pixel x begins at x*Pixel + b*Block in Out and Residual,
// strides counting elements; Addend has the strides of Residual. Exactly one of Out and Float is set, of Residual and
// Addend one at most.
type Requant struct {
	Scale, Bias []float32 // one for each output channel of the tile
	// Where rows of a matrix product have ranges of their own: of each pixel by how much its zero point is less than that which sums start
	// from, and its scale. The kernels of QConvCall have it. Nil for none.
	Rows       []float32
	Sums       []float32 // as Scale, where Rows is set
	Activation Activation
	ClampInner bool
	Inner      [2]float32
	Between    Rounding // to what the result would have been as bytes of its own, before the residual

	Residual                     []byte    // nil for none; may be Out
	Addend                       []float32 // nil for none; may be Float
	ResidualPixel, ResidualBlock int
	ResidualScale, ResidualZero  float32

	Outer    [2]float32 // infinities for no clamp; NaN passes
	OutScale float32    // positive, below 2^100
	OutZero  int32      // 0 to 255

	Flip               byte      // exclusive-or of what is stored in Out: 0x80 makes two's complement of offset binary
	Out                []byte    // quantised output
	Float              []float32 // output not quantised
	OutPixel, OutBlock int
}

// Activation is a function that a kernel applies to what it has in registers, as its [VecKernel] would: see
// [QConvKernel.Activates].
type Activation uint8

const (
	NoActivation Activation = iota
	ByGELU
	ByGELUTanh
)

// activate applies the function by its definition.
func (a Activation) activate(f float32) float32 {
	switch a {
	case ByGELU:
		return unaryValue(GELU, f, 0, 0)
	case ByGELUTanh:
		return unaryValue(GELUTanh, f, 0, 0)
	}
	return f
}

// Rounding is to what unsigned bytes stand for.
type Rounding struct {
	Scale float32 // positive, below 2^100; 0 for none
	Zero  int32   // 0 to 255
}

// round returns the nearest; NaN stays.
func (r Rounding) round(f float32) float32 {
	steps := [2]float32{float32(-r.Zero), float32(255 - r.Zero)}
	return float32(clamp(float32(math.RoundToEven(float64(f/r.Scale))), steps) * r.Scale)
}

// value returns the real value of sum in lane o of block b of pixel x.
func (r *Requant) value(sum int32, x, b, l int) float32 {
	o := 16*b + l
	f := float32(float32(sum) * r.Scale[o])
	if r.Rows != nil {
		f = float32(float32(f+float32(r.Rows[2*x]*r.Sums[o])) * r.Rows[2*x+1])
	}
	f = r.Activation.activate(f + r.Bias[o])
	if r.ClampInner {
		f = clamp(f, r.Inner)
	}
	if r.Between.Scale != 0 {
		f = r.Between.round(f)
	}
	if r.Residual != nil {
		q := float32(r.Residual[x*r.ResidualPixel+b*r.ResidualBlock+l])
		f += float32((q - r.ResidualZero) * r.ResidualScale)
	}
	if r.Addend != nil {
		f += r.Addend[x*r.ResidualPixel+b*r.ResidualBlock+l]
	}
	return clamp(f, r.Outer)
}

// store writes the 16 sums of block b of pixel x.
func (r *Requant) store(sums []int32, x, b int) {
	at := x*r.OutPixel + b*r.OutBlock
	for l, s := range sums[:16] {
		f := r.value(s, x, b, l)
		if r.Float != nil {
			r.Float[at+l] = f
		} else {
			r.Out[at+l] = quantise(f, r.OutScale, r.OutZero) ^ r.Flip
		}
	}
}

// within returns limits as far as they are within what bytes of a scale and zero point stand for: what is beyond saturates
// to the byte of the nearer end.
func within(limits [2]float32, scale float32, zero int32) [2]float32 {
	ends := [2]float32{float32(-zero) * scale, float32(255-zero) * scale}
	return [2]float32{clamp(limits[0], ends), clamp(limits[1], ends)}
}

// quantise is ONNX QuantizeLinear to unsigned bytes; NaN becomes the zero point.
func quantise(f, scale float32, zero int32) byte {
	q := math.RoundToEven(float64(f/scale)) + float64(zero)
	switch {
	case q != q:
		return byte(zero)
	case q >= 255:
		return 255
	case q >= 0:
		return byte(q)
	}
	return 0
}

var posInf, negInf = float32(math.Inf(1)), float32(math.Inf(-1))
