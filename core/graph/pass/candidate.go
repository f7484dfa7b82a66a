package pass

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
)

// Candidate is a place where a rule may apply. A pass makes one when it has found the pattern's shape, then says why
// it does not fire, or rewrites and says so.
type Candidate struct {
	r       *Rewrite
	site    Site
	Found   []*graph.Layer // as found
	Members []string       // the source layers they stand for
	Traffic int            // bytes of activations that they read and write
	Instead *graph.Layer   // after firing with nothing in their place: the layer that computes the same anyway
	Apart   bool           // what stands in their place does not stand for all of the members
	into    []*graph.Layer // after firing: what stands in their place
	saved   int
	note    string
}

// Candidate returns the candidate of a rule on some layers.
func (r *Rewrite) Candidate(rule string, layers ...*graph.Layer) *Candidate {
	if !slices.Contains(r.running.Rules, rule) {
		panic(fmt.Sprintf("pass %s has no rule %q", r.running.Name, rule))
	}
	c := &Candidate{r: r, Found: layers, Traffic: r.Traffic(layers)}
	var keys []string
	for _, l := range layers {
		keys = append(keys, r.Key(l))
		c.Members = append(c.Members, l.From...)
	}
	c.site = NewSite(rule, keys...)
	c.Members = r.Sources(c.Members)
	return c
}

// Rewrite returns what the candidate is a place of.
func (c *Candidate) Rewrite() *Rewrite { return c.r }

// Layers returns the source layers of the candidate's place, which stay the same whatever else is fused.
func (c *Candidate) Layers() []string { return c.site.Layers }

// Note says what a rewrite that fires changes, where layers and bytes do not tell.
func (c *Candidate) Note(format string, args ...any) { c.note = fmt.Sprintf(format, args...) }

// Miss records why the candidate does not fire, and returns false.
func (c *Candidate) Miss(reason Reason, format string, args ...any) bool {
	m := Missed{c.site, reason, fmt.Sprintf(format, args...)}
	text := c.site.String()
	if i, ok := c.r.missAt[text]; ok {
		c.r.missed[i] = m
	} else {
		c.r.missAt[text] = len(c.r.missed)
		c.r.missed = append(c.r.missed, m)
	}
	return false
}

// Enabled reports whether rule and site are switched on, and records a miss if not.
func (c *Candidate) Enabled() bool {
	if c.r.disabled[c.site.Rule] {
		return c.Miss(Disabled, "rule %s is switched off", c.site.Rule)
	}
	if c.r.disabled[c.site.String()] {
		return c.Miss(Disabled, "this place is switched off")
	}
	return true
}

// Sole reports whether l is the only user of t and t is no output; if not, that is recorded as a miss. l may use t
// more than once.
func (c *Candidate) Sole(t *graph.Tensor, l *graph.Layer) bool {
	if c.r.net.IsOutput(t) {
		return c.Miss(NetworkOutput, "%s is an output of the network", t.Name)
	}
	for _, u := range t.Users {
		if u != l {
			return c.Miss(SecondConsumer, "%s is also used by %s", t.Name, u.Name)
		}
	}
	return true
}

// Supported asks the target about a layer that the candidate would make.
func (c *Candidate) Supported(l *graph.Layer) bool {
	if !NeedsTactic(l.Op) {
		return true
	}
	if err := c.r.Supports(l); err != nil {
		return c.Miss(NoTactic, "%v", err)
	}
	return true
}

// Has asks the target about a layer that stands for several.
func (c *Candidate) Has(l *graph.Layer) bool {
	if err := c.r.Target(l); err != nil {
		return c.Miss(NoTactic, "%v", err)
	}
	return true
}

// Fire records that the candidate's layers have been replaced by those given, which may be some of them, and returns
// true. A single one stands for all of the members and is named after them; with none, the members are gone and the pass
// says how by Eliminate or Fold.
func (c *Candidate) Fire(into ...*graph.Layer) bool {
	r := c.r
	r.changed = true
	c.into = into
	c.saved = c.Traffic - r.Traffic(into)
	if len(into) == 1 && len(c.Members) > 0 && !c.Apart {
		into[0].From = c.Members
		r.net.Rename(into[0], r.Name(into[0]))
	}
	if text := c.site.String(); len(r.missAt) > 0 {
		if i, ok := r.missAt[text]; ok { // the gap is left out of what misses returns
			r.missed[i] = Missed{}
			delete(r.missAt, text)
		}
	}
	r.fired = append(r.fired, c)
	return true
}

// Contained reports whether nothing but the candidate's layers needs what they compute, the results of roots aside; if not, that is
// recorded as a miss.
func (c *Candidate) Contained(roots ...*graph.Layer) bool {
	for _, l := range c.Found {
		if slices.Contains(roots, l) {
			continue
		}
		for _, t := range l.Outputs {
			if c.r.net.IsOutput(t) {
				return c.Miss(NetworkOutput, "%s is an output of the network", t.Name)
			}
			for _, u := range t.Users {
				if !slices.Contains(c.Found, u) {
					return c.Miss(SecondConsumer, "%s is also used by %s", t.Name, u.Name)
				}
			}
		}
	}
	return true
}

// Substitute puts a new layer, by, in the place of root, whose only output it makes from now on, removes those of the candidate's
// layers that nothing needs any more, and fires. Constants that the network does not have are added. inner are layers that were
// added to the network for by.
func (c *Candidate) Substitute(root, by *graph.Layer, inner ...*graph.Layer) bool {
	r, members := c.r, c.Members
	for i, t := range by.Inputs {
		if t == nil {
			continue
		}
		if v, ok := t.Const(); ok && r.net.Tensor(t.Name) != t {
			by.Inputs[i] = r.net.AddConst(t.Name, v)
		}
	}
	by = r.Replace(root, by)
	r.removeUnused(c.Found)
	if len(inner) == 0 {
		return c.Fire(by)
	}
	for _, l := range append(inner, by) {
		if len(members) > 0 {
			l.From = members
		}
	}
	return c.Fire(append([]*graph.Layer{by}, inner...)...)
}

// Bypass removes root, whose result equals x, and those of the candidate's layers that nothing needs any more, and fires. Where
// root is all that ties an output of the network to x, that is a miss.
func (c *Candidate) Bypass(root *graph.Layer, x *graph.Tensor) bool {
	r, p := c.r, x.Producer
	if !r.Bypass(root, x) {
		return c.Miss(NetworkOutput, "%s is an output of the network", root.Outputs[0].Name)
	}
	r.removeUnused(c.Found)
	for _, l := range c.Found {
		r.Eliminate(l, p)
	}
	c.Instead = p
	return c.Fire()
}

// Absorb removes those of the layers that nothing needs any more, and counts them with the candidate's, and the bytes they moved,
// though they are not what makes its site.
func (c *Candidate) Absorb(layers []*graph.Layer, moved map[*graph.Layer]int) {
	c.r.removeUnused(layers)
	members := slices.Clone(c.Members)
	for _, l := range layers {
		if c.r.net.Layer(l.Name) != l && !slices.Contains(c.Found, l) {
			c.Found, members = append(c.Found, l), append(members, l.From...)
			c.Traffic += moved[l]
		}
	}
	c.Members = c.r.Sources(members)
}
