package recognise

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// mean returns what t is the mean of, and the axes, which it counts from 0.
func (m *norm) mean(t *graph.Tensor) (of *graph.Tensor, axes []int, ok bool) {
	factor := 1.0
	if in, args, ok := m.op(t); ok && (in.Op == elementwise.Mul || in.Op == elementwise.Div) {
		for i := range 2 {
			if s, ok := match.Scalar(args[i]); ok && (i == 1 || in.Op == elementwise.Mul) {
				if factor = s; in.Op == elementwise.Div {
					factor = 1 / s
				}
				m.take(t)
				t = args[1-i]
				break
			}
		}
	}
	l := t.Producer
	if l == nil || l.Epilogue.Args > 0 {
		return nil, nil, false
	}
	of = l.Inputs[0]
	if a, ok := l.Attrs.(graph.PoolAttrs); ok && l.Op == graph.AveragePool && a.Global && factor == 1 { // as tf2onnx writes it
		m.take(t)
		m.statistics = append(m.statistics, t)
		for i := 2; i < len(of.Dims); i++ {
			axes = append(axes, i)
		}
		return of, axes, true
	}
	a, ok := l.Attrs.(graph.ReduceAttrs)
	if !ok || len(a.Axes) == 0 && a.NoopEmpty {
		return nil, nil, false
	}
	n := symbolic.Const(1)
	for i := range of.Dims {
		if len(a.Axes) == 0 || containsAxis(a.Axes, i, len(of.Dims)) {
			axes, n = append(axes, i), n.Mul(of.Dims[i])
		}
	}
	count, known := n.IsConst()
	switch {
	case l.Op == graph.ReduceMean && factor == 1:
	case l.Op == graph.ReduceSum && known && m.near(factor, 1/float64(count)):
	default:
		return nil, nil, false
	}
	m.take(t)
	m.statistics = append(m.statistics, t)
	return of, axes, true
}

// narrow returns the statistic that t repeats along rows, through changes of shape and expansions.
func (m *norm) narrow(t *graph.Tensor) *graph.Tensor {
	for p := t.Producer; p != nil && (p.Op == graph.Expand || p.Op.Memory == graph.Viewed && len(p.Outputs) == 1); p = t.Producer {
		m.take(t)
		m.statistics = append(m.statistics, t)
		t = p.Inputs[0]
	}
	m.statistics = append(m.statistics, t)
	return t
}

// placed reports whether all statistics have a value for each row of x, in order, and sets the axis. Where they meet x the
// normalised axes must be there with extent 1, or be expanded.
func (m *norm) placed() bool {
	rank, n := len(m.x.Dims), len(m.axes)
	m.axis = -1
	if n == 0 || m.axes[0] != rank-n || m.axes[n-1] != rank-1 {
		return true // said to be so by the axis
	}
	m.axis = rank - n
	rows := m.x.Dims[:m.axis]
	for i, list := range [][]*graph.Tensor{m.statistics, m.spread} {
		for _, t := range list {
			switch {
			case len(t.Dims) == rank && symbolic.Equal(t.Dims[:m.axis], rows) && (allOnes(t.Dims[m.axis:]) || symbolic.Equal(t.Dims, m.x.Dims)):
			case i == 0 && symbolic.Equal(t.Dims, rows):
			default:
				return false
			}
		}
	}
	return true
}

func allOnes(dims []symbolic.Dim) bool {
	for _, d := range dims {
		if !d.Is(1) {
			return false
		}
	}
	return true
}

func sameAxes(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// containsAxis reports whether a list of axes, which may count from the end, has axis i of rank axes.
func containsAxis(axes []int, i, rank int) bool {
	for _, a := range axes {
		if a == i || a == i-rank {
			return true
		}
	}
	return false
}

// difference returns the tensor x - mean that s is the square of, if it is.
func (m *norm) difference(s, mean *graph.Tensor) *graph.Tensor {
	_, args, ok := m.op(s)
	if !ok {
		return nil
	}
	in, of, ok := m.op(args[0])
	if !ok || in.Op != elementwise.Sub || of[0] != m.x {
		return nil
	}
	if t := m.narrow(of[1]); t != m.narrow(mean) { // the mean may be there twice
		if x, axes, ok := m.mean(t); !ok || x != m.x || !sameAxes(axes, m.axes) {
			return nil
		}
	}
	m.take(args[0])
	m.spread = append(m.spread, of[1])
	return args[0]
}

// centreNorm makes an RMSNormalization of what has lost its mean a LayerNormalization:
//
//	m = ReduceMean(x)
//	d = Sub(x, m)                      ->   y = LayerNormalization(x, scale)
//	y = RMSNormalization(d, scale)
func centreNorm(r *pass.Rewrite, l *graph.Layer) bool {
	attrs, ok := l.Attrs.(graph.LayerNormAttrs)
	d := l.Inputs[0]
	m := newNorm(r.Network())
	in, args, found := m.op(d)
	if !ok || !found || in.Op != elementwise.Sub || l.Epilogue.Args > 0 {
		return false
	}
	m.y = l.Outputs[0]
	m.inner = []*graph.Layer{l, d.Producer}
	if !m.centre(args[0], args[1]) || !m.placed() || m.axis < 0 || m.axis != (attrs.Axis+len(d.Dims))%len(d.Dims) {
		return false
	}
	c := r.Candidate("layer-norm", m.inner...)
	y := &graph.Tensor{Name: m.y.Name}
	by := &graph.Layer{Name: l.Name, Op: graph.LayerNorm, Attrs: attrs, Inputs: append([]*graph.Tensor{m.x}, l.Inputs[1:]...), Outputs: []*graph.Tensor{y}}
	if err := by.Infer(); err != nil || !symbolic.Equal(y.Dims, m.y.Dims) || y.Type != m.y.Type {
		return c.Miss(pass.WrongShape, "%s becomes %s", m.x, m.y)
	}
	if !c.Contained(l) || !c.Has(by) || !c.Enabled() {
		return false
	}
	return c.Substitute(l, by)
}
