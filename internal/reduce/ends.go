package reduce

import (
	"context"
	"errors"
	"slices"
	"sort"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
)

// halves leaves out what is behind a node, and what is before one, as much as bisection finds.
func (s *Search) halves() {
	whole := s.best
	for lo, hi := 0, len(whole.Nodes); hi-lo > 1; {
		if at := (lo + hi) / 2; s.try(whole.until(at)) {
			hi = at
		} else {
			lo = at
		}
	}
	whole = s.best
	values := s.results()
	for lo, hi := 0, len(whole.Nodes); hi-lo > 1; {
		at := (lo + hi) / 2
		if m := whole.from(at, values); m != nil && s.try(m) {
			lo = at
		} else {
			hi = at
		}
	}
}

// until returns the first nodes, so many, with all as outputs that they give to others.
func (m *Model) until(n int) *Model {
	c := m.Clone()
	made := map[string]bool{}
	for _, node := range c.Nodes[:n] {
		for _, name := range node.Out {
			made[name] = name != ""
		}
	}
	given := slices.Clone(m.Outputs)
	for _, node := range c.Nodes[n:] {
		given = append(given, node.Reads()...)
	}
	c.Nodes, c.Outputs = c.Nodes[:n], nil
	for _, name := range given {
		if made[name] && !slices.Contains(c.Outputs, name) {
			c.Outputs = append(c.Outputs, name)
		}
	}
	return c
}

// from returns the nodes from one on; what they read of those before has its values. It is nil where such a value is not known.
func (m *Model) from(n int, values map[string]numeric.Value) *Model {
	c := m.Clone()
	before := c.Nodes[:n]
	c.Nodes = c.Nodes[n:]
	read := map[string]bool{}
	for _, node := range c.Nodes {
		for _, name := range node.Reads() {
			read[name] = true
		}
	}
	for _, node := range before {
		for _, name := range node.Out {
			c.Outputs = slices.DeleteFunc(c.Outputs, func(o string) bool { return o == name })
			if name != "" && read[name] && !c.feed(name, values) {
				return nil
			}
		}
	}
	return c
}

// maxShape bounds the elements of what may be a shape or axes, which have to be known to a network that takes them.
const maxShape = 64

// feed gives a tensor its value: as an input, or a few integers as a constant. It reports whether the value is known.
func (m *Model) feed(name string, values map[string]numeric.Value) bool {
	v, ok := values[name]
	if !ok {
		return false
	}
	if !v.Type.IsFloat() && v.Len() <= maxShape {
		m.Consts = append(m.Consts, Const{name, v})
	} else {
		m.Inputs = append(m.Inputs, Input{Name: name, Open: make([]string, len(v.Dims)), Feed: v})
	}
	return true
}

// outputs leaves one output, or makes the result of a node in the middle the only one.
func (s *Search) outputs() bool {
	var names []string
	if len(s.best.Outputs) > 1 {
		names = append(names, s.best.Outputs...)
	}
	for _, n := range s.best.Nodes[:max(0, len(s.best.Nodes)-1)] {
		names = append(names, n.Out...)
	}
	for _, name := range names {
		if name == "" || len(s.best.Outputs) == 1 && name == s.best.Outputs[0] {
			continue
		}
		m := s.best.Clone()
		m.Outputs = []string{name}
		if s.try(m) {
			return true
		}
	}
	return false
}

// cut gives a node's results the values that they have, in the node's place.
func (s *Search) cut() bool {
	values := s.results()
	for i := len(s.best.Nodes) - 1; i >= 0; i-- {
		n := s.best.Nodes[i]
		if slices.ContainsFunc(n.Out, func(name string) bool { return slices.Contains(s.best.Outputs, name) }) {
			continue
		}
		m := s.best.Clone()
		m.Nodes = slices.Delete(m.Nodes, i, i+1)
		known := true
		for _, name := range n.Out {
			known = known && (name == "" || m.feed(name, values))
		}
		if known && s.try(m) {
			return true
		}
	}
	return false
}

// Bounds of what results computes and holds.
const (
	evalShare = 4 // of the time that is left, one part in so many
	maxHeld   = 2 << 30
)

var errHeld = errors.New("enough is held")

// results returns the tensors of the best model by their definition: those of nodes before the first that has none, or that
// takes too long.
func (s *Search) results() map[string]numeric.Value {
	if s.values != nil {
		return s.values
	}
	s.values = map[string]numeric.Value{}
	ctx, cancel := context.WithTimeout(s.ctx, time.Until(s.until)/evalShare)
	defer cancel()
	if n := s.best.known(); n != nil {
		evaluate(ctx, n, s.best.Feeds(), s.values)
	}
	return s.values
}

// known returns the network of all the nodes that can be imported, from the first on; nil where there are none.
func (m *Model) known() *graph.Network {
	all := m.Clone()
	all.Outputs = nil
	for _, n := range m.Nodes {
		all.Outputs = append(all.Outputs, slices.DeleteFunc(slices.Clone(n.Out), func(name string) bool { return name == "" })...)
	}
	all.Types, all.Shapes = nil, nil
	var net *graph.Network
	part := func(n int) *graph.Network {
		c := all.until(n)
		c.Prune()
		return c.network()
	}
	n := len(m.Nodes)
	if net = part(n); net == nil {
		n = sort.Search(n, func(i int) bool { return part(i+1) == nil })
		net = part(n)
	}
	return net
}

// network imports the model; nil where that cannot be.
func (m *Model) network() (n *graph.Network) {
	defer func() {
		if recover() != nil { // a defect that is looked for, maybe
			n = nil
		}
	}()
	n, err := onnx.Parse(graph.Ops(), "model.onnx", m.Encode())
	if err != nil {
		return nil
	}
	return n
}

// evaluate adds the tensors of a network by their definition, as far as that goes.
func evaluate(ctx context.Context, n *graph.Network, feeds, all map[string]numeric.Value) {
	defer func() { _ = recover() }() // as far as the definition does not panic
	held := 0
	outputs, err := n.Eval(ctx, feeds, func(l *graph.Layer, out []numeric.Value) error {
		for i, t := range l.Outputs {
			all[t.Name] = out[i]
			held += len(out[i].Data)
		}
		if held > maxHeld {
			return errHeld
		}
		return nil
	})
	if err != nil {
		return
	}
	for name, v := range outputs { // those that are known beforehand have no layer
		all[name] = v
	}
}
