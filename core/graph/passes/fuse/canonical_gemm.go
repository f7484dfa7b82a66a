package fuse

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
)

// CanonicalGemm brings matrix products with constant weights into the form that takes a bias, a scale and an epilogue
// for nothing: Gemm with alpha = beta = 1 and a bias [n].
//
//	y = MatMul(x f32[m,k], w f32[k,n])  ->   y = Gemm(x, w) alpha=1 beta=1
//	y = Gemm(x, w, c) alpha=2 beta=3    ->   y = Gemm(x, 2*w, 3*c) alpha=1 beta=1
//	y = Gemm(x, w, c f32[1,n])          ->   y = Gemm(x, w, c f32[n])
//
// A MatMul of higher rank stays: backends flatten its leading axes.
var CanonicalGemm = pass.Pass{
	Name:  "canonical-gemm",
	Doc:   "matrix products with constant weights become Gemm with alpha = beta = 1",
	Rules: []string{"matmul-to-gemm", "gemm-factors", "gemm-bias"},
	Run: func(r *pass.Rewrite) {
		r.Each(func(l *graph.Layer) bool { return matMulToGemm(r, l) || gemmFactors(r, l) || gemmBias(r, l) })
	},
}

func matMulToGemm(r *pass.Rewrite, l *graph.Layer) bool {
	if l.Op != graph.MatMul || !match.IsFloat(l.Outputs[0]) || l.Epilogue.Args > 0 {
		return false
	}
	x, w := l.Inputs[0], l.Inputs[1]
	c := r.Candidate("matmul-to-gemm", l)
	if !w.IsConst() {
		return c.Miss(pass.NotConstant, "%s is computed", w.Name)
	}
	if len(x.Dims) != 2 || len(w.Dims) != 2 {
		return c.Miss(pass.WrongShape, "%s and %s are not both matrices", x, w)
	}
	if !c.Enabled() {
		return false
	}
	by := &graph.Layer{Op: graph.Gemm, Attrs: graph.GemmAttrs{Alpha: 1, Beta: 1}, Inputs: []*graph.Tensor{x, w}}
	return c.Fire(r.Replace(l, by))
}

// gemmFactors multiplies alpha into constant weights and beta into a constant bias.
func gemmFactors(r *pass.Rewrite, l *graph.Layer) bool {
	g, ok := l.Attrs.(graph.GemmAttrs)
	if !ok || l.Op != graph.Gemm {
		return false
	}
	bias := l.Input(2)
	if bias == nil && g.Beta != 1 { // it says nothing
		g.Beta = 1
		l.Attrs = g
		r.Change()
	}
	if g.Alpha == 1 && g.Beta == 1 {
		return false
	}
	c := r.Candidate("gemm-factors", l)
	w, ok := match.Reals(l.Inputs[1])
	if !ok && g.Alpha != 1 {
		return c.Miss(pass.NotConstant, "%s is not a floating-point constant", l.Inputs[1].Name)
	}
	b, ok := []float64(nil), true
	if bias != nil {
		b, ok = match.Reals(bias)
	}
	if !ok && g.Beta != 1 {
		return c.Miss(pass.NotConstant, "%s is not a floating-point constant", bias.Name)
	}
	if !c.Enabled() {
		return false
	}
	if g.Alpha != 1 {
		l.SetInput(1, scaled(r, l.Inputs[1], w, float64(g.Alpha)))
	}
	if g.Beta != 1 {
		l.SetInput(2, scaled(r, bias, b, float64(g.Beta)))
	}
	g.Alpha, g.Beta = 1, 1
	l.Attrs = g
	return c.Fire(l)
}

// scaled adds the constant t, whose elements are given, times a factor.
func scaled(r *pass.Rewrite, t *graph.Tensor, values []float64, factor float64) *graph.Tensor {
	for i := range values {
		values[i] *= factor
	}
	dims, _ := match.ConstDims(t.Dims)
	return r.NewConst(t.Name+"_folded", t.Type, values, dims...)
}

// gemmBias writes a constant C that has one value for each column, or one for all, as a vector.
func gemmBias(r *pass.Rewrite, l *graph.Layer) bool {
	bias := l.Input(2)
	if l.Op != graph.Gemm || bias == nil || !bias.IsConst() || len(bias.Dims) == 1 && bias.Dims[0].Equal(l.Outputs[0].Dims[1]) {
		return false
	}
	c := r.Candidate("gemm-bias", l)
	n, ok := l.Outputs[0].Dims[1].IsConst()
	if !ok {
		return c.Miss(pass.WrongShape, "the number of columns of %s is not known", l.Outputs[0])
	}
	values, ok := match.PerChannel(bias, 2, 1, n)
	if !ok {
		return c.Miss(pass.WrongShape, "%s is not one value per column", bias)
	}
	if !c.Enabled() {
		return false
	}
	l.SetInput(2, r.NewConst(bias.Name+"_folded", bias.Type, values, n))
	return c.Fire(l)
}
