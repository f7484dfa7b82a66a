package pass

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// lone says of element-wise layers that stay layers of their own what each operand is that nothing could be fused into, unless
// a rule has said why it did not apply there.
func (r *rewrite) lone(rule string) {
	told := map[string]bool{}
	for _, m := range r.missed {
		for _, name := range m.Site.Layers {
			told[name] = true
		}
	}
	for _, l := range r.net.Layers {
		e, ok := pointwiseOf(l)
		if !ok || len(l.From) != 1 || told[r.key(l)] {
			continue
		}
		var why []string
		for _, t := range e.inputs {
			if !t.IsConst() {
				why = append(why, r.untaken(t, l))
			}
		}
		if len(why) > 0 {
			r.candidate(rule, l).miss(NoProducer, "%s", strings.Join(why, "; "))
		}
	}
}

// untaken says why what computes an operand of an element-wise layer does not take that in.
func (r *rewrite) untaken(t *graph.Tensor, l *graph.Layer) string {
	p := t.Producer
	switch {
	case p == nil:
		return fmt.Sprintf("%s is an input", t.Name)
	case !isAnchor(p):
		return fmt.Sprintf("%s is computed by %s, and %s takes no epilogue", t.Name, p.Name, p.Op.Name)
	case !symbolic.Equal(t.Dims, l.Outputs[0].Dims):
		return fmt.Sprintf("%s is smaller than the result", t.Name)
	case r.net.IsOutput(t):
		return fmt.Sprintf("%s is an output of the network", t.Name)
	}
	for _, u := range t.Users {
		if u != l {
			return fmt.Sprintf("%s is also used by %s", t.Name, u.Name)
		}
	}
	return fmt.Sprintf("%s did not take it", p.Name)
}

// moving says of transpositions that they are no views: which axes change places.
func (r *rewrite) moving(rule string) {
	for _, l := range r.net.Layers {
		a, ok := l.Attrs.(graph.TransposeAttrs)
		if !ok || l.Op != graph.Transpose || len(l.Inputs) == 0 {
			continue
		}
		dims, perm := l.Inputs[0].Dims, a.Perm
		if perm == nil {
			for i := range dims {
				perm = append(perm, len(dims)-1-i)
			}
		}
		perm = slices.DeleteFunc(slices.Clone(perm), func(axis int) bool { return dims[axis].Is(1) })
		for i := 1; i < len(perm); i++ {
			if x, y := perm[i], perm[i-1]; x < y {
				r.candidate(rule, l).miss(MovesElements, "axis %d, of %v, comes behind axis %d, of %v: the elements lie in another order than in its input, so it is no view of that",
					x, dims[x], y, dims[y])
				break
			}
		}
	}
}

// whichProducer says which of two layers that could have taken an operation in has it, and why that one.
func whichProducer(l *graph.Layer, e pointwise, full []int, at int) string {
	p := e.inputs[at].Producer
	for _, other := range full {
		if q := e.inputs[other].Producer; other != at && isAnchor(q) {
			if slices.Index(full, other) > slices.Index(full, at) {
				return fmt.Sprintf("%s took %s rather than %s: it is the later of the two, when the other's result is there", p.Name, l.Name, q.Name)
			}
			return fmt.Sprintf("%s took %s, since %s, which is later, could not", p.Name, l.Name, q.Name)
		}
	}
	return ""
}
