package onnx

import (
	"fmt"
	"path/filepath"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// Parts are a model's nodes, constants and values as its file has them: for what takes models apart without knowing their
// operators.
type Parts struct {
	IR        int
	Opsets    map[string]int // version by domain, "" for ONNX's own
	Inputs    []PartInput    // but those that a constant has the name of
	Outputs   []string
	Consts    []PartConst // initializers, and Constant nodes of a tensor
	Nodes     []PartNode  // each behind those that it reads
	Functions [][]byte    // each a FunctionProto
	Types     map[string]numeric.DataType
}

// PartInput is an input of the model. Symbols are the names of its axes that are open, "" for fixed ones.
type PartInput struct {
	Name    string
	Type    numeric.DataType
	Symbols []string
}

// PartConst is an initializer.
type PartConst struct {
	Name  string
	Value numeric.Value
}

// PartNode is one node. Captured are values of the graph around those among its attributes that these read.
type PartNode struct {
	Name, Op, Domain, Overload string
	Inputs, Outputs, Captured  []string
	Attrs                      map[string]graph.Attr // numbers, strings, and lists of them
	Raw                        map[string][]byte     // the other attributes, each an AttributeProto
}

// ReadParts reads a model's file, and the data that is in files beside it.
func ReadParts(path string) (*Parts, error) {
	data, _, read, err := readModel(path)
	if err != nil {
		return nil, err
	}
	side := newExternalFiles(&File{read: []*source{read}}, path)
	defer side.close()
	name := filepath.Base(path)
	d := decoder{values: true}
	m := d.model(data)
	if d.err != nil {
		return nil, &NotModelError{name, d.err}
	}
	if !m.hasGraph {
		return nil, &NotModelError{name, errNoGraph}
	}
	p := &Parts{IR: int(m.irVersion), Opsets: m.opsets, Types: map[string]numeric.DataType{}}
	r := partsReader{parts: p, external: side.bytes, nodes: map[int][]byte{}}
	r.raw(data)
	if err := r.graph(&m.graph); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// partsReader makes parts of what was decoded.
type partsReader struct {
	parts    *Parts
	external func(*tensor, int) ([]byte, error)
	nodes    map[int][]byte // NodeProtos by position
}

// raw finds the bytes of nodes and functions in those of a model, which was decoded without an error.
func (r *partsReader) raw(data []byte) {
	var d decoder
	d.fields("model", data, func(f field) {
		switch f.num {
		case 7:
			d.fields("graph", d.bytes(f), func(f field) {
				if f.num == 1 {
					r.nodes[len(r.nodes)] = d.bytes(f)
				}
			})
		case 25:
			r.parts.Functions = append(r.parts.Functions, d.bytes(f))
		}
	})
}

func (r *partsReader) graph(g *graphProto) error {
	if len(g.sparse) > 0 {
		return fmt.Errorf("constant %s is sparse, which is not supported", g.sparse[0])
	}
	constant := map[string]bool{}
	for _, t := range g.initializers {
		if err := r.constant(t.name, t); err != nil {
			return err
		}
		constant[t.name] = true
	}
	for _, v := range g.inputs {
		if constant[v.name] {
			continue
		}
		typ, err := v.dataType()
		if err != nil {
			return fmt.Errorf("input %s: %w", v.name, err)
		}
		in := PartInput{Name: v.name, Type: typ}
		for i, d := range v.dims {
			symbol := d.param
			if d.known && d.value >= 0 {
				symbol = ""
			} else if symbol == "" {
				symbol = fmt.Sprintf("%s_dim%d", v.name, i)
			}
			in.Symbols = append(in.Symbols, symbol)
		}
		r.parts.Inputs = append(r.parts.Inputs, in)
	}
	for _, v := range append(g.values, g.outputs...) {
		if typ, err := v.dataType(); err == nil {
			r.parts.Types[v.name] = typ
		}
	}
	for _, v := range g.outputs {
		r.parts.Outputs = append(r.parts.Outputs, v.name)
	}
	order, problem := sortNodes(g.nodes)
	if problem != nil {
		return fmt.Errorf("node %s: %s", problem.Node, problem.Reason)
	}
	for _, n := range order {
		if err := r.node(n); err != nil {
			return fmt.Errorf("node %s: %w", n.label(), err)
		}
	}
	return nil
}

func (r *partsReader) constant(name string, t *tensor) error {
	v, err := t.value(r.external)
	if err != nil {
		return fmt.Errorf("constant %s: %w", name, err)
	}
	r.parts.Consts = append(r.parts.Consts, PartConst{name, v})
	return nil
}

// node adds a node; a constant's tensor becomes a constant.
func (r *partsReader) node(n *node) error {
	if n.opType == "Constant" && n.domain == "" && len(n.attrs) == 1 && n.attrs[0].tensor != nil && len(n.outputs) == 1 {
		return r.constant(n.outputs[0], n.attrs[0].tensor)
	}
	p := PartNode{
		Name: n.name, Op: n.opType, Domain: n.domain, Overload: n.overload,
		Inputs: n.inputs, Outputs: n.outputs, Captured: n.captured, Attrs: map[string]graph.Attr{}, Raw: map[string][]byte{},
	}
	var im importer
	var d decoder
	at := 0
	d.fields("node", r.nodes[n.index], func(f field) {
		if f.num != 5 {
			return
		}
		a := n.attrs[at]
		at++
		if a.kind == kindTensor || a.kind == kindGraph || a.ref != "" {
			p.Raw[a.name] = d.bytes(f)
			return
		}
		if v, err := im.attribute(a); err == nil && v.Kind != graph.AttrOther {
			p.Attrs[a.name] = v
		} else {
			p.Raw[a.name] = d.bytes(f)
		}
	})
	r.parts.Nodes = append(r.parts.Nodes, p)
	return d.err
}

// ElementType returns the number that TensorProto has for a type; 0 for one that ONNX does not have.
func ElementType(t numeric.DataType) int { return number(t) }
