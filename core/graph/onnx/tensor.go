package onnx

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/trtui/trtui/core/graph/numeric"
)

// dataTypes are the element types of TensorProto.DataType; a type without a graph type is unsupported.
var dataTypes = [...]struct {
	name string
	typ  numeric.DataType
}{
	0: {"undefined", numeric.Invalid}, 1: {"float", numeric.F32}, 2: {"uint8", numeric.U8}, 3: {"int8", numeric.I8},
	4: {"uint16", numeric.U16}, 5: {"int16", numeric.I16}, 6: {"int32", numeric.I32}, 7: {"int64", numeric.I64},
	8: {"string", numeric.Str}, 9: {"bool", numeric.Bool}, 10: {"float16", numeric.F16}, 11: {"double", numeric.F64},
	12: {"uint32", numeric.U32}, 13: {"uint64", numeric.U64}, 14: {"complex64", numeric.Invalid},
	15: {"complex128", numeric.Invalid}, 16: {"bfloat16", numeric.BF16}, 17: {"float8e4m3fn", numeric.F8E4M3FN},
	18: {"float8e4m3fnuz", numeric.F8E4M3FNUZ}, 19: {"float8e5m2", numeric.F8E5M2}, 20: {"float8e5m2fnuz", numeric.F8E5M2FNUZ},
	21: {"uint4", numeric.U4}, 22: {"int4", numeric.I4}, 23: {"float4e2m1", numeric.F4E2M1},
	24: {"float8e8m0", numeric.F8E8M0}, 25: {"uint2", numeric.U2}, 26: {"int2", numeric.I2},
	27: {"float6e2m3", numeric.F6E2M3}, 28: {"float6e3m2", numeric.F6E3M2},
}

// elementType returns the type for a number of TensorProto.DataType. The error names one that is not supported.
func elementType(n int64) (numeric.DataType, error) {
	if n < 0 || n >= int64(len(dataTypes)) {
		return numeric.Invalid, fmt.Errorf("element type %d is unknown", n)
	}
	if t := dataTypes[n]; t.typ == numeric.Invalid {
		return numeric.Invalid, fmt.Errorf("element type %s is not supported", t.name)
	}
	return dataTypes[n].typ, nil
}

// ReadTensor decodes a TensorProto, the form of ONNX's test data. The value's data may be part of b.
func ReadTensor(b []byte) (name string, v numeric.Value, err error) {
	var d decoder
	t := d.tensor(b)
	if d.err != nil {
		return "", numeric.Value{}, d.err
	}
	v, err = t.value(nil)
	if err != nil {
		return t.name, numeric.Value{}, fmt.Errorf("tensor %q: %w", t.name, err)
	}
	return t.name, v, nil
}

// WriteTensor encodes a TensorProto. It panics if v has no valid type.
func WriteTensor(name string, v numeric.Value) []byte {
	b := tensorHead(name, v)
	if v.Type == numeric.Str {
		return append(b, stringData(v)...)
	}
	b = protowire.AppendTag(b, 9, protowire.BytesType)
	return protowire.AppendBytes(b, v.Type.Packed(v.Data))
}

// stringData encodes the elements of a TensorProto of strings.
func stringData(v numeric.Value) (b []byte) {
	for _, s := range v.Strings() {
		b = text(b, 6, s)
	}
	return b
}

// tensorHead encodes a TensorProto but for its elements.
func tensorHead(name string, v numeric.Value) []byte {
	element := number(v.Type)
	if element == 0 {
		panic("onnx: write a tensor of type " + v.Type.String())
	}
	var b []byte
	for _, d := range v.Dims {
		b = protowire.AppendTag(b, 1, protowire.VarintType)
		b = protowire.AppendVarint(b, uint64(d))
	}
	b = protowire.AppendTag(b, 2, protowire.VarintType)
	b = protowire.AppendVarint(b, uint64(element))
	b = protowire.AppendTag(b, 8, protowire.BytesType)
	return protowire.AppendString(b, name)
}

// maxElements bounds the elements of one tensor, so that its bytes can be counted.
const maxElements = math.MaxInt / 16

// shape returns the tensor's dims and the number of its elements.
func (t *tensor) shape() (dims []int, n int, err error) {
	n = 1
	dims = make([]int, len(t.dims))
	for i, d := range t.dims {
		if d < 0 || d > maxElements {
			return nil, 0, fmt.Errorf("dimension %d is %d", i, d)
		}
		dims[i] = int(d)
	}
	for _, d := range dims {
		if d == 0 {
			return dims, 0, nil
		}
	}
	for _, d := range dims {
		if d > maxElements/n {
			return nil, 0, fmt.Errorf("shape %v has too many elements", dims)
		}
		n *= d
	}
	return dims, n, nil
}

// value returns the tensor as a value. Its data is not copied where the file has it as raw bytes, unless these hold more elements
// than one each. external finds the
// bytes of a tensor whose data is in another file; nil if there can be none.
func (t *tensor) value(external func(t *tensor, size int) ([]byte, error)) (numeric.Value, error) {
	typ, err := elementType(t.dataType)
	if err != nil {
		return numeric.Value{}, err
	}
	if t.segment {
		return numeric.Value{}, fmt.Errorf("data in segments is not supported")
	}
	dims, n, err := t.shape()
	if err != nil {
		return numeric.Value{}, err
	}
	if typ == numeric.Str {
		return t.text(dims, n)
	}
	v := numeric.Value{Type: typ, Dims: dims}
	size := typ.PackedSize(n)
	switch {
	case t.external != nil && external == nil:
		return v, fmt.Errorf("its data is in file %q, but the model was not read from a file", t.external["location"])
	case t.external != nil:
		v.Data, err = external(t, size)
	case t.raw != nil:
		v.Data = t.raw
	default:
		v.Data = t.typed(typ)
	}
	if err != nil {
		return v, err
	}
	if len(v.Data) != size {
		return v, fmt.Errorf("shape %v of %s needs %d bytes of data, there are %d", dims, typ, size, len(v.Data))
	}
	v.Data = typ.Unpacked(v.Data, n)
	return v, nil
}

// text returns a tensor of strings, which are never raw bytes or in another file.
func (t *tensor) text(dims []int, n int) (numeric.Value, error) {
	if t.external != nil || t.raw != nil || len(t.strings) != n {
		return numeric.Value{}, fmt.Errorf("shape %v of strings needs %d of them, there are %d", dims, n, len(t.strings))
	}
	return numeric.Strings(t.strings, dims...), nil
}

// typed returns the bytes of the elements that lie in the field that onnx.proto gives for the type.
func (t *tensor) typed(typ numeric.DataType) []byte {
	switch typ {
	case numeric.F32:
		return t.floats
	case numeric.F64:
		return t.doubles
	case numeric.I64:
		return numeric.Bytes(t.int64s)
	case numeric.U64:
		return numeric.Bytes(t.uint64s)
	case numeric.U32:
		return narrow(t.uint64s, 4)
	}
	b := narrow(t.int32s, typ.Size())
	if typ == numeric.Bool {
		for i := range b {
			b[i] = min(b[i], 1)
		}
	}
	return b
}

// narrow returns the lowest bytes of each number.
func narrow(list []int64, size int) []byte {
	out := make([]byte, 0, len(list)*size)
	for _, v := range list {
		for i := range size {
			out = append(out, byte(v>>(8*i)))
		}
	}
	return out
}
