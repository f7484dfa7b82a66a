package graph

import (
	"fmt"
	"slices"
	"strconv"
)

// Composite is an ONNX operator that is imported as the layers that it is made of by its definition. It is data, as an [Op] is.
type Composite struct {
	Onnx string // as those of [Op.Onnx]

	// Import adds the layers for a node to d, without names, and returns the node's outputs, at least those that it has. It
	// need not look for errors of d.
	Import func(d *Definition, n *Node) ([]*Tensor, error)
}

// importing is what a Definition needs to add the layers of one node to a network that is being imported.
type importing struct {
	prefix string            // of the names of layers and constants
	taken  func(string) bool // names that are for others
}

// Add adds the layers for a node to a network that is being imported. outputs are the names of the node's outputs, "" for those
// that are left out; layers have names that begin with the node's, and no tensor a name that is taken. Where it fails, the
// network is as before.
func (c *Composite) Add(net *Network, ops OpSet, n *Node, outputs []string, taken func(string) bool) (list []*Tensor, errs []error) {
	d := &Definition{definition: &definition{net: net, ops: ops, broken: map[*Tensor]bool{}, importing: &importing{n.Name, taken}}}
	before := len(net.Layers)
	defer func() {
		switch v := recover(); {
		case v == nil:
		case len(d.errs) > 0: // what failed has no shape to go on with
			errs = d.errs
		default:
			errs = []error{fmt.Errorf("internal error, please report it: %v", v)}
		}
		if len(errs) > 0 {
			list = nil
		}
		for len(errs) > 0 && len(net.Layers) > before {
			net.Remove(net.Layers[len(net.Layers)-1])
		}
	}()
	results, err := c.Import(d, n)
	switch {
	case len(n.Errs()) > 0:
		return nil, n.Errs()
	case err != nil:
		return nil, []error{err}
	case len(n.Unasked()) > 0:
		return nil, n.Unasked()
	case len(d.errs) > 0:
		return nil, d.errs
	}
	list = make([]*Tensor, len(outputs))
	for i, name := range outputs {
		if name == "" {
			continue
		}
		if i >= len(results) || results[i] == nil {
			return nil, []error{fmt.Errorf("output %d (%q) is not supported", i, name)}
		}
		t := results[i]
		if t.Producer == nil || !slices.Contains(net.Layers[before:], t.Producer) || slices.Contains(list, t) {
			t = d.Identity(t)
		}
		net.rename(t, name)
		list[i] = t
	}
	return list, nil
}

// fresh returns a name for a layer or a constant that has none.
func (d *Definition) fresh(name string) string {
	in := d.importing
	if in == nil {
		return unique(d.net.layers, name)
	}
	name = in.prefix + "/" + name
	free := func(s string) bool { return d.net.layers[s] == nil && d.net.tensors[s] == nil && !in.taken(s) }
	for i, s := 2, name; ; i++ {
		if free(s) {
			return s
		}
		s = name + "_" + strconv.Itoa(i)
	}
}

// needs returns an error for the first of the given inputs that is left out.
func (n *Node) needs(inputs ...int) error {
	for _, i := range inputs {
		if n.Input(i) == nil {
			return fmt.Errorf("input %d is missing", i)
		}
	}
	return nil
}

// axes are the numbers of axes that an input may have.
type axes struct {
	input int
	ranks []int
}

// ranked returns an error for the first input that is there and has another number of axes than it may have.
func (n *Node) ranked(list ...axes) error {
	for _, a := range list {
		if t := n.Input(a.input); t != nil && !slices.Contains(a.ranks, len(t.Dims)) {
			return fmt.Errorf("input %d is %s, want one of %v axes", a.input, t.TypeString(), a.ranks)
		}
	}
	return nil
}

// lacks returns an error for the first of the given inputs that is not left out.
func (n *Node) lacks(what string, inputs ...int) error {
	for _, i := range inputs {
		if n.Input(i) != nil {
			return fmt.Errorf("input %d (%s) is not supported", i, what)
		}
	}
	return nil
}

// extent returns a known extent of an input.
func (n *Node) extent(input, axis int) (int, error) {
	t := n.Input(input)
	if t == nil {
		return 0, fmt.Errorf("input %d is missing", input)
	}
	axis, err := axisIn(axis, len(t.Dims))
	if err != nil {
		return 0, fmt.Errorf("input %d: %w", input, err)
	}
	if e, ok := t.Dims[axis].IsConst(); ok {
		return e, nil
	}
	return 0, fmt.Errorf("input %d is %s, whose extent on axis %d must be known", input, t.TypeString(), axis)
}
