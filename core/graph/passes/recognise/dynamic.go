package recognise

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Dynamic makes one layer of a product whose input is quantised as it comes, as ONNX Runtime's dynamic quantisation writes it.
// The order of the factors does not matter, and several products may read what one layer quantised.
//
//	q, sq, zq = DynamicQuantizeLinear(x)
//	a = MatMulInteger(q, w i8, zq, zw)
//	b = Cast(a f32)                        ->   y = DynamicQuantizeMatMul(x, w, sw, zw)
//	y = Mul(b, Mul(sq, sw))
var Dynamic = pass.Pass{
	Name:  "fuse-dynamic",
	Doc:   "fuse a dynamic quantisation, the product of integers behind it and its scales",
	Rules: []string{"dynamic-product"},
	Run:   func(r *pass.Rewrite) { r.Each(func(l *graph.Layer) bool { return fuseDynamic(r, l) }) },
}

// dynamicProduct is what factors of a tensor turned out to be.
type dynamicProduct struct {
	quantize *graph.Layer
	product  *graph.Layer
	scales   []*graph.Tensor // all other factors
	inner    []*graph.Layer  // without quantize
}

func fuseDynamic(r *pass.Rewrite, l *graph.Layer) bool {
	var d dynamicProduct
	if !isMul(l) || l.Epilogue.Args > 0 || !d.factors(l.Outputs[0]) || d.product == nil {
		return false
	}
	if d.quantize = d.product.Inputs[0].Producer; d.quantize == nil || d.quantize.Op != graph.DynamicQuantize {
		return false
	}
	c := r.Candidate("dynamic-product", append([]*graph.Layer{d.quantize}, d.inner...)...)
	c.Found = d.inner
	w, zeros := d.product.Inputs[1], d.product.Input(3)
	switch {
	case !c.Contained(l):
		return false
	case d.product.Input(2) != d.quantize.Outputs[2] || !d.takeScale():
		return c.Miss(pass.WrongAttribute, "%s is not multiplied by what %s computed", d.product.Name, d.quantize.Name)
	case !w.IsConst() || zeros != nil && !zeros.IsConst() || slices.ContainsFunc(d.scales, func(t *graph.Tensor) bool { return !t.IsConst() }):
		return c.Miss(pass.NotConstant, "weights %s, their zero points or their scales are computed", w.Name)
	case len(w.Dims) != 2 || w.Dims[1].Is(0) || len(d.quantize.Inputs[0].Dims) < 2:
		return c.Miss(pass.WrongShape, "%s is no product of rows and a matrix", d.product.Name)
	case !symbolic.Equal(d.product.Outputs[0].Dims, l.Outputs[0].Dims):
		return c.Miss(pass.WrongShape, "scales make %s of %s", l.Outputs[0], d.product.Outputs[0])
	case d.quantize.Inputs[0].Type != l.Outputs[0].Type:
		return c.Miss(pass.WrongType, "%s becomes %s", d.quantize.Inputs[0], l.Outputs[0])
	}
	columns, _ := w.Dims[1].IsConst()
	scales, ok := scaleRow(d.scales, columns)
	if !ok {
		return c.Miss(pass.WrongShape, "the scales of %s are not one, or one for each column", w.Name)
	}
	by := &graph.Layer{Name: l.Name, Op: graph.DynamicQuantizeMatMul, Attrs: graph.DynamicAttrs{}, Outputs: l.Outputs, From: c.Members, Inputs: []*graph.Tensor{d.quantize.Inputs[0], w,
		{Name: w.Name + "_scales", Type: numeric.F32, Dims: symbolic.Shape(scales.Dims...), Weights: scales.Data}}}
	if zeros != nil {
		by.Inputs = append(by.Inputs, zeros)
	}
	if !c.Has(by) || !c.Enabled() {
		return false
	}
	if alone(c, d.quantize) {
		c.Found = append(c.Found, d.quantize)
	} else {
		c.Members = r.Sources(fromOf(d.inner))
	}
	return c.Substitute(l, by)
}

// alone reports whether nothing but the candidate's layers uses what l computes.
func alone(c *pass.Candidate, l *graph.Layer) bool {
	for _, t := range l.Outputs {
		if c.Rewrite().Network().IsOutput(t) || slices.ContainsFunc(t.Users, func(u *graph.Layer) bool { return !slices.Contains(c.Found, u) }) {
			return false
		}
	}
	return true
}

// fromOf returns the source layers of several.
func fromOf(layers []*graph.Layer) (list []string) {
	for _, l := range layers {
		list = append(list, l.From...)
	}
	return list
}

// isMul reports whether a layer multiplies two tensors.
func isMul(l *graph.Layer) bool {
	p, ok := graph.ProgramOf(l)
	return ok && len(l.OpInputs()) == 2 && len(p.Code) == 1 && p.Code[0].Op == elementwise.Mul && p.Code[0].Arg[0] != p.Code[0].Arg[1]
}

// factors takes t apart: products, down to one of integers, which a cast made real numbers of, and scales. It reports whether there
// are not too many of them, nor two products of integers.
func (d *dynamicProduct) factors(t *graph.Tensor) bool {
	p := t.Producer
	switch {
	case p != nil && isMul(p) && p.Epilogue.Args == 0:
		d.inner = append(d.inner, p)
		return len(d.inner) < maxPattern && d.factors(p.OpInputs()[0]) && d.factors(p.OpInputs()[1])
	case p != nil && p.Op == graph.Cast && p.Epilogue.Args == 0:
		if q := p.Inputs[0].Producer; q != nil && q.Op == graph.MatMulInteger {
			d.inner = append(d.inner, p, q)
			first := d.product == nil
			d.product = q
			return first
		}
	}
	d.scales = append(d.scales, t)
	return true
}

// takeScale removes the scale of the quantisation from the factors, which must have it once.
func (d *dynamicProduct) takeScale() bool {
	at := slices.Index(d.scales, d.quantize.Outputs[1])
	if at < 0 {
		return false
	}
	d.scales = slices.Delete(d.scales, at, at+1)
	return !slices.Contains(d.scales, d.quantize.Outputs[1])
}

// scaleRow returns the product of constants that are one number or one for each column; 1 of none.
func scaleRow(list []*graph.Tensor, columns int) (numeric.Value, bool) {
	row := []float32{1}
	for _, t := range list {
		s, ok := match.Reals(t)
		if !ok || len(s) != 1 && (len(s) != columns || !t.Dims[len(t.Dims)-1].Is(columns)) {
			return numeric.Value{}, false
		}
		if len(row) < len(s) {
			row = slices.Repeat(row[:1], len(s))
		}
		for i := range row {
			row[i] *= float32(s[i%len(s)])
		}
	}
	return numeric.Values(numeric.F32, row, len(row)), true
}
