package trtui

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph/numeric"
)

// Value is a tensor's data: a type, a shape, and the elements in row-major order as bytes. F32, I64 and I32 give them as
// slices, without a copy.
type Value = numeric.Value

// Inputs and Outputs are the data of one inference by the names of the network's inputs and outputs.
type (
	Inputs  = map[string]Value
	Outputs = map[string]Value
)

// BatchSeq is the inputs of one inference after the other, as calibration reads them; an error ends it. [Batches] makes
// one of a list; a function that yields them keeps but one in memory.
type BatchSeq = build.Batches

// Batches returns the sequence of the given inputs.
func Batches(list ...Inputs) BatchSeq {
	return func(yield func(Inputs, error) bool) {
		for _, in := range list {
			if !yield(in, nil) {
				return
			}
		}
	}
}

// Element is a Go type that the elements of a Value have: float32 for F32, int64 for I64 and so on.
type Element = numeric.Element

// ValueOf returns a value over data itself, which is not copied; the elements' type follows from Go's. No dims is a list of
// all of data.
func ValueOf[T Element](data []T, dims ...int) Value {
	if len(dims) == 0 {
		dims = []int{len(data)}
	}
	return Value{Type: typeOf[T](), Dims: dims, Data: numeric.Bytes(data)}
}

// StringsOf returns a value of strings, which its Strings gives back. No dims is a list of all of them. Strings have no fixed size, so
// that an output of them that [Session.RunInto] is given is put in the place of the one in the map.
func StringsOf(list []string, dims ...int) Value {
	if len(dims) == 0 {
		dims = []int{len(list)}
	}
	return numeric.Strings(list, dims...)
}

func typeOf[T Element]() DataType {
	var zero T
	switch any(zero).(type) {
	case float32:
		return F32
	case float64:
		return F64
	case int8:
		return I8
	case uint8:
		return U8
	case int16:
		return I16
	case uint16:
		return U16
	case int32:
		return I32
	case uint32:
		return U32
	case int64:
		return I64
	}
	return U64
}

// alignment is what the memory of a value must begin at a multiple of so that the CPU works on it without a copy: a cache
// line, which is a vector of AVX-512 as well.
const alignment = 64

// NewValue returns zeros, or empty strings, of the given type and shape, in memory that sessions on the CPU read and write without a copy.
func NewValue(t DataType, dims ...int) Value {
	if t == Str {
		return numeric.NewValue(t, dims...)
	}
	n := numeric.Count(dims) * t.Size()
	data := make([]byte, n+alignment)
	skip := int(-address(data) & (alignment - 1))
	return Value{Type: t, Dims: dims, Data: data[skip : skip+n : skip+n]}
}

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

func aligned(b []byte) bool { return address(b)%alignment == 0 }

// overlap reports whether two pieces of memory have a byte in common.
func overlap(a, b []byte) bool {
	return len(a) > 0 && len(b) > 0 && address(a) < address(b)+uintptr(len(b)) && address(b) < address(a)+uintptr(len(a))
}

// Port is an input or output of an engine.
type Port struct {
	Name string
	Type DataType
	Dims []int // every extent is known
}

func (p Port) String() string { return fmt.Sprintf("%s %s%v", p.Name, p.Type, p.Dims) }

// check returns an error where v does not have the port's type, shape and bytes.
func (p Port) check(kind string, v Value) error {
	if v.Type != p.Type || !slices.Equal(v.Dims, p.Dims) {
		return fmt.Errorf("%s %s: the data is %s%v, the engine is built for %s%v", kind, p.Name, v.Type, v.Dims, p.Type, p.Dims)
	}
	if err := v.Check(); err != nil {
		return fmt.Errorf("%s %s: %w", kind, p.Name, err)
	}
	return nil
}
