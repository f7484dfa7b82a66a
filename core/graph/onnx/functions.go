package onnx

import (
	"fmt"
	"maps"
	"slices"
)

const (
	maxNodes         = 1 << 18  // in a model after functions are inlined, calls included
	maxFunctionDepth = 32       // how deep functions call functions; they may not call themselves
	maxNewNames      = 64 << 20 // bytes of names made for the nodes and values of inlined functions
)

// inliner replaces calls of a model's own functions by their bodies.
type inliner struct {
	functions map[functionKey]*function
	prefixes  map[string]bool // of the calls
	calls     int
	nodes     int // in all graphs
	nameBytes int
	out       []*node
}

type functionKey struct{ domain, name, overload string }

// inline returns the nodes with each call of a function replaced by the function's nodes, under names that begin with
// that of the calling node.
func inline(nodes []*node, functions []*function) ([]*node, *Problem) {
	if len(functions) == 0 {
		return nodes, nil
	}
	in := &inliner{functions: map[functionKey]*function{}, prefixes: map[string]bool{}}
	for _, f := range functions {
		in.functions[functionKey{f.domain, f.name, f.overload}] = f
	}
	if p := in.add(nodes, 0); p != nil {
		return nil, p
	}
	return in.numbered(), nil
}

// numbered returns the nodes of a graph, which know their position.
func (in *inliner) numbered() []*node {
	for i, n := range in.out {
		n.index = i
	}
	return in.out
}

// within returns the node with calls replaced in the graphs that it has.
func (in *inliner) within(n *node, depth int) (*node, *Problem) {
	if !n.hasGraphs() {
		return n, nil
	}
	c := *n
	c.attrs = slices.Clone(n.attrs)
	for i, a := range c.attrs {
		if a.graph == nil {
			continue
		}
		outer := in.out
		in.out = nil
		if p := in.add(a.graph.nodes, depth); p != nil {
			return nil, p
		}
		g := *a.graph
		g.nodes = in.numbered()
		in.out = outer
		b := *a
		b.graph = &g
		c.attrs[i] = &b
	}
	c.capture()
	return &c, nil
}

func (in *inliner) add(nodes []*node, depth int) *Problem {
	for _, n := range nodes {
		if in.nodes+in.calls > maxNodes || in.nameBytes > maxNewNames {
			return n.problem(fmt.Sprintf("functions have too many nodes when they are inlined: more than %d, or %d bytes of names", maxNodes, maxNewNames))
		}
		f := in.functions[functionKey{n.domain, n.opType, n.overload}]
		if f == nil {
			n, p := in.within(n, depth)
			if p != nil {
				return p
			}
			in.nodes++
			in.out = append(in.out, n)
			continue
		}
		if depth == maxFunctionDepth {
			return n.problem("function calls are nested too deep")
		}
		in.calls++
		body, p := in.instance(f, n)
		if p == nil {
			p = in.add(body, depth+1)
		}
		if p != nil {
			return p
		}
	}
	return nil
}

// instance returns the function's nodes for one call: its inputs and outputs have the caller's names, other values and
// nodes the caller's as a prefix, attributes the caller's values.
func (in *inliner) instance(f *function, call *node) ([]*node, *Problem) {
	if len(call.inputs) > len(f.inputs) || len(call.outputs) > len(f.outputs) {
		return nil, call.problem(fmt.Sprintf("%d inputs and %d outputs do not fit the function's %d and %d", len(call.inputs), len(call.outputs), len(f.inputs), len(f.outputs)))
	}
	prefix := call.label() + "/"
	for i := 2; in.prefixes[prefix]; i++ {
		prefix = fmt.Sprintf("%s_%d/", call.label(), i)
	}
	in.prefixes[prefix] = true
	names := callerNames(f, call)
	rename := func(name string) string {
		to, ok := names[name]
		if !ok {
			to = prefix + name
			in.nameBytes += len(to)
		}
		return to
	}
	opsets := f.opsets
	if _, ok := opsets[""]; !ok && call.opsets != nil {
		opsets = maps.Clone(f.opsets)
		opsets[""] = call.opsets[""]
	}
	made := &instance{in, opsets, arguments(f, call)}
	var body []*node
	for _, n := range f.nodes {
		c := made.node(n, rename)
		if c.name = prefix + n.name; n.name == "" {
			c.name = fmt.Sprintf("%s%s_%d", prefix, n.opType, n.index)
		}
		in.nameBytes += len(c.name)
		body = append(body, c)
	}
	return body, nil
}

// instance is a function's body for one call.
type instance struct {
	in     *inliner
	opsets map[string]int
	args   map[string]*attribute
}

// node returns a node of the function under other names of values.
func (s *instance) node(n *node, rename func(string) string) *node {
	each := func(list []string) []string {
		out := make([]string, len(list))
		for i, name := range list {
			out[i] = rename(name)
		}
		return out
	}
	c := &node{name: n.name, opType: n.opType, domain: n.domain, overload: n.overload, index: n.index,
		inputs: each(n.inputs), outputs: each(n.outputs), opsets: s.opsets}
	for _, a := range n.attrs {
		switch v := s.args[a.ref]; {
		case a.ref == "" && a.graph != nil:
			arg := *a
			arg.graph = s.graph(a.graph, rename)
			c.attrs = append(c.attrs, &arg)
		case a.ref == "":
			c.attrs = append(c.attrs, a)
		case v != nil:
			arg := *v
			arg.name = a.name
			c.attrs = append(c.attrs, &arg)
		}
	}
	c.capture()
	return c
}

// graph returns a graph inside the function, whose own values keep their names.
func (s *instance) graph(g *graphProto, rename func(string) string) *graphProto {
	own := g.defines()
	inner := func(name string) string {
		if name == "" || own[name] {
			return name
		}
		return rename(name)
	}
	c := *g
	c.nodes, c.outputs = nil, nil
	for _, n := range g.nodes {
		s.in.nameBytes += len(n.name)
		c.nodes = append(c.nodes, s.node(n, inner))
	}
	for _, v := range g.outputs {
		to := *v
		to.name = inner(v.name)
		c.outputs = append(c.outputs, &to)
	}
	return &c
}

// callerNames gives the names that the caller has for the function's inputs and outputs; an input that it leaves out has
// none, and the others of the function's values are not among them.
func callerNames(f *function, call *node) map[string]string {
	names := map[string]string{"": ""}
	for i, name := range f.inputs {
		names[name] = ""
		if i < len(call.inputs) {
			names[name] = call.inputs[i]
		}
	}
	for i, name := range f.outputs {
		if i < len(call.outputs) && call.outputs[i] != "" {
			names[name] = call.outputs[i]
		}
	}
	return names
}

// arguments are the attributes that the function's nodes may refer to, by name: the call's before the defaults.
func arguments(f *function, call *node) map[string]*attribute {
	args := map[string]*attribute{}
	for _, a := range f.defaults {
		args[a.name] = a
	}
	for _, a := range call.attrs {
		args[a.name] = a
	}
	return args
}
