package simplify

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
)

// FoldConstants computes layers whose inputs are all constants, and tensors of integers that are known from shapes.
//
//	s = Shape(x f32[2,3])      x, s i64[2]
//	y = Reshape(x, s)     ->   y = Reshape(x, s)
//
// Quantize and Dequantize layers stay: they tell the precision of what they are applied to.
var FoldConstants = pass.Pass{
	Name:  "fold-constants",
	Doc:   "compute layers whose inputs are constants",
	Rules: []string{"constant-layer"},
	Run:   foldAll,
}

// LateFoldConstants computes what the passes before it have made of constants, such as the angles of pairs, and removes what nothing needs
// any more, such as the extents of a mask that is none: as a user of a tensor it would stand in the way of what fuses that away.
var LateFoldConstants = pass.Pass{
	Name:  "late-fold-constants",
	Doc:   "compute layers that earlier passes have made of constants, and remove those that they have left without use",
	Rules: []string{"constant-layer", "dead-layer"},
	Run: func(r *pass.Rewrite) {
		foldAll(r)
		removeDead(r)
	},
}

func foldAll(r *pass.Rewrite) {
	grown := 0
	r.Each(func(l *graph.Layer) bool { return foldConstant(r, l, &grown) })
}

const (
	maxFoldBytes = 16 << 20  // a constant that is larger than this and than what it is made of is not made
	maxFoldGrown = 256 << 20 // bound on the bytes of all constants made
	maxFoldRuns  = 1 << 14   // bound on the layers inside one that are computed
	maxFoldWork  = 1 << 28   // bound on the products that one matrix product or convolution takes
)

func foldConstant(r *pass.Rewrite, l *graph.Layer, grown *int) bool {
	if l.Op.Name == "QuantizeLinear" || l.Op.Name == "DequantizeLinear" || l.Unsupported() != nil || !r.Used(l) {
		return false
	}
	known := !slices.ContainsFunc(l.Outputs, func(t *graph.Tensor) bool { _, ok := match.KnownInts(t); return !ok })
	constant := !slices.ContainsFunc(l.Inputs, func(t *graph.Tensor) bool { return t != nil && !t.IsConst() })
	if !known && !constant {
		return false
	}
	c := r.Candidate("constant-layer", l)
	size, made := 0, 0
	for _, t := range l.Inputs {
		if t != nil {
			size += len(t.Weights)
		}
	}
	for _, t := range l.Outputs {
		if r.Network().IsOutput(t) {
			return c.Miss(pass.NetworkOutput, "%s is an output of the network", t.Name)
		}
		dims, ok := match.ConstDims(t.Dims)
		if !ok {
			return c.Miss(pass.WrongShape, "the shape of %s is not known", t)
		}
		made += numeric.Count(dims) * t.Type.Size()
	}
	if made > max(maxFoldBytes, size) || *grown+made > maxFoldGrown {
		return c.Miss(pass.TooLarge, "the result has %d bytes", made)
	}
	if runs := l.Runs(nil); runs > maxFoldRuns {
		return c.Miss(pass.TooLarge, "the result takes %d layers", runs)
	}
	if work := graph.FLOPs(l, nil) / 2; work > maxFoldWork {
		return c.Miss(pass.TooLarge, "the result takes %d multiplications", work)
	}
	if !c.Enabled() {
		return false
	}
	values, err := match.ConstantOutputs(l, known)
	if err != nil {
		return c.Miss(pass.EvalFailed, "%v", err)
	}
	*grown += made
	outputs := slices.Clone(l.Outputs)
	r.Fold(l)
	r.Network().Remove(l)
	for i, t := range outputs {
		if len(t.Users) > 0 {
			t.Weights = values[i].Data
			if t.Weights == nil {
				t.Weights = []byte{}
			}
		}
	}
	return c.Fire()
}
