package fuse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// lone says of element-wise layers that stay layers of their own what each operand is that nothing could be fused into, unless
// a rule has said why it did not apply there.
func lone(r *pass.Rewrite, rule string) {
	told := map[string]bool{}
	for _, m := range r.Missed() {
		for _, name := range m.Site.Layers {
			told[name] = true
		}
	}
	for _, l := range r.Network().Layers {
		e, ok := match.PointwiseOf(l)
		if !ok || len(l.From) != 1 || told[r.Key(l)] {
			continue
		}
		var why []string
		for _, t := range e.Inputs {
			if !t.IsConst() {
				why = append(why, untaken(r, t, l))
			}
		}
		if len(why) > 0 {
			r.Candidate(rule, l).Miss(pass.NoProducer, "%s", strings.Join(why, "; "))
		}
	}
}

// untaken says why what computes an operand of an element-wise layer does not take that in.
func untaken(r *pass.Rewrite, t *graph.Tensor, l *graph.Layer) string {
	p := t.Producer
	switch {
	case p == nil:
		return fmt.Sprintf("%s is an input", t.Name)
	case !match.IsAnchor(p):
		return fmt.Sprintf("%s is computed by %s, and %s takes no epilogue", t.Name, p.Name, p.Op.Name)
	case !symbolic.Equal(t.Dims, l.Outputs[0].Dims):
		return fmt.Sprintf("%s is smaller than the result", t.Name)
	case r.Network().IsOutput(t):
		return fmt.Sprintf("%s is an output of the network", t.Name)
	}
	for _, u := range t.Users {
		if u != l {
			return fmt.Sprintf("%s is also used by %s", t.Name, u.Name)
		}
	}
	return fmt.Sprintf("%s did not take it", p.Name)
}

// whichProducer says which of two layers that could have taken an operation in has it, and why that one.
func whichProducer(l *graph.Layer, e match.Pointwise, full []int, at int) string {
	p := e.Inputs[at].Producer
	for _, other := range full {
		if q := e.Inputs[other].Producer; other != at && match.IsAnchor(q) {
			if slices.Index(full, other) > slices.Index(full, at) {
				return fmt.Sprintf("%s took %s rather than %s: it is the later of the two, when the other's result is there", p.Name, l.Name, q.Name)
			}
			return fmt.Sprintf("%s took %s, since %s, which is later, could not", p.Name, l.Name, q.Name)
		}
	}
	return ""
}
