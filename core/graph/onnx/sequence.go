package onnx

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// Sequences of tensors exist while a model is imported, and not in networks: which tensor is at which place of a sequence must
// be known, unless they are the rows of one; see rows.go.

// maxSequence bounds the tensors of a sequence.
const maxSequence = 1 << 12

// list returns the tensors of a sequence; nil for what is none.
func (im *importer) list(name string) []*graph.Tensor {
	if list, ok := im.sequences[name]; ok {
		return list
	}
	if _, own := im.values[name]; own || im.scope.outer == nil || im.initializers[name] != nil {
		return nil
	}
	list := im.scope.outer.list(name)
	if list == nil || im.scope.inlined {
		return list
	}
	seen := make([]*graph.Tensor, len(list))
	for i, t := range list {
		seen[i] = im.capture(t)
	}
	im.sequences[name] = seen
	return seen
}

// noSequences returns an error for a node that reads a sequence, which it cannot.
func (im *importer) noSequences(n *node) error {
	if n.hasGraphs() { // what they do with it is found out with them
		return nil
	}
	for _, in := range n.inputs {
		switch {
		case in == "":
		case im.isSequence(in):
			return fmt.Errorf("its input %q is a sequence, which is not supported", in)
		case im.isNone(in):
			return fmt.Errorf("its input %q is an optional without an element", in)
		}
	}
	return nil
}

// sequenceOps are the operators that read or make sequences, by name.
var sequenceOps = map[string]func(*importer, *sequenceNode) error{
	"ConcatFromSequence": (*importer).concatFromSequence,
	"Optional":           (*importer).optional,
	"OptionalGetElement": (*importer).optionalGetElement,
	"OptionalHasElement": (*importer).optionalHasElement,
	"SequenceAt":         (*importer).sequenceAt,
	"SequenceConstruct":  (*importer).sequenceConstruct,
	"SequenceEmpty":      (*importer).sequenceEmpty,
	"SequenceErase":      (*importer).sequenceErase,
	"SequenceInsert":     (*importer).sequenceInsert,
	"SequenceLength":     (*importer).sequenceLength,
	"SplitToSequence":    (*importer).splitToSequence,
}

// sequenceNode is a node that reads or makes a sequence.
type sequenceNode struct {
	*graph.Node
	node *node
	list []*graph.Tensor // that input 0 is; nil if it is none
	rows *graph.Tensor   // whose rows are the tensors of input 0; nil if it is no such sequence
}

// sequence imports a node that reads or makes a sequence; done is false for another one.
func (im *importer) sequence(n *node, name string) (done bool) {
	run := sequenceOps[n.opType]
	if n.domain != "" {
		return false
	}
	if run == nil {
		if n.opType != "Identity" || len(n.inputs) != 1 || len(n.outputs) != 1 || !im.isSequence(n.inputs[0]) && !im.isNone(n.inputs[0]) {
			return false
		}
		run = (*importer).same
	}
	s := &sequenceNode{node: n}
	tensors := *n
	if len(n.inputs) > 0 && n.inputs[0] != "" {
		if s.list, s.rows = im.list(n.inputs[0]), im.rowsOf(n.inputs[0]); s.list != nil || s.rows != nil || im.isNone(n.inputs[0]) {
			tensors.inputs = slices.Clone(n.inputs)
			tensors.inputs[0] = ""
		}
	}
	for _, in := range tensors.inputs {
		if in != "" && im.isSequence(in) {
			im.fail(n, name, fmt.Errorf("its input %q is a sequence, which is not supported", in))
			return true
		}
	}
	inputs, ok := im.inputs(&tensors)
	if !ok {
		im.follow(n, name)
		return true
	}
	var err error
	if s.Node, err = im.graphNode(n, name, inputs); err == nil {
		if len(n.outputs) != 1 || n.outputs[0] == "" {
			err = fmt.Errorf("%d outputs, want 1", len(n.outputs))
		} else {
			err = run(im, s)
		}
	}
	switch {
	case err != nil:
	case len(s.Errs()) > 0:
		err = s.Errs()[0]
	case len(s.Unasked()) > 0:
		err = s.Unasked()[0]
	}
	if err != nil {
		for _, out := range n.outputs {
			delete(im.sequences, out)
		}
		im.fail(n, name, err)
	}
	return true
}

// give makes a list the node's output.
func (im *importer) give(s *sequenceNode, list []*graph.Tensor) error {
	if len(list) > maxSequence {
		return fmt.Errorf("a sequence of %d tensors, more than %d", len(list), maxSequence)
	}
	if list == nil {
		list = []*graph.Tensor{}
	}
	im.sequences[s.node.outputs[0]] = list
	return nil
}

// needsList returns an error where input 0 is no sequence.
func (s *sequenceNode) needsList() error {
	switch {
	case s.rows != nil:
		return fmt.Errorf("how many tensors its input 0 has must be known")
	case s.list == nil:
		return fmt.Errorf("its input 0 is no sequence that is known")
	}
	return nil
}

// position returns the place that input i says, which may count from the end; def where it is left out.
func (s *sequenceNode) position(i, def, n int) (int, error) {
	t := s.Input(i)
	if t == nil {
		return def, nil
	}
	list, ok := t.Ints()
	if !ok || len(list) != 1 {
		return 0, fmt.Errorf("its place in the sequence (input %d, %s) must be known", i, t.Name)
	}
	at := list[0]
	if at < 0 {
		at += n
	}
	if at < 0 || at > n {
		return 0, fmt.Errorf("place %d of a sequence of %d", list[0], n)
	}
	return at, nil
}

func (im *importer) sequenceEmpty(s *sequenceNode) error {
	s.Int("dtype", 1)
	return im.give(s, nil)
}

func (im *importer) sequenceConstruct(s *sequenceNode) error {
	if s.list != nil || slices.Contains(s.Inputs, nil) {
		return fmt.Errorf("an input is no tensor")
	}
	return im.give(s, s.Inputs)
}

func (im *importer) sequenceInsert(s *sequenceNode) error {
	if err := s.needsList(); err != nil {
		return err
	}
	t := s.Input(1)
	if t == nil {
		return fmt.Errorf("input 1 is missing")
	}
	at, err := s.position(2, len(s.list), len(s.list))
	if err != nil {
		return err
	}
	return im.give(s, slices.Insert(slices.Clone(s.list), at, t))
}

func (im *importer) sequenceErase(s *sequenceNode) error {
	if err := s.needsList(); err != nil {
		return err
	}
	at, err := s.position(1, len(s.list)-1, len(s.list))
	if err == nil && (at < 0 || at >= len(s.list)) {
		err = fmt.Errorf("place %d of a sequence of %d", at, len(s.list))
	}
	if err != nil {
		return err
	}
	return im.give(s, slices.Delete(slices.Clone(s.list), at, at+1))
}

func (im *importer) sequenceAt(s *sequenceNode) error {
	if s.rows != nil {
		return im.rowAt(s)
	}
	if err := s.needsList(); err != nil {
		return err
	}
	at, err := s.position(1, -1, len(s.list))
	if err == nil && (at < 0 || at >= len(s.list)) {
		err = fmt.Errorf("place %d of a sequence of %d", at, len(s.list))
	}
	if err != nil {
		return err
	}
	return im.layered(s, func(d *graph.Definition) []*graph.Tensor { return []*graph.Tensor{d.Identity(s.list[at])} })
}

func (im *importer) sequenceLength(s *sequenceNode) error {
	if s.rows != nil {
		return im.rowCount(s)
	}
	if err := s.needsList(); err != nil {
		return err
	}
	im.values[s.node.outputs[0]] = im.net.AddConst(im.scope.prefix+s.node.outputs[0], numeric.Values(numeric.I64, []int64{int64(len(s.list))}))
	return nil
}

func (im *importer) concatFromSequence(s *sequenceNode) error {
	axis, fresh := s.Int("axis", 0), s.Flag("new_axis", false)
	if !s.Has("axis") {
		return fmt.Errorf("attribute axis is missing")
	}
	if s.rows != nil {
		return im.joinRows(s, axis, fresh)
	}
	if err := s.needsList(); err != nil {
		return err
	}
	if len(s.list) == 0 {
		return fmt.Errorf("the sequence is empty")
	}
	return im.layered(s, func(d *graph.Definition) []*graph.Tensor {
		list := s.list
		if fresh {
			list = nil
			for _, t := range s.list {
				list = append(list, d.Unsqueeze(t, axis))
			}
		}
		return []*graph.Tensor{d.Concat(axis, list...)}
	})
}

func (im *importer) splitToSequence(s *sequenceNode) error {
	x := s.Input(0)
	if x == nil {
		return fmt.Errorf("input 0 is missing")
	}
	axis, keep := s.Int("axis", 0), s.Flag("keepdims", true)
	if axis < -len(x.Dims) || axis >= len(x.Dims) {
		return fmt.Errorf("axis %d is not one of %d", axis, len(x.Dims))
	}
	axis = (axis + len(x.Dims)) % len(x.Dims)
	squeeze := !keep && s.inOnes()
	extent, ok := x.Dims[axis].IsConst()
	if !ok {
		return im.splitRows(s, x, axis, squeeze)
	}
	sizes, err := s.sizes(extent)
	if err != nil {
		return err
	}
	var list []*graph.Tensor
	name := s.node.outputs[0]
	if err := im.layeredAs(s, func(d *graph.Definition) []*graph.Tensor {
		list = slices.Clone(d.Split(x, axis, sizes...))
		for i, t := range list {
			if squeeze {
				list[i] = d.Squeeze(t, axis)
			}
		}
		return list
	}, nil); err != nil {
		return err
	}
	delete(im.values, name)
	im.values[name] = nil
	return im.give(s, list)
}

// inOnes reports whether SplitToSequence makes parts of 1, each by itself. Where it says so by a number ONNX has them keep their axis, and
// neither PyTorch's exporter, which writes an unbind so, nor ONNX Runtime does.
func (s *sequenceNode) inOnes() bool {
	t := s.Input(1)
	if t == nil {
		return true
	}
	list, ok := t.Ints()
	return ok && len(t.Dims) == 0 && list[0] == 1
}

// sizes returns the extents of the parts that SplitToSequence makes of one.
func (s *sequenceNode) sizes(extent int) ([]int, error) {
	t := s.Input(1)
	each := 1
	if t != nil {
		list, ok := t.Ints()
		if !ok {
			return nil, fmt.Errorf("split (input 1, %s) must be known", t.Name)
		}
		if len(t.Dims) > 0 {
			return list, nil
		}
		each = list[0]
	}
	if each < 1 || extent/each >= maxSequence {
		return nil, fmt.Errorf("parts of %d of an axis of %d", each, extent)
	}
	var sizes []int
	for at := 0; at < extent; at += each {
		sizes = append(sizes, min(each, extent-at))
	}
	if len(sizes) == 0 {
		return nil, fmt.Errorf("an axis without elements is not supported")
	}
	return sizes, nil
}

// layered adds layers whose one result is the node's output.
func (im *importer) layered(s *sequenceNode, make func(*graph.Definition) []*graph.Tensor) error {
	return im.layeredAs(s, make, s.node.outputs)
}

// layeredAs adds layers whose results are the given values of the graph.
func (im *importer) layeredAs(s *sequenceNode, make func(*graph.Definition) []*graph.Tensor, values []string) error {
	c := &graph.Composite{Import: func(d *graph.Definition, _ *graph.Node) ([]*graph.Tensor, error) { return make(d), nil }}
	list, errs := c.Add(im.net, im.Ops, s.Node, im.prefixed(values), im.isReserved)
	if len(errs) > 0 {
		return errs[0]
	}
	for i, name := range values {
		im.values[name] = list[i]
	}
	return nil
}

// stack adds the layers that put tensors of one shape along a new axis 0.
func (im *importer) stack(name string, list []*graph.Tensor, sub *importer) *graph.Tensor {
	if len(list) == 0 {
		sub.report(&Problem{Reason: "an output has an element for each iteration, and there is none"})
		return nil
	}
	c := &graph.Composite{Import: func(d *graph.Definition, _ *graph.Node) ([]*graph.Tensor, error) {
		var parts []*graph.Tensor
		for _, t := range list {
			parts = append(parts, d.Unsqueeze(t, 0))
		}
		return []*graph.Tensor{d.Concat(0, parts...)}, nil
	}}
	results, errs := c.Add(im.net, im.Ops, &graph.Node{Name: name, OpType: "Loop", Outputs: 1}, []string{name + "/gathered"}, im.isReserved)
	if len(errs) > 0 {
		sub.report(&Problem{Reason: errs[0].Error()})
		return nil
	}
	return results[0]
}
