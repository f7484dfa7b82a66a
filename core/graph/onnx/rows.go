package onnx

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// How many tensors a sequence has may not be known while a model is imported. Where all of them have one shape it is a tensor all the
// same, whose rows, along axis 0, they are: what a loop appends to iteration by iteration, or the parts of an axis that is open.

// rowsOf returns the tensor whose rows are those of a sequence; nil for what is no such sequence.
func (im *importer) rowsOf(name string) *graph.Tensor {
	if t := im.rows[name]; t != nil {
		return t
	}
	_, own := im.values[name]
	if _, list := im.sequences[name]; own || list || im.scope.outer == nil || im.initializers[name] != nil {
		return nil
	}
	t := im.scope.outer.rowsOf(name)
	if t == nil || im.scope.inlined {
		return t
	}
	t = im.capture(t)
	im.rows[name] = t
	return t
}

// isSequence reports whether a value is a sequence, of a known length or not.
func (im *importer) isSequence(name string) bool {
	return im.list(name) != nil || im.rowsOf(name) != nil
}

// rowAt is the tensor at a place of a sequence, whichever that is.
func (im *importer) rowAt(s *sequenceNode) error {
	at := s.Input(1)
	if at == nil {
		return fmt.Errorf("input 1 is missing")
	}
	if slices.ContainsFunc(at.Dims, func(d symbolic.Dim) bool { return !d.Is(1) }) {
		return fmt.Errorf("its place in the sequence (input 1, %s) is to be one number", at.TypeString())
	}
	return im.layered(s, func(d *graph.Definition) []*graph.Tensor {
		if len(at.Dims) > 0 {
			at = d.Squeeze(at)
		}
		return []*graph.Tensor{d.Gather(s.rows, at, 0)}
	})
}

// rowCount is how many tensors a sequence has.
func (im *importer) rowCount(s *sequenceNode) error {
	return im.layered(s, func(d *graph.Definition) []*graph.Tensor {
		return []*graph.Tensor{d.Squeeze(extentsOf(d, s.rows, 0, 1), 0)}
	})
}

// joinRows joins the tensors of a sequence along one of their axes, or along a new one.
func (im *importer) joinRows(s *sequenceNode, axis int, fresh bool) error {
	rank := len(s.rows.Dims)
	if !fresh {
		rank--
	}
	if axis < -rank || axis >= rank {
		return fmt.Errorf("axis %d is not one of %d", axis, rank)
	}
	axis = (axis + rank) % rank
	return im.layered(s, func(d *graph.Definition) []*graph.Tensor {
		if !fresh {
			return []*graph.Tensor{merged(d, s.rows, axis)}
		}
		perm := make([]int, rank)
		for i := range perm {
			perm[i] = i
		}
		copy(perm, perm[1:axis+1])
		perm[axis] = 0
		return []*graph.Tensor{d.Transpose(s.rows, perm...)}
	})
}

// splitRows makes a sequence of the parts of an axis that is open, each of one element of it.
func (im *importer) splitRows(s *sequenceNode, x *graph.Tensor, axis int, squeeze bool) error {
	if !s.inOnes() {
		return fmt.Errorf("input 0 is %s: unless parts are of 1, its extent on axis %d must be known", x.TypeString(), axis)
	}
	name := s.node.outputs[0]
	if err := im.layered(s, func(d *graph.Definition) []*graph.Tensor {
		perm := make([]int, len(x.Dims))
		for i := range perm {
			perm[i] = i
		}
		copy(perm[1:], perm[:axis])
		perm[0] = axis
		t := d.Transpose(x, perm...)
		if !squeeze {
			t = d.Unsqueeze(t, axis+1)
		}
		return []*graph.Tensor{t}
	}); err != nil {
		return err
	}
	im.rows[name], im.values[name] = im.values[name], nil
	return nil
}

// appending is a loop that appends to sequences what it computes: to import it, a loop that gathers.
type appending struct {
	node   node
	body   graphProto
	inputs []*graph.Tensor
	grown  []string // the sequences, by the outputs that gather their tensors, which are the last
}

// appends returns the loop that gathers what another one appends to the sequences that it carries, empty at first; ok is false where
// it does something else with one. g is its body.
func (im *importer) appends(n *node, inputs []*graph.Tensor, g *graphProto) (a appending, ok bool) {
	carried := len(n.inputs) - 2
	if len(g.inputs) != 2+carried || len(g.outputs) < 1+carried || len(n.outputs) > len(g.outputs)-1 {
		return a, false
	}
	a.node, a.body = *n, *g
	a.node.inputs, a.node.outputs, a.inputs = slices.Clone(n.inputs), slices.Clone(n.outputs), slices.Clone(inputs)
	a.body.inputs, a.body.outputs, a.body.nodes = slices.Clone(g.inputs), slices.Clone(g.outputs), slices.Clone(g.nodes)
	for len(a.node.outputs) < len(g.outputs)-1 {
		a.node.outputs = append(a.node.outputs, "")
	}
	for len(a.inputs) < len(n.inputs) {
		a.inputs = append(a.inputs, nil)
	}
	for k := carried - 1; k >= 0; k-- {
		name := n.inputs[2+k]
		list := im.list(name)
		if list == nil && a.inputs[2+k] != nil {
			continue
		}
		part, found := a.body.appended(k)
		if list == nil || len(list) > 0 || !found {
			return a, false
		}
		a.body.inputs, a.body.outputs = slices.Delete(a.body.inputs, 2+k, 3+k), append(slices.Delete(a.body.outputs, 1+k, 2+k), &valueInfo{name: part, kind: noType})
		a.inputs, a.node.inputs = slices.Delete(a.inputs, 2+k, 3+k), slices.Delete(a.node.inputs, 2+k, 3+k)
		a.grown = append(a.grown, a.node.outputs[k])
		a.node.outputs = append(slices.Delete(a.node.outputs, k, k+1), im.unused(fmt.Sprintf("%s/appended%d", n.label(), k)))
	}
	return a, len(a.grown) > 0
}

// appended returns what a body does nothing with its carried value k but append to it, and takes the nodes that do from it.
func (g *graphProto) appended(k int) (part string, ok bool) {
	reads := map[string]int{}
	by := map[string]*node{}
	for _, n := range g.nodes {
		for _, in := range n.reads() {
			reads[in]++
		}
		for _, out := range n.outputs {
			by[out] = n
		}
	}
	for _, v := range g.outputs {
		reads[v.name]++
	}
	var chain []*node
	for name := g.outputs[1+k].name; ; {
		n := by[name]
		switch {
		case reads[name] != 1:
			return "", false
		case name == g.inputs[2+k].name:
			if part == "" {
				return "", false
			}
			g.nodes = slices.DeleteFunc(g.nodes, func(n *node) bool { return slices.Contains(chain, n) })
			return part, true
		case n == nil || n.domain != "" || len(n.inputs) == 0:
			return "", false
		case n.opType == "SequenceInsert" && part == "" && (len(n.inputs) == 2 || len(n.inputs) == 3 && n.inputs[2] == ""):
			part = n.inputs[1]
		case n.opType != "Identity":
			return "", false
		}
		chain, name = append(chain, n), n.inputs[0]
	}
}

// appendingLoop imports a loop that appends to sequences, of which how many iterations it has is not known.
func (im *importer) appendingLoop(a appending, name string) []error {
	if errs := im.loopOf(&a.node, name, a.inputs, &a.body); len(errs) > 0 {
		return errs
	}
	gathered := a.node.outputs[len(a.node.outputs)-len(a.grown):]
	for i, out := range a.grown {
		t := im.values[gathered[i]]
		delete(im.values, gathered[i])
		if out != "" {
			im.rows[out] = t
		}
	}
	return nil
}
