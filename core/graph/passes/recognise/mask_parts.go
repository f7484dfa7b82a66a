package recognise

import (
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Of a text that is padded, exporters write one mask: where a key is not behind the query, And where it is a token. Each of the two may
// be what attention knows better: the first is the attribute, and the second is of keys alone.

// parts returns masks that together do what m does, each by less; none where nothing is hidden. Only scores that become minus infinity
// are hidden by several as by one: a row of which all are another number has the mean of the values, of all keys.
func (m mask) parts() []mask {
	s := m.chosen()
	if !s.selects || !(s.fill <= vanishing) || s.t.Type != numeric.Bool {
		return []mask{m}
	}
	list := s.conjuncts(nil)
	if len(list) == 1 && list[0].t == s.t || len(list) > 1 && !math.IsInf(s.fill, -1) {
		return []mask{m}
	}
	return list
}

// hidesBehind reports whether a mask that stays whole has a causal part, and by what number it hides.
func (m mask) hidesBehind(rows, keys symbolic.Dim) (fill float64, ok bool) {
	s := m.chosen()
	if !s.selects || math.IsInf(s.fill, -1) || s.t.Type != numeric.Bool {
		return 0, false
	}
	list := s.conjuncts(nil)
	return s.fill, len(list) > 1 && slices.ContainsFunc(list, func(p mask) bool { return p.isCausal(rows, keys) })
}

// chosen returns a mask of zeros and numbers beside which scores vanish, by a condition, as one that selects by that; others as they are.
func (m mask) chosen() mask {
	in, args := operation(m.t)
	if m.selects || in != elementwise.Select {
		return m
	}
	x, ok := match.Scalar(args[1])
	y, ok2 := match.Scalar(args[2])
	switch {
	case ok && ok2 && x == 0 && y <= vanishing:
		return mask{t: args[0], selects: true, fill: y, dims: m.dims}
	case ok && ok2 && y == 0 && x <= vanishing:
		return mask{t: args[0], selects: true, negated: true, fill: x, dims: m.dims}
	}
	return m
}

// conjuncts appends the masks that one brings together, those aside that hide nothing.
func (m mask) conjuncts(list []mask) []mask {
	if m.doesNothing() {
		return list
	}
	both := elementwise.And
	if m.negated {
		both = elementwise.Or
	}
	in, args := operation(m.t)
	switch {
	case in == elementwise.Not && args[0].Type == numeric.Bool:
		m.t, m.negated = args[0], !m.negated
		return m.conjuncts(list)
	case in != both:
		return append(list, m)
	}
	for _, t := range args {
		part := m
		if part.t = t; t.Type != numeric.Bool || len(t.Dims) < 2 && !part.doesNothing() {
			return append(list, m)
		}
	}
	for _, t := range args {
		part := m
		part.t = t
		list = part.conjuncts(list)
	}
	return list
}

// operation returns the only operation of the element-wise layer that makes t, and what it takes; that of no operation where there are
// several, or another layer makes t.
func operation(t *graph.Tensor) (op elementwise.Op, args []*graph.Tensor) {
	l := t.Producer
	if l == nil || l.Epilogue.Args > 0 {
		return op, nil
	}
	a, ok := l.Attrs.(graph.Elementwise)
	if !ok || len(a.Program.Code) != 1 {
		return op, nil
	}
	in := a.Program.Code[0]
	for _, v := range in.Arg[:in.Op.Info().Arity] {
		if v < 0 || v >= len(l.Inputs) {
			return op, nil
		}
		args = append(args, l.Inputs[v])
	}
	return in.Op, args
}
