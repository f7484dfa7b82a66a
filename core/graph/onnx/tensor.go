package onnx

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/trtui/trtui/core/graph"
)

// dataTypes are the element types of TensorProto.DataType; a type without a graph type is unsupported.
var dataTypes = [...]struct {
	name string
	typ  graph.DataType
}{
	0: {"undefined", graph.Invalid}, 1: {"float", graph.F32}, 2: {"uint8", graph.U8}, 3: {"int8", graph.I8},
	4: {"uint16", graph.U16}, 5: {"int16", graph.I16}, 6: {"int32", graph.I32}, 7: {"int64", graph.I64},
	8: {"string", graph.Invalid}, 9: {"bool", graph.Bool}, 10: {"float16", graph.F16}, 11: {"double", graph.F64},
	12: {"uint32", graph.U32}, 13: {"uint64", graph.U64}, 14: {"complex64", graph.Invalid},
	15: {"complex128", graph.Invalid}, 16: {"bfloat16", graph.BF16}, 17: {"float8e4m3fn", graph.F8E4M3FN},
	18: {"float8e4m3fnuz", graph.F8E4M3FNUZ}, 19: {"float8e5m2", graph.F8E5M2}, 20: {"float8e5m2fnuz", graph.F8E5M2FNUZ},
	21: {"uint4", graph.U4}, 22: {"int4", graph.I4}, 23: {"float4e2m1", graph.F4E2M1},
	24: {"float8e8m0", graph.F8E8M0}, 25: {"uint2", graph.U2}, 26: {"int2", graph.I2},
	27: {"float6e2m3", graph.F6E2M3}, 28: {"float6e3m2", graph.F6E3M2},
}

// elementType returns the type for a number of TensorProto.DataType. The error names one that is not supported.
func elementType(n int64) (graph.DataType, error) {
	if n < 0 || n >= int64(len(dataTypes)) {
		return graph.Invalid, fmt.Errorf("element type %d is unknown", n)
	}
	if t := dataTypes[n]; t.typ == graph.Invalid {
		return graph.Invalid, fmt.Errorf("element type %s is not supported", t.name)
	}
	return dataTypes[n].typ, nil
}

// ReadTensor decodes a TensorProto, the form of ONNX's test data. The value's data may be part of b.
func ReadTensor(b []byte) (name string, v graph.Value, err error) {
	var d decoder
	t := d.tensor(b)
	if d.err != nil {
		return "", graph.Value{}, d.err
	}
	v, err = t.value(nil)
	if err != nil {
		return t.name, graph.Value{}, fmt.Errorf("tensor %q: %w", t.name, err)
	}
	return t.name, v, nil
}

// WriteTensor encodes a TensorProto. It panics if v has no valid type.
func WriteTensor(name string, v graph.Value) []byte {
	b := tensorHead(name, v)
	b = protowire.AppendTag(b, 9, protowire.BytesType)
	return protowire.AppendBytes(b, v.Type.Packed(v.Data))
}

// tensorHead encodes a TensorProto but for its elements.
func tensorHead(name string, v graph.Value) []byte {
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
func (t *tensor) value(external func(t *tensor, size int) ([]byte, error)) (graph.Value, error) {
	typ, err := elementType(t.dataType)
	if err != nil {
		return graph.Value{}, err
	}
	if t.segment {
		return graph.Value{}, fmt.Errorf("data in segments is not supported")
	}
	dims, n, err := t.shape()
	if err != nil {
		return graph.Value{}, err
	}
	v := graph.Value{Type: typ, Dims: dims}
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

// typed returns the bytes of the elements that lie in the field that onnx.proto gives for the type.
func (t *tensor) typed(typ graph.DataType) []byte {
	switch typ {
	case graph.F32:
		return t.floats
	case graph.F64:
		return t.doubles
	case graph.I64:
		return graph.Bytes(t.int64s)
	case graph.U64:
		return graph.Bytes(t.uint64s)
	case graph.U32:
		return narrow(t.uint64s, 4)
	}
	b := narrow(t.int32s, typ.Size())
	if typ == graph.Bool {
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
