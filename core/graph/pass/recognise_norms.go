package pass

import (
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph"
)

// recogniseNorms finds normalisations of rows that a model spells out:
//
//	m = ReduceMean(x) axes=[-1]
//	d = Sub(x, m)
//	s = Pow(d, 2)
//	v = ReduceMean(s) axes=[-1]
//	e = Add(v, epsilon)           ->   y = LayerNormalization(x, scale, bias)
//	r = Sqrt(e)
//	n = Div(d, r)
//	t = Mul(n, scale)
//	y = Add(t, bias)
//
// and likewise the root-mean-square normalisation, which has no d. The root may be a power or a reciprocal's, the square a
// product. Scale and bias are taken in where they are constants of the normalised axes.
var recogniseNorms = Pass{
	Name:  "recognise-normalisations",
	Doc:   "recognise normalisations that are written as several layers",
	Rules: []string{"layer-norm", "rms-norm"},
	run: func(r *rewrite) {
		r.each(func(l *graph.Layer) bool {
			if _, ok := elementwiseOf(l); !ok || !isFloat(l.Outputs[0]) {
				return false
			}
			m := pattern{net: r.net, tolerance: 1e-5}
			n, ok := m.normalised(l.Outputs[0])
			return ok && r.recogniseNorm(l, &m, n)
		})
	},
}

// norm is a match: x over the root of its mean square, or of its variance where it is centred.
type norm struct {
	x       *graph.Tensor
	axis    int // the first normalised one
	epsilon float64
	centred bool
}

// normalised matches t as a normalisation without scale and bias.
func (m *pattern) normalised(t *graph.Tensor) (n norm, ok bool) {
	in, args, ok := m.op(t)
	if !ok || in.Op != graph.EltDiv && in.Op != graph.EltMul {
		return n, false
	}
	for i, u := range args {
		m.inner = m.inner[:0]
		m.take(t)
		other := args[1-i]
		if in.Op == graph.EltDiv && i == 1 {
			break
		}
		square, inverse, ok := m.root(other)
		if !ok || inverse != (in.Op == graph.EltMul) {
			continue
		}
		mean, a, b := m.affine(square)
		if a != 1 || b < 0 {
			continue
		}
		sum, axis, ok := m.mean(mean)
		if !ok {
			continue
		}
		d, ok := m.square(sum)
		if !ok || len(d.Dims) != len(t.Dims) {
			continue
		}
		n = norm{d, axis, b, false}
		if x, from, ok := m.deviation(d); ok && from == axis && (d == u || m.isDeviation(u, x, axis)) {
			n.x, n.centred = x, true
			return n, true
		}
		if d == u {
			return n, true
		}
	}
	return n, false
}

// root matches t as the square root of v, or as one over it.
func (m *pattern) root(t *graph.Tensor) (v *graph.Tensor, inverse, ok bool) {
	in, args, ok := m.op(t)
	if !ok {
		return nil, false, false
	}
	under := func(t *graph.Tensor) (*graph.Tensor, bool, bool) {
		v, nested, ok := m.root(t)
		return v, true, ok && !nested
	}
	m.take(t)
	switch in.Op {
	case graph.EltSqrt:
		return args[0], false, true
	case graph.EltReciprocal:
		return under(args[0])
	case graph.EltDiv:
		if s, ok := scalar(args[0]); ok && s == 1 {
			return under(args[1])
		}
	case graph.EltPow:
		if s, ok := scalar(args[1]); ok && math.Abs(s) == 0.5 {
			return args[0], s < 0, true
		}
	}
	return nil, false, false
}

// mean matches t as a mean over the last axes, from axis on.
func (m *pattern) mean(t *graph.Tensor) (x *graph.Tensor, axis int, ok bool) {
	l := t.Producer
	if l == nil || l.Op != graph.ReduceMean || l.Epilogue.Args > 0 {
		return nil, 0, false
	}
	a, rank := l.Attrs.(graph.ReduceAttrs), len(l.Inputs[0].Dims)
	axes := slices.Clone(a.Axes)
	for i := range axes {
		if axes[i] < 0 {
			axes[i] += rank
		}
	}
	slices.Sort(axes)
	if !a.KeepDims || len(axes) == 0 || axes[0] != rank-len(axes) {
		return nil, 0, false
	}
	m.take(t)
	return l.Inputs[0], axes[0], true
}

// square matches t as the square of x.
func (m *pattern) square(t *graph.Tensor) (x *graph.Tensor, ok bool) {
	in, args, ok := m.op(t)
	if !ok || len(args) != 2 {
		return nil, false
	}
	m.take(t)
	if in.Op == graph.EltPow {
		s, ok := scalar(args[1])
		return args[0], ok && s == 2
	}
	return args[0], in.Op == graph.EltMul && args[0] == args[1]
}

// deviation matches t as x less its mean.
func (m *pattern) deviation(t *graph.Tensor) (x *graph.Tensor, axis int, ok bool) {
	in, args, ok := m.op(t)
	if !ok || in.Op != graph.EltSub {
		return nil, 0, false
	}
	taken := len(m.inner)
	m.take(t)
	of, axis, ok := m.mean(args[1])
	if !ok || of != args[0] {
		m.inner = m.inner[:taken]
		return nil, 0, false
	}
	return args[0], axis, true
}

func (m *pattern) isDeviation(t, x *graph.Tensor, axis int) bool {
	of, from, ok := m.deviation(t)
	return ok && of == x && from == axis
}

// recogniseNorm puts one layer in the place of the match, of which l is the last, and takes in scale and bias behind it.
func (r *rewrite) recogniseNorm(l *graph.Layer, m *pattern, n norm) bool {
	extents, known := constDims(n.x.Dims[n.axis:])
	if !known {
		return r.candidate(normRule(n), m.inner...).miss(WrongShape, "the normalised extents of %s are not known", n.x)
	}
	root := l
	scale, root := m.vector(root, graph.EltMul, extents)
	if scale == nil {
		scale = r.newConst(l.Outputs[0].Name+"_scale", n.x.Type, slices.Repeat([]float64{1}, graph.Count(extents)), extents...)
	}
	in := []*graph.Tensor{n.x, r.shaped(scale, extents)}
	op := graph.RMSNorm
	if n.centred {
		op = graph.LayerNorm
		var bias *graph.Tensor
		if bias, root = m.vector(root, graph.EltAdd, extents); bias != nil {
			in = append(in, r.shaped(bias, extents))
		}
	}
	c := r.candidate(normRule(n), m.inner...)
	return c.become(root, &graph.Layer{Op: op, Attrs: graph.LayerNormAttrs{Axis: n.axis - len(n.x.Dims), Epsilon: float32(n.epsilon)}, Inputs: in})
}

func normRule(n norm) string {
	if n.centred {
		return "layer-norm"
	}
	return "rms-norm"
}

// vector returns the constant, of the given extents, that alone is combined with l's result, and the layer that does so, which
// it takes into the match; nothing and l where there is none.
func (m *pattern) vector(l *graph.Layer, op graph.EltOp, extents []int) (*graph.Tensor, *graph.Layer) {
	t := l.Outputs[0]
	if len(t.Users) != 1 || m.net.IsOutput(t) {
		return nil, l
	}
	user := t.Users[0]
	in, args, ok := m.op(user.Outputs[0])
	if !ok || in.Op != op || len(args) != 2 {
		return nil, l
	}
	w := args[0]
	if w == t {
		w = args[1]
	}
	dims, known := constDims(w.Dims)
	for len(dims) > len(extents) && dims[0] == 1 {
		dims = dims[1:]
	}
	if !known || !w.IsConst() || w.Type != t.Type || !slices.Equal(dims, extents) {
		return nil, l
	}
	m.take(user.Outputs[0])
	return w, user
}

// shaped returns a constant with other extents.
func (r *rewrite) shaped(t *graph.Tensor, extents []int) *graph.Tensor {
	if len(t.Dims) == len(extents) {
		return t
	}
	list, _ := reals(t) // vector has looked
	return r.newConst(t.Name+"_row", t.Type, list, extents...)
}
