package onnx

import "slices"

// maxDepth bounds how deep graphs lie in each other.
const maxDepth = 16

// subgraph decodes a graph that is an attribute.
func (d *decoder) subgraph(b []byte) *graphProto {
	if d.depth++; d.depth > maxDepth {
		d.failf("graphs lie more than %d deep in each other", maxDepth)
	}
	g := &graphProto{}
	if d.err == nil {
		d.graph(g, b)
	}
	d.depth--
	return g
}

// hasGraphs reports whether an attribute of the node is a graph.
func (n *node) hasGraphs() bool {
	return slices.ContainsFunc(n.attrs, func(a *attribute) bool { return a.graph != nil })
}

// capture finds what the node's graphs read of the graphs around them.
func (n *node) capture() {
	n.captured = nil
	seen := map[string]bool{}
	for _, a := range n.attrs {
		if a.graph == nil {
			continue
		}
		for _, name := range a.graph.free() {
			if !seen[name] {
				seen[name] = true
				n.captured = append(n.captured, name)
			}
		}
	}
}

// reads returns the values that the node reads, those that its graphs capture included.
func (n *node) reads() []string {
	if len(n.captured) == 0 {
		return n.inputs
	}
	return slices.Concat(n.inputs, n.captured)
}

// defines returns the values that the graph itself has.
func (g *graphProto) defines() map[string]bool {
	own := map[string]bool{}
	for _, v := range g.inputs {
		own[v.name] = true
	}
	for _, t := range g.initializers {
		own[t.name] = true
	}
	for _, name := range g.sparse {
		own[name] = true
	}
	for _, n := range g.nodes {
		for _, out := range n.outputs {
			own[out] = true
		}
	}
	return own
}

// free returns the values that the graph reads and does not have, each once, in order.
func (g *graphProto) free() []string {
	own := g.defines()
	var list []string
	see := func(name string) {
		if name != "" && !own[name] {
			own[name] = true
			list = append(list, name)
		}
	}
	for _, n := range g.nodes {
		for _, name := range n.reads() {
			see(name)
		}
	}
	for _, v := range g.outputs {
		see(v.name)
	}
	return list
}
