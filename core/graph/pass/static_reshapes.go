package pass

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// staticReshapes writes every change of shape as a Reshape to a constant shape, in which 0 stands for the input's
// extent and one -1 for what is left. What computed the shape is then dead.
//
//	s = Shape(x f32[batch,8,1,1])
//	b = Slice(s, 0, 1)                      y = Reshape(x, [0, -1])
//	t = Concat(b, [-1])             ->
//	y = Reshape(x, t)
//
//	y = Flatten(x), Squeeze(x), Unsqueeze(x)  ->  y = Reshape(x, [...])
var staticReshapes = Pass{
	Name:  "static-reshapes",
	Doc:   "changes of shape become Reshape to a constant shape",
	Rules: []string{"constant-shape", "canonical-reshape"},
	run:   func(r *rewrite) { r.each(r.staticReshape) },
}

func (r *rewrite) staticReshape(l *graph.Layer) bool {
	rule := "canonical-reshape"
	switch {
	case l.Op.Memory != graph.Viewed || l.Op == graph.Identity:
		return false
	case l.Op == graph.Reshape:
		if l.Input(1).IsConst() {
			return false
		}
		rule = "constant-shape"
	}
	c := r.candidate(rule, l)
	shape, ok := reshapeTo(l.Inputs[0], l.Outputs[0].Dims)
	if !ok {
		return c.miss(WrongShape, "the shape %s has more than one unknown extent", symbolic.Format(l.Outputs[0].Dims))
	}
	if !c.enabled() {
		return false
	}
	return c.fire(r.replace(l, r.reshape(l.Inputs[0], l.Outputs[0].Name+"_shape", shape)))
}

// reshape returns a Reshape of x, for replace.
func (r *rewrite) reshape(x *graph.Tensor, name string, shape []int64) *graph.Layer {
	return &graph.Layer{Op: graph.Reshape, Attrs: graph.ReshapeAttrs{}, Inputs: []*graph.Tensor{x, r.newInts(name, shape)}}
}

// reshapeTo returns the constant shape with which Reshape brings x to the given dims.
func reshapeTo(x *graph.Tensor, dims []symbolic.Dim) ([]int64, bool) {
	shape := make([]int64, len(dims))
	open := false
	for i, d := range dims {
		n, ok := d.IsConst()
		switch {
		case ok && n > 0:
			shape[i] = int64(n)
		case ok: // an extent of 0 is written as 0, which stands for the input's extent
			if i >= len(x.Dims) || !x.Dims[i].Is(0) {
				return nil, false
			}
		case i < len(x.Dims) && x.Dims[i].Equal(d):
		case open:
			return nil, false
		default:
			shape[i], open = -1, true
		}
	}
	// Asking Infer makes sure that it comes to the same dims.
	s := &graph.Tensor{Name: "shape", Type: numeric.I64, Dims: symbolic.Shape(len(shape)), Weights: numeric.Bytes(shape)}
	if s.Weights == nil {
		s.Weights = []byte{}
	}
	y := &graph.Tensor{Name: "y"}
	trial := &graph.Layer{Op: graph.Reshape, Attrs: graph.ReshapeAttrs{}, Inputs: []*graph.Tensor{x, s}, Outputs: []*graph.Tensor{y}}
	return shape, trial.Infer() == nil && symbolic.Equal(y.Dims, dims)
}
