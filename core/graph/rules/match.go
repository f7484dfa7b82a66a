package rules

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// maxSteps bounds the search for one pattern behind one layer.
const maxSteps = 20000

// match is the search for a rule's pattern that ends in one layer.
type match struct {
	rule    *Rule
	layers  []*graph.Layer          // by node
	inputs  []*graph.Tensor         // by input; nil: not found yet
	terms   map[*Term]*graph.Tensor // constants, by what the pattern says of them
	vars    map[string]any          // variables: attributes, and constants of one element as float64
	extents map[string]symbolic.Dim
	steps   int
	whole   func() bool // is called with everything found; true ends the search
}

// find calls whole for every way in which the rule's pattern ends in l, until it returns true.
func (r *Rule) find(l *graph.Layer, whole func(m *match) bool) {
	p := r.pattern
	m := &match{rule: r, layers: make([]*graph.Layer, len(p.nodes)), inputs: make([]*graph.Tensor, len(p.inputs)), terms: map[*Term]*graph.Tensor{}}
	m.whole = func() bool {
		if m.closed() {
			return false
		}
		return whole(m)
	}
	if first := p.roots[0]; len(l.Outputs) >= len(first.names) {
		m.layer(first.node, l, func() bool { return m.others(p.roots[1:], m.whole) })
	}
}

// closed reports whether an input of the pattern is made by a layer of it, which would be gone.
func (m *match) closed() bool {
	return slices.ContainsFunc(m.inputs, func(t *graph.Tensor) bool { return t.Producer != nil && slices.Contains(m.layers, t.Producer) })
}

// layer matches a node with a layer, and goes on.
func (m *match) layer(n *node, l *graph.Layer, then func() bool) bool {
	if m.steps++; m.steps > maxSteps || !n.fits(l) {
		return false
	}
	if old := m.layers[n.index]; old != nil {
		return old == l && then()
	}
	if slices.Contains(m.layers, l) { // a layer is one node
		return false
	}
	m.layers[n.index] = l
	defer func() { m.layers[n.index] = nil }()
	args := inputsOf(l)
	if n.term.Kind == LayerTerm {
		return m.args(n.args, args, then)
	}
	if m.args(n.args[:len(args)], args, then) {
		return true
	}
	return len(args) == 2 && commutes(n.term.elt) && args[0] != args[1] && m.args(n.args[:2], []*graph.Tensor{args[1], args[0]}, then)
}

// fits reports whether a layer is of the node's op or operation, and has as many inputs.
func (n *node) fits(l *graph.Layer) bool {
	if l.Epilogue.Args > 0 {
		return false
	}
	if n.term.Kind == LayerTerm {
		return l.Op == n.term.op && len(l.Bodies()) == 0 && len(inputsOf(l)) == len(n.args)
	}
	e, ok := l.Attrs.(graph.Elementwise)
	return ok && len(e.Program.Code) == 1 && e.Program.Code[0].Op == n.term.elt
}

// inputsOf returns a layer's inputs without those left out behind, and of an operation in the order of its arguments.
func inputsOf(l *graph.Layer) []*graph.Tensor {
	if e, ok := l.Attrs.(graph.Elementwise); ok {
		in := e.Program.Code[0]
		var list []*graph.Tensor
		for _, v := range in.Arg[:in.Op.Info().Arity] {
			list = append(list, l.Inputs[v])
		}
		return list
	}
	list := l.Inputs
	for len(list) > 0 && list[len(list)-1] == nil {
		list = list[:len(list)-1]
	}
	return list
}

// commutes reports whether the order of an operation's two arguments does not matter.
func commutes(op elementwise.Op) bool {
	switch op {
	case elementwise.Add, elementwise.Mul, elementwise.Max, elementwise.Min, elementwise.Equal, elementwise.And, elementwise.Or, elementwise.Xor:
		return true
	}
	return false
}

// args matches arguments one after the other, and goes on.
func (m *match) args(want []source, have []*graph.Tensor, then func() bool) bool {
	if len(want) == 0 {
		return then()
	}
	return m.tensor(want[0], have[0], func() bool { return m.args(want[1:], have[1:], then) })
}

// tensor matches one argument, and goes on.
func (m *match) tensor(s source, t *graph.Tensor, then func() bool) bool {
	switch {
	case t == nil:
		return s.node == nil && s.term.Kind == OmittedTerm && then()
	case s.node != nil:
		l := t.Producer
		return l != nil && s.output < len(l.Outputs) && l.Outputs[s.output] == t && m.layer(s.node, l, then)
	case s.input >= 0:
		if old := m.inputs[s.input]; old != nil {
			return old == t && then()
		}
		m.inputs[s.input] = t
		defer func() { m.inputs[s.input] = nil }()
		return then()
	case s.term.Kind == OmittedTerm || !t.IsConst():
		return false
	}
	m.terms[s.term] = t
	return then()
}

// tensorNamed returns the tensor that a name of the pattern stands for.
func (m *match) tensorNamed(name string) *graph.Tensor {
	s := m.rule.pattern.named[name]
	if s.node != nil {
		return m.layers[s.node.index].Outputs[s.output]
	}
	return m.inputs[s.input]
}

// miss is why a rule does not apply.
type miss struct {
	reason pass.Reason
	detail string
}
