package onnx

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// look is what an import keeps that goes on where nodes are not supported, so that the rest of the model can be looked at.
type look struct {
	declared map[string]*valueInfo // what the model says of values
	behind   map[string]string     // by value: the layer, which is not supported, that it depends on
	bad      map[string]string     // why inputs and initializers cannot be read
	ops      map[operatorKind]*graph.Op
}

type operatorKind struct {
	operator string
	blocked  bool
}

func newLook(g *graphProto) *look {
	k := &look{declared: map[string]*valueInfo{}, behind: map[string]string{}, bad: map[string]string{}, ops: map[operatorKind]*graph.Op{}}
	for _, v := range slices.Concat(g.values, g.outputs) {
		k.declared[v.name] = v
	}
	return k
}

// source returns the layer that is not supported on which one of the node's inputs depends, "" if none does.
func (k *look) source(n *node) string {
	for _, in := range n.reads() {
		if name := k.behind[in]; name != "" {
			return name
		}
	}
	return ""
}

// pass notes what the outputs of a node that was imported depend on.
func (k *look) pass(n *node) {
	name := k.source(n)
	for _, out := range n.outputs {
		if name != "" && out != "" {
			k.behind[out] = name
		}
	}
}

// fail reports why a node cannot be imported. Where the model is looked at, a layer that says so takes its place. It is
// not reported of a node that might do if what it depends on were supported.
func (im *importer) fail(n *node, name string, errs ...error) {
	behind := ""
	if im.look != nil && !slices.Contains(errs, errNoOp) {
		behind = im.look.source(n)
	}
	var reasons []string
	for _, err := range errs {
		chooses := im.chooses(n, err)
		if chooses != "" {
			err = fmt.Errorf("%w; it is input %q", err, chooses)
		}
		if reasons = append(reasons, err.Error()); behind == "" && !errors.Is(err, errOpset) && !errors.Is(err, errInside) {
			p := n.problem(err.Error())
			p.Extent, p.Long = errors.As(err, new(*undecidedError)), errors.As(err, new(*graph.LongExtentError))
			p.Input = chooses
			im.report(p)
		}
	}
	im.stand(n, name, strings.Join(reasons, "; "), behind)
}

// chooses returns the input of the model that is the condition which an If needs to know; "" where an error is another.
func (im *importer) chooses(n *node, err error) string {
	if !errors.As(err, new(*graph.UnknownConditionError)) || !slices.Contains(im.net.Inputs, im.values[n.inputs[0]]) {
		return ""
	}
	return n.inputs[0]
}

// follow puts a layer in the place of a node that reads what is not known.
func (im *importer) follow(n *node, name string) {
	if im.look == nil {
		return
	}
	for _, in := range n.reads() {
		if why := im.look.bad[in]; why != "" {
			im.stand(n, name, why, "")
			return
		}
	}
	for _, in := range n.reads() {
		if t := im.values[in]; in != "" && (t == nil || !t.IsKnown()) {
			from := im.look.behind[in]
			im.stand(n, name, fmt.Sprintf("its input %q has no known shape: it comes from unsupported node %s", in, from), from)
			return
		}
	}
}

// stand puts a layer in the place of a node that is not imported, where the model is looked at.
func (im *importer) stand(n *node, name, reason, behind string) {
	if im.look == nil {
		return
	}
	u := graph.Unsupported{Domain: n.domain, Op: n.opType, Reason: cut(reason), Behind: behind, Summary: summary(n)}
	outputs := trimEmpty(n.outputs)
	names := im.tensorNames(name, outputs)
	for _, out := range names {
		u.Outputs = append(u.Outputs, im.declaration(out))
	}
	kind := operatorKind{u.Operator(), behind != ""}
	op := im.look.ops[kind]
	if op == nil {
		op = graph.UnsupportedOp(u)
		im.look.ops[kind] = op
	}
	inputs := im.readable(n)
	l, err := im.net.Add(name, op, u, inputs, names...)
	if err != nil { // what the model says of the outputs cannot be
		u.Outputs = nil
		l, err = im.net.Add(name, op, u, inputs, names...)
	}
	if err != nil {
		im.refuse(n.problem(err.Error()))
		return
	}
	for i, out := range outputs {
		if out != "" {
			im.values[out] = l.Outputs[i]
			im.look.behind[out] = cmp.Or(behind, l.Name)
		}
	}
}

// readable returns the node's inputs, nil in the place of those that cannot be made.
func (im *importer) readable(n *node) []*graph.Tensor {
	var list []*graph.Tensor
	for _, in := range n.inputs {
		t, ok := im.values[in]
		if init := im.initializers[in]; !ok && init != nil && in != "" {
			if v, err := init.value(im.external); err == nil {
				t = im.net.AddConst(in, v)
				im.values[in] = t
			}
		}
		list = append(list, t)
	}
	for len(list) > 0 && list[len(list)-1] == nil {
		list = list[:len(list)-1]
	}
	return list
}

// declaration returns what the model says of a value's type and shape; zero where that is not both.
func (im *importer) declaration(name string) graph.Declared {
	v := im.look.declared[name]
	if v == nil || !v.hasShape {
		return graph.Declared{}
	}
	typ, err := v.dataType()
	if err != nil {
		return graph.Declared{}
	}
	d := graph.Declared{Type: typ, Dims: make([]symbolic.Dim, len(v.dims))}
	for i, x := range v.dims {
		if x.known && x.value > maxElements {
			return graph.Declared{}
		}
		d.Dims[i] = im.extent(name, i, x)
	}
	return d
}

// summary writes a node's attributes in a line that is not long.
func summary(n *node) string {
	const most = 160 // bytes
	var b strings.Builder
	for _, a := range n.attrs {
		if b.Len() > most {
			b.WriteString(" ...")
			break
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s=%s", short(a.name), a.summary())
	}
	return b.String()
}

// summary writes an attribute's value if it is short, or what it is.
func (a *attribute) summary() string {
	const most = 8 // elements
	switch a.kind {
	case kindFloat:
		return fmt.Sprintf("%.6g", a.float)
	case kindInt:
		return fmt.Sprint(a.int)
	case kindString:
		return fmt.Sprintf("%q", short(a.str))
	case kindTensor:
		return "tensor"
	case kindInts:
		if len(a.ints) <= most {
			return fmt.Sprint(a.ints)
		}
		return fmt.Sprintf("%d ints", len(a.ints))
	case kindFloats:
		return fmt.Sprintf("%d floats", len(a.floats)/4)
	case kindStrings:
		return fmt.Sprintf("%d strings", len(a.strings))
	case kindGraph:
		return "graph"
	}
	return "?"
}

// short cuts a text that is part of a line.
func short(s string) string {
	const most = 40
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
