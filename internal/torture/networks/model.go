package networks

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
)

// Model is an ONNX model as data that can be changed piece by piece, with the inputs on which it is tried.
type Model struct {
	Opset   int
	Inputs  []Input
	Consts  []Const
	Nodes   []Node
	Outputs []string
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
	In, Out  []string
	Attrs    map[string]graph.Attr
	Captured []string // what graphs among the attributes read: their last inputs, which go by these names
}

// reads returns the values that the node reads.
func (n Node) reads() []string { return slices.Concat(n.In, n.Captured) }

// clone returns a copy that shares values and attributes, which do not change in place.
func (m *Model) clone() *Model {
	c := *m
	c.Inputs, c.Consts, c.Outputs = slices.Clone(m.Inputs), slices.Clone(m.Consts), slices.Clone(m.Outputs)
	c.Nodes = slices.Clone(m.Nodes)
	for i, n := range c.Nodes {
		c.Nodes[i].In, c.Nodes[i].Out, c.Nodes[i].Attrs = slices.Clone(n.In), slices.Clone(n.Out), maps.Clone(n.Attrs)
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

// closed returns the model with other extents where it leaves them open: one for each symbol, whatever the layers take for
// granted of them. Elements are repeated.
func (m *Model) closed(seed uint64) *Model {
	rnd := rand.New(rand.NewPCG(seed, 16))
	was := m
	m = m.clone()
	extents := map[string]int{}
	for i, in := range m.Inputs {
		dims := slices.Clone(in.Feed.Dims)
		for axis, symbol := range in.Open {
			if symbol == "" {
				continue
			}
			if _, ok := extents[symbol]; !ok {
				extents[symbol] = []int{0, 1, 2, 3, 4, 7, 8, 9, dims[axis]}[rnd.IntN(9)]
			}
			dims[axis] = extents[symbol]
		}
		if numeric.Count(dims) > 2*maxElements {
			return was
		}
		v := numeric.NewValue(in.Feed.Type, dims...)
		for at := 0; at < len(v.Data) && len(in.Feed.Data) > 0; {
			at += copy(v.Data[at:], in.Feed.Data)
		}
		m.Inputs[i].Feed = v
	}
	return m
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
		g = field(g, 12, text(nil, 1, name))
	}
	ir := uint64(8)
	if m.Opset > 20 {
		ir = 10
	}
	b := number(nil, 1, ir)
	b = field(b, 8, number(text(nil, 1, ""), 2, uint64(m.Opset)))
	return field(b, 7, g)
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

// encode returns a ValueInfoProto. The element type is as in a tensor of it, whose field 2 it is.
func (in Input) encode() []byte {
	var shape []byte
	for i, d := range in.Feed.Dims {
		if in.Open[i] != "" {
			shape = field(shape, 1, text(nil, 2, in.Open[i]))
		} else {
			shape = field(shape, 1, number(nil, 1, uint64(d)))
		}
	}
	tensor := onnx.WriteTensor("", numeric.Value{Type: in.Feed.Type})
	number, _ := protowire.ConsumeVarint(tensor[1:])
	t := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), number)
	return field(text(nil, 1, in.Name), 2, field(nil, 1, field(t, 2, shape)))
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

// equal reports whether two values have the same type, shape and bits.
func equal(a, b numeric.Value) bool {
	return a.Type == b.Type && slices.Equal(a.Dims, b.Dims) && bytes.Equal(a.Data, b.Data)
}
