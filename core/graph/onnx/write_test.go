package onnx

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/trtui/trtui/core/graph/numeric"
)

// The functions here write ONNX messages for tests: each returns the bytes of one message, made of fields.

func msg(fields ...[]byte) []byte {
	var b []byte
	for _, f := range fields {
		b = append(b, f...)
	}
	return b
}

func sub(num protowire.Number, body []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, num, protowire.BytesType), body)
}

func str(num protowire.Number, s string) []byte { return sub(num, []byte(s)) }

func num(n protowire.Number, v int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, n, protowire.VarintType), uint64(v))
}

func opsetField(domain string, version int64) []byte {
	return sub(8, msg(str(1, domain), num(2, version)))
}

// modelBytes returns a model of operator set 17 with the given fields of its graph.
func modelBytes(graphFields ...[]byte) []byte {
	return msg(num(1, 8), opsetField("", 17), sub(7, msg(append(graphFields, str(2, "g"))...)))
}

// nodeField returns a graph's field for a node; inputs and outputs are separated by blanks, "-" is one left out.
func nodeField(op, name string, in, out []string, attrs ...[]byte) []byte {
	return sub(1, nodeBytes(op, name, in, out, attrs...))
}

func nodeBytes(op, name string, in, out []string, attrs ...[]byte) []byte {
	var b []byte
	for _, s := range in {
		b = append(b, str(1, s)...)
	}
	for _, s := range out {
		b = append(b, str(2, s)...)
	}
	if name != "" {
		b = append(b, str(3, name)...)
	}
	b = append(b, str(4, op)...)
	return append(b, msg(attrs...)...)
}

func intAttr(name string, v int64) []byte {
	return sub(5, msg(str(1, name), num(20, kindInt), num(3, v)))
}

func intsAttr(name string, list ...int64) []byte {
	b := msg(str(1, name), num(20, kindInts))
	for _, v := range list {
		b = append(b, num(8, v)...)
	}
	return sub(5, b)
}

func tensorAttr(name string, tensor []byte) []byte {
	return sub(5, msg(str(1, name), num(20, kindTensor), sub(5, tensor)))
}

// valueBytes returns a ValueInfoProto of type float; a dim is an int or the name of a symbol.
func valueBytes(name string, elem int64, dims ...any) []byte {
	var shape []byte
	for _, d := range dims {
		switch d := d.(type) {
		case int:
			shape = append(shape, sub(1, num(1, int64(d)))...)
		case string:
			shape = append(shape, sub(1, str(2, d))...)
		default:
			shape = append(shape, sub(1, nil)...)
		}
	}
	return msg(str(1, name), sub(2, sub(1, msg(num(1, elem), sub(2, shape)))))
}

func input(name string, dims ...any) []byte  { return sub(11, valueBytes(name, 1, dims...)) }
func output(name string, dims ...any) []byte { return sub(12, valueBytes(name, 1, dims...)) }

func initializer(name string, v numeric.Value) []byte { return sub(5, WriteTensor(name, v)) }

func list(s ...string) []string { return s }
