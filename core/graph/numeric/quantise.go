package numeric

import "math"

// ToReal returns v as F32 where it is F16, BF16 or quantised by r; other values are returned as they are.
func ToReal(v Value, r Range) Value {
	switch {
	case v.Type == F16, v.Type == BF16:
		return Value{F32, v.Dims, Bytes(v.Floats())}
	case v.Type.IsInteger() && r.IsSet():
		return Value{F32, v.Dims, Bytes(r.Dequantize(v))}
	}
	return v
}

// FromReal stores real numbers as dst's type: rounded to F16 or BF16, or quantised by r.
func FromReal(dst Value, x []float32, r Range) {
	switch {
	case dst.Type == F32:
		copy(dst.F32(), x)
	case dst.Type == F16:
		out := View[uint16](dst.Data)
		for i, f := range x {
			out[i] = F32ToF16(f)
		}
	case dst.Type == BF16:
		out := View[uint16](dst.Data)
		for i, f := range x {
			out[i] = F32ToBF16(f)
		}
	default:
		r.Quantize(dst, x)
	}
}

// Dequantize returns the real numbers (q - zero) * scale that v's integers stand for, each step rounded to float32.
func (r Range) Dequantize(v Value) []float32 {
	out := make([]float32, v.Len())
	inner, channels := r.Stride(v.Dims)
	for i, q := range v.Ints() {
		c := i / inner % channels
		out[i] = float32(q-int64(r.ZeroAt(c))) * r.ScaleAt(c)
	}
	return out
}

// Quantize stores x as integers in dst: q = saturate(round(x / scale) + zero), rounding half to even; NaN becomes the zero
// point. It is ONNX's QuantizeLinear.
func (r Range) Quantize(dst Value, x []float32) {
	lo, hi := dst.Type.Limits()
	inner, channels := r.Stride(dst.Dims)
	for i, f := range x {
		c := i / inner % channels
		q := math.RoundToEven(float64(f / r.ScaleAt(c)))
		if q != q {
			q = 0
		}
		q = max(lo, min(hi, q+float64(r.ZeroAt(c))))
		switch dst.Type {
		case I8, I4, I2:
			dst.Data[i] = byte(int8(q))
		case U8, U4, U2:
			dst.Data[i] = byte(q)
		case I16:
			View[int16](dst.Data)[i] = int16(q)
		case U16:
			View[uint16](dst.Data)[i] = uint16(q)
		case I32:
			View[int32](dst.Data)[i] = int32(q)
		default:
			panic("numeric: quantise to " + dst.Type.String())
		}
	}
}

// Stride returns how many elements one index of the range's axis spans, and the extent of that axis.
func (r Range) Stride(dims []int) (inner, channels int) {
	if !r.PerChannel() {
		return max(1, Count(dims)), 1
	}
	return max(1, Count(dims[r.Axis+1:])), dims[r.Axis]
}

// Limits returns the smallest and largest value of an integer type of at most 32 bits.
func (t DataType) Limits() (lo, hi float64) {
	bits := float64(uint64(1) << t.Bits())
	if t.Signed() {
		return -bits / 2, bits/2 - 1
	}
	return 0, bits - 1
}

// IsQuantised reports whether real numbers are quantised to t.
func (t DataType) IsQuantised() bool {
	switch t {
	case I8, U8, I16, U16, I32:
		return true
	}
	return t.IsNarrow() && t != F8E8M0
}
