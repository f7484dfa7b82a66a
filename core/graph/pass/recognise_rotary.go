package pass

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
)

// recogniseRotary finds rotary embeddings that a model spells out, of pairs that lie side by side:
//
//	p = Reshape(x f32[b,s,h,d], [b,s,h,d/2,2])
//	u, v = Gather(p, 0), Gather(p, 1)
//	e = u*cos - v*sin                                  z = Reshape(x, [b,s,h*d])
//	f = u*sin + v*cos                              ->  t = RotaryEmbedding(z, cos, sin) interleaved=true
//	y = Reshape(Concat(Unsqueeze(e), Unsqueeze(f)))    y = Reshape(t, [b,s,h,d])
//
// and of pairs of a first and a second half:
//
//	u, v = Slice(x f32[b,h,s,d], 0, d/2), Slice(x, d/2, d)
//	y = x*cos + Concat(-v, u)*sin                  ->  y = RotaryEmbedding(x, cos, sin)
//
// with cosines and sines that are there once for each pair, or twice. Angles are those of the places of a sequence, which all
// heads share. What is transposed for attention is turned before that, where its heads lie side by side.
var recogniseRotary = Pass{
	Name:  "recognise-rotary",
	Doc:   "recognise rotary embeddings that are written as several layers",
	Rules: []string{"rotary"},
	run: func(r *rewrite) {
		r.each(func(l *graph.Layer) bool {
			if len(l.Outputs) != 1 || !isFloat(l.Outputs[0]) || l.Epilogue.Args > 0 {
				return false
			}
			m := rotation{net: r.net}
			if l.Op == graph.Concat && m.joined(l) || m.added(l) {
				return r.recogniseRotary(&m)
			}
			return false
		})
	},
}

// rotation is a match under way.
type rotation struct {
	net         *graph.Network
	x           *graph.Tensor // its last axis is turned
	cos, sin    *graph.Tensor
	interleaved bool
	twice       bool // angles are there for both components of a pair
	moved       bool // components change places besides
	root        *graph.Layer
	inner       []*graph.Layer // root among them
}

func (m *rotation) take(layers ...*graph.Layer) {
	for _, l := range layers {
		if !slices.Contains(m.inner, l) {
			m.inner = append(m.inner, l)
		}
	}
}

// lane is every step-th component of the last axis of a tensor, from the first one on.
type lane struct {
	x              *graph.Tensor
	first, step, n int
}

// lane returns t as one.
func (m *rotation) lane(t *graph.Tensor) (lane, bool) {
	l := t.Producer
	if l == nil || l.Epilogue.Args > 0 || len(t.Dims) == 0 {
		return lane{}, false
	}
	x, last := l.Inputs[0], len(l.Inputs[0].Dims)-1
	if last < 0 {
		return lane{}, false
	}
	extent, ok := x.Dims[last].IsConst()
	if !ok {
		return lane{}, false
	}
	part := lane{x: x, step: 1}
	switch a := l.Attrs.(type) {
	case graph.ReshapeAttrs:
		if !onesBehind(x.Dims, t.Dims) {
			return lane{}, false
		}
		m.take(l)
		return m.lane(x)
	case graph.SliceAttrs:
		if len(a.Axes) != 1 || len(l.OpInputs()) != 1 || (a.Axes[0]+last+1)%(last+1) != last {
			return lane{}, false
		}
		if a.Steps != nil {
			part.step = a.Steps[0]
		}
		if part.first = a.Starts[0]; part.first < 0 {
			part.first += extent
		}
		part.n, ok = t.Dims[last].IsConst()
		ok = ok && part.step > 0
	case graph.GatherAttrs:
		index, known := l.Inputs[1].Ints()
		if ok = l.Op == graph.Gather && known && len(index) == 1 && (a.Axis+last+1)%(last+1) == last; ok {
			part.first, part.n = (index[0]+extent)%extent, 1
		}
	case graph.SplitAttrs:
		if (a.Axis+last+1)%(last+1) != last {
			return lane{}, false
		}
		for _, y := range l.Outputs[:slices.Index(l.Outputs, t)] {
			n, _ := y.Dims[last].IsConst()
			part.first += n
		}
		part.n, ok = t.Dims[last].IsConst()
	default:
		return lane{}, false
	}
	if !ok {
		return lane{}, false
	}
	m.take(l)
	return m.ofPairs(part, extent), true
}

// ofPairs returns a lane of one component of a tensor that cuts the last axis of another one into groups as a lane of that.
func (m *rotation) ofPairs(part lane, extent int) lane {
	p := part.x
	if l := p.Producer; part.n == 1 && l != nil && l.Op == graph.Reshape && len(p.Dims) > 1 {
		outer := p.Dims[:len(p.Dims)-2]
		if n, ok := p.Dims[len(outer)].IsConst(); ok && graph.EqualDims(l.Inputs[0].Dims, append(slices.Clone(outer), graph.Const(n*extent))) {
			m.take(l)
			return lane{l.Inputs[0], part.first, extent, n}
		}
	}
	return part
}

// onesBehind reports whether shapes differ in a last axis of extent 1 at most.
func onesBehind(a, b []graph.Dim) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	return graph.EqualDims(a, b) || len(a) == len(b)+1 && a[len(b)].Is(1) && graph.EqualDims(a[:len(b)], b)
}

// operation returns the arguments of t, where an element-wise layer of the given operation computes it.
func (m *rotation) operation(t *graph.Tensor, op graph.EltOp) ([]*graph.Tensor, bool) {
	l := t.Producer
	if l == nil {
		return nil, false
	}
	p, ok := graph.ProgramOf(l)
	if !ok || len(p.Code) != 1 || p.Code[0].Op != op || l.Epilogue.Args > 0 {
		return nil, false
	}
	m.take(l)
	var args []*graph.Tensor
	for _, v := range p.Code[0].Arg[:op.Info().Arity] {
		args = append(args, l.Inputs[v])
	}
	return args, true
}

// weighted is a lane times a factor.
type weighted struct {
	lane
	by *graph.Tensor
}

// products returns t as the sum, or difference, of two lanes with factors.
func (m *rotation) products(t *graph.Tensor, op graph.EltOp) (list [2]weighted, ok bool) {
	terms, ok := m.operation(t, op)
	if !ok {
		return list, false
	}
	for i, term := range terms {
		f, ok := m.operation(term, graph.EltMul)
		if !ok {
			return list, false
		}
		taken := len(m.inner)
		if list[i].lane, ok = m.lane(f[0]); ok && m.mayTurn(list[i].lane) {
			list[i].by = f[1]
			continue
		}
		m.inner = m.inner[:taken]
		if list[i].lane, ok = m.lane(f[1]); !ok || !m.mayTurn(list[i].lane) {
			return list, false
		}
		list[i].by = f[0]
	}
	return list, true
}

// mayTurn reports whether a lane is one of two components.
func (m *rotation) mayTurn(a lane) bool {
	d, ok := a.x.Dims[len(a.x.Dims)-1].IsConst()
	return ok && 2*a.n == d && (a.step == 1 && a.first%a.n == 0 || a.step == 2)
}

// pair notes what u and v are the components of, and reports whether they are those of pairs.
func (m *rotation) pair(u, v lane) bool {
	if u.x != v.x || u.step != v.step || u.first != 0 || !m.mayTurn(u) {
		return false
	}
	m.x, m.interleaved = u.x, u.step == 2
	return m.interleaved && v.first == 1 || !m.interleaved && v.first == u.n
}

// joined matches both turned components, side by side.
func (m *rotation) joined(l *graph.Layer) bool {
	y := l.Outputs[0]
	if axis := l.Attrs.(graph.ConcatAttrs).Axis; len(l.Inputs) != 2 || axis != len(y.Dims)-1 && axis != -1 {
		return false
	}
	m.take(l)
	e, f := m.unstacked(l.Inputs[0]), m.unstacked(l.Inputs[1])
	first, ok := m.products(e, graph.EltSub)
	if !ok {
		return false
	}
	second, ok := m.products(f, graph.EltAdd)
	if !ok || !m.pair(first[0].lane, first[1].lane) {
		return false
	}
	if second[0].lane != first[0].lane {
		second[0], second[1] = second[1], second[0]
	}
	m.cos, m.sin, m.root = first[0].by, first[1].by, l
	if second[0].lane != first[0].lane || second[1].lane != first[1].lane || second[0].by != m.sin || second[1].by != m.cos {
		return false
	}
	m.moved = l.Inputs[0].Dims[len(y.Dims)-1].Is(1) != m.interleaved
	if len(y.Users) == 1 && y.Users[0].Op == graph.Reshape && !m.net.IsOutput(y) && graph.EqualDims(y.Users[0].Outputs[0].Dims, m.x.Dims) {
		m.root = y.Users[0]
		m.take(m.root)
	}
	return true
}

// unstacked returns what t is with another axis of extent 1 behind the others.
func (m *rotation) unstacked(t *graph.Tensor) *graph.Tensor {
	if l := t.Producer; l != nil && l.Op == graph.Reshape && len(l.Inputs[0].Dims) < len(t.Dims) && onesBehind(l.Inputs[0].Dims, t.Dims) {
		m.take(l)
		return l.Inputs[0]
	}
	return t
}

// added matches x*cos + turned*sin.
func (m *rotation) added(l *graph.Layer) bool {
	terms, ok := m.operation(l.Outputs[0], graph.EltAdd)
	if !ok {
		return false
	}
	for i, term := range terms {
		m.inner = append(m.inner[:0], l)
		kept, ok := m.operation(term, graph.EltMul)
		if !ok {
			continue
		}
		turned, ok := m.operation(terms[1-i], graph.EltMul)
		if !ok {
			continue
		}
		taken := len(m.inner)
		for j := range 4 {
			m.inner = m.inner[:taken]
			if m.quarter(turned[j/2]) && m.x == kept[j%2] {
				m.sin, m.cos, m.twice, m.root = turned[1-j/2], kept[1-j%2], true, l
				return true
			}
		}
	}
	return false
}

// quarter matches t as x turned by a quarter: its second components, negated, before its first ones.
func (m *rotation) quarter(t *graph.Tensor) bool {
	l := t.Producer
	if l != nil && l.Op == graph.Reshape && l.Inputs[0].Producer != nil && l.Inputs[0].Producer.Op == graph.Concat {
		m.take(l)
		l = l.Inputs[0].Producer
	}
	if l == nil || l.Op != graph.Concat || len(l.Inputs) != 2 {
		return false
	}
	y := l.Outputs[0]
	if axis := l.Attrs.(graph.ConcatAttrs).Axis; axis != len(y.Dims)-1 && axis != -1 {
		return false
	}
	m.take(l)
	negated, ok := m.operation(m.unstacked(l.Inputs[0]), graph.EltNeg)
	if !ok {
		return false
	}
	v, ok := m.lane(negated[0])
	if !ok {
		return false
	}
	u, ok := m.lane(m.unstacked(l.Inputs[1]))
	return ok && m.pair(u, v) && l.Inputs[0].Dims[len(y.Dims)-1].Is(1) == m.interleaved && graph.EqualDims(t.Dims, m.x.Dims)
}
