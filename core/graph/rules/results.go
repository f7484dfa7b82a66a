package rules

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
)

// root is a layer that nothing in the pattern reads: its named outputs are results.
type root struct {
	node  *node
	names []string
}

// order brings the layers of results into the order in which they are looked for: the last one first, and each of the others when it
// has something in common with those before it.
func (c *checker) order() {
	left := slices.Clone(c.pattern.roots)
	slices.Reverse(left)
	known, ordered := map[source]bool{}, []root(nil)
	for len(left) > 0 {
		at := slices.IndexFunc(left, func(r root) bool {
			return len(ordered) == 0 || slices.ContainsFunc(c.pattern.reads(r.node), func(s source) bool { return known[s] })
		})
		if at < 0 {
			c.fail(left[0].node.term.At, "nothing in the pattern uses what this layer makes, and it reads nothing that the others read")
			return
		}
		ordered = append(ordered, left[at])
		for _, s := range c.pattern.reads(left[at].node) {
			known[s] = true
		}
		left = slices.Delete(left, at, at+1)
	}
	c.pattern.roots = ordered
}

// reads returns the tensors that a layer reads, and through others of the pattern.
func (p *pattern) reads(n *node) (list []source) {
	for _, a := range n.args {
		switch {
		case a.node != nil:
			list = append(append(list, source{node: a.node, output: a.output}), p.reads(a.node)...)
		case a.input >= 0:
			list = append(list, source{input: a.input})
		}
	}
	return list
}

// results returns the names of the results, in the order in which they are written.
func (p *pattern) results() (names []string) {
	roots := slices.Clone(p.roots)
	slices.SortFunc(roots, func(a, b root) int { return a.node.index - b.node.index })
	for _, r := range roots {
		names = append(names, r.names...)
	}
	return names
}

// maxNear bounds the layers that are tried for one more result.
const maxNear = 256

// others matches the layers of further results with some that read what was found, and goes on.
func (m *match) others(roots []root, then func() bool) bool {
	if len(roots) == 0 {
		return then()
	}
	r := roots[0]
	for _, l := range m.near(r.node) {
		if len(l.Outputs) >= len(r.names) && m.layer(r.node, l, func() bool { return m.others(roots[1:], then) }) {
			return true
		}
	}
	return false
}

// near returns the layers that may be a node: they read tensors that were found, through no more layers than the node does.
func (m *match) near(n *node) (list []*graph.Layer) {
	var tensors []*graph.Tensor
	for _, s := range m.rule.pattern.reads(n) {
		switch {
		case s.node == nil && m.inputs[s.input] != nil:
			tensors = append(tensors, m.inputs[s.input])
		case s.node != nil && m.layers[s.node.index] != nil:
			tensors = append(tensors, m.layers[s.node.index].Outputs[s.output])
		}
	}
	for range len(m.rule.pattern.nodes) {
		var next []*graph.Tensor
		for _, t := range tensors {
			for _, u := range t.Users {
				if len(list) < maxNear && !slices.Contains(list, u) {
					list, next = append(list, u), append(next, u.Outputs...)
				}
			}
		}
		tensors = next
	}
	return list
}

// results returns the tensors of the network that are the results, in the order of their names.
func (m *match) results() (list []*graph.Tensor) {
	for _, name := range m.rule.pattern.results() {
		list = append(list, m.tensorNamed(name))
	}
	return list
}

// ends returns the layers that make results.
func (m *match) ends() (list []*graph.Layer) {
	for _, r := range m.rule.pattern.roots {
		list = append(list, m.layers[r.node.index])
	}
	return list
}

// apart reports whether what the results' layers make beside the results is needed by nothing, and no input of the pattern is made of a
// result; if not, that is recorded as a miss.
func (m *match) apart(c *pass.Candidate) bool {
	results := m.results()
	for _, l := range m.ends() {
		for _, t := range l.Outputs {
			if slices.Contains(results, t) {
				continue
			}
			if c.Rewrite().Network().IsOutput(t) {
				return c.Miss(pass.NetworkOutput, "%s is an output of the network", t.Name)
			}
			if len(t.Users) > 0 {
				return c.Miss(pass.SecondConsumer, "%s is used by %s", t.Name, t.Users[0].Name)
			}
		}
	}
	if len(m.rule.pattern.roots) == 1 {
		return true
	}
	seen := map[*graph.Layer]bool{}
	var follows func(t *graph.Tensor) bool
	follows = func(t *graph.Tensor) bool {
		l := t.Producer
		switch {
		case l == nil || seen[l]:
			return false
		case slices.Contains(m.layers, l):
			return true
		}
		seen[l] = true
		return slices.ContainsFunc(l.Inputs, func(x *graph.Tensor) bool { return x != nil && follows(x) })
	}
	for _, t := range m.inputs {
		if follows(t) {
			return c.Miss(pass.WouldCycle, "%s follows from a result", t.Name)
		}
	}
	return true
}
