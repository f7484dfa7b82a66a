//go:build linux

package files

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/internal/torture/networks"
)

// edges are the numbers that are put into attributes, shapes and indices.
var edges = []int64{math.MinInt64, math.MinInt32, -1 << 20, -7, -2, -1, 0, 1, 2, 3, 64, 1 << 16, 1 << 31, 1 << 40, math.MaxInt64}

func edge(rnd *rand.Rand) int64 { return edges[rnd.IntN(len(edges))] }

// someModel returns a random model.
func someModel(rnd *rand.Rand) *networks.Model {
	m := networks.Generate(rnd.Uint64N(1 << 40))
	for len(m.Nodes) == 0 {
		m = networks.Generate(rnd.Uint64N(1 << 40))
	}
	return m
}

// deformModel changes the meaning of a model in a few places: what is written is a model still, by its form.
func deformModel(rnd *rand.Rand, m *networks.Model) []byte {
	for range 1 + rnd.IntN(3) {
		deformNode(rnd, m)
	}
	data := m.Encode()
	switch rnd.IntN(12) {
	case 0:
		data = field(data, 25, function(rnd, m))
	case 1: // data outside of the file
		data = withExternal(rnd, data)
	case 2:
		data = field(data, 7, nest(rnd))
	}
	return data
}

func deformNode(rnd *rand.Rand, m *networks.Model) {
	n := &m.Nodes[rnd.IntN(len(m.Nodes))]
	other := m.Nodes[rnd.IntN(len(m.Nodes))]
	switch rnd.IntN(14) {
	case 0: // an attribute at an edge
		for name, a := range n.Attrs {
			a.Int = edge(rnd)
			a.Float = float32(edge(rnd))
			a.Ints = slices.Clone(a.Ints)
			if len(a.Ints) > 0 {
				a.Ints[rnd.IntN(len(a.Ints))] = edge(rnd)
			}
			n.Attrs[name] = a
			break
		}
	case 1: // lists of other lengths
		for name, a := range n.Attrs {
			a.Ints = append(slices.Clone(a.Ints), edge(rnd))
			a.Floats = append(slices.Clone(a.Floats), float32(math.NaN()))
			n.Attrs[name] = a
			break
		}
	case 2: // an attribute of another kind
		for name, a := range n.Attrs {
			a.Kind = graph.AttrKind(rnd.IntN(8))
			if a.Kind == graph.AttrTensor && a.Tensor.Type == numeric.Invalid {
				a.Tensor = numeric.Values(numeric.I64, []int64{edge(rnd)}, 1)
			}
			n.Attrs[name] = a
			break
		}
	case 3:
		n.In = append(n.In, other.Out[0]) // perhaps a cycle
	case 4:
		if len(n.In) > 0 {
			n.In[rnd.IntN(len(n.In))] = other.Out[0]
		}
	case 5:
		if len(n.In) > 0 {
			n.In = n.In[:rnd.IntN(len(n.In))]
		}
	case 6:
		n.Out = append(n.Out, other.Out...) // a name twice
	case 7:
		n.Op = networks.Operators()[rnd.IntN(len(networks.Operators()))]
	case 8:
		m.Opset = int(edge(rnd))
	case 9, 10:
		deformConst(rnd, m)
	case 11:
		if len(m.Inputs) > 0 { // an input whose extent is huge
			in := &m.Inputs[rnd.IntN(len(m.Inputs))]
			if len(in.Feed.Dims) > 0 {
				in.Feed.Dims = slices.Clone(in.Feed.Dims)
				in.Feed.Dims[rnd.IntN(len(in.Feed.Dims))] = int(edge(rnd))
			}
		}
	case 12:
		if len(m.Inputs) > 0 {
			in := &m.Inputs[rnd.IntN(len(m.Inputs))]
			for i := range in.Open {
				in.Open[i] = []string{"a", "N", "batch", "a\x1b[31mb", "1"}[rnd.IntN(5)] // extents that contradict each other
			}
		}
	case 13:
		name := []string{"\x1b]0;title\x07", "a\nb", "../x", "\xff", "", "名前"}[rnd.IntN(6)]
		n.Name = name
	}
}

// deformConst changes a constant: indices and shapes at edges, or another shape than its data has.
func deformConst(rnd *rand.Rand, m *networks.Model) {
	if len(m.Consts) == 0 {
		return
	}
	c := &m.Consts[rnd.IntN(len(m.Consts))]
	switch {
	case c.Value.Type == numeric.I64 && c.Value.Len() > 0:
		v := numeric.Values(numeric.I64, slices.Clone(c.Value.I64()), c.Value.Dims...)
		v.I64()[rnd.IntN(v.Len())] = edge(rnd)
		c.Value = v
	case c.Value.Type == numeric.Str: // in whose bytes are their lengths, too
		list := c.Value.Strings()
		list = list[:rnd.IntN(len(list)+1)]
		c.Value = numeric.Strings(list, len(list))
	case rnd.IntN(2) == 0 && len(c.Value.Dims) > 0:
		c.Value.Dims = slices.Clone(c.Value.Dims)
		c.Value.Dims[rnd.IntN(len(c.Value.Dims))] = int(edge(rnd))
	default:
		c.Value.Data = c.Value.Data[:rnd.IntN(len(c.Value.Data)+1)]
	}
}

// withExternal adds an initializer whose data is elsewhere: in a folder above, a device, nowhere, or beyond the end.
func withExternal(rnd *rand.Rand, data []byte) []byte {
	location := []string{"/dev/zero", "/dev/stdin", "../../../../etc/passwd", "/etc/passwd", "nothing", ".", "", "pipe", "link", "a/../../b"}[rnd.IntN(10)]
	entry := func(key, value string) []byte {
		return protowire.AppendBytes(protowire.AppendTag(protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), key), 2, protowire.BytesType), []byte(value))
	}
	t := number(number(nil, 1, 4), 2, 1)
	t = field(t, 8, []byte(fmt.Sprintf("external%d", rnd.IntN(3))))
	t = number(t, 14, 1)
	t = field(t, 13, entry("location", location))
	if rnd.IntN(2) == 0 {
		t = field(t, 13, entry("offset", fmt.Sprint(edge(rnd))))
	}
	if rnd.IntN(2) == 0 {
		t = field(t, 13, entry("length", fmt.Sprint(edge(rnd))))
	}
	n := field(field(nil, 1, []byte("external0")), 2, []byte("elsewhere"))
	n = field(n, 4, []byte("Relu"))
	return field(data, 7, field(field(field(nil, 5, t), 1, n), 12, field(nil, 1, []byte("elsewhere"))))
}

// function returns a FunctionProto that calls itself, or others like it, and calls it in the model.
func function(rnd *rand.Rand, m *networks.Model) []byte {
	call := field(field(field(nil, 1, []byte("x")), 2, []byte("y")), 4, []byte("Again"))
	call = field(call, 7, []byte("local"))
	f := field(nil, 1, []byte("Again"))
	f = field(field(f, 4, []byte("x")), 5, []byte("y"))
	for range 1 + rnd.IntN(20) {
		f = field(f, 7, call)
	}
	m.Nodes[0].Op = "Again"
	return field(f, 10, []byte("local"))
}

// nest returns a graph with a node whose attribute is a graph with a node, and so on.
func nest(rnd *rand.Rand) []byte {
	var g []byte
	for range 1 << rnd.IntN(14) {
		a := field(field(nil, 1, []byte("body")), 6, g)
		n := field(field(field(nil, 4, []byte("Loop")), 5, a), 2, []byte("deep"))
		g = field(nil, 1, n)
		if len(g) > 1<<18 {
			break
		}
	}
	return g
}

func field(b []byte, num protowire.Number, body []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), body)
}

func number(b []byte, num protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), v)
}
