package onnx

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// Optionals exist while a model is imported, as sequences do: one with an element is that element, a tensor or a sequence, and of
// one without it is known that it has none. An input of a model that is an optional is its element, unless [Importer.Without] names it.

// isWithout reports whether an input has no element.
func (im *importer) isWithout(v *valueInfo) bool {
	return v.optional && slices.Contains(im.Without, v.name)
}

// checkWithout refuses what is named as an optional among the inputs and is none.
func (im *importer) checkWithout(g *graphProto) {
	for _, name := range im.Without {
		if !slices.ContainsFunc(g.inputs, func(v *valueInfo) bool { return v.name == name && v.optional }) {
			im.refuse(&Problem{Reason: fmt.Sprintf("%q is to have no element, and is no input that is an optional", name), Length: true})
		}
	}
}

// isNone reports whether a value is an optional without an element.
func (im *importer) isNone(name string) bool {
	for ; im != nil; im = im.scope.outer {
		if im.none[name] {
			return true
		}
		if _, own := im.values[name]; own || im.sequences[name] != nil || im.rows[name] != nil || im.initializers[name] != nil {
			return false
		}
	}
	return false
}

// optional makes an optional of what it is given, or of nothing.
func (im *importer) optional(s *sequenceNode) error {
	delete(s.Attrs, "type") // which follows from what it is given
	return im.same(s)
}

// optionalGetElement is the element.
func (im *importer) optionalGetElement(s *sequenceNode) error {
	if s.list == nil && s.rows == nil && s.Input(0) == nil {
		return fmt.Errorf("its input has no element")
	}
	return im.same(s)
}

// optionalHasElement is whether there is one.
func (im *importer) optionalHasElement(s *sequenceNode) error {
	has := uint8(1)
	if s.list == nil && s.rows == nil && s.Input(0) == nil {
		has = 0
	}
	out := s.node.outputs[0]
	im.values[out] = im.net.AddConst(im.scope.prefix+out, numeric.Values(numeric.Bool, []uint8{has}))
	return nil
}

// same makes the node's output what its input is: a sequence, a tensor, or nothing.
func (im *importer) same(s *sequenceNode) error {
	switch x := s.Input(0); {
	case s.list != nil:
		return im.give(s, s.list)
	case s.rows != nil:
		im.rows[s.node.outputs[0]] = s.rows
		return nil
	case x != nil:
		return im.layered(s, func(d *graph.Definition) []*graph.Tensor { return []*graph.Tensor{d.Identity(x)} })
	}
	im.none[s.node.outputs[0]] = true
	return nil
}

// isSequenceMap reports whether the node is of the operator that has no op: the nodes of its graph take its place.
func (n *node) isSequenceMap() bool { return n.domain == "" && n.opType == "SequenceMap" }

// sequenceMap imports the body of a SequenceMap for each element of its first sequence. Other inputs are sequences as long, or
// tensors that all elements are given.
func (im *importer) sequenceMap(n *node, name string) []error {
	graphs, err := n.graphs("body")
	if err != nil {
		return []error{err}
	}
	g := graphs[0]
	if len(n.inputs) == 0 || im.list(n.inputs[0]) == nil {
		return []error{fmt.Errorf("its input 0 is no sequence that is known")}
	}
	if len(g.inputs) != len(n.inputs) {
		return []error{fmt.Errorf("the body has %d inputs, the node %d", len(g.inputs), len(n.inputs))}
	}
	length := len(im.list(n.inputs[0]))
	for i, in := range n.inputs {
		if list := im.list(in); list != nil && len(list) != length {
			return []error{fmt.Errorf("input %d has %d elements, input 0 has %d", i, len(list), length)}
		}
	}
	before := len(im.net.Layers)
	results := make([]value, len(g.outputs))
	for k := range results {
		results[k].list = []*graph.Tensor{}
	}
	sub := im.within(g, name+"/body", true)
	for i := 0; i < length && len(sub.problems) == 0; i++ {
		sub = im.within(g, fmt.Sprintf("%s/body/%d", name, i), true)
		for k, in := range n.inputs {
			if list := im.list(in); list != nil {
				sub.values[g.inputs[k].name] = list[i]
			} else if t, _ := im.value(in); t != nil && t.IsKnown() {
				sub.values[g.inputs[k].name] = t
			} else {
				return []error{fmt.Errorf("its input %d (%q) is not known", k, in)}
			}
		}
		sub.body(g)
		if len(sub.problems) > 0 {
			break
		}
		for k, v := range sub.outputs(g.outputs) {
			if v.tensor == nil {
				sub.report(&Problem{Reason: fmt.Sprintf("output %q is no tensor", g.outputs[k].name)})
				break
			}
			results[k].list = append(results[k].list, v.tensor)
		}
	}
	return im.bring(n, name, before, "body", sub, results)
}
