package numeric

import "fmt"

// DataType is the type of a tensor's elements.
type DataType uint8

// The element types. The narrow ones, from F8E4M3FN on, are storage: see narrow.go.
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
	F8E8M0
	F6E2M3
	F6E3M2
	F4E2M1
	U4
	I4
	U2
	I2
	Str // text: see strings.go
)

var dataTypes = [...]struct {
	name string
	bits int
}{
	Invalid: {"invalid", 0}, F32: {"f32", 32}, F16: {"f16", 16}, BF16: {"bf16", 16}, F64: {"f64", 64},
	I8: {"i8", 8}, U8: {"u8", 8}, I16: {"i16", 16}, U16: {"u16", 16}, I32: {"i32", 32}, U32: {"u32", 32},
	I64: {"i64", 64}, U64: {"u64", 64}, Bool: {"bool", 8},
	F8E4M3FN: {"f8e4m3fn", 8}, F8E4M3FNUZ: {"f8e4m3fnuz", 8}, F8E5M2: {"f8e5m2", 8}, F8E5M2FNUZ: {"f8e5m2fnuz", 8},
	F8E8M0: {"f8e8m0", 8}, F6E2M3: {"f6e2m3", 6}, F6E3M2: {"f6e3m2", 6}, F4E2M1: {"f4e2m1", 4},
	U4: {"u4", 4}, I4: {"i4", 4}, U2: {"u2", 2}, I2: {"i2", 2}, Str: {"str", 64},
}

// Bits returns how many bits of an element there are, which in a file may lie without a gap; of a string those of its number.
func (t DataType) Bits() int {
	if int(t) < len(dataTypes) {
		return dataTypes[t].bits
	}
	return 0
}

// Size returns the bytes of one element in memory; one of less than a byte has a byte of its own. A string
// is a number in an engine's memory, and has no fixed size in a Value: see strings.go.
func (t DataType) Size() int { return (t.Bits() + 7) / 8 }

func (t DataType) String() string {
	if int(t) < len(dataTypes) {
		return dataTypes[t].name
	}
	return fmt.Sprintf("datatype(%d)", uint8(t))
}

// IsFloat reports whether t is a floating-point type that layers compute in: not a narrow one.
func (t DataType) IsFloat() bool { return t >= F32 && t <= F64 }

// IsInteger reports whether t is an integer type that layers compute in; Bool and the narrow ones are not.
func (t DataType) IsInteger() bool { return t >= I8 && t <= U64 }

// Signed reports whether t has negative values.
func (t DataType) Signed() bool {
	return t.IsFloat() || t == I8 || t == I16 || t == I32 || t == I64 || t == I4 || t == I2
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
