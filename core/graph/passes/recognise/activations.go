package recognise

import (
	"math"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Activations finds activations that a model spells out in several layers, whatever the order of their
// factors and wherever constants are multiplied in:
//
//	a = Div(x, sqrt 2)
//	b = Erf(a)
//	c = Add(b, 1)        ->   y = Pointwise(x) gelu($0)
//	d = Mul(x, c)
//	y = Mul(d, 0.5)
//
// and likewise GELU with tanh, x*sigmoid(x) (SiLU), x*sigmoid(a*x) (Swish; of 1.702, the quick GELU), x*clip(x+3, 0, 6)/6 or x*HardSigmoid(x) (HardSwish),
// clip(a*x+b, 0, h)/h (HardSigmoid) and chains of Relu, Min, Max and Clip by constants (one clamp).
var Activations = pass.Pass{
	Name:  "recognise-activations",
	Doc:   "recognise activations that are written as several layers",
	Rules: []string{"gelu", "gelu-tanh", "silu", "swish", "hard-swish", "hard-sigmoid", "clamp"},
	Run: func(r *pass.Rewrite) {
		r.Each(func(l *graph.Layer) bool {
			if _, ok := match.PointwiseOf(l); !ok {
				return false
			}
			for _, a := range activations {
				m := pattern{net: r.Network(), tolerance: 1e-5}
				if l.Outputs[0].Type != numeric.F32 {
					m.tolerance = 2e-3 // constants are rounded to 16 bits
				}
				if x, p, ok := a.match(&m, l.Outputs[0]); ok && len(m.inner) > 1 && recognise(r, a.rule, l, &m, x, p) {
					return true
				}
			}
			return false
		})
	},
}

// activations are the patterns: match returns the argument and the program that the tensor is of it.
var activations = []struct {
	rule  string
	match func(*pattern, *graph.Tensor) (*graph.Tensor, elementwise.Program, bool)
}{
	{"gelu", (*pattern).gelu},
	{"gelu-tanh", (*pattern).geluTanh},
	{"silu", (*pattern).silu},
	{"swish", (*pattern).swish},
	{"hard-swish", (*pattern).hardSwish},
	{"hard-sigmoid", (*pattern).hardSigmoid},
	{"clamp", (*pattern).clamp},
}

// recognise replaces the layers of a pattern, of which root is the last, by one that applies p to x.
func recognise(r *pass.Rewrite, rule string, root *graph.Layer, m *pattern, x *graph.Tensor, p elementwise.Program) bool {
	c := r.Candidate(rule, m.inner...)
	if !c.Contained(root) {
		return false
	}
	y := root.Outputs[0]
	if !symbolic.Equal(x.Dims, y.Dims) || x.Type != y.Type {
		return c.Miss(pass.WrongShape, "%s becomes %s", x, y)
	}
	by := &graph.Layer{Name: root.Name, Op: graph.Pointwise, Attrs: graph.Elementwise{Program: p},
		Inputs: []*graph.Tensor{x}, Outputs: []*graph.Tensor{y}, From: c.Members}
	return c.Supported(by) && c.Enabled() && c.Substitute(root, by)
}

// gelu matches c*x*(a*erf(x/sqrt 2) + a) with c*a = 1/2.
func (m *pattern) gelu(t *graph.Tensor) (*graph.Tensor, elementwise.Program, bool) {
	x, ok := m.twoFactors(t, func(c float64, x, g *graph.Tensor) bool {
		e, a, b := m.affine(g)
		v, ok := m.is(e, elementwise.Erf)
		if !ok || !m.near(b, a) || !m.near(c*a, 0.5) {
			return false
		}
		u, s, shift := m.affine(v)
		return u == x && shift == 0 && m.near(s, 1/math.Sqrt2)
	})
	return x, elementwise.Unary(elementwise.Gelu), ok
}

// geluTanh matches c*x*(a*tanh(sqrt(2/pi) * (x + 0.044715*x^3)) + a) with c*a = 1/2.
func (m *pattern) geluTanh(t *graph.Tensor) (*graph.Tensor, elementwise.Program, bool) {
	x, ok := m.twoFactors(t, func(c float64, x, g *graph.Tensor) bool {
		e, a, b := m.affine(g)
		v, ok := m.is(e, elementwise.Tanh)
		if !ok || !m.near(b, a) || !m.near(c*a, 0.5) {
			return false
		}
		s, f := m.product(v)
		if !m.near(s, math.Sqrt(2/math.Pi)) {
			return false
		}
		switch {
		case len(f) == 1: // x + 0.044715*x^3
			in, args, ok := m.op(f[0])
			if !ok || in.Op != elementwise.Add {
				return false
			}
			m.take(f[0])
			return args[0] == x && m.power(args[1], x, 3) || args[1] == x && m.power(args[0], x, 3)
		case len(f) == 2 && f[0] == x: // x * (1 + 0.044715*x^2)
			return m.onePlusSquare(f[1], x)
		case len(f) == 2 && f[1] == x:
			return m.onePlusSquare(f[0], x)
		}
		return false
	})
	return x, elementwise.Unary(elementwise.GeluTanh), ok
}

func (m *pattern) onePlusSquare(t, x *graph.Tensor) bool {
	in, args, ok := m.op(t)
	if !ok || in.Op != elementwise.Add {
		return false
	}
	m.take(t)
	one, square := args[0], args[1]
	if _, ok := match.Scalar(one); !ok {
		one, square = square, one
	}
	s, ok := match.Scalar(one)
	return ok && m.near(s, 1) && m.power(square, x, 2)
}

// power reports whether t is 0.044715 * x^n, with the power written out or not.
func (m *pattern) power(t, x *graph.Tensor, n int) bool {
	c, f := m.product(t)
	count := 0
	for _, u := range f {
		if u == x {
			count++
			continue
		}
		in, args, ok := m.op(u)
		if !ok || in.Op != elementwise.Pow || args[0] != x {
			return false
		}
		e, ok := match.Scalar(args[1])
		if !ok || e != math.Trunc(e) || e < 1 || e > 3 {
			return false
		}
		m.take(u)
		count += int(e)
	}
	return count == n && m.near(c, 0.044715)
}

// silu matches x*sigmoid(x).
func (m *pattern) silu(t *graph.Tensor) (*graph.Tensor, elementwise.Program, bool) {
	x, ok := m.twoFactors(t, func(c float64, x, g *graph.Tensor) bool {
		u, ok := m.is(g, elementwise.Sigmoid)
		return ok && u == x && c == 1
	})
	return x, elementwise.Unary(elementwise.Silu), ok
}

// swish matches x*sigmoid(a*x).
func (m *pattern) swish(t *graph.Tensor) (*graph.Tensor, elementwise.Program, bool) {
	alpha := 0.0
	x, ok := m.twoFactors(t, func(c float64, x, g *graph.Tensor) bool {
		v, ok := m.is(g, elementwise.Sigmoid)
		if !ok || c != 1 {
			return false
		}
		u, a, b := m.affine(v)
		alpha = a
		return u == x && b == 0 && a != 1
	})
	return x, elementwise.Program{Args: 1, Code: []elementwise.Instr{
		{Op: elementwise.Const, Imm: [2]float32{float32(alpha)}},
		{Op: elementwise.Mul, Arg: [3]int{0, 1}},
		{Op: elementwise.Sigmoid, Arg: [3]int{2}},
		{Op: elementwise.Mul, Arg: [3]int{0, 3}},
	}}, ok
}

// hardSwish matches c*x*clamp(a*x+b, 0, h) with c*h = 1, c*a = 1/6, c*b = 1/2, and x*HardSigmoid(x) of those factors.
func (m *pattern) hardSwish(t *graph.Tensor) (*graph.Tensor, elementwise.Program, bool) {
	x, ok := m.twoFactors(t, func(c float64, x, g *graph.Tensor) bool {
		if in, args, ok := m.op(g); ok && in.Op == elementwise.HardSigmoid {
			m.take(g)
			return args[0] == x && m.near(c, 1) && m.near(float64(in.Imm[0]), 1.0/6) && m.near(float64(in.Imm[1]), 0.5)
		}
		u, lo, hi := m.bounds(g)
		v, a, b := m.affine(u)
		return v == x && lo == 0 && m.near(c*hi, 1) && m.near(c*a, 1.0/6) && m.near(c*b, 0.5)
	})
	return x, elementwise.Unary(elementwise.HardSwish), ok
}

// hardSigmoid matches c*clamp(a*x+b, 0, h) with c*h = 1.
func (m *pattern) hardSigmoid(t *graph.Tensor) (*graph.Tensor, elementwise.Program, bool) {
	c, f := m.product(t)
	if len(f) != 1 {
		return nil, elementwise.Program{}, false
	}
	u, lo, hi := m.bounds(f[0])
	if lo != 0 || c <= 0 || !m.near(c*hi, 1) {
		return nil, elementwise.Program{}, false
	}
	x, a, b := m.affine(u)
	if x == u {
		return nil, elementwise.Program{}, false // a plain clamp
	}
	return x, elementwise.Unary(elementwise.HardSigmoid, float32(c*a), float32(c*b)), true
}

// clamp matches several bounds one after the other.
func (m *pattern) clamp(t *graph.Tensor) (*graph.Tensor, elementwise.Program, bool) {
	x, lo, hi := m.bounds(t)
	return x, elementwise.Unary(elementwise.Clamp, float32(lo), float32(hi)), len(m.inner) > 1
}
