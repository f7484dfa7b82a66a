package onnx

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// Export writes a network as an ONNX model, of operator set 21 or the newest that a layer needs, with the weights inside. What
// has no form in ONNX is one *[ExportError], which names every such layer: of a network that is lowered most layers that
// compute with integers. A fused layer becomes the nodes of its op and its epilogue.
//
// Import of the result gives a network that computes the same; its layers need not be these.
func Export(w io.Writer, n *graph.Network) error {
	x := &exporter{net: n, unique: n.UniqueNames(), opsets: map[string]int{"": graph.OldestExport}}
	x.graph()
	if len(x.problems) > 0 {
		return &ExportError{Network: n.Name, Problems: x.problems}
	}
	return x.write(w)
}

// ExportError says everything that keeps a network from being written as ONNX.
type ExportError struct {
	Network  string
	Problems []error // each names a layer, an input or an output
}

func (e *ExportError) Error() string {
	text := fmt.Sprintf("network %s cannot be written as ONNX: %v", cut(e.Network), e.Problems[0])
	if n := len(e.Problems) - 1; n > 0 {
		text += fmt.Sprintf("; and %d more", n)
		for i, p := range e.Problems[1:min(len(e.Problems), maxReasons)] {
			text += []string{": ", "; "}[min(i, 1)] + cut(p.Error())
		}
	}
	return text
}

// Unwrap returns the problems.
func (e *ExportError) Unwrap() []error { return e.Problems }

// exporter collects the parts of a GraphProto, in order.
type exporter struct {
	net      *graph.Network
	unique   func(string) string
	opsets   map[string]int
	parts    [][]byte // that follow each other; weights among them are the network's own bytes
	problems []error
}

// graph makes all parts.
func (x *exporter) graph() {
	for _, l := range x.net.Layers {
		e, err := l.ExportOnnx(x.unique)
		if err != nil {
			x.problems = append(x.problems, err)
			continue
		}
		for _, c := range e.Constants {
			x.initializer(c.Name, c.Value)
		}
		for i, n := range e.Nodes {
			name := l.Name
			if i < len(e.Nodes)-1 {
				name = fmt.Sprintf("%s_%d", l.Name, i)
			}
			x.opsets[n.Domain] = max(x.opsets[n.Domain], n.Since)
			if err := x.node(name, n); err != nil {
				x.problems = append(x.problems, fmt.Errorf("layer %s (%s): %w", l.Name, l.Op.Name, err))
			}
		}
	}
	x.parts = append(x.parts, text(nil, 2, x.net.Name))
	for _, t := range x.net.Consts() {
		if v, ok := t.Const(); ok {
			x.initializer(t.Name, v)
		}
	}
	for _, t := range x.net.Inputs {
		x.value(11, "input", t)
	}
	for _, t := range x.net.Outputs {
		x.value(12, "output", t)
	}
}

// write writes the ModelProto.
func (x *exporter) write(w io.Writer) error {
	var head []byte
	head = varint(head, 1, irVersion(x.opsets[""]))
	head = text(head, 2, "trtui")
	for _, domain := range slices.Sorted(maps.Keys(x.opsets)) {
		head = message(head, 8, varint(text(nil, 1, domain), 2, uint64(x.opsets[domain])))
	}
	size := 0
	for _, p := range x.parts {
		size += len(p)
	}
	if size > maxModel-len(head)-32 {
		return fmt.Errorf("network %s has %d bytes of weights and nodes, but an ONNX model has at most %d", x.net.Name, size, maxModel)
	}
	head = protowire.AppendVarint(protowire.AppendTag(head, 7, protowire.BytesType), uint64(size))
	for _, p := range append([][]byte{head}, x.parts...) {
		if _, err := w.Write(p); err != nil {
			return err
		}
	}
	return nil
}

// irVersion returns that of a file with nodes of an operator set.
func irVersion(opset int) uint64 {
	switch {
	case opset >= 28:
		return 14
	case opset >= 25:
		return 13
	case opset >= 23:
		return uint64(opset) - 12
	}
	return 10
}

// node adds a NodeProto.
func (x *exporter) node(name string, n graph.OnnxNode) error {
	var b []byte
	for _, in := range n.Inputs {
		b = text(b, 1, in)
	}
	for _, out := range n.Outputs {
		b = text(b, 2, out)
	}
	b = text(text(b, 3, name), 4, n.Op)
	for _, key := range slices.Sorted(maps.Keys(n.Attrs)) {
		a, ok, err := n.Attrs.Attr(key)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		var m []byte
		if a.Kind == graph.AttrGraph {
			m = x.subgraph(key, a.Graph)
		} else if m, err = attributeBytes(key, a); err != nil {
			return err
		}
		b = message(b, 5, m)
	}
	if n.Domain != "" {
		b = text(b, 7, n.Domain)
	}
	x.parts = append(x.parts, message(nil, 1, b))
	return nil
}

// subgraph returns an AttributeProto of a graph.
func (x *exporter) subgraph(name string, n *graph.Network) []byte {
	sub := &exporter{net: n, unique: x.unique, opsets: x.opsets}
	sub.graph()
	x.problems = append(x.problems, sub.problems...)
	b := text(nil, 1, name)
	b = message(b, 6, bytes.Join(sub.parts, nil))
	return varint(b, 20, kindGraph)
}

// WriteGraph returns a GraphProto of a network, whose tensors keep their names. The last inputs, so many, are values of the graph
// around it. What has no form in ONNX is left out.
func WriteGraph(n *graph.Network, captured int) []byte {
	c := n.Clone()
	c.Inputs = c.Inputs[:len(c.Inputs)-captured]
	x := &exporter{net: c, unique: c.UniqueNames(), opsets: map[string]int{}}
	x.graph()
	return bytes.Join(x.parts, nil)
}

// attributeBytes returns an AttributeProto.
func attributeBytes(name string, a graph.Attr) ([]byte, error) {
	b := text(nil, 1, name)
	kind := 0
	switch a.Kind {
	case graph.AttrInt:
		kind, b = kindInt, varint(b, 3, uint64(a.Int))
	case graph.AttrFloat:
		kind = kindFloat
		b = protowire.AppendFixed32(protowire.AppendTag(b, 2, protowire.Fixed32Type), math.Float32bits(a.Float))
	case graph.AttrString:
		kind, b = kindString, text(b, 4, a.String)
	case graph.AttrInts:
		kind = kindInts
		for _, v := range a.Ints {
			b = varint(b, 8, uint64(v))
		}
	case graph.AttrFloats:
		kind = kindFloats
		for _, v := range a.Floats {
			b = protowire.AppendFixed32(protowire.AppendTag(b, 7, protowire.Fixed32Type), math.Float32bits(v))
		}
	case graph.AttrStrings:
		kind = kindStrings
		for _, v := range a.Strings {
			b = text(b, 9, v)
		}
	case graph.AttrTensor:
		if number(a.Tensor.Type) == 0 {
			return nil, fmt.Errorf("attribute %s is of type %s", name, a.Tensor.Type)
		}
		kind, b = kindTensor, message(b, 5, WriteTensor("", a.Tensor))
	default:
		return nil, fmt.Errorf("attribute %s is of a kind that nodes do not have", name)
	}
	return varint(b, 20, uint64(kind)), nil
}

// initializer adds a TensorProto whose bytes are not copied, but for those of elements of less than a byte.
func (x *exporter) initializer(name string, v numeric.Value) {
	if number(v.Type) == 0 {
		x.problems = append(x.problems, fmt.Errorf("constant %s is of type %s", name, v.Type))
		return
	}
	h, data := tensorHead(name, v), v.Type.Packed(v.Data)
	if v.Type == numeric.Str {
		x.parts = append(x.parts, message(nil, 5, append(h, stringData(v)...)))
		return
	}
	h = protowire.AppendVarint(protowire.AppendTag(h, 9, protowire.BytesType), uint64(len(data)))
	head := protowire.AppendVarint(protowire.AppendTag(nil, 5, protowire.BytesType), uint64(len(h)+len(data)))
	x.parts = append(x.parts, append(head, h...), data)
}

// value adds a ValueInfoProto of an input or output. An extent that is no number and no symbol is left open.
func (x *exporter) value(field protowire.Number, kind string, t *graph.Tensor) {
	if number(t.Type) == 0 {
		x.problems = append(x.problems, fmt.Errorf("%s %s is of type %s", kind, t.Name, t.Type))
		return
	}
	var shape []byte
	for _, d := range t.Dims {
		var dim []byte
		if n, ok := d.IsConst(); ok {
			dim = varint(nil, 1, uint64(n))
		} else if s, ok := d.SymbolName(); ok {
			dim = text(nil, 2, s)
		}
		shape = message(shape, 1, dim)
	}
	tensorType := message(varint(nil, 1, uint64(number(t.Type))), 2, shape)
	x.parts = append(x.parts, message(nil, field, message(text(nil, 1, t.Name), 2, message(nil, 1, tensorType))))
}

// number returns a type's number in TensorProto.DataType; 0 for one that there is not.
func number(t numeric.DataType) int {
	for i, d := range dataTypes {
		if d.typ == t && t != numeric.Invalid {
			return i
		}
	}
	return 0
}

func message(b []byte, field protowire.Number, body []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), body)
}

func text(b []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
}

func varint(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}
