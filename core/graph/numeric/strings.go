package numeric

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"strconv"
	"strings"
)

// The type Str is text. A Value of it has in Data its elements one behind the other, each behind its length, which is a uvarint in
// as few bytes as do: so do constants and files have them, equal values have equal bytes, and as many zeros as there are elements
// are empty strings. An engine's memory has room for elements of one size, and has 8 bytes for each: its number in a table that
// the engine's user has.

// MaxText is how many bytes of text a value may have.
const MaxText = 1 << 30

// Strings returns a value of the given shape with the elements of a list.
func Strings(list []string, dims ...int) Value {
	size := 0
	for _, s := range list {
		size += len(s) + 1
	}
	data := make([]byte, 0, size)
	for _, s := range list {
		data = append(binary.AppendUvarint(data, uint64(len(s))), s...)
	}
	return Value{Type: Str, Dims: dims, Data: data}
}

// Strings returns the elements of a value of strings. It panics where the bytes are no such value's: see [Value.Check].
func (v Value) Strings() []string {
	if v.Type != Str {
		panic(fmt.Sprintf("numeric: %s value read as strings", v.Type))
	}
	list, err := v.strings()
	if err != nil {
		panic("numeric: " + err.Error())
	}
	return list
}

// strings returns the elements, which are parts of one copy of the bytes.
func (v Value) strings() ([]string, error) {
	n, text := v.Len(), string(v.Data)
	if n < 0 || n > len(text) {
		return nil, fmt.Errorf("%d bytes are no %d strings", len(text), n)
	}
	list, at := make([]string, n), 0
	for i := range list {
		size, head := binary.Uvarint(v.Data[at:])
		if head <= 0 || size > uint64(len(text)-at-head) || head > 1 && size < 1<<(7*(head-1)) {
			return nil, fmt.Errorf("the bytes of string %d of %d are damaged", i, n)
		}
		at += head
		list[i] = text[at : at+int(size)]
		at += int(size)
	}
	if at < len(text) {
		return nil, fmt.Errorf("%d bytes behind the last of %d strings", len(text)-at, n)
	}
	return list, nil
}

// Check returns an error where Data is not the bytes of as many elements as the shape has.
func (v Value) Check() error {
	if v.Type == Str {
		_, err := v.strings()
		return err
	}
	if want := v.Len() * v.Type.Size(); len(v.Data) != want {
		return fmt.Errorf("%d bytes of data, %s%v takes %d", len(v.Data), v.Type, v.Dims, want)
	}
	return nil
}

// First returns the first elements of v as a value of the given shape, without a copy.
func (v Value) First(dims []int) Value {
	flat := Value{v.Type, []int{v.Len()}, v.Data}.Rows(0, Count(dims))
	return Value{v.Type, dims, flat.Data}
}

// Rows returns the part of v from one index of its first axis up to another, without a copy.
func (v Value) Rows(from, to int) Value {
	dims := append([]int{to - from}, v.Dims[1:]...)
	row := Count(v.Dims[1:])
	if v.Type != Str {
		row *= v.Type.Size()
		return Value{v.Type, dims, v.Data[from*row : to*row]}
	}
	begin := skipStrings(v.Data, from*row)
	return Value{v.Type, dims, v.Data[begin : begin+skipStrings(v.Data[begin:], (to-from)*row)]}
}

// skipStrings returns where the string behind n others begins.
func skipStrings(data []byte, n int) (at int) {
	for range n {
		size, head := binary.Uvarint(data[at:])
		at += head + int(size)
	}
	return at
}

// Part returns the part of v from one index of an axis up to another, with a copy where it is not the first axis.
func (v Value) Part(axis, from, to int) Value {
	if axis == 0 {
		return v.Rows(from, to)
	}
	part := Value{Type: v.Type, Dims: append([]int{}, v.Dims...)}
	part.Dims[axis] = to - from
	blocks := Value{v.Type, []int{Count(v.Dims[:axis]), v.Dims[axis], Count(v.Dims[axis+1:])}, v.Data}
	for i := range blocks.Dims[0] {
		block := blocks.Rows(i, i+1)
		block.Dims = block.Dims[1:]
		part.Data = append(part.Data, block.Rows(from, to).Data...)
	}
	return part
}

// Format writes the elements of v as strings, as ONNX Runtime does: reals with 8 digits, those that are no numbers as NaN, INF and
// -INF, booleans as 1 and 0.
func (v Value) Format() []string {
	list := make([]string, v.Len())
	switch {
	case v.Type == Str:
		return v.Strings()
	case v.Type.IsFloat(), v.Type.IsNarrowFloat():
		for i, f := range v.Float64s() {
			list[i] = formatReal(f)
		}
	default:
		for i, n := range v.Ints() {
			if list[i] = strconv.FormatInt(n, 10); v.Type == U64 {
				list[i] = strconv.FormatUint(uint64(n), 10)
			}
		}
	}
	return list
}

func formatReal(f float64) string {
	switch {
	case f != f:
		return "NaN"
	case math.IsInf(f, 1):
		return "INF"
	case math.IsInf(f, -1):
		return "-INF"
	}
	return strconv.FormatFloat(f, 'g', 8, 64)
}

// SetParsed stores the numbers that strings are as v's type: integers without what is behind the point, and what does not fit as by
// Cast. White space around a number counts for nothing. The error names an element that is none.
func (v Value) SetParsed(list []string) error {
	reals, ints := v.Type.IsFloat() || v.Type.IsNarrowFloat(), make([]int64, len(list))
	floats := make([]float64, len(list))
	bits := 64
	if v.Type == F32 { // rounded once
		bits = 32
	}
	for i, s := range list {
		var ok bool
		if s = strings.TrimSpace(s); !reals {
			if ints[i], ok = parseInteger(s); ok {
				continue
			}
		}
		f, err := strconv.ParseFloat(s, bits)
		if err != nil && !math.IsInf(f, 0) || strings.Contains(s, "_") {
			return fmt.Errorf("element %d, %q, is no number", i, cut(s))
		}
		floats[i] = f
		if to := v.Type; !reals {
			if to.IsNarrowInteger() {
				to = I64
			}
			ints[i] = Truncate(f, to)
		}
	}
	if reals {
		v.SetFloats(floats)
	} else {
		v.SetInts(ints, true)
	}
	return nil
}

// parseInteger returns the bits of an integer of 64 bits, with or without a sign.
func parseInteger(s string) (int64, bool) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true
	}
	n, err := strconv.ParseUint(s, 10, 64)
	return int64(n), err == nil
}

// fingerprint is a number that tells a string from others, by which measures of error see that strings differ: 24 bits, which a
// float32 holds, of FNV-1a (Fowler, Noll and Vo). That of the empty string is 0.
func fingerprint(s string) uint32 {
	if s == "" {
		return 0
	}
	h := fnv.New32a()
	h.Write([]byte(s)) // never fails
	return h.Sum32()>>8 | 1
}

// cut shortens a text that an error names.
func cut(s string) string {
	const most = 40
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
