package numeric

import "math"

// Cast converts src's elements, which are numbers, to dst's type.
func Cast(dst, src Value) {
	switch {
	case dst.Type == src.Type:
		copy(dst.Data, src.Data)
	case src.Type.IsFloat(), src.Type.IsNarrowFloat(), dst.Type.IsNarrowFloat():
		dst.SetFloats(src.Float64s())
	default:
		dst.SetInts(src.Ints(), src.Type == U64)
	}
}

// Float64s returns the elements as float64, converted where the type is another one; F64 values are not copied.
func (v Value) Float64s() []float64 {
	if v.Type == F64 {
		return View[float64](v.Data)
	}
	if v.Type.IsNarrowFloat() {
		return v.narrowFloats64()
	}
	out := make([]float64, v.Len())
	if v.Type.IsFloat() {
		Convert(out, v.Floats())
		return out
	}
	for i, n := range v.Ints() {
		out[i] = float64(n)
		if v.Type == U64 {
			out[i] = float64(uint64(n))
		}
	}
	return out
}

// SetFloats stores x rounded to v's type; integers truncate and saturate.
func (v Value) SetFloats(x []float64) {
	switch v.Type {
	case F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0, F6E2M3, F6E3M2, F4E2M1:
		v.SetNarrowFloats(x, true, RoundUp)
	case Str:
		panic("numeric: numbers stored as strings")
	case F64:
		copy(View[float64](v.Data), x)
	case F32:
		Convert(v.F32(), x)
	case F16, BF16:
		out := View[uint16](v.Data)
		for i, f := range x {
			if v.Type == F16 {
				out[i] = F32ToF16(roundToOdd(f))
			} else {
				out[i] = F32ToBF16(roundToOdd(f))
			}
		}
	case Bool:
		for i, f := range x {
			v.Data[i] = 0
			if f != 0 {
				v.Data[i] = 1
			}
		}
	default:
		to := v.Type
		if to.IsNarrowInteger() {
			to = I64
		}
		ints := make([]int64, len(x))
		for i, f := range x {
			ints[i] = Truncate(f, to)
		}
		v.SetInts(ints, v.Type == U64)
	}
}

// roundToOdd rounds to float32 so that a later rounding to fewer bits equals rounding f at once.
func roundToOdd(f float64) float32 {
	r := float32(f)
	if float64(r) == f || f != f || math.IsInf(float64(r), 0) {
		return r
	}
	b := math.Float32bits(r)
	if math.Abs(float64(r)) > math.Abs(f) {
		b-- // toward 0
	}
	return math.Float32frombits(b | 1)
}

// Truncate returns f rounded toward 0 and saturated to an integer type; for U64 as the bits of its int64.
func Truncate(f float64, t DataType) int64 {
	if f != f {
		return 0
	}
	if t == U64 {
		switch {
		case f <= 0:
			return 0
		case f >= 1<<64:
			return -1
		}
		return int64(uint64(f))
	}
	if t == I64 {
		switch {
		case f <= math.MinInt64:
			return math.MinInt64
		case f >= 1<<63:
			return math.MaxInt64
		}
		return int64(f)
	}
	lo, hi := t.Limits()
	return int64(max(lo, min(hi, f)))
}

// SetInts stores x wrapped around to v's type; unsigned says that x holds the bits of uint64s.
func (v Value) SetInts(x []int64, unsigned bool) {
	switch v.Type {
	case Str:
		panic("numeric: numbers stored as strings")
	case I8:
		Convert(View[int8](v.Data), x)
	case U8:
		Convert(v.Data, x)
	case I16:
		Convert(View[int16](v.Data), x)
	case U16:
		Convert(View[uint16](v.Data), x)
	case I32:
		Convert(View[int32](v.Data), x)
	case U32:
		Convert(View[uint32](v.Data), x)
	case I64:
		copy(View[int64](v.Data), x)
	case U64:
		Convert(View[uint64](v.Data), x)
	case U4, I4, U2, I2:
		for i, n := range x {
			v.Data[i] = v.Type.WrapNarrow(n)
		}
	case Bool:
		for i, n := range x {
			v.Data[i] = 0
			if n != 0 {
				v.Data[i] = 1
			}
		}
	default:
		f := make([]float64, len(x))
		for i, n := range x {
			f[i] = float64(n)
			if unsigned {
				f[i] = float64(uint64(n))
			}
		}
		v.SetFloats(f)
	}
}

// SetNumbers stores numbers as v's type, integers without what is behind the point.
func (v Value) SetNumbers(x []float64) {
	if v.Type.IsFloat() {
		v.SetFloats(x)
		return
	}
	list := make([]int64, len(x))
	for i, f := range x {
		list[i] = int64(f)
	}
	v.SetInts(list, v.Type == U64)
}

// Wrap returns v reduced to the values of an integer type.
func (t DataType) Wrap(v int64) int64 {
	switch t {
	case I8:
		return int64(int8(v))
	case U8:
		return int64(uint8(v))
	case I16:
		return int64(int16(v))
	case U16:
		return int64(uint16(v))
	case I32:
		return int64(int32(v))
	case U32:
		return int64(uint32(v))
	}
	return v
}
