package recognise

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// blended goes on before a mask that is multiplied by and added, as the first GPTs were written: m is 1 where scores stay.
//
//	a = Mul(s, m)
//	b = Mul(Sub(1, m), -10000)     ->   y = Where(m, s, -10000)
//	y = Add(a, b)
//
// or, as tf2onnx writes a Where, m the cast of a truth and 1-m that of what it is not.
//
// l adds rest, times a factor, to product.
func (a *attention) blended(l *graph.Layer, product, rest *graph.Tensor, factor float64) *graph.Layer {
	op, args := operation(product)
	if op != elementwise.Mul || a.r.Network().Sole(product) != l {
		return nil
	}
	for i, m := range args {
		fill, ok := a.fills(rest, m)
		if !ok || !isZeroOrOne(m) {
			continue
		}
		if v, ok := m.Const(); ok {
			m = a.draft.constant(m.Name+"_seen", truths(v))
		}
		note := mask{t: m, fill: fill * factor, selects: true}
		if found := a.masked(l, args[1-i], note, 1); found != nil {
			a.take(product.Producer)
			return found
		}
	}
	return nil
}

// fills returns what rest is where m is 0, if it is 0 where m is 1.
func (a *attention) fills(rest, m *graph.Tensor) (float64, bool) {
	if v, ok := rest.Const(); ok {
		by, ok := m.Const()
		if !ok || !symbolic.Equal(rest.Dims, m.Dims) || v.Len() > maxSurvey {
			return 0, false
		}
		list, fill, some := by.Float64s(), 0.0, false
		for i, x := range v.Float64s() {
			switch {
			case list[i] != 0 && x != 0, list[i] == 0 && some && x != fill:
				return 0, false
			case list[i] == 0:
				fill, some = x, true
			}
		}
		return fill, some
	}
	p := &pattern{net: a.r.Network()}
	u, by, fill := p.affine(rest)
	if u == m {
		return fill, by == -fill
	}
	s := newSurveyor()
	x, ok := s.number(m)
	y, ok2 := s.number(rest)
	switch {
	case isOpposite(u, m):
		return by, fill == 0
	case !ok || !ok2 || !x.choice || !y.choice || x.at != y.at || !slices.Equal(x.by, y.by):
		return 0, false
	case x.yes == 1:
		return y.no, y.yes == 0
	}
	return y.yes, y.no == 0
}

// isOpposite reports whether t is 1 where m is 0, and 0 elsewhere: the casts of a truth and of what it is not.
func isOpposite(t, m *graph.Tensor) bool {
	if t.Producer == nil || m.Producer == nil || t.Producer.Op != graph.Cast || m.Producer.Op != graph.Cast || t.Producer.Epilogue.Args+m.Producer.Epilogue.Args > 0 {
		return false
	}
	a, b := t.Producer.Inputs[0], m.Producer.Inputs[0]
	is := func(not, of *graph.Tensor) bool {
		op, args := operation(not)
		return op == elementwise.Not && args[0] == of
	}
	return a.Type == numeric.Bool && b.Type == numeric.Bool && (is(a, b) || is(b, a))
}

// isZeroOrOne reports whether the elements of t are 0 or 1.
func isZeroOrOne(t *graph.Tensor) bool {
	if n, ok := newSurveyor().number(t); ok {
		return n.isTruth()
	}
	if l := t.Producer; l != nil && l.Op == graph.Cast && l.Epilogue.Args == 0 && l.Inputs[0].Type == numeric.Bool {
		return true
	}
	v, ok := corner(t).Const()
	if !ok || v.Len() > maxSurvey {
		return false
	}
	for _, x := range v.Float64s() {
		if x != 0 && x != 1 {
			return false
		}
	}
	return true
}

// truths returns which elements of v are not 0.
func truths(v numeric.Value) numeric.Value {
	y := numeric.NewValue(numeric.Bool, v.Dims...)
	for i, x := range v.Float64s() {
		if x != 0 {
			y.Data[i] = 1
		}
	}
	return y
}

// truth returns a mask that selects as one of truths.
func (a *attention) truth(t *graph.Tensor) *graph.Tensor {
	switch l := t.Producer; {
	case t.Type == numeric.Bool:
		return t
	case l != nil && l.Op == graph.Cast && l.Epilogue.Args == 0 && l.Inputs[0].Type == numeric.Bool:
		return l.Inputs[0]
	}
	return a.draft.layer(t.Name+"_seen", graph.Cast, graph.CastAttrs{To: numeric.Bool}, t)
}
