package onnx

import (
	"math"
	"reflect"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/trtui/trtui/core/graph/numeric"
)

func TestTensorRoundTrip(t *testing.T) {
	for _, typ := range []numeric.DataType{numeric.F32, numeric.F16, numeric.BF16, numeric.F64, numeric.I8, numeric.U8, numeric.I16, numeric.U16, numeric.I32, numeric.U32, numeric.I64, numeric.U64, numeric.Bool} {
		for _, dims := range [][]int{{}, {3}, {0, 2}, {2, 1, 3}} {
			v := numeric.NewValue(typ, dims...)
			for i := range v.Data {
				v.Data[i] = byte(i % 2)
			}
			name, got, err := ReadTensor(WriteTensor("t", v))
			if err != nil || name != "t" || got.Type != typ || !reflect.DeepEqual(append([]int{}, got.Dims...), append([]int{}, dims...)) || string(got.Data) != string(v.Data) {
				t.Errorf("%s%v: got %q %v, %v", typ, dims, name, got, err)
			}
		}
	}
}

func TestTypedTensorData(t *testing.T) {
	packed := func(list ...uint64) []byte {
		var b []byte
		for _, v := range list {
			b = protowire.AppendVarint(b, v)
		}
		return b
	}
	minus1 := uint64(math.MaxUint64)
	for _, c := range []struct {
		name string
		elem int64
		data []byte
		want numeric.Value
	}{
		{"packed floats", 1, sub(4, numeric.Bytes([]float32{1, -2})), numeric.Values(numeric.F32, []float32{1, -2}, 2)},
		{"single floats", 1, msg(protowire.AppendFixed32(protowire.AppendTag(nil, 4, protowire.Fixed32Type), math.Float32bits(1)),
			protowire.AppendFixed32(protowire.AppendTag(nil, 4, protowire.Fixed32Type), math.Float32bits(-2))), numeric.Values(numeric.F32, []float32{1, -2}, 2)},
		{"doubles", 11, sub(10, numeric.Bytes([]float64{1, -2})), numeric.Values(numeric.F64, []float64{1, -2}, 2)},
		{"packed int8", 3, sub(5, packed(5, minus1)), numeric.Values(numeric.I8, []int8{5, -1}, 2)},
		{"single int32", 6, msg(num(5, 5), num(5, -1)), numeric.Values(numeric.I32, []int32{5, -1}, 2)},
		{"half bits", 10, sub(5, packed(0x3c00, 0xc000)), numeric.Values(numeric.F16, []uint16{0x3c00, 0xc000}, 2)},
		{"bool", 9, sub(5, packed(1, 0)), numeric.Values(numeric.Bool, []uint8{1, 0}, 2)},
		{"int64", 7, sub(7, packed(5, minus1)), numeric.Values(numeric.I64, []int64{5, -1}, 2)},
		{"uint32", 12, sub(11, packed(5, 1<<32-1)), numeric.Values(numeric.U32, []uint32{5, 1<<32 - 1}, 2)},
		{"uint64", 13, sub(11, packed(5, minus1)), numeric.Values(numeric.U64, []uint64{5, minus1}, 2)},
	} {
		_, got, err := ReadTensor(msg(num(1, 2), num(2, c.elem), c.data))
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %v, %v", c.name, got, err)
		}
	}
}
