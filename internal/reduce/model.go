package reduce

import (
	"bytes"
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
)

// Model is an ONNX model as data that can be changed piece by piece, with the inputs on which it is tried.
type Model struct {
	IR      int `json:",omitempty"` // version of the file's form; 0: as the operator set wants it
	Opset   int
	Domains map[string]int `json:",omitempty"` // versions of other operator sets
	Inputs  []Input
	Consts  []Const
	Nodes   []Node
	Outputs []string

	Functions [][]byte                    `json:",omitempty"` // that nodes may call, each a FunctionProto
	Types     map[string]numeric.DataType `json:",omitempty"` // of outputs, as far as they are known
	Shapes    map[string][]int            `json:",omitempty"` // of outputs whose type and rank are known; an open extent is -1
}

// Input is an input of the model. Open names the axes whose extent the model leaves open: symbols, "" for fixed ones.
type Input struct {
	Name string
	Open []string
	Feed numeric.Value // what it is given, of actual shape
}

// Const is an initializer.
type Const struct {
	Name  string
	Value numeric.Value
}

// Node is one operator; an empty input is one left out.
type Node struct {
	Op, Name string
	Domain   string `json:",omitempty"`
	Overload string `json:",omitempty"` // of a function
	In, Out  []string
	Attrs    map[string]graph.Attr
	Raw      map[string][]byte `json:",omitempty"` // attributes of other kinds, each an AttributeProto
	Captured []string          // what graphs among the attributes read: their last inputs, which go by these names
}

// Reads returns the values that the node reads.
func (n Node) Reads() []string { return slices.Concat(n.In, n.Captured) }

// Clone returns a copy that shares values and attributes, which do not change in place.
func (m *Model) Clone() *Model {
	c := *m
	c.Inputs, c.Consts, c.Outputs = slices.Clone(m.Inputs), slices.Clone(m.Consts), slices.Clone(m.Outputs)
	c.Nodes = slices.Clone(m.Nodes)
	for i, n := range c.Nodes {
		c.Nodes[i].In, c.Nodes[i].Out, c.Nodes[i].Attrs = slices.Clone(n.In), slices.Clone(n.Out), maps.Clone(n.Attrs)
		c.Nodes[i].Raw = maps.Clone(n.Raw)
	}
	return &c
}

// Feeds returns the inputs by name.
func (m *Model) Feeds() map[string]numeric.Value {
	feeds := map[string]numeric.Value{}
	for _, in := range m.Inputs {
		feeds[in.Name] = in.Feed
	}
	return feeds
}

// Encode returns the model as the bytes of an ONNX file.
func (m *Model) Encode() []byte {
	var g []byte
	for _, n := range m.Nodes {
		g = field(g, 1, n.encode())
	}
	g = text(g, 2, "torture")
	for _, c := range m.Consts {
		g = field(g, 5, onnx.WriteTensor(c.Name, c.Value))
	}
	for _, in := range m.Inputs {
		g = field(g, 11, in.encode())
	}
	for _, name := range m.Outputs {
		g = field(g, 12, m.encodeOutput(name))
	}
	b := number(nil, 1, m.ir())
	b = field(b, 8, number(text(nil, 1, ""), 2, uint64(m.Opset)))
	for _, domain := range slices.Sorted(maps.Keys(m.Domains)) {
		b = field(b, 8, number(text(nil, 1, domain), 2, uint64(m.Domains[domain])))
	}
	b = field(b, 7, g)
	for _, f := range m.Functions {
		b = field(b, 25, f)
	}
	return b
}

// ir returns the version of the file's form.
func (m *Model) ir() uint64 {
	switch {
	case m.IR != 0:
		return uint64(max(m.IR, 4)) // before that constants were inputs, too
	case m.Opset > 20:
		return 10
	}
	return 8
}

func (n Node) encode() []byte {
	var b []byte
	for _, s := range n.In {
		b = text(b, 1, s)
	}
	for _, s := range n.Out {
		b = text(b, 2, s)
	}
	b = text(text(b, 3, n.Name), 4, n.Op)
	for _, name := range slices.Sorted(maps.Keys(n.Attrs)) {
		b = field(b, 5, encodeAttr(name, n.Attrs[name], len(n.Captured)))
	}
	for _, name := range slices.Sorted(maps.Keys(n.Raw)) {
		b = field(b, 5, n.Raw[name])
	}
	if n.Domain != "" {
		b = text(b, 7, n.Domain)
	}
	if n.Overload != "" {
		b = text(b, 8, n.Overload)
	}
	return b
}

// encodeAttr returns an AttributeProto. The last inputs of a graph, so many, are not its own.
func encodeAttr(name string, a graph.Attr, captured int) []byte {
	b := text(nil, 1, name)
	switch a.Kind {
	case graph.AttrFloat:
		return fixed(number(b, 20, 1), 2, a.Float)
	case graph.AttrInt:
		return number(number(b, 20, 2), 3, uint64(a.Int))
	case graph.AttrString:
		return text(number(b, 20, 3), 4, a.String)
	case graph.AttrTensor:
		return field(number(b, 20, 4), 5, onnx.WriteTensor("", a.Tensor))
	case graph.AttrGraph:
		return field(number(b, 20, 5), 6, onnx.WriteGraph(a.Graph, captured))
	case graph.AttrFloats:
		b = number(b, 20, 6)
		for _, f := range a.Floats {
			b = fixed(b, 7, f)
		}
	case graph.AttrInts:
		b = number(b, 20, 7)
		for _, v := range a.Ints {
			b = number(b, 8, uint64(v))
		}
	case graph.AttrStrings:
		b = number(b, 20, 8)
		for _, v := range a.Strings {
			b = text(b, 9, v)
		}
	}
	return b
}

// encode returns a ValueInfoProto.
func (in Input) encode() []byte {
	dims := slices.Clone(in.Feed.Dims)
	for i, symbol := range in.Open {
		if symbol != "" {
			dims[i] = -1
		}
	}
	return valueInfo(in.Name, in.Feed.Type, shapeOf(dims, in.Open))
}

// encodeOutput returns a ValueInfoProto with what is known of an output.
func (m *Model) encodeOutput(name string) []byte {
	var shape []byte
	if dims, ok := m.Shapes[name]; ok {
		shape = shapeOf(dims, make([]string, len(dims)))
	}
	return valueInfo(name, m.Types[name], shape)
}

// valueInfo returns a ValueInfoProto; what is nil or invalid is left out.
func valueInfo(name string, t numeric.DataType, shape []byte) []byte {
	v := text(nil, 1, name)
	e := onnx.ElementType(t)
	if e == 0 {
		return v
	}
	tensor := number(nil, 1, uint64(e))
	if shape != nil {
		tensor = field(tensor, 2, shape)
	}
	return field(v, 2, field(nil, 1, tensor))
}

// shapeOf returns a TensorShapeProto, which is empty and not nil for rank 0. An extent that is negative is open, and may have a name.
func shapeOf(dims []int, names []string) []byte {
	shape := []byte{}
	for i, d := range dims {
		var extent []byte
		switch {
		case d >= 0:
			extent = number(nil, 1, uint64(d))
		case names[i] != "":
			extent = text(nil, 2, names[i])
		}
		shape = field(shape, 1, extent)
	}
	return shape
}

func field(b []byte, num protowire.Number, body []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), body)
}

func text(b []byte, num protowire.Number, s string) []byte { return field(b, num, []byte(s)) }

func number(b []byte, num protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), v)
}

func fixed(b []byte, num protowire.Number, f float32) []byte {
	return append(protowire.AppendTag(b, num, protowire.Fixed32Type), numeric.Bytes([]float32{f})...)
}

// Equal reports whether two values have the same type, shape and bits.
func Equal(a, b numeric.Value) bool {
	return a.Type == b.Type && slices.Equal(a.Dims, b.Dims) && bytes.Equal(a.Data, b.Data)
}

// Prune drops inputs and constants that nothing reads.
func (m *Model) Prune() {
	read := map[string]bool{}
	for _, n := range m.Nodes {
		for _, name := range n.Reads() {
			read[name] = true
		}
	}
	for _, name := range m.Outputs {
		read[name] = true
	}
	m.Inputs = slices.DeleteFunc(m.Inputs, func(in Input) bool { return !read[in.Name] })
	m.Consts = slices.DeleteFunc(m.Consts, func(c Const) bool { return !read[c.Name] })
}

// Scalar returns a value of rank 0.
func Scalar(t numeric.DataType, f float64) numeric.Value {
	v := numeric.NewValue(t)
	switch t {
	case numeric.F32:
		v.F32()[0] = float32(f)
	case numeric.F64:
		numeric.View[float64](v.Data)[0] = f
	case numeric.F16:
		numeric.View[uint16](v.Data)[0] = numeric.F32ToF16(float32(f))
	case numeric.I64, numeric.U64:
		numeric.View[int64](v.Data)[0] = int64(f)
	case numeric.I32, numeric.U32:
		numeric.View[int32](v.Data)[0] = int32(f)
	case numeric.I16, numeric.U16:
		numeric.View[int16](v.Data)[0] = int16(f)
	case numeric.Bool:
		if f != 0 {
			v.Data[0] = 1
		}
	default:
		v.Data[0] = byte(int(f))
	}
	return v
}
