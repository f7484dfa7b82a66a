package pass

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
)

// inside runs a pass on the networks inside layers, as on a network: their inputs and outputs stay. What is changed takes the
// place of what was there.
func (r *Rewrite) inside(p Pass) {
	for _, l := range r.net.Layers {
		bodies := l.Bodies()
		if len(bodies) == 0 || r.failed != nil {
			continue
		}
		list, changed := make([]*graph.Network, len(bodies)), false
		for i, b := range bodies {
			list[i] = b.Network
			sub := r.within(p, b.Network)
			sub.run(p)
			sub.inside(p)
			if p.Lower && !sub.net.Lowered {
				sub.net.Lowered, sub.changed = true, true
			}
			r.adopt(sub)
			if r.failed == nil && sub.changed {
				r.failed = sub.settleBody(b.Network)
				list[i], changed = sub.net, true
			}
			if r.failed != nil {
				r.failed = fmt.Errorf("layer %s: %s: %w", l.Name, b.Name, r.failed)
				return
			}
		}
		if changed {
			l.SetBodies(list)
			r.changed = true
		}
	}
}

// within returns what a pass works on inside a layer.
func (r *Rewrite) within(p Pass, body *graph.Network) *Rewrite {
	sub := *r
	sub.net, sub.places = body.Clone(), map[*graph.Layer]int{}
	sub.begin(p)
	return &sub
}

// adopt takes over the record of what was done inside a layer.
func (r *Rewrite) adopt(sub *Rewrite) {
	if sub.failed != nil {
		r.failed = sub.failed
	}
	r.fired = append(r.fired, sub.fired...)
	for _, m := range sub.missed {
		if m.Reason != "" {
			r.missAt[m.Site.String()] = len(r.missed)
			r.missed = append(r.missed, m)
		}
	}
}

// settleBody brings the body into order after a pass and checks it against what it was before.
func (r *Rewrite) settleBody(before *graph.Network) error {
	n := r.net
	n.Prune()
	if err := n.Sort(); err != nil {
		return err
	}
	if err := n.Verify(); err != nil {
		return err
	}
	if !n.Lowered {
		if err := n.Infer(); err != nil {
			return err
		}
	}
	for i, t := range before.Outputs {
		if now := n.Outputs[i]; now.Type != t.Type || !graph.SameShape(now.Dims, t.Dims) {
			return fmt.Errorf("output %d, %s, became %s", i, t, now)
		}
	}
	return nil
}
