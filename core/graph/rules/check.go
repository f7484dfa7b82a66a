package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes"
	"github.com/trtui/trtui/core/graph/passes/quantise"
)

// pattern is the layers of a Match.
type pattern struct {
	nodes  []*node // in the order in which they are written, one that makes a result last
	roots  []root  // what makes results, in the order in which they are looked for, the last of nodes first
	inputs []string
	named  map[string]source // tensors by name
}

// node is a layer of a pattern.
type node struct {
	index int
	term  *Term
	args  []source
}

// source is where a tensor of a pattern comes from: output of a node, an input, or what the term says.
type source struct {
	node   *node
	output int
	input  int
	term   *Term
}

// checker finds what no network can mean, and prepares what is left.
type checker struct {
	*parser
	ops     graph.OpSet
	pattern *pattern
	rule    *Rule
	vars    map[string]bool
	extents map[string]bool
	numbers map[string]bool // variables that are constants of one element
}

func (c *checker) file(f *File) {
	if f.Before != "" && !slices.ContainsFunc(passes.Standard(), func(p pass.Pass) bool { return p.Name == f.Before }) {
		c.fail(Position{1, 1}, "before %s: there is no such pass among those that do not depend on precision", f.Before)
	}
	taken := map[string]string{}
	for _, p := range slices.Concat(passes.Standard(), quantise.Calibrated(), passes.Lowering()) {
		for _, name := range append([]string{p.Name}, p.Rules...) {
			taken[name] = "the program has a rule or pass of this name"
		}
	}
	taken[f.Name] = "the pass of this file is called so"
	for _, r := range f.Rules {
		at := Position{r.Line, 1}
		if why := taken[r.Name]; why != "" {
			c.fail(at, "rule %s: %s; choose another", r.Name, why)
		}
		taken[r.Name] = fmt.Sprintf("the rule in line %d is called so", r.Line)
		if len(r.Match) == 0 {
			c.fail(at, "rule %s: it has no match", r.Name)
		}
		c.rule, c.vars, c.numbers, c.extents = r, map[string]bool{}, map[string]bool{}, map[string]bool{}
		c.match(r)
		c.where(r)
		if len(r.Replace) == 0 {
			c.fail(at, "rule %s: it has no replace", r.Name)
		}
		c.replace(r)
		r.pattern = c.pattern
	}
}

func (c *checker) match(r *Rule) {
	c.pattern = &pattern{named: map[string]source{}}
	used := map[*node]bool{}
	for i := range r.Match {
		s := &r.Match[i]
		if s.Value.Kind != LayerTerm && s.Value.Kind != ElementTerm {
			c.fail(s.Value.At, "a pattern is of layers: want an op or an element-wise operation with its inputs")
		}
		n := c.node(&s.Value, used)
		c.outputs(s)
		for k, name := range s.Names {
			if _, ok := c.pattern.named[name]; ok {
				c.fail(s.At, "%s is there already", name)
			}
			c.pattern.named[name] = source{node: n, output: k}
		}
	}
	for i := range r.Match {
		s := &r.Match[i]
		if n := c.pattern.named[s.Names[0]].node; !used[n] {
			c.pattern.roots = append(c.pattern.roots, root{n, s.Names})
		}
	}
	c.order()
}

// outputs checks how many names a layer's outputs have.
func (c *checker) outputs(s *Statement) {
	if s.Value.Kind != LayerTerm && len(s.Names) > 1 {
		c.fail(s.At, "it makes one tensor, not %d", len(s.Names))
	}
}

// node adds the layer of a term to the pattern, behind those that it reads.
func (c *checker) node(t *Term, used map[*node]bool) *node {
	c.call(t, true)
	n := &node{term: t}
	for i := range t.Args {
		a := &t.Args[i]
		src := source{input: -1, term: a}
		switch a.Kind {
		case LayerTerm, ElementTerm:
			src.node = c.node(a, used)
		case TensorTerm:
			var ok bool
			if src, ok = c.pattern.named[a.Name]; !ok {
				src = source{input: len(c.pattern.inputs), term: a}
				c.pattern.inputs = append(c.pattern.inputs, a.Name)
				c.pattern.named[a.Name] = src
			}
		case VariableTerm:
			c.vars[a.Name], c.numbers[a.Name] = true, true
		}
		if src.node != nil {
			used[src.node] = true
		}
		n.args = append(n.args, src)
	}
	n.index = len(c.pattern.nodes)
	c.pattern.nodes = append(c.pattern.nodes, n)
	return n
}

// call checks an op or operation with its arguments and attributes.
func (c *checker) call(t *Term, match bool) {
	for i := range t.Args {
		if a := &t.Args[i]; match && a.Kind == ComputedTerm {
			c.fail(a.At, "a pattern has no computed numbers; name it $c and compare it under where")
		}
	}
	if t.Kind == ElementTerm {
		c.element(t)
		return
	}
	if t.op = c.ops.Named(t.Name); t.op == nil {
		c.fail(t.At, "there is no op %s; the graph of a model names those that it has", clip(t.Name))
	}
	if _, ok := t.op.Attrs.(graph.Elementwise); ok {
		c.fail(t.At, "%s is element-wise: write the operation, as its layers have it behind program=, in small letters, such as add(x, y)", t.Name)
	}
	if hasBodies(t.op) {
		c.fail(t.At, "%s has networks inside, which rules are not about", t.Name)
	}
	seen := map[string]bool{}
	for i := range t.Attrs {
		a := &t.Attrs[i]
		if seen[a.Name] {
			c.fail(a.At, "%s stands twice", a.Name)
		}
		seen[a.Name] = true
		c.attr(t, a, match)
	}
}

func (c *checker) element(t *Term) {
	if err := t.elt.UnmarshalText([]byte(t.Name)); err != nil || t.elt == elementwise.Const {
		c.fail(t.At, "there is no element-wise operation %s; ops begin with a capital", clip(t.Name))
	}
	info := t.elt.Info()
	if want := info.Arity + info.Imms; len(t.Args) != want {
		c.fail(t.At, "%s takes %d arguments, not %d", t.Name, want, len(t.Args))
	}
	for i := range t.Args {
		a := &t.Args[i]
		number := a.Kind == NumberTerm || a.Kind == VariableTerm || a.Kind == ComputedTerm
		switch {
		case i >= info.Arity && !number:
			c.fail(a.At, "argument %d of %s is a number", i+1, t.Name)
		case a.Kind == OmittedTerm || a.Kind == ListTerm:
			c.fail(a.At, "argument %d of %s is a tensor or a number", i+1, t.Name)
		}
	}
}

func (c *checker) attr(t *Term, a *Attr, match bool) {
	switch {
	case a.Name == allAttrs && a.Var == "" && !(match && a.Any):
		c.fail(a.At, "attrs stands for all attributes: want attrs=$name, or in a pattern attrs=_")
	case a.Name == allAttrs && t.op.Attrs == nil:
		c.fail(a.At, "%s has no attributes", t.Name)
	case a.Name != allAttrs && !hasAttr(t.op, a.Name):
		c.fail(a.At, "%s has no attribute %s; it has %s", t.Name, clip(a.Name), attrNames(t.op))
	case a.Any && !match:
		c.fail(a.At, "a replacement says what %s is", a.Name)
	case a.Expr != nil && match:
		c.fail(a.At, "a pattern has no computed attributes; name it $a and compare it under where")
	case a.Var != "" && match:
		if a.Name != allAttrs {
			c.vars[a.Var] = true
		} else {
			c.vars[allAttrs+a.Var] = true
		}
	case a.Var != "":
		name := a.Var
		if a.Name == allAttrs {
			name = allAttrs + name
		}
		if !c.vars[name] {
			c.fail(a.At, "$%s is not in the pattern", a.Var)
		}
	case a.Expr != nil:
		c.expr(a.Expr)
	case !a.Any:
		if err := settable(t.op, a); err != nil {
			c.fail(a.At, "%v", err)
		}
	}
}

func (c *checker) where(r *Rule) {
	for i := range r.Where {
		w := &r.Where[i]
		if w.Tensor == "" {
			continue
		}
		if _, ok := c.pattern.named[w.Tensor]; !ok {
			c.fail(w.At, "%s is no tensor of the pattern", w.Tensor)
		}
		for _, d := range w.Dims {
			if d.Name != "" {
				c.extents[d.Name] = true
			}
		}
	}
	for i := range r.Where {
		if w := &r.Where[i]; w.Test != nil {
			c.expr(w.Test)
		}
	}
}

func (c *checker) expr(e *Expr) {
	switch e.Op {
	case "extent":
		if !c.extents[e.Name] {
			c.fail(e.At, "%s is no extent: a line under where names it, as in x [%s,...]; a variable begins with $", e.Name, e.Name)
		}
	case "variable":
		if !c.vars[e.Name] {
			c.fail(e.At, "$%s is not in the pattern", e.Name)
		}
	case "rank":
		if _, ok := c.pattern.named[e.Name]; !ok {
			c.fail(e.At, "%s is no tensor of the pattern", e.Name)
		}
	}
	for _, a := range e.Args {
		c.expr(a)
	}
}

func (c *checker) replace(r *Rule) {
	made := map[string]bool{}
	results := c.pattern.results()
	for i := range r.Replace {
		s := &r.Replace[i]
		c.replacement(&s.Value, made)
		c.outputs(s)
		layer := s.Value.Kind == LayerTerm || s.Value.Kind == ElementTerm
		result := false
		for _, name := range s.Names {
			if made[name] || slices.Contains(c.pattern.inputs, name) {
				c.fail(s.At, "%s is there already", name)
			}
			made[name] = true
			result = result || slices.Contains(results, name)
		}
		switch {
		case i == len(r.Replace)-1 && !result:
			c.fail(s.At, "the last line makes the result of the pattern: want %s = ...", strings.Join(results, ", "))
		case !layer && !result:
			c.fail(s.Value.At, "want a layer")
		case !layer && s.Value.Kind != TensorTerm:
			c.fail(s.Value.At, "want a layer, or a tensor of the pattern")
		case !layer && !slices.Contains(c.pattern.inputs, s.Value.Name):
			c.fail(s.Value.At, "%s is no input of the pattern", s.Value.Name)
		}
	}
	for _, name := range results {
		if !made[name] {
			c.fail(r.Replace[len(r.Replace)-1].At, "nothing makes %s, a result of the pattern", name)
		}
	}
}

// replacement checks a term of a replacement.
func (c *checker) replacement(t *Term, made map[string]bool) {
	switch t.Kind {
	case TensorTerm:
		if !made[t.Name] && !slices.Contains(c.pattern.inputs, t.Name) {
			if _, ok := c.pattern.named[t.Name]; ok {
				c.fail(t.At, "%s is made inside the pattern and is gone then: a replacement reads %v", t.Name, c.pattern.inputs)
			}
			c.fail(t.At, "there is no tensor %s; the pattern's inputs are %v", clip(t.Name), c.pattern.inputs)
		}
	case VariableTerm:
		if !c.vars[t.Name] {
			c.fail(t.At, "$%s is not in the pattern", t.Name)
		}
	case ComputedTerm:
		c.expr(t.Expr)
	case LayerTerm, ElementTerm:
		c.call(t, false)
		for i := range t.Args {
			c.replacement(&t.Args[i], made)
		}
	}
}

// Ops returns the names of the ops and operations that a rule's pattern is of, sorted.
func (r *Rule) Ops() []string {
	names := map[string]bool{}
	for _, n := range r.pattern.nodes {
		names[n.term.Name] = true
	}
	return slices.Sorted(maps.Keys(names))
}
