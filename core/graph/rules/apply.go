package rules

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Pass returns the pass that applies the rules of the file, again and again until none applies any more.
func (f *File) Pass() pass.Pass {
	var names []string
	docs := map[string]string{}
	for _, r := range f.Rules {
		names = append(names, r.Name)
		if r.Doc != "" {
			docs[r.Name] = r.Doc
		}
	}
	p := pass.New(f.Name, "apply the rules of a file", f.Before, names, func(w *pass.Rewrite) {
		a := &applying{file: f, w: w, left: 4*len(w.Network().Layers) + 256, budget: maxWork}
		w.Each(a.layer)
	})
	p.Docs = docs
	return p
}

// applying is the rules of a file at work on a network.
type applying struct {
	file   *File
	w      *pass.Rewrite
	left   int   // how many rewrites there may be yet
	budget int64 // of work for checks
}

// layer applies the first rule whose pattern ends in a layer.
func (a *applying) layer(l *graph.Layer) bool {
	for _, r := range a.file.Rules {
		if a.rule(r, l) {
			return true
		}
	}
	return false
}

// rule applies a rule to the layers of which l is the last, in the first of the ways in which they are its pattern, or notes why
// not.
func (a *applying) rule(r *Rule, l *graph.Layer) (fired bool) {
	var first *miss
	var near []*graph.Layer
	r.find(l, func(m *match) bool {
		x := m.conditions()
		if x == nil {
			fired = a.fire(m)
			first = nil
			return true
		}
		if first == nil {
			first, near = x, slices.Clone(m.layers)
		}
		return false
	})
	if first != nil && !fired {
		a.w.Candidate(r.Name, near...).Miss(first.reason, "%s", first.detail)
	}
	return fired
}

// fire puts the replacement in the place of what was found, if the network lets it and it computes the same.
func (a *applying) fire(m *match) bool {
	r := m.rule
	c := a.w.Candidate(r.Name, m.layers...)
	results := m.results()
	if !c.Contained(m.ends()...) || !m.apart(c) {
		return false
	}
	drafts, err := m.draft()
	if err != nil {
		return c.Miss(pass.WrongShape, "the replacement: %v", err)
	}
	for k, y := range results {
		if z := drafts[k]; z.Type != y.Type || !symbolic.Equal(z.Dims, y.Dims) {
			return c.Miss(pass.WrongShape, "%s would become %s", y, z.TypeString())
		}
		if z := drafts[k]; len(results) > 1 && z.Producer == nil && a.w.Network().IsOutput(y) {
			return c.Miss(pass.NetworkOutput, "%s is an output of the network", y.Name)
		}
	}
	if !c.Enabled() {
		return false
	}
	note, err := a.verify(m)
	if err == nil && a.left == 0 {
		err = fmt.Errorf("it does not come to an end: what it makes is what it, or another rule, looks for")
	}
	if err != nil {
		a.w.Fail(&Wrong{File: a.file.Name, Rule: r.Name, Line: r.Line, Layers: c.Layers(), Err: err})
		return false
	}
	a.left--
	if err := a.put(c, m, note); err != nil {
		a.w.Fail(fmt.Errorf("rule %s: %w", r.Name, err))
		return false
	}
	return true
}

// put makes the layers of the replacement, and the results theirs.
func (a *applying) put(c *pass.Candidate, m *match, note string) error {
	results := m.results()
	b := &builder{m: m, net: a.w.Network(), place: func(t *graph.Tensor) *graph.Tensor { return t }, name: results[0].Name}
	root := results[0].Producer
	c.Note("%s", note)
	if len(results) > 1 || len(root.Outputs) > 1 {
		now, err := b.all()
		if err == nil {
			c.Exchange(results, now, b.inner...)
		}
		return err
	}
	by, x, err := b.build()
	switch {
	case err != nil:
		return err
	case x != nil:
		c.Bypass(root, x)
	default:
		c.Substitute(root, &graph.Layer{Op: by.op, Attrs: by.attrs, Inputs: by.inputs}, b.inner...)
	}
	return nil
}

// Wrong is the error of a rule whose replacement does not compute what its pattern does, or that does not come to an end.
type Wrong struct {
	File, Rule string
	Line       int
	Layers     []string // source layers at the place where that was found
	Err        error
}

func (e *Wrong) Error() string {
	return fmt.Sprintf("rule %s (line %d of %s) at %v: %v", e.Rule, e.Line, e.File, e.Layers, e.Err)
}

func (e *Wrong) Unwrap() error { return e.Err }
