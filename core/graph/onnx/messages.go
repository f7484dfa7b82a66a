package onnx

import "google.golang.org/protobuf/encoding/protowire"

// The messages of onnx.proto, as far as an importer for inference reads them.
type (
	model struct {
		irVersion int64
		producer  string
		opsets    map[string]int // version by domain
		hasGraph  bool
		graph     graphProto
		functions []*function
	}
	graphProto struct {
		name         string
		nodes        []*node
		initializers []*tensor
		sparse       []string // names of sparse initializers
		inputs       []*valueInfo
		outputs      []*valueInfo
		values       []*valueInfo // of what is neither; read only to look at a model
	}
	node struct {
		name, opType, domain, overload string
		inputs, outputs                []string
		attrs                          []*attribute
		index                          int            // its position in its graph
		captured                       []string       // values of the graphs around it that its own graphs read, each once
		opsets                         map[string]int // version by domain, where it differs from the model's
	}
	attribute struct {
		name    string
		ref     string // the attribute of the function that it stands for, in a function's body
		kind    int64  // onnx's AttributeType
		float   float32
		int     int64
		str     string
		tensor  *tensor
		graph   *graphProto
		ints    []int64
		floats  []byte // little-endian
		strings []string
	}
	tensor struct {
		name     string
		dims     []int64
		dataType int64
		raw      []byte // part of the message; nil if there is no such field
		floats   []byte
		doubles  []byte
		int32s   []int64
		int64s   []int64
		uint64s  []int64
		strings  []string
		external map[string]string // location, offset, length; nil if the data is here
		segment  bool
	}
	valueInfo struct {
		name     string
		kind     string // "tensor", or what else its type is
		elemType int64
		hasShape bool
		dims     []dim
		optional bool
	}
	dim struct {
		value int64
		known bool
		param string
	}
	function struct {
		name, domain, overload string
		inputs, outputs        []string
		defaults               []*attribute
		nodes                  []*node
		opsets                 map[string]int
	}
)

// maxMessages bounds the nodes, attributes, tensors, values and extents of a model, which take more memory than their
// bytes in the file.
const maxMessages = 1 << 20

// message counts one message.
func (d *decoder) message() {
	if d.messages++; d.messages > maxMessages {
		d.failf("the model has more than %d nodes, attributes and tensors", maxMessages)
	}
}

func (d *decoder) model(b []byte) *model {
	m := &model{opsets: map[string]int{}}
	d.fields("model", b, func(f field) {
		switch f.num {
		case 1:
			m.irVersion = d.int(f)
		case 2:
			m.producer = d.text(f)
		case 7:
			m.hasGraph = true
			d.graph(&m.graph, d.bytes(f))
		case 8:
			d.opset(m.opsets, d.bytes(f))
		case 25:
			m.functions = append(m.functions, d.function(d.bytes(f)))
		}
	})
	return m
}

// opset adds an operator set's version; of two for one domain the later counts.
func (d *decoder) opset(sets map[string]int, b []byte) {
	domain, version := "", int64(0)
	d.fields("opset_import", b, func(f field) {
		switch f.num {
		case 1:
			domain = d.text(f)
		case 2:
			version = d.int(f)
		}
	})
	sets[canonicalDomain(domain)] = int(version)
}

// canonicalDomain returns the default operator domain by its short name.
func canonicalDomain(s string) string {
	if s == "ai.onnx" {
		return ""
	}
	return s
}

func (d *decoder) graph(g *graphProto, b []byte) {
	d.fields("graph", b, func(f field) {
		switch f.num {
		case 1:
			g.nodes = append(g.nodes, d.node(d.bytes(f), len(g.nodes)))
		case 2:
			g.name = d.text(f)
		case 5:
			g.initializers = append(g.initializers, d.tensor(d.bytes(f)))
		case 11:
			g.inputs = append(g.inputs, d.valueInfo(d.bytes(f)))
		case 12:
			g.outputs = append(g.outputs, d.valueInfo(d.bytes(f)))
		case 13:
			if d.values {
				g.values = append(g.values, d.valueInfo(d.bytes(f)))
			}
		case 15:
			g.sparse = append(g.sparse, d.sparseName(d.bytes(f)))
		}
	})
}

// sparseName returns the name of a SparseTensorProto, which is that of its values.
func (d *decoder) sparseName(b []byte) string {
	name := ""
	d.fields("sparse_initializer", b, func(f field) {
		if f.num == 1 {
			name = d.tensor(d.bytes(f)).name
		}
	})
	return name
}

func (d *decoder) node(b []byte, index int) *node {
	d.message()
	n := &node{index: index}
	d.fields("node", b, func(f field) {
		switch f.num {
		case 1:
			n.inputs = append(n.inputs, d.text(f))
		case 2:
			n.outputs = append(n.outputs, d.text(f))
		case 3:
			n.name = d.text(f)
		case 4:
			n.opType = d.text(f)
		case 5:
			n.attrs = append(n.attrs, d.attribute(d.bytes(f)))
		case 7:
			n.domain = canonicalDomain(d.text(f))
		case 8:
			n.overload = d.text(f)
		}
	})
	n.capture()
	return n
}

// The kinds of attribute that are decoded, by AttributeType.
const (
	kindFloat   = 1
	kindInt     = 2
	kindString  = 3
	kindTensor  = 4
	kindGraph   = 5
	kindFloats  = 6
	kindInts    = 7
	kindStrings = 8
)

// attributeFields gives the AttributeType that a field of AttributeProto goes with, for the oldest files, which do
// not say it.
var attributeFields = map[protowire.Number]int64{2: kindFloat, 3: kindInt, 4: kindString, 5: kindTensor, 6: kindGraph, 7: kindFloats, 8: kindInts, 9: kindStrings}

func (d *decoder) attribute(b []byte) *attribute {
	d.message()
	a := &attribute{}
	implied := int64(0)
	d.fields("attribute", b, func(f field) {
		if k, ok := attributeFields[f.num]; ok {
			implied = k
		}
		switch f.num {
		case 1:
			a.name = d.text(f)
		case 2:
			a.float = d.float(f)
		case 3:
			a.int = d.int(f)
		case 4:
			a.str = d.text(f)
		case 5:
			a.tensor = d.tensor(d.bytes(f))
		case 6:
			a.graph = d.subgraph(d.bytes(f))
		case 7:
			a.floats = d.fixed(a.floats, f, 4)
		case 8:
			a.ints = d.ints(a.ints, f)
		case 9:
			a.strings = append(a.strings, d.text(f))
		case 20:
			a.kind = d.int(f)
		case 21:
			a.ref = d.text(f)
		}
	})
	if a.kind == 0 {
		a.kind = implied
	}
	return a
}

func (d *decoder) tensor(b []byte) *tensor {
	d.message()
	t := &tensor{}
	isExternal := false
	var entries map[string]string
	d.fields("tensor", b, func(f field) {
		switch f.num {
		case 1:
			t.dims = d.ints(t.dims, f)
		case 2:
			t.dataType = d.int(f)
		case 3:
			t.segment = true
		case 4:
			t.floats = d.fixed(t.floats, f, 4)
		case 5:
			t.int32s = d.ints(t.int32s, f)
		case 6:
			t.strings = append(t.strings, string(d.bytes(f)))
		case 7:
			t.int64s = d.ints(t.int64s, f)
		case 8:
			t.name = d.text(f)
		case 9:
			if t.raw = d.bytes(f); t.raw == nil {
				t.raw = []byte{}
			}
		case 10:
			t.doubles = d.fixed(t.doubles, f, 8)
		case 11:
			t.uint64s = d.ints(t.uint64s, f)
		case 13:
			if entries == nil {
				entries = map[string]string{}
			}
			d.entry(entries, d.bytes(f))
		case 14:
			isExternal = d.int(f) == 1
		}
	})
	if isExternal {
		if entries == nil {
			entries = map[string]string{}
		}
		t.external = entries
	}
	return t
}

// entry adds a StringStringEntryProto.
func (d *decoder) entry(entries map[string]string, b []byte) {
	key, value := "", ""
	d.fields("external_data", b, func(f field) {
		switch f.num {
		case 1:
			key = d.text(f)
		case 2:
			value = d.text(f)
		}
	})
	entries[key] = value
}

// valueKinds names the fields of TypeProto.
var valueKinds = map[protowire.Number]string{1: "tensor", 4: kindSequence, 5: "map", 7: "opaque", 8: "sparse tensor", 9: "optional"}

// kindSequence is the kind of a sequence, and of an optional one; its type is that of its tensors.
const kindSequence = "sequence"

// noType is the kind of a value of which only the name is stated.
const noType = "value without a type"

func (d *decoder) valueInfo(b []byte) *valueInfo {
	d.message()
	v := &valueInfo{kind: noType}
	d.fields("value_info", b, func(f field) {
		switch f.num {
		case 1:
			v.name = d.text(f)
		case 2:
			d.fields("type", d.bytes(f), func(f field) {
				if kind, ok := valueKinds[f.num]; ok {
					v.kind = kind
				}
				switch f.num {
				case 1:
					d.tensorType(v, d.bytes(f))
				case 4:
					d.sequenceType(v, d.bytes(f))
				case 9:
					d.optionalType(v, d.bytes(f))
				}
			})
		}
	})
	return v
}

// optionalType is that of its element where this is a tensor or a sequence.
func (d *decoder) optionalType(v *valueInfo, b []byte) {
	v.optional = true
	d.fields("optional_type", b, func(f field) {
		if f.num == 1 {
			d.fields("type", d.bytes(f), func(f field) {
				switch f.num {
				case 1:
					v.kind = "tensor"
					d.tensorType(v, d.bytes(f))
				case 4:
					v.kind = kindSequence
					d.sequenceType(v, d.bytes(f))
				}
			})
		}
	})
}

// sequenceType is that of its elements where these are tensors.
func (d *decoder) sequenceType(v *valueInfo, b []byte) {
	d.fields("sequence_type", b, func(f field) {
		if f.num == 1 {
			d.fields("type", d.bytes(f), func(f field) {
				if f.num == 1 {
					d.tensorType(v, d.bytes(f))
				}
			})
		}
	})
}

func (d *decoder) tensorType(v *valueInfo, b []byte) {
	d.fields("tensor_type", b, func(f field) {
		switch f.num {
		case 1:
			v.elemType = d.int(f)
		case 2:
			v.hasShape = true
			d.fields("shape", d.bytes(f), func(f field) {
				if f.num == 1 {
					v.dims = append(v.dims, d.dim(d.bytes(f)))
				}
			})
		}
	})
}

func (d *decoder) dim(b []byte) dim {
	d.message()
	var x dim
	d.fields("dim", b, func(f field) {
		switch f.num {
		case 1:
			x.value, x.known = d.int(f), true
		case 2:
			x.param = d.text(f)
		}
	})
	return x
}

func (d *decoder) function(b []byte) *function {
	d.message()
	fn := &function{opsets: map[string]int{}}
	d.fields("function", b, func(f field) {
		switch f.num {
		case 1:
			fn.name = d.text(f)
		case 4:
			fn.inputs = append(fn.inputs, d.text(f))
		case 5:
			fn.outputs = append(fn.outputs, d.text(f))
		case 7:
			fn.nodes = append(fn.nodes, d.node(d.bytes(f), len(fn.nodes)))
		case 9:
			d.opset(fn.opsets, d.bytes(f))
		case 10:
			fn.domain = canonicalDomain(d.text(f))
		case 11:
			fn.defaults = append(fn.defaults, d.attribute(d.bytes(f)))
		case 13:
			fn.overload = d.text(f)
		}
	})
	return fn
}
