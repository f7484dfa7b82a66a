package numeric

import (
	"fmt"
	"unsafe"
)

// Value is a tensor at run time on the host: row-major elements of one type and shape. Data need not be aligned. Of strings it
// has each behind its length: see strings.go.
type Value struct {
	Type DataType
	Dims []int
	Data []byte
}

// Element is a Go type that a Value's elements can be viewed as. F16 and BF16 are viewed as uint16, Bool as uint8,
// I4 and I2 as int8, the other narrow types as uint8.
type Element interface {
	float32 | float64 | int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64
}

// NewValue returns a zero-filled value, or one of empty strings.
func NewValue(t DataType, dims ...int) Value {
	if t == Str {
		return Value{Type: t, Dims: dims, Data: make([]byte, Count(dims))} // each is empty
	}
	return Value{Type: t, Dims: dims, Data: make([]byte, Count(dims)*t.Size())}
}

// Values returns a value of the given shape over a copy of data.
func Values[T Element](t DataType, data []T, dims ...int) Value {
	v := NewValue(t, dims...)
	copy(View[T](v.Data), data)
	return v
}

// Count returns the number of elements of a shape; 1 for a scalar.
func Count(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// Len returns the number of elements.
func (v Value) Len() int { return Count(v.Dims) }

// View returns bytes as a slice of T without copying; trailing bytes that do not fill an element are left out.
func View[T Element](b []byte) []T {
	var zero T
	n := len(b) / int(unsafe.Sizeof(zero))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// F32 returns the elements of an F32 value, without copying.
func (v Value) F32() []float32 { return viewAs[float32](v, F32) }

// I64 returns the elements of an I64 value, without copying.
func (v Value) I64() []int64 { return viewAs[int64](v, I64) }

// I32 returns the elements of an I32 value, without copying.
func (v Value) I32() []int32 { return viewAs[int32](v, I32) }

func viewAs[T Element](v Value, t DataType) []T {
	if v.Type != t {
		panic(fmt.Sprintf("graph: %s value viewed as %s", v.Type, t))
	}
	return View[T](v.Data)
}

// Floats returns the elements as float32, converted where the type is another one; Range-less integers convert by
// value, and a string is a number that tells it from others. F32 values are not copied.
func (v Value) Floats() []float32 {
	if v.Type == F32 {
		return View[float32](v.Data)
	}
	out := make([]float32, v.Len())
	switch v.Type {
	case F16:
		for i, h := range View[uint16](v.Data) {
			out[i] = F16ToF32(h)
		}
	case BF16:
		for i, h := range View[uint16](v.Data) {
			out[i] = BF16ToF32(h)
		}
	case F64, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0, F6E2M3, F6E3M2, F4E2M1:
		Convert(out, v.Float64s())
	default:
		convertIntegers(out, v)
	}
	return out
}

// NotFinite returns how many elements of an F32 or F16 value are NaN or infinite.
func (v Value) NotFinite() (n int) {
	switch v.Type {
	case F32:
		for _, x := range View[uint32](v.Data) {
			if x&0x7f800000 == 0x7f800000 {
				n++
			}
		}
	case F16:
		for _, x := range View[uint16](v.Data) {
			if x&0x7c00 == 0x7c00 {
				n++
			}
		}
	}
	return n
}

// Ints returns the elements of an integer or boolean value as int64, converted where the type is another one; a string is a number
// that tells it from others.
func (v Value) Ints() []int64 {
	if v.Type == I64 {
		return View[int64](v.Data)
	}
	out := make([]int64, v.Len())
	switch v.Type {
	case F32:
		Convert(out, View[float32](v.Data))
	case F64, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0, F6E2M3, F6E3M2, F4E2M1:
		Convert(out, v.Float64s())
	default:
		convertIntegers(out, v)
	}
	return out
}

// convertIntegers fills dst with the elements of an integer or boolean value, or with numbers of strings that differ where these do.
func convertIntegers[D Element](dst []D, v Value) {
	switch v.Type {
	case I8, I4, I2:
		Convert(dst, View[int8](v.Data))
	case U8, U4, U2, Bool:
		Convert(dst, v.Data)
	case I16:
		Convert(dst, View[int16](v.Data))
	case U16:
		Convert(dst, View[uint16](v.Data))
	case I32:
		Convert(dst, View[int32](v.Data))
	case U32:
		Convert(dst, View[uint32](v.Data))
	case I64:
		Convert(dst, View[int64](v.Data))
	case U64:
		Convert(dst, View[uint64](v.Data))
	case Str:
		for i, s := range v.Strings() {
			dst[i] = D(fingerprint(s))
		}
	}
}

func Convert[D, S Element](dst []D, src []S) {
	for i := range dst {
		dst[i] = D(src[i])
	}
}

// Bytes returns the bytes of a slice without copying.
func Bytes[T Element](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(zero)))
}
