package graph

import "fmt"

// DataType is the type of a tensor's elements.
type DataType uint8

// The element types. Types of less than a byte are not supported, and those of floating point in 8 bits only by Cast.
const (
	Invalid DataType = iota
	F32
	F16
	BF16
	F64
	I8
	U8
	I16
	U16
	I32
	U32
	I64
	U64
	Bool
	F8E4M3FN
	F8E4M3FNUZ
	F8E5M2
	F8E5M2FNUZ
)

var dataTypes = [...]struct {
	name string
	size int
}{
	Invalid: {"invalid", 0}, F32: {"f32", 4}, F16: {"f16", 2}, BF16: {"bf16", 2}, F64: {"f64", 8},
	I8: {"i8", 1}, U8: {"u8", 1}, I16: {"i16", 2}, U16: {"u16", 2}, I32: {"i32", 4}, U32: {"u32", 4},
	I64: {"i64", 8}, U64: {"u64", 8}, Bool: {"bool", 1},
	F8E4M3FN: {"f8e4m3fn", 1}, F8E4M3FNUZ: {"f8e4m3fnuz", 1}, F8E5M2: {"f8e5m2", 1}, F8E5M2FNUZ: {"f8e5m2fnuz", 1},
}

// Size returns the bytes of one element.
func (t DataType) Size() int {
	if int(t) < len(dataTypes) {
		return dataTypes[t].size
	}
	return 0
}

func (t DataType) String() string {
	if int(t) < len(dataTypes) {
		return dataTypes[t].name
	}
	return fmt.Sprintf("datatype(%d)", uint8(t))
}

// IsFloat reports whether t is a floating-point type that layers compute in: not one of 8 bits.
func (t DataType) IsFloat() bool { return t >= F32 && t <= F64 }

// IsInteger reports whether t is an integer type; Bool is not.
func (t DataType) IsInteger() bool { return t >= I8 && t <= U64 }

// Signed reports whether t has negative values.
func (t DataType) Signed() bool {
	return t.IsFloat() || t == I8 || t == I16 || t == I32 || t == I64
}

// MarshalText writes the type's name.
func (t DataType) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads a type's name.
func (t *DataType) UnmarshalText(b []byte) error {
	for i := range dataTypes {
		if dataTypes[i].name == string(b) {
			*t = DataType(i)
			return nil
		}
	}
	return fmt.Errorf("unknown data type %q", b)
}
