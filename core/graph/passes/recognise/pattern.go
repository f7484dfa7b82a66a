package recognise

import (
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/pass/match"
)

// pattern is a match under way.
type pattern struct {
	net       *graph.Network
	tolerance float64
	inner     []*graph.Layer // layers that the match is made of
}

func (m *pattern) near(v, want float64) bool { return math.Abs(v-want) <= m.tolerance*math.Abs(want) }

// op returns the operation that computes t and its arguments, where an element-wise layer of one operation does.
func (m *pattern) op(t *graph.Tensor) (elementwise.Instr, []*graph.Tensor, bool) {
	if t.Producer == nil {
		return elementwise.Instr{}, nil, false
	}
	p, ok := graph.ProgramOf(t.Producer)
	if !ok || len(p.Code) != 1 || t.Producer.Epilogue.Args > 0 {
		return elementwise.Instr{}, nil, false
	}
	in := p.Code[0]
	var args []*graph.Tensor
	for _, v := range in.Arg[:in.Op.Info().Arity] {
		args = append(args, t.Producer.Inputs[v])
	}
	return in, args, true
}

// is returns the argument of t where t is the given operation of one argument, and takes it into the match.
func (m *pattern) is(t *graph.Tensor, op elementwise.Op) (*graph.Tensor, bool) {
	in, args, ok := m.op(t)
	if !ok || in.Op != op || len(args) != 1 {
		return nil, false
	}
	m.take(t)
	return args[0], true
}

func (m *pattern) take(t *graph.Tensor) {
	if !m.has(t.Producer) {
		m.inner = append(m.inner, t.Producer)
	}
}

// has reports whether the match is made of l, among others.
func (m *pattern) has(l *graph.Layer) bool { return slices.Contains(m.inner, l) }

// maxPattern bounds the layers that a match looks at: no activation takes as many.
const maxPattern = 16

// single reports whether the match may look through t: nothing else uses it, or nothing has been taken yet and it is
// the result. The argument of an activation with two factors has two uses, so that this ends there.
func (m *pattern) single(t *graph.Tensor) bool {
	return len(m.inner) == 0 || len(m.inner) < maxPattern && len(t.Users) == 1 && !m.net.IsOutput(t)
}

// product returns t as a constant times factors, through multiplications, divisions by constants and negations.
func (m *pattern) product(t *graph.Tensor) (float64, []*graph.Tensor) {
	if s, ok := match.Scalar(t); ok {
		return s, nil
	}
	if in, args, ok := m.op(t); ok && m.single(t) {
		switch in.Op {
		case elementwise.Mul:
			m.take(t)
			a, f := m.product(args[0])
			b, g := m.product(args[1])
			return a * b, append(f, g...)
		case elementwise.Div:
			if s, ok := match.Scalar(args[1]); ok {
				m.take(t)
				a, f := m.product(args[0])
				return a / s, f
			}
		case elementwise.Neg:
			m.take(t)
			a, f := m.product(args[0])
			return -a, f
		}
	}
	return 1, []*graph.Tensor{t}
}

// affine returns t as a*u + b with constants a and b.
func (m *pattern) affine(t *graph.Tensor) (u *graph.Tensor, a, b float64) {
	a = 1
	for {
		in, args, ok := m.op(t)
		if !ok || !m.single(t) {
			return t, a, b
		}
		var s float64
		x, constant := t, false
		switch len(args) {
		case 1:
			x, constant = args[0], true
		case 2:
			if s, constant = match.Scalar(args[1]); constant {
				x = args[0]
			} else if s, constant = match.Scalar(args[0]); constant && in.Op != elementwise.Div {
				x = args[1]
			}
		}
		if !constant || x == t {
			return t, a, b
		}
		switch {
		case in.Op == elementwise.Add:
			b += a * s
		case in.Op == elementwise.Sub && x == args[0]:
			b -= a * s
		case in.Op == elementwise.Sub:
			b, a = b+a*s, -a
		case in.Op == elementwise.Mul:
			a *= s
		case in.Op == elementwise.Div:
			a /= s
		case in.Op == elementwise.Neg:
			a = -a
		default:
			return t, a, b
		}
		m.take(t)
		t = x
	}
}

// bounds returns t as u clamped to [lo, hi], through Clip, Relu, and Min and Max with constants.
func (m *pattern) bounds(t *graph.Tensor) (u *graph.Tensor, lo, hi float64) {
	lo, hi = math.Inf(-1), math.Inf(1)
	for first := true; ; first = false {
		in, args, ok := m.op(t)
		if !ok || !first && !m.single(t) {
			return t, lo, hi
		}
		l, h, x := math.Inf(-1), math.Inf(1), args[0]
		switch in.Op {
		case elementwise.Relu:
			l = 0
		case elementwise.Clamp:
			l, h = float64(in.Imm[0]), float64(in.Imm[1])
		case elementwise.Min, elementwise.Max:
			s, ok := match.Scalar(args[1])
			if !ok {
				s, ok = match.Scalar(args[0])
				x = args[1]
			}
			if !ok {
				return t, lo, hi
			}
			if in.Op == elementwise.Min {
				h = s
			} else {
				l = s
			}
		default:
			return t, lo, hi
		}
		m.take(t)
		// What was outside clamps the bounds of what is inside.
		lo, hi = max(lo, min(hi, l)), max(lo, min(hi, h))
		t = x
	}
}

// twoFactors calls f with both orders of the factors of t, where it is c times two factors, until one matches.
func (m *pattern) twoFactors(t *graph.Tensor, f func(c float64, x, g *graph.Tensor) bool) (*graph.Tensor, bool) {
	c, factors := m.product(t)
	if len(factors) != 2 {
		return nil, false
	}
	taken := len(m.inner)
	for i, x := range factors {
		if f(c, x, factors[1-i]) {
			return x, true
		}
		m.inner = m.inner[:taken]
	}
	return nil, false
}
