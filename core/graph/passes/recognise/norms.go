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

// Norms finds normalisations over the last axes that a model spells out:
//
//	m = ReduceMean(x)
//	d = Sub(x, m)
//	s = Mul(d, d)
//	v = ReduceMean(s)
//	a = Add(v, epsilon)   ->   y = LayerNormalization(x, scale, bias)
//	r = Sqrt(a)
//	n = Div(d, r)
//	t = Mul(n, scale)
//	y = Add(t, bias)
//
// with the square as a power or product, the root as Sqrt, Reciprocal or Pow, the mean as a sum by the number of elements, the
// variance as mean(x*x) - mean(x)^2, the statistics reshaped and expanded, scale and bias missing or multiplied into the root,
// as TensorFlow does, and casts around it. Without the mean it is RMSNormalization.
var Norms = pass.Pass{
	Name:  "recognise-normalisations",
	Doc:   "recognise normalisations that are written as several layers",
	Rules: []string{"layer-norm", "rms-norm"},
	Run: func(r *pass.Rewrite) {
		r.Each(func(l *graph.Layer) bool {
			if l.Op == graph.RMSNorm {
				return centreNorm(r, l)
			}
			return recogniseNorm(r, l)
		})
	},
}

// recogniseNorm replaces the normalisation that l multiplies or divides together, if it does.
func recogniseNorm(r *pass.Rewrite, l *graph.Layer) bool {
	if len(l.Outputs) != 1 {
		return false
	}
	m := newNorm(r.Network())
	if !m.match(l.Outputs[0]) {
		return false
	}
	m.follow()
	outer := m.uncast()
	if outer != nil && r.Target(outer.layer(r)) == nil {
		m = outer
	}
	c := r.Candidate(m.rule(), m.inner...)
	root := m.y.Producer
	if !m.placed() {
		return c.Miss(pass.WrongShape, "the statistics of %s are not laid out along it", m.x)
	}
	if m.axis < 0 {
		return c.Miss(pass.WrongAttribute, "the mean of %s is over axes %v, not over the last ones", m.x, m.axes)
	}
	for _, k := range []*graph.Tensor{m.scale, m.bias} {
		if k != nil && !m.along(k) {
			return c.Miss(pass.WrongShape, "%s is not one value for each of the elements that are normalised", k)
		}
	}
	if !c.Contained(root) {
		return false
	}
	if _, ok := match.ConstDims(m.x.Dims[m.axis:]); !ok && m.scale == nil {
		return c.Miss(pass.WrongShape, "the extents of %s that are normalised are not known", m.x)
	}
	by := m.layer(r)
	if by.Infer() != nil || !symbolic.Equal(by.Outputs[0].Dims, m.y.Dims) || by.Outputs[0].Type != m.y.Type {
		return c.Miss(pass.WrongShape, "%s becomes %s", m.x, m.y)
	}
	if !c.Has(by) || !c.Enabled() {
		return false
	}
	return c.Substitute(root, by)
}

// norm is the match of a normalisation under way.
type norm struct {
	pattern
	x, y        *graph.Tensor // what is normalised, and the result so far
	centred     bool
	axes        []int // that are normalised
	axis        int   // the first of them, if they are the last ones; else -1
	epsilon     float64
	scale, bias *graph.Tensor // constants, nil where there is none

	square     *graph.Tensor   // what the mean of is the variance, or the mean square
	statistics []*graph.Tensor // means and what is made of them, which have a value for each row of x
	spread     []*graph.Tensor // those of them that meet x
}

func newNorm(n *graph.Network) *norm {
	return &norm{pattern: pattern{net: n, tolerance: 1e-6}}
}

func (m *norm) rule() string {
	if m.centred {
		return "layer-norm"
	}
	return "rms-norm"
}

// match takes t as x or its difference to its mean, divided by the root of the mean of the squares.
func (m *norm) match(t *graph.Tensor) bool {
	in, args, ok := m.op(t)
	if !ok || len(args) != 2 || !match.IsFloat(t) {
		return false
	}
	m.y = t
	m.take(t)
	switch in.Op {
	case elementwise.Div:
		return m.try(func() bool { return m.deviation(args[1]) && m.quotient(args[0], args[1]) })
	case elementwise.Mul:
		for i := range 2 {
			if m.try(func() bool { return m.inverse(args[i]) && m.quotient(args[1-i], args[i]) }) {
				return true
			}
		}
	case elementwise.Add:
		for i := range 2 {
			if m.try(func() bool { return m.shifted(args[i], args[1-i]) }) {
				return true
			}
		}
	}
	return false
}

// try forgets what f took if f fails.
func (m *norm) try(f func() bool) bool {
	before := *m
	if f() {
		return true
	}
	*m = before
	return false
}

// shifted matches x*inverse + (bias - mean*inverse), as TensorFlow writes a normalisation, or x*inverse + (bias + -mean*inverse), as
// Keras does.
func (m *norm) shifted(product, rest *graph.Tensor) bool {
	in, args, ok := m.op(product)
	sum, parts, ok2 := m.op(rest)
	if !ok || !ok2 || in.Op != elementwise.Mul {
		return false
	}
	bias, moved := parts[0], parts[len(parts)-1]
	switch {
	case sum.Op == elementwise.Add && moved.IsConst():
		bias, moved = moved, bias
	case sum.Op != elementwise.Add && sum.Op != elementwise.Sub:
		return false
	}
	low, factors, ok := m.op(moved)
	if !ok || low.Op != elementwise.Mul || !bias.IsConst() {
		return false
	}
	for _, t := range []*graph.Tensor{product, rest, moved} {
		m.take(t)
	}
	m.bias = bias
	for i := range 2 {
		x, inv := args[i], args[1-i]
		for j := range 2 {
			mean := factors[j]
			if factors[1-j] != inv {
				continue
			}
			if m.try(func() bool {
				if sum.Op == elementwise.Add {
					neg, of, ok := m.op(mean)
					if !ok || neg.Op != elementwise.Neg {
						return false
					}
					m.take(mean)
					mean = of[0]
				}
				return m.inverse(inv) && m.centre(x, mean) && m.variance(nil, mean, inv)
			}) {
				return true
			}
		}
	}
	return false
}

// inverse matches 1 / sqrt(v + epsilon), times a constant or not.
func (m *norm) inverse(t *graph.Tensor) bool {
	t = m.narrow(t)
	in, args, ok := m.op(t)
	if !ok {
		return false
	}
	m.take(t)
	switch in.Op {
	case elementwise.Reciprocal:
		return m.deviation(args[0])
	case elementwise.Div:
		v, ok := match.Scalar(args[0])
		return ok && v == 1 && m.deviation(args[1])
	case elementwise.Pow:
		v, ok := match.Scalar(args[1])
		return ok && v == -0.5 && m.biased(args[0])
	case elementwise.Mul:
		for i := range 2 {
			if args[i].IsConst() && m.scale == nil {
				m.scale = args[i]
				return m.inverse(args[1-i])
			}
		}
	}
	return false
}

// deviation matches sqrt(v + epsilon).
func (m *norm) deviation(t *graph.Tensor) bool {
	t = m.narrow(t)
	in, args, ok := m.op(t)
	if !ok {
		return false
	}
	m.take(t)
	if in.Op == elementwise.Pow {
		v, ok := match.Scalar(args[1])
		return ok && v == 0.5 && m.biased(args[0])
	}
	return in.Op == elementwise.Sqrt && m.biased(args[0])
}

// biased matches v + epsilon, or v.
func (m *norm) biased(t *graph.Tensor) bool {
	t = m.narrow(t)
	if in, args, ok := m.op(t); ok && in.Op == elementwise.Add {
		for i := range 2 {
			if e, ok := match.Scalar(args[i]); ok && e >= 0 && !math.IsInf(e, 0) {
				m.take(t)
				m.epsilon, m.square = e, m.narrow(args[1-i])
				return true
			}
		}
		return false
	}
	m.square = t
	return true
}

// quotient matches what is divided, d, with what it is divided by, which has been matched as far as the variance.
func (m *norm) quotient(d, by *graph.Tensor) bool {
	if in, args, ok := m.op(d); ok && in.Op == elementwise.Sub {
		if m.try(func() bool {
			m.take(d)
			return m.centre(args[0], args[1]) && m.variance(d, args[1], by)
		}) {
			return true
		}
	}
	s, axes, ok := m.mean(m.square)
	if !ok || !m.isSquare(s, d) {
		return false
	}
	m.x, m.axes = d, axes
	m.spread = append(m.spread, by)
	return true
}

// centre matches t as the mean of x.
func (m *norm) centre(x, t *graph.Tensor) bool {
	of, axes, ok := m.mean(m.narrow(t))
	if !ok || of != x {
		return false
	}
	m.x, m.axes, m.centred = x, axes, true
	m.spread = append(m.spread, t)
	return true
}

// variance matches the variance of x as the mean of the squares of d, which is x without its mean, or as the mean of its
// squares without the square of its mean.
func (m *norm) variance(d, mean, by *graph.Tensor) bool {
	m.spread = append(m.spread, by)
	if s, axes, ok := m.mean(m.square); ok && sameAxes(axes, m.axes) {
		if d == nil || !m.isSquare(s, d) {
			d = m.difference(s, mean)
		}
		return d != nil && m.isSquare(s, d)
	}
	t := m.square
	if in, args, ok := m.op(t); ok && in.Op == elementwise.Max { // what rounding may leave below 0
		for i := range 2 {
			if v, ok := match.Scalar(args[i]); ok && v == 0 {
				m.take(t)
				t = m.narrow(args[1-i])
				break
			}
		}
	} else if ok && in.Op == elementwise.Relu {
		m.take(t)
		t = m.narrow(args[0])
	}
	in, args, ok := m.op(t)
	if !ok || in.Op != elementwise.Sub {
		return false
	}
	m.take(t)
	s, axes, ok := m.mean(m.narrow(args[0]))
	return ok && sameAxes(axes, m.axes) && m.isSquare(s, m.x) && m.isSquare(m.narrow(args[1]), m.narrow(mean))
}

// isSquare reports whether s is t*t.
func (m *norm) isSquare(s, t *graph.Tensor) bool {
	in, args, ok := m.op(s)
	if !ok || len(args) != 2 || args[0] != t {
		return false
	}
	m.take(s)
	if in.Op == elementwise.Pow {
		v, ok := match.Scalar(args[1])
		return ok && v == 2
	}
	return in.Op == elementwise.Mul && args[1] == t
}

// follow takes the constant scale and bias that come after the match.
func (m *norm) follow() {
	for {
		u := m.net.Sole(m.y)
		if u == nil || len(u.Outputs) != 1 {
			return
		}
		in, args, ok := m.op(u.Outputs[0])
		if !ok || len(args) != 2 {
			return
		}
		k := args[0]
		if k == m.y {
			k = args[1]
		}
		switch {
		case m.bias != nil || !m.along(k):
			return
		case in.Op == elementwise.Mul && m.scale == nil:
			m.scale = k
		case in.Op == elementwise.Add:
			m.bias = k
		default:
			return
		}
		m.y = u.Outputs[0]
		m.take(m.y)
	}
}

// along reports whether k is a constant that varies along the normalised axes alone.
func (m *norm) along(k *graph.Tensor) bool {
	return k.IsConst() && match.IsFloat(k) && (len(k.Dims) <= len(m.axes) || len(k.Dims) <= len(m.x.Dims) && allOnes(k.Dims[:len(k.Dims)-len(m.axes)]))
}

// uncast returns the match without the casts of x to another type and of the result back, with the scale and bias that follow
// those; nil if there are none.
func (m *norm) uncast() *norm {
	in, u := m.x.Producer, m.net.Sole(m.y)
	if in == nil || in.Op != graph.Cast || u == nil || u.Op != graph.Cast {
		return nil
	}
	x := in.Inputs[0]
	if !match.IsFloat(x) || x.Type != u.Outputs[0].Type || m.x.Type != numeric.F32 {
		return nil
	}
	o := *m
	o.inner = append(append([]*graph.Layer{}, m.inner...), u)
	inside := true
	for _, user := range m.x.Users {
		inside = inside && o.has(user)
	}
	if inside && !m.net.IsOutput(m.x) {
		o.inner = append(o.inner, in)
	}
	o.x, o.y = x, u.Outputs[0]
	o.follow()
	return &o
}

// layer returns the normalisation, with an output of its own that stands for y, for questions about it and to take y's place.
func (m *norm) layer(r *pass.Rewrite) *graph.Layer {
	scale := m.scale
	if scale == nil {
		dims, _ := match.ConstDims(m.x.Dims[max(m.axis, 0):])
		ones := numeric.NewValue(m.x.Type, dims...)
		one := make([]float32, ones.Len())
		for i := range one {
			one[i] = 1
		}
		numeric.FromReal(ones, one, numeric.Range{})
		scale = &graph.Tensor{Name: m.y.Name + "_ones", Type: ones.Type, Dims: symbolic.Shape(dims...), Weights: ones.Data}
	}
	inputs := []*graph.Tensor{m.x, m.each(scale, "_scale")}
	op := graph.RMSNorm
	if m.centred {
		op = graph.LayerNorm
	}
	if m.bias != nil {
		inputs = append(inputs, m.each(m.bias, "_bias"))
	}
	y := &graph.Tensor{Name: m.y.Name, Type: m.y.Type, Dims: m.y.Dims}
	return &graph.Layer{Name: m.y.Producer.Name, Op: op, Attrs: graph.LayerNormAttrs{Axis: m.axis - len(m.x.Dims), Epsilon: float32(m.epsilon)},
		Inputs: inputs, Outputs: []*graph.Tensor{y}}
}

// each returns the constant k, such as one number, with a value for each of the elements that are normalised, as kernels read it; k itself
// where it has them, or it is not known how many they are.
func (m *norm) each(k *graph.Tensor, suffix string) *graph.Tensor {
	over := m.x.Dims[max(m.axis, 0):]
	dims, ok := match.ConstDims(over)
	v, isConst := k.Const()
	if !ok || !isConst || symbolic.Equal(k.Dims, over) {
		return k
	}
	v.Dims = v.Dims[max(0, len(v.Dims)-len(dims)):]
	b, err := numeric.NewBroadcast(v.Dims, dims)
	if err != nil {
		return k
	}
	list, size := numeric.NewValue(v.Type, dims...), v.Type.Size()
	for i := range list.Len() {
		copy(list.Data[i*size:(i+1)*size], v.Data[b.At(i)*size:])
	}
	return &graph.Tensor{Name: m.y.Name + suffix, Type: k.Type, Dims: symbolic.Shape(dims...), Weights: list.Data}
}
