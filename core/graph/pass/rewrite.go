package pass

import (
	"context"
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// rewrite is what a pass works on: the network, and the record of what is done to it.
type rewrite struct {
	ctx      context.Context
	net      *graph.Network
	cfg      *Config
	snapshot *graph.Network         // net as the last pass left it
	ledger   Ledger                 // as the last pass left it
	order    map[string]int         // place of each source layer in the source network
	ops      map[string]string      // op of each source layer
	classes  map[string]graph.Class // of source layers
	drops    map[string]drop        // source layers that no layer stands for any more
	disabled map[string]bool        // sites, by their text, and rules

	// Of the pass that is running.
	changed bool
	failed  error
	fired   []*candidate
	missed  []Missed
	missAt  map[string]int       // index into missed, by the site's text
	places  map[*graph.Layer]int // of the layers that each began its round with
}

func newRewrite(ctx context.Context, n *graph.Network, cfg *Config) *rewrite {
	r := &rewrite{ctx: ctx, net: n.Clone(), snapshot: n, cfg: cfg, ledger: cfg.Ledger,
		order: map[string]int{}, ops: map[string]string{}, classes: map[string]graph.Class{}, drops: map[string]drop{}, disabled: map[string]bool{}, places: map[*graph.Layer]int{}}
	if r.ledger == nil {
		r.ledger = newLedger(n)
	}
	if r.net.Source == nil {
		r.net.Source = n
	}
	for i, e := range r.ledger {
		r.order[e.Layer], r.ops[e.Layer], r.classes[e.Layer] = i, e.Op, e.Class
		if e.Fate == Folded || e.Fate == Eliminated {
			d := drop{fate: e.Fate}
			if l := n.Layer(e.Into); l != nil {
				d.into = l.From[0]
			}
			r.drops[e.Layer] = d
		}
	}
	for _, rule := range cfg.DisableRules {
		r.disabled[rule] = true
	}
	for _, s := range cfg.DisableSites {
		r.disabled[NewSite(s.Rule, s.Layers...).String()] = true
	}
	return r
}

func (r *rewrite) begin(p Pass) {
	r.changed, r.fired, r.missed, r.missAt = false, nil, nil, map[string]int{}
}

// each calls f for every layer in topological order, as the list was when each began; f may remove layers and insert
// others, and returns whether it changed anything. It is repeated until nothing changes.
func (r *rewrite) each(f func(l *graph.Layer) bool) {
	// A rewrite shrinks or normalises, so this ends long before the bound, which turns a mistake into an error.
	for round := 0; ; round++ {
		if round > 2*len(r.order)+16 {
			r.failed = fmt.Errorf("does not come to an end")
			return
		}
		again := false
		layers := slices.Clone(r.net.Layers)
		clear(r.places)
		for i, l := range layers {
			r.places[l] = i
		}
		for _, l := range layers {
			if r.ctx.Err() != nil {
				r.failed = r.ctx.Err()
				return
			}
			if r.net.Layer(l.Name) == l && f(l) {
				again = true
			}
		}
		if !again {
			return
		}
		if err := r.net.Sort(); err != nil {
			r.failed = err
			return
		}
	}
}

// place returns a number by which layers are in the order of the network while each calls: those that were inserted meanwhile
// are at the end of it.
func (r *rewrite) place(l *graph.Layer) int {
	if i, ok := r.places[l]; ok {
		return i
	}
	return len(r.places) + slices.Index(r.net.Layers, l)
}

// candidate is a place where a rule may apply. A pass makes one when it has found the pattern's shape, then says why
// it does not fire, or rewrites and says so.
type candidate struct {
	r       *rewrite
	site    Site
	layers  []*graph.Layer // as found
	members []string       // the source layers they stand for
	traffic int
	into    []*graph.Layer // after firing: what stands in their place
	instead *graph.Layer   // where nothing does: the layer that computes the same anyway
	apart   bool           // what stands in their place does not stand for all of the members
	saved   int
	note    string
}

// candidate returns the candidate of a rule on some layers.
func (r *rewrite) candidate(rule string, layers ...*graph.Layer) *candidate {
	c := &candidate{r: r, layers: layers, traffic: r.traffic(layers)}
	var keys []string
	for _, l := range layers {
		keys = append(keys, r.key(l))
		c.members = append(c.members, l.From...)
	}
	c.site = NewSite(rule, keys...)
	c.members = r.sources(c.members)
	return c
}

// key returns the source layer that gives l its op, or else, of a fused region, the last, whose result it is, or the
// first that it stands for.
func (r *rewrite) key(l *graph.Layer) string {
	for _, name := range l.From {
		if r.ops[name] == l.Op.Name {
			return name
		}
	}
	if l.Op == graph.Pointwise {
		return l.From[len(l.From)-1]
	}
	return l.From[0]
}

// sources sorts names of source layers by their place in the source network, without duplicates. Names of layers that
// were inserted later are left out.
func (r *rewrite) sources(names []string) []string {
	list := slices.DeleteFunc(slices.Clone(names), func(name string) bool { _, ok := r.order[name]; return !ok })
	slices.SortFunc(list, func(a, b string) int { return r.order[a] - r.order[b] })
	return slices.Compact(list)
}

// miss records why the candidate does not fire, and returns false.
func (c *candidate) miss(reason Reason, format string, args ...any) bool {
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

// enabled reports whether rule and site are switched on, and records a miss if not.
func (c *candidate) enabled() bool {
	if c.r.disabled[c.site.Rule] {
		return c.miss(Disabled, "rule %s is switched off", c.site.Rule)
	}
	if c.r.disabled[c.site.String()] {
		return c.miss(Disabled, "this place is switched off")
	}
	return true
}

// sole reports whether l is the only user of t and t is no output; if not, that is recorded as a miss. l may use t
// more than once.
func (c *candidate) sole(t *graph.Tensor, l *graph.Layer) bool {
	if c.r.net.IsOutput(t) {
		return c.miss(NetworkOutput, "%s is an output of the network", t.Name)
	}
	for _, u := range t.Users {
		if u != l {
			return c.miss(SecondConsumer, "%s is also used by %s", t.Name, u.Name)
		}
	}
	return true
}

// supported asks the target about a layer that the candidate would make.
func (c *candidate) supported(l *graph.Layer) bool {
	if c.r.cfg.Supports == nil || !NeedsTactic(l.Op) {
		return true
	}
	if err := c.r.cfg.Supports(l); err != nil {
		return c.miss(NoTactic, "%v", err)
	}
	return true
}

// has asks the target about a layer that stands for several.
func (c *candidate) has(l *graph.Layer) bool {
	if err := c.r.cfg.has(l); err != nil {
		return c.miss(NoTactic, "%v", err)
	}
	return true
}

// NeedsTactic reports whether a backend must be asked about an op: not about what planners lay out in memory without a
// launch, nor about reformats, which every backend has.
func NeedsTactic(op *graph.Op) bool { return op.Memory == graph.Written }

// fire records that the candidate's layers have been replaced by those given, which may be some of them, and returns
// true. A single one stands for all of the members and is named after them; with none, the members are gone and the pass
// says how by drop.
func (c *candidate) fire(into ...*graph.Layer) bool {
	r := c.r
	r.changed = true
	c.into = into
	c.saved = c.traffic - r.traffic(into)
	if len(into) == 1 && len(c.members) > 0 && !c.apart {
		into[0].From = c.members
		r.net.Rename(into[0], r.name(into[0]))
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

// drop notes that the source layers of l are gone, and which layer computes their result, if any does.
func (r *rewrite) drop(l *graph.Layer, fate Fate, instead *graph.Layer) {
	for _, name := range r.sources(l.AllFrom()) {
		d := drop{fate: fate}
		if instead != nil {
			d.into = instead.From[0]
		}
		r.drops[name] = d
	}
}

// record returns the pass's rewrites with the names that layers have now.
func (r *rewrite) record() []Fired {
	var list []Fired
	holders := map[string]string{} // by source layer, the name of the first layer that stands for it
	if len(r.fired) > 0 {
		for _, l := range r.net.AllLayers() {
			for _, name := range l.From {
				if holders[name] == "" {
					holders[name] = l.Name
				}
			}
		}
	}
	// holder returns the name of l, or of the layer that l has become part of.
	holder := func(l *graph.Layer) string {
		if r.net.Layer(l.Name) == l {
			return l.Name
		}
		return holders[l.From[0]]
	}
	for _, c := range r.fired {
		f := Fired{Site: c.site, Members: c.members, KernelsSaved: len(c.layers) - len(c.into), BytesSaved: c.saved, Note: c.note}
		if len(c.into) > 0 {
			f.Into = holder(c.into[0])
		} else if c.instead != nil {
			f.Into = holder(c.instead)
		}
		list = append(list, f)
	}
	return list
}

// misses returns the pass's misses, but for those whose layers have come together after all.
func (r *rewrite) misses() []Missed {
	holder := map[string]string{}
	for _, l := range r.net.AllLayers() {
		for _, name := range l.From {
			holder[name] = l.Name
		}
	}
	return slices.DeleteFunc(r.missed, func(m Missed) bool {
		if m.Reason == "" {
			return true
		}
		list := m.Site.Layers
		together := func(name string) bool { return holder[name] != "" && holder[name] == holder[list[0]] }
		return len(list) > 1 && !slices.ContainsFunc(list, func(name string) bool { return !together(name) })
	})
}

// traffic returns the bytes of activations that the layers read and write.
func (r *rewrite) traffic(layers []*graph.Layer) int {
	sum := 0
	for _, l := range layers {
		for i, t := range l.Inputs {
			if t != nil && !t.IsConst() && !slices.Contains(l.Inputs[:i], t) {
				sum += r.bytes(t)
			}
		}
		for _, t := range l.Outputs {
			sum += r.bytes(t)
		}
	}
	return sum
}

// bytes returns the size of t at the configured shapes.
func (r *rewrite) bytes(t *graph.Tensor) int {
	return max(0, numeric.Count(symbolic.Eval(t.Dims, r.cfg.Shapes))*t.Type.Size())
}

// bypass removes l, whose output equals its input x, and makes x's users and producer take over. It reports false
// where l is all that ties an output of the network to an input, a constant or another output.
func (r *rewrite) bypass(l *graph.Layer, x *graph.Tensor) bool {
	y := l.Outputs[0]
	if !r.net.IsOutput(y) {
		r.net.Redirect(y, x)
		r.net.Remove(l)
		return true
	}
	p := x.Producer
	if p == nil || r.net.IsOutput(x) {
		return false
	}
	p.SetOutput(slices.Index(p.Outputs, x), y)
	r.net.Redirect(x, y)
	r.net.Remove(l)
	return true
}

// replace makes the new layer, which r.net does not have yet, produce l's output in place of l.
func (r *rewrite) replace(l, by *graph.Layer) *graph.Layer {
	y := l.Outputs[0]
	by.From, by.Outputs = l.From, []*graph.Tensor{y}
	name := l.Name
	y.Producer = nil // so that y stays when l goes
	r.net.Remove(l)
	by.Name = name
	return r.net.Insert(by)
}
