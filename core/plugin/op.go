package plugin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero/api"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Attrs are the attributes of a layer of a plugin's op, with what computes it.
type Attrs struct {
	Plugin string // its name
	Hash   string // SHA-256 of its file
	Values []Value
}

// Value is an attribute of a layer.
type Value struct {
	Name   string
	Kind   string    // as Attr.Type
	Ints   []int64   `json:",omitempty"`
	Floats []float64 `json:",omitempty"`
	Text   string    `json:",omitempty"`
}

func (v Value) String() string {
	switch {
	case v.Kind == "string":
		return v.Name + ":" + v.Text
	case v.Kind == "int" && len(v.Ints) == 1:
		return fmt.Sprint(v.Name, ":", v.Ints[0])
	case v.Kind == "float" && len(v.Floats) == 1:
		return fmt.Sprint(v.Name, ":", v.Floats[0])
	case v.Kind == "ints":
		return fmt.Sprint(v.Name, ":", v.Ints)
	}
	return fmt.Sprint(v.Name, ":", v.Floats)
}

// FitsOp returns why attributes that were stored are not for an op as it is: it is of another plugin than then.
func (a Attrs) FitsOp(op *graph.Op) error {
	of, _ := op.Attrs.(Attrs)
	if a.Hash != of.Hash {
		return fmt.Errorf("it was made with plugin %s of SHA-256 %.12s, and the plugin that is loaded, %s, has %.12s: what it computes may differ; load the other one, or build anew",
			a.Plugin, a.Hash, of.Plugin, of.Hash)
	}
	return nil
}

// GraphOps returns the plugin's operators as ops.
func (p *Plugin) GraphOps() []*graph.Op {
	var list []*graph.Op
	for i := range p.Ops {
		of := operator{p, i, &p.Ops[i]}
		op := graph.NewOp(of.op.FullName(), of.infer, of.eval)
		op.Attrs = Attrs{Plugin: p.Name, Hash: p.Hash}
		op.Onnx = []string{of.op.FullName()}
		op.Import, op.Export = of.importNode, of.export
		list = append(list, op)
	}
	return list
}

// operator is one of a plugin's.
type operator struct {
	p     *Plugin
	index int
	op    *Op
}

func (o operator) failed(err error) error { return fmt.Errorf("plugin %s: %w", o.p.named(), err) }

func (o operator) importNode(n *graph.Node) (any, []*graph.Tensor, error) {
	a := Attrs{Plugin: o.p.Name, Hash: o.p.Hash}
	for i := range o.op.Attributes {
		v, err := o.op.Attributes[i].of(n)
		if err != nil {
			return nil, nil, err
		}
		a.Values = append(a.Values, v)
	}
	inputs := n.Inputs
	for len(inputs) > 0 && inputs[len(inputs)-1] == nil {
		inputs = inputs[:len(inputs)-1]
	}
	if len(inputs) > len(o.op.Inputs) || n.Outputs > len(o.op.Outputs) {
		return nil, nil, fmt.Errorf("%d inputs and %d outputs, want at most %d and %d", len(inputs), n.Outputs, len(o.op.Inputs), len(o.op.Outputs))
	}
	for i, in := range o.op.Inputs {
		if !in.Optional && (i >= len(inputs) || inputs[i] == nil) {
			return nil, nil, fmt.Errorf("input %s is missing", in.Name)
		}
	}
	return a, inputs, nil
}

// of returns what a node has for an attribute.
func (a *Attr) of(n *graph.Node) (Value, error) {
	v := a.value
	if !n.Has(a.Name) {
		if len(a.Default) == 0 {
			return v, fmt.Errorf("attribute %s is missing", a.Name)
		}
		return v, nil
	}
	switch a.Type {
	case "int":
		v.Ints = []int64{int64(n.Int(a.Name, 0))}
	case "float":
		v.Floats = []float64{float64(n.Float(a.Name, 0))}
	case "string":
		v.Text = n.String(a.Name, "")
	case "ints":
		v.Ints = nil
		for _, x := range n.Ints(a.Name) {
			v.Ints = append(v.Ints, int64(x))
		}
	case "floats":
		v.Floats = nil
		for _, x := range n.Floats(a.Name) {
			v.Floats = append(v.Floats, float64(x))
		}
	}
	return v, nil
}

func (o operator) export(e *graph.Exporter) error {
	attrs := graph.Attributes{}
	for _, v := range o.values(e.Layer) {
		switch v.Kind {
		case "int":
			attrs[v.Name] = int(v.Ints[0])
		case "float":
			attrs[v.Name] = float32(v.Floats[0])
		case "string":
			attrs[v.Name] = v.Text
		case "ints":
			list := make([]int, len(v.Ints))
			for i, x := range v.Ints {
				list[i] = int(x)
			}
			attrs[v.Name] = list
		case "floats":
			list := make([]float32, len(v.Floats))
			for i, x := range v.Floats {
				list[i] = float32(x)
			}
			attrs[v.Name] = list
		}
	}
	return e.Node(o.op.FullName(), attrs)
}

func (o operator) values(l *graph.Layer) []Value {
	a, _ := l.Attrs.(Attrs)
	return a.Values
}

// typeOf returns the type in which a plugin sees a tensor: numbers of 16 bits and quantised ones are F32.
func typeOf(t *graph.Tensor) numeric.DataType {
	if of := t.RealType(); of != numeric.F16 && of != numeric.BF16 {
		return of
	}
	return numeric.F32
}

// check returns an error for types that an input does not take, and for attributes that are not the op's, as a damaged file may
// have them.
func (o operator) check(l *graph.Layer) error {
	inputs := l.OpInputs()
	if len(inputs) > len(o.op.Inputs) || len(l.Outputs) > len(o.op.Outputs) {
		return fmt.Errorf("%d inputs and %d outputs, want at most %d and %d", len(inputs), len(l.Outputs), len(o.op.Inputs), len(o.op.Outputs))
	}
	for i, in := range o.op.Inputs {
		if i >= len(inputs) || inputs[i] == nil {
			if !in.Optional {
				return fmt.Errorf("input %s is missing", in.Name)
			}
			continue
		}
		if of := typeOf(inputs[i]); !slices.Contains(in.Types, of.String()) {
			return fmt.Errorf("input %s is %s, want %s", in.Name, of, strings.Join(in.Types, " or "))
		}
	}
	values := o.values(l)
	if len(values) != len(o.op.Attributes) {
		return fmt.Errorf("%d attributes, want %d", len(values), len(o.op.Attributes))
	}
	for i, v := range values {
		a := &o.op.Attributes[i]
		if v.Name != a.Name || v.Kind != a.Type || v.Kind == "int" && len(v.Ints) != 1 || v.Kind == "float" && len(v.Floats) != 1 {
			return fmt.Errorf("attribute %d is %s, want %s, %s", i, v.Name, a.Name, a.Type)
		}
	}
	return nil
}

// maxConstant bounds the bytes of a constant that a plugin sees when it infers shapes.
const maxConstant = 64 << 10

// infer asks the plugin for the types and shapes of a layer's outputs.
func (o operator) infer(l *graph.Layer) error {
	if err := o.check(l); err != nil {
		return err
	}
	r := &request{op: o.index, attrs: o.values(l), outputs: len(l.Outputs)}
	var symbols []symbolic.Dim
	for _, t := range l.OpInputs() {
		if t == nil {
			r.inputs = append(r.inputs, tensor{})
			continue
		}
		in := tensor{of: typeOf(t)}
		for _, d := range t.Dims {
			n, ok := d.IsConst()
			if !ok {
				k := slices.IndexFunc(symbols, d.Equal)
				if k < 0 {
					k, symbols = len(symbols), append(symbols, d)
				}
				n = -1 - k
			}
			in.dims = append(in.dims, int64(n))
		}
		if v, ok := t.Const(); ok && v.Type == in.of && len(v.Data) <= maxConstant {
			in.data, in.size = v.Data, len(v.Data)
		}
		r.inputs = append(r.inputs, in)
	}
	var list []tensor
	err := o.p.ask(o.p.Limits.Infer, "trtui_infer", r, func(m api.Memory, answer uint32, _ int, _ []int) (err error) {
		list, err = shapes(m, answer, len(l.Outputs), len(symbols))
		return err
	})
	if err != nil {
		return o.failed(err)
	}
	for i, t := range list {
		out := l.Outputs[i]
		out.Type, out.Dims = t.of, nil
		if first := l.OpInputs()[0]; first != nil && t.of == numeric.F32 && (first.Type == numeric.F16 || first.Type == numeric.BF16) {
			out.Type = first.Type
		}
		for _, d := range t.dims {
			if d < 0 {
				out.Dims = append(out.Dims, symbols[-1-d])
			} else {
				out.Dims = append(out.Dims, symbolic.Const(int(d)))
			}
		}
	}
	return nil
}

// eval has the plugin compute a layer.
func (o operator) eval(l *graph.Layer, in, out []numeric.Value) error {
	if err := o.check(l); err != nil {
		return err
	}
	r := &request{op: o.index, attrs: o.values(l)}
	for _, v := range in {
		r.inputs = append(r.inputs, tensorOf(v))
	}
	for _, v := range out {
		t := tensorOf(v)
		t.data = nil
		r.results = append(r.results, t)
	}
	err := o.p.ask(o.p.Limits.Eval, "trtui_eval", r, func(m api.Memory, answer uint32, base int, places []int) error {
		if answer != 0 {
			if _, err := refusal(m, answer); err != nil {
				return err
			}
		}
		for i, v := range out {
			data, ok := m.Read(uint32(base+places[len(in)+i]), uint32(len(v.Data)))
			if !ok {
				return fmt.Errorf("its memory has shrunk")
			}
			copy(v.Data, data)
			if v.Type == numeric.Bool { // which is 0 or 1 for all others
				for k, b := range v.Data {
					v.Data[k] = min(b, 1)
				}
			}
		}
		return nil
	})
	if err != nil {
		return o.failed(err)
	}
	return nil
}

func tensorOf(v numeric.Value) tensor {
	if v.Type == numeric.Invalid {
		return tensor{}
	}
	t := tensor{of: v.Type, data: v.Data, size: len(v.Data)}
	if t.data == nil {
		t.data = []byte{}
	}
	for _, d := range v.Dims {
		t.dims = append(t.dims, int64(d))
	}
	return t
}
