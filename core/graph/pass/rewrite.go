package pass

import (
	"context"
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Rewrite is what a pass works on: the network, and the record of what is done to it.
type Rewrite struct {
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
	running Pass
	changed bool
	failed  error
	fired   []*Candidate
	missed  []Missed
	missAt  map[string]int       // index into missed, by the site's text
	places  map[*graph.Layer]int // of the layers that each began its round with
}

func newRewrite(ctx context.Context, n *graph.Network, cfg *Config) *Rewrite {
	r := &Rewrite{ctx: ctx, net: n.Clone(), snapshot: n, cfg: cfg, ledger: cfg.Ledger,
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

func (r *Rewrite) begin(p Pass) {
	r.running, r.changed, r.fired, r.missed, r.missAt = p, false, nil, nil, map[string]int{}
}

// Each calls f for every layer in topological order, as the list was when each began; f may remove layers and insert
// others, and returns whether it changed anything. It is repeated until nothing changes.
func (r *Rewrite) Each(f func(l *graph.Layer) bool) {
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

// Place returns a number by which layers are in the order of the network while Each calls: those that were inserted meanwhile
// are at the end of it.
func (r *Rewrite) Place(l *graph.Layer) int {
	if i, ok := r.places[l]; ok {
		return i
	}
	return len(r.places) + slices.Index(r.net.Layers, l)
}

// Key returns the source layer that gives l its op, or else, of a fused region, the last, whose result it is, or the
// first that it stands for.
func (r *Rewrite) Key(l *graph.Layer) string {
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

// Sources sorts names of source layers by their place in the source network, without duplicates. Names of layers that
// were inserted later are left out.
func (r *Rewrite) Sources(names []string) []string {
	list := slices.DeleteFunc(slices.Clone(names), func(name string) bool { _, ok := r.order[name]; return !ok })
	slices.SortFunc(list, func(a, b string) int { return r.order[a] - r.order[b] })
	return slices.Compact(list)
}

// NeedsTactic reports whether a backend must be asked about an op: not about what planners lay out in memory without a
// launch, nor about reformats, which every backend has.
func NeedsTactic(op *graph.Op) bool { return op.Memory == graph.Written }

// drop notes that the source layers of l are gone, and which layer computes their result, if any does.
func (r *Rewrite) drop(l *graph.Layer, fate Fate, instead *graph.Layer) {
	for _, name := range r.Sources(l.AllFrom()) {
		d := drop{fate: fate}
		if instead != nil {
			d.into = instead.From[0]
		}
		r.drops[name] = d
	}
}

// record returns the pass's rewrites with the names that layers have now.
func (r *Rewrite) record() []Fired {
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
		f := Fired{Site: c.site, Members: c.Members, KernelsSaved: len(c.Found) - len(c.into), BytesSaved: c.saved, Note: c.note}
		if len(c.into) > 0 {
			f.Into = holder(c.into[0])
		} else if c.Instead != nil {
			f.Into = holder(c.Instead)
		}
		list = append(list, f)
	}
	return list
}

// misses returns the pass's misses, but for those whose layers have come together after all.
func (r *Rewrite) misses() []Missed {
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

// Traffic returns the bytes of activations that the layers read and write.
func (r *Rewrite) Traffic(layers []*graph.Layer) int {
	sum := 0
	for _, l := range layers {
		for i, t := range l.Inputs {
			if t != nil && !t.IsConst() && !slices.Contains(l.Inputs[:i], t) {
				sum += r.Bytes(t)
			}
		}
		for _, t := range l.Outputs {
			sum += r.Bytes(t)
		}
	}
	return sum
}

// Bytes returns the size of t at the configured shapes.
func (r *Rewrite) Bytes(t *graph.Tensor) int {
	return max(0, numeric.Count(symbolic.Eval(t.Dims, r.cfg.Shapes))*t.Type.Size())
}

// Bypass removes l, whose output equals its input x, and makes x's users and producer take over. It reports false
// where l is all that ties an output of the network to an input, a constant or another output.
func (r *Rewrite) Bypass(l *graph.Layer, x *graph.Tensor) bool {
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

// Replace makes the new layer, which r.net does not have yet, produce l's output in place of l.
func (r *Rewrite) Replace(l, by *graph.Layer) *graph.Layer {
	y := l.Outputs[0]
	by.From, by.Outputs = l.From, []*graph.Tensor{y}
	name := l.Name
	y.Producer = nil // so that y stays when l goes
	r.net.Remove(l)
	by.Name = name
	return r.net.Insert(by)
}

// removeUnused removes those of the layers that nothing needs any more.
func (r *Rewrite) removeUnused(layers []*graph.Layer) {
	for again := true; again; { // users go before what they use
		again = false
		for _, l := range layers {
			if r.net.Layer(l.Name) == l && !r.Used(l) {
				r.net.Remove(l)
				again = true
			}
		}
	}
}

// Used reports whether anything needs an output of l.
func (r *Rewrite) Used(l *graph.Layer) bool {
	for _, t := range l.Outputs {
		if len(t.Users) > 0 || r.net.IsOutput(t) {
			return true
		}
	}
	return false
}

// Moved returns the bytes that each of the layers reads and writes.
func (r *Rewrite) Moved(layers []*graph.Layer) map[*graph.Layer]int {
	m := map[*graph.Layer]int{}
	for _, l := range layers {
		m[l] = r.Traffic([]*graph.Layer{l})
	}
	return m
}

// Network returns the network, to be changed through its methods and those below.
func (r *Rewrite) Network() *graph.Network { return r.net }

// Shapes returns the values of the network's symbols that are known; one that is not there may have any.
func (r *Rewrite) Shapes() map[string]int { return r.cfg.Shapes }

// Quantises reports whether the network is to be quantised.
func (r *Rewrite) Quantises() bool { return r.cfg.Quantises }

// Missed returns the candidates that the pass has left as they are so far; of one that fired after all, an empty one stays.
func (r *Rewrite) Missed() []Missed { return r.missed }

// Change notes that the network has changed where no candidate fires.
func (r *Rewrite) Change() { r.changed = true }

// Fail ends the run of the table with an error.
func (r *Rewrite) Fail(err error) { r.failed = err }

// Supports returns why the target has no tactic for a layer; nil if it has one.
func (r *Rewrite) Supports(l *graph.Layer) error {
	if r.cfg.Supports == nil {
		return nil
	}
	return r.cfg.Supports(l)
}

// Target returns why the target has no tactic for a layer that stands for several; nil if it has one.
func (r *Rewrite) Target(l *graph.Layer) error {
	if r.cfg.Target == nil || !NeedsTactic(l.Op) {
		return nil
	}
	return r.cfg.Target(l)
}

// Eliminate notes that l is gone, and which layer computes its result, if any does: for candidates that fire without a layer
// in their place.
func (r *Rewrite) Eliminate(l, instead *graph.Layer) { r.drop(l, Eliminated, instead) }

// Fold notes that l is gone, since its result is a constant.
func (r *Rewrite) Fold(l *graph.Layer) { r.drop(l, Folded, nil) }
