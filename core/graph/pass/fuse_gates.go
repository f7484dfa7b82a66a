package pass

import (
	"github.com/trtui/trtui/core/graph"
)

// fuseGates makes one layer of two products of one tensor of which one, behind an activation, is a factor of the other. It comes
// last, since in 8 bits each of the two is a layer of its own.
//
//	a = MatMul(x, w) | silu($0)
//	y = MatMul(x, v, a) | mul($0, $1)   ->   y = GatedMatMul(x, w, v) activation=silu
var fuseGates = Pass{
	Name:  "fuse-gates",
	Doc:   "fuse the two products of a gated linear unit",
	Rules: []string{"gated-product"},
	run:   func(r *rewrite) { r.each(r.fuseGate) },
}

func (r *rewrite) fuseGate(l *graph.Layer) bool {
	p := l.Epilogue
	if !isRowProduct(l) || p.Args != 2 || len(p.Code) != 1 || p.Code[0].Op != graph.EltMul || p.Code[0].Arg[0] == p.Code[0].Arg[1] {
		return false
	}
	gate := l.EpilogueInputs()[0].Producer
	if gate == nil || !isRowProduct(gate) || gate.Inputs[0] != l.Inputs[0] || gate == l {
		return false
	}
	c := r.candidate("gated-product", gate, l)
	if !c.sole(gate.Outputs[0], l) {
		return false
	}
	a := gate.Epilogue
	if a.Args != 1 || len(a.Code) != 1 || a.Code[0].Op.Info().Arity != 1 || a.Code[0].Op.Info().Imms > 0 {
		return c.miss(EpilogueTaken, "%s ends in %s, not in an activation without parameters", gate.Name, a)
	}
	w, v := gate.Inputs[1], l.Inputs[1]
	switch {
	case !w.IsConst() || !v.IsConst():
		return c.miss(NotConstant, "weights %s or %s are computed", w.Name, v.Name)
	case !graph.EqualDims(w.Dims, v.Dims):
		return c.miss(WrongShape, "weights %s and %s differ in shape", w, v)
	case w.Type != v.Type || w.Quantized() || v.Quantized() || !isFloat(w) || l.Inputs[0].Quantized() || l.Outputs[0].Quantized() || gate.Outputs[0].Quantized():
		return c.miss(WrongType, "%s and %s are not products of real numbers of one type", gate.Name, l.Name)
	}
	by := &graph.Layer{Name: l.Name, Op: graph.GatedMatMul, Attrs: graph.GatedAttrs{Activation: a.Code[0].Op},
		Inputs: []*graph.Tensor{l.Inputs[0], w, v}, Outputs: l.Outputs, From: c.members}
	if !c.supported(by) || !c.enabled() {
		return false
	}
	by = r.replace(l, by)
	r.net.Remove(gate)
	return c.fire(by)
}

// isRowProduct reports whether l is rows times a matrix, without a bias or factors.
func isRowProduct(l *graph.Layer) bool {
	if !isAnchor(l) || l.Input(2) != nil && len(l.OpInputs()) > 2 || len(l.Inputs[1].Dims) != 2 || len(l.Inputs[0].Dims) < 2 {
		return false
	}
	if a, ok := l.Attrs.(graph.GemmAttrs); ok {
		return a == graph.GemmAttrs{Alpha: 1, Beta: 1}
	}
	return l.Op == graph.MatMul
}
