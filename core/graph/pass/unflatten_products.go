package pass

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// unflattenProducts gives a matrix product whose rows were flattened for it, and are restored behind it, the axes of the rows:
//
//	a = Reshape(x f32[2,5,8], [10, 8])
//	p = Gemm(a, w, bias)                ->   p = MatMul(x, w)
//	y = Reshape(p, [2, 5, 6])                y = Add(p, bias)
//
// Backends flatten rows themselves, and of more than one unknown extent a shape would have to be computed.
var unflattenProducts = Pass{
	Name:  "unflatten-products",
	Doc:   "matrix products keep the axes of their rows",
	Rules: []string{"unflatten"},
	run:   func(r *rewrite) { r.each(r.unflatten) },
}

func (r *rewrite) unflatten(l *graph.Layer) bool {
	if l.Op != graph.Gemm && l.Op != graph.MatMul || l.Epilogue.Args > 0 || !isFloat(l.Outputs[0]) || len(l.Outputs[0].Dims) != 2 {
		return false
	}
	before, after := l.Inputs[0].Producer, r.net.Sole(l.Outputs[0])
	if before == nil || before.Op != graph.Reshape || after == nil || after.Op != graph.Reshape {
		return false
	}
	x, w, y := before.Inputs[0], l.Inputs[1], after.Outputs[0]
	n := len(y.Dims) - 1
	if n < 2 || !y.Dims[n].Equal(l.Outputs[0].Dims[1]) {
		return false
	}
	rows := append(slices.Clone(y.Dims[:n]), l.Inputs[0].Dims[1])
	shape, ok := reshapeTo(x, rows)
	if !ok {
		return false
	}
	c := r.candidate("unflatten", before, l, after)
	g, _ := l.Attrs.(graph.GemmAttrs)
	bias := l.Input(2)
	switch {
	case l.Op == graph.Gemm && (g.TransA || g.Alpha != 1 || bias != nil && g.Beta != 1):
		return c.miss(WrongAttribute, "%s has factors, or transposes its rows", l.Name)
	case g.TransB && !w.IsConst():
		return c.miss(NotConstant, "%s is computed, and transposed", w.Name)
	case bias != nil && len(bias.Dims) == 2 && !bias.Dims[0].Is(1):
		return c.miss(WrongShape, "%s has values for each row", bias)
	}
	if !c.enabled() {
		return false
	}
	if g.TransB {
		w = r.transposed(w)
	}
	if !symbolic.Equal(x.Dims, rows) {
		x = r.view(before, x.Name+"_rows", rows, shape)
	}
	into := []*graph.Layer{{Op: graph.MatMul, Inputs: []*graph.Tensor{x, w}}}
	if bias != nil {
		p := into[0]
		p.Name, p.From, p.Outputs = l.Outputs[0].Name+"_rows", l.From, []*graph.Tensor{r.net.NewTensor(l.Outputs[0].Name+"_rows", y.Type, y.Dims)}
		p = r.net.Insert(p)
		into = []*graph.Layer{p, {Op: ops().Named("Add"), Attrs: graph.Elementwise{Program: elementwise.Binary(elementwise.Add)}, Inputs: []*graph.Tensor{p.Outputs[0], bias}}}
	}
	last := len(into) - 1
	into[last] = r.replace(after, into[last])
	r.net.Remove(l)
	if r.used(before) {
		c.members = r.sources(slices.Concat(l.From, after.From))
	} else {
		r.net.Remove(before)
	}
	for _, by := range into {
		by.From = c.members
	}
	return c.fire(into...)
}

// view adds a Reshape of the input of a layer, for which it stands.
func (r *rewrite) view(l *graph.Layer, name string, dims []symbolic.Dim, shape []int64) *graph.Tensor {
	by := r.reshape(l.Inputs[0], name+"_shape", shape)
	by.Name, by.From, by.Outputs = name, l.From, []*graph.Tensor{r.net.NewTensor(name, l.Outputs[0].Type, dims)}
	return r.net.Insert(by).Outputs[0]
}

// transposed adds the transpose of a constant matrix.
func (r *rewrite) transposed(w *graph.Tensor) *graph.Tensor {
	v, _ := w.Const()
	rows, columns, size := v.Dims[0], v.Dims[1], v.Type.Size()
	t := numeric.NewValue(v.Type, columns, rows)
	for i := range rows {
		for j := range columns {
			copy(t.Data[(j*rows+i)*size:], v.Data[(i*columns+j)*size:(i*columns+j+1)*size])
		}
	}
	return r.net.AddConst(w.Name+"_transposed", t)
}
