package simplify

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// UnflattenProducts gives a matrix product whose rows were flattened for it, and are restored behind it, the axes of the rows:
//
//	a = Reshape(x f32[2,5,8], [10, 8])
//	p = Gemm(a, w, bias)                ->   p = MatMul(x, w)
//	y = Reshape(p, [2, 5, 6])                y = Add(p, bias)
//
// What is behind it may give heads an axis at once. Backends flatten rows themselves, and of more than one unknown extent a shape
// would have to be computed.
var UnflattenProducts = pass.Pass{
	Name:  "unflatten-products",
	Doc:   "matrix products keep the axes of their rows",
	Rules: []string{"unflatten"},
	Run:   func(r *pass.Rewrite) { r.Each(func(l *graph.Layer) bool { return unflatten(r, l) }) },
}

func unflatten(r *pass.Rewrite, l *graph.Layer) bool {
	if l.Op != graph.Gemm && l.Op != graph.MatMul || l.Epilogue.Args > 0 || !match.IsFloat(l.Outputs[0]) || len(l.Outputs[0].Dims) != 2 {
		return false
	}
	before, after := l.Inputs[0].Producer, r.Network().Sole(l.Outputs[0])
	if before == nil || before.Op != graph.Reshape || after == nil || after.Op != graph.Reshape {
		return false
	}
	x, w, y := before.Inputs[0], l.Inputs[1], after.Outputs[0]
	n := rowAxes(y.Dims, l.Outputs[0].Dims[1])
	if n < 2 {
		return false
	}
	rows := append(slices.Clone(y.Dims[:n]), l.Inputs[0].Dims[1])
	dims := append(slices.Clone(y.Dims[:n]), l.Outputs[0].Dims[1])
	cut, ok := match.ReshapeTo(&graph.Tensor{Dims: dims}, y.Dims)
	if !ok {
		return false
	}
	shape, ok := match.ReshapeTo(x, rows)
	if !ok {
		return false
	}
	c := r.Candidate("unflatten", before, l, after)
	g, _ := l.Attrs.(graph.GemmAttrs)
	bias := l.Input(2)
	switch {
	case l.Op == graph.Gemm && (g.TransA || g.Alpha != 1 || bias != nil && g.Beta != 1):
		return c.Miss(pass.WrongAttribute, "%s has factors, or transposes its rows", l.Name)
	case g.TransB && !w.IsConst():
		return c.Miss(pass.NotConstant, "%s is computed, and transposed", w.Name)
	case bias != nil && len(bias.Dims) == 2 && !bias.Dims[0].Is(1):
		return c.Miss(pass.WrongShape, "%s has values for each row", bias)
	}
	if !c.Enabled() {
		return false
	}
	if g.TransB {
		w = transposed(r, w)
	}
	if !symbolic.Equal(x.Dims, rows) {
		x = view(r, before, x.Name+"_rows", rows, shape)
	}
	into := []*graph.Layer{{Op: graph.MatMul, Inputs: []*graph.Tensor{x, w}}}
	if bias != nil {
		p := into[0]
		add := &graph.Layer{Op: match.Ops().Named("Add"), Attrs: graph.Elementwise{Program: elementwise.Binary(elementwise.Add)}}
		add.Inputs = []*graph.Tensor{put(r, p, l.Outputs[0].Name+"_rows", l, dims), bias}
		into = append(into, add)
	}
	if n < len(y.Dims)-1 {
		whole := put(r, into[len(into)-1], l.Outputs[0].Name+"_whole", l, dims)
		into = append(into, r.Reshape(whole, y.Name+"_shape", cut))
	}
	last := len(into) - 1
	into[last] = r.Replace(after, into[last])
	r.Network().Remove(l)
	if r.Used(before) {
		c.Members = r.Sources(slices.Concat(l.From, after.From))
	} else {
		r.Network().Remove(before)
	}
	for _, by := range into {
		by.From = c.Members
	}
	return c.Fire(into...)
}

// rowAxes returns the number of axes of dims whose elements are rows of so many columns, which the others have; 0 where there are none.
func rowAxes(dims []symbolic.Dim, columns symbolic.Dim) int {
	own := symbolic.Const(1)
	for n := len(dims) - 1; n > 0; n-- {
		if own = own.Mul(dims[n]); own.Equal(columns) {
			return n
		}
	}
	return 0
}

// put adds a layer, which stands for what l does, and returns its result.
func put(r *pass.Rewrite, by *graph.Layer, name string, l *graph.Layer, dims []symbolic.Dim) *graph.Tensor {
	by.Name, by.From, by.Outputs = name, l.From, []*graph.Tensor{r.Network().NewTensor(name, l.Outputs[0].Type, dims)}
	return r.Network().Insert(by).Outputs[0]
}

// view adds a Reshape of the input of a layer, for which it stands.
func view(r *pass.Rewrite, l *graph.Layer, name string, dims []symbolic.Dim, shape []int64) *graph.Tensor {
	by := r.Reshape(l.Inputs[0], name+"_shape", shape)
	by.Name, by.From, by.Outputs = name, l.From, []*graph.Tensor{r.Network().NewTensor(name, l.Outputs[0].Type, dims)}
	return r.Network().Insert(by).Outputs[0]
}

// transposed adds the transpose of a constant matrix.
func transposed(r *pass.Rewrite, w *graph.Tensor) *graph.Tensor {
	v, _ := w.Const()
	rows, columns, size := v.Dims[0], v.Dims[1], v.Type.Size()
	t := numeric.NewValue(v.Type, columns, rows)
	for i := range rows {
		for j := range columns {
			copy(t.Data[(j*rows+i)*size:], v.Data[(i*columns+j)*size:(i*columns+j+1)*size])
		}
	}
	return r.Network().AddConst(w.Name+"_transposed", t)
}
