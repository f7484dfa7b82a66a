package pass

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
)

// New returns a pass of a program's own, for [Config.Extra]. It runs before the pass of the given name, a standard one or one
// of lowering; "" is before all of them, on the network as it was imported. rules are what it calls its candidates; each can
// be switched off, and stands in the ledger, as those of the built-in passes.
//
// The two rules for passes hold for it as well: see the package's comment. The driver checks the network after it.
func New(name, doc, before string, rules []string, run func(*Rewrite)) Pass {
	return Pass{Name: name, Doc: doc, Rules: rules, before: before, run: func(r *rewrite) { run(&Rewrite{r, name, rules}) }}
}

// Rewrite is what a pass works on: the network, and the record of what is done to it.
type Rewrite struct {
	r     *rewrite
	pass  string
	rules []string
}

// Network returns the network, to be changed through its methods and those below.
func (w *Rewrite) Network() *graph.Network { return w.r.net }

// Each calls f for every layer in topological order, as the list was when each round began; f may remove layers and insert
// others, and returns whether it changed anything. It is repeated until nothing changes.
func (w *Rewrite) Each(f func(l *graph.Layer) bool) { w.r.each(f) }

// Candidate returns the candidate of one of the pass's rules on the layers that match it. A pass makes one when it has found
// the pattern's shape, then says by Miss why it does not apply, or rewrites and says so by Fire.
func (w *Rewrite) Candidate(rule string, layers ...*graph.Layer) *Candidate {
	if !slices.Contains(w.rules, rule) {
		panic(fmt.Sprintf("pass %s has no rule %q", w.pass, rule))
	}
	return &Candidate{w.r.candidate(rule, layers...)}
}

// Bypass removes l, whose output equals its input x, and makes x's users and producer take over. It reports false where l is
// all that ties an output of the network to an input, a constant or another output.
func (w *Rewrite) Bypass(l *graph.Layer, x *graph.Tensor) bool { return w.r.bypass(l, x) }

// Replace makes a new layer with the given op, attributes and inputs produce l's only output in place of l.
func (w *Rewrite) Replace(l *graph.Layer, op *graph.Op, attrs any, inputs ...*graph.Tensor) *graph.Layer {
	return w.r.replace(l, &graph.Layer{Op: op, Attrs: attrs, Inputs: inputs})
}

// Eliminate notes that l is gone, and which layer computes its result, if any does: for candidates that fire without a layer
// in their place.
func (w *Rewrite) Eliminate(l, instead *graph.Layer) { w.r.drop(l, Eliminated, instead) }

// Fail ends the run of the table with an error.
func (w *Rewrite) Fail(err error) { w.r.failed = err }

// Shapes returns the values of the network's symbols that are known; one that is not there may have any.
func (w *Rewrite) Shapes() map[string]int { return w.r.cfg.Shapes }

// Candidate is a place where a rule may apply.
type Candidate struct{ c *candidate }

// Layers returns the source layers of the candidate's place, which stay the same whatever else is fused.
func (c *Candidate) Layers() []string { return c.c.site.Layers }

// Enabled reports whether rule and place are switched on, and records a miss if not.
func (c *Candidate) Enabled() bool { return c.c.enabled() }

// Sole reports whether l is the only user of t and t is no output; if not, that is recorded as a miss.
func (c *Candidate) Sole(t *graph.Tensor, l *graph.Layer) bool { return c.c.sole(t, l) }

// Contained reports whether nothing but the candidate's layers needs what they compute, root's result aside; if not, that is
// recorded as a miss.
func (c *Candidate) Contained(root *graph.Layer) bool { return c.c.contained(root) }

// Substitute puts a new layer, by, in the place of root, whose only output it makes from now on, removes those of the candidate's
// layers that nothing needs any more, and fires. inner are layers that were added to the network for by.
func (c *Candidate) Substitute(root, by *graph.Layer, inner ...*graph.Layer) bool {
	r, members := c.c.r, c.c.members
	by = r.replace(root, by)
	r.removeUnused(c.c.layers)
	if len(inner) == 0 {
		return c.c.fire(by)
	}
	for _, l := range append(inner, by) {
		if len(members) > 0 {
			l.From = members
		}
	}
	return c.c.fire(append([]*graph.Layer{by}, inner...)...)
}

// Bypass removes root, whose result equals x, and those of the candidate's layers that nothing needs any more, and fires. Where
// root is all that ties an output of the network to x, that is a miss.
func (c *Candidate) Bypass(root *graph.Layer, x *graph.Tensor) bool {
	r, p := c.c.r, x.Producer
	if !r.bypass(root, x) {
		return c.c.miss(NetworkOutput, "%s is an output of the network", root.Outputs[0].Name)
	}
	r.removeUnused(c.c.layers)
	for _, l := range c.c.layers {
		r.drop(l, Eliminated, p)
	}
	c.c.instead = p
	return c.c.fire()
}

// Supported asks the target about a layer that the candidate would make; where it has no tactic, that is recorded as a miss.
func (c *Candidate) Supported(l *graph.Layer) bool { return c.c.supported(l) }

// Miss records why the candidate does not fire, and returns false.
func (c *Candidate) Miss(reason Reason, format string, args ...any) bool {
	return c.c.miss(reason, format, args...)
}

// Note says what a rewrite that fires changes, where layers and bytes do not tell.
func (c *Candidate) Note(format string, args ...any) { c.c.note = fmt.Sprintf(format, args...) }

// Fire records that the candidate's layers have been replaced by those given, which may be some of them, and returns true. A
// single one stands for all of them and is named after them.
func (c *Candidate) Fire(into ...*graph.Layer) bool { return c.c.fire(into...) }

// Extend returns a table, Standard or Lowering, with the extra passes of the configuration that run in it.
func (c *Config) Extend(table []Pass) ([]Pass, error) {
	out := slices.Clone(table)
	standard := isStandard(table)
	for _, p := range c.Extra {
		if p.run == nil || p.Name == "" {
			return nil, fmt.Errorf("pass %q is not one that New made", p.Name)
		}
		before := p.before
		if before == "" {
			before = Standard()[0].Name
		}
		named := func(q Pass) bool { return q.Name == before }
		switch i := slices.IndexFunc(out, named); {
		case i >= 0 && (standard || !slices.ContainsFunc(Standard(), named)):
			out = slices.Insert(out, i, p)
		case !slices.ContainsFunc(slices.Concat(Standard(), Lowering(), c.Extra), named):
			return nil, fmt.Errorf("pass %s is to run before %q, and there is no such pass", p.Name, before)
		}
	}
	return out, nil
}

// isStandard reports whether a table begins as Standard does.
func isStandard(table []Pass) bool { return len(table) > 0 && table[0].Name == Standard()[0].Name }
