package simplify

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// SliceGathers writes a Gather of constant indices that follow each other as a Slice, which can be read where its input lies.
//
//	y = Gather(x f32[1,9,4], 0) axis=1         ->  s = Slice(x, 0, 1) axes=[1]
//	                                               y = Reshape(s, [1, 4])
//	y = Gather(x f32[9,4], [3, 4, 5]) axis=0   ->  y = Slice(x, 3, 6) axes=[0]
var SliceGathers = pass.Pass{
	Name:  "slice-gathers",
	Doc:   "gathers of neighbouring indices become slices",
	Rules: []string{"gather-to-slice"},
	Run:   func(r *pass.Rewrite) { r.Each(func(l *graph.Layer) bool { return sliceGather(r, l) }) },
}

func sliceGather(r *pass.Rewrite, l *graph.Layer) bool {
	if l.Op != graph.Gather || l.Epilogue.Args > 0 || l.Inputs[0].IsConst() || !match.IsFloat(l.Inputs[0]) {
		return false
	}
	x, y := l.Inputs[0], l.Outputs[0]
	c := r.Candidate("gather-to-slice", l)
	index, ok := l.Inputs[1].Ints()
	if !ok || len(index) == 0 {
		return c.Miss(pass.NotConstant, "indices %s are no constants", l.Inputs[1])
	}
	axis := l.Attrs.(graph.GatherAttrs).Axis
	if axis < 0 {
		axis += len(x.Dims)
	}
	n, ok := x.Dims[axis].IsConst()
	if !ok {
		return c.Miss(pass.WrongShape, "the extent of %s that indices choose in is not known", x)
	}
	index = slices.Clone(index)
	for i, at := range index {
		if at < 0 {
			index[i] += n
		}
		if index[i] != index[0]+i || index[i] < 0 || index[i] >= n {
			return c.Miss(pass.NotConstant, "indices %v of %d do not follow each other", index[:i+1], n)
		}
	}
	first := index[0]
	slice := &graph.Layer{Op: graph.Slice, Attrs: graph.SliceAttrs{Starts: []int{first}, Ends: []int{first + len(index)}, Axes: []int{axis}},
		Inputs: []*graph.Tensor{x}}
	if len(l.Inputs[1].Dims) == 1 {
		if !c.Enabled() {
			return false
		}
		return c.Fire(r.Replace(l, slice))
	}
	dims := slices.Clone(x.Dims)
	dims[axis] = symbolic.Const(len(index))
	s := r.Network().NewTensor(y.Name+"_slice", y.Type, dims)
	shape, ok := match.ReshapeTo(s, y.Dims)
	if !ok && len(l.Inputs[1].Dims) > 0 {
		return c.Miss(pass.WrongShape, "%s has more than one unknown extent", y)
	}
	if !c.Enabled() {
		return false
	}
	view := &graph.Layer{Op: graph.Squeeze, Attrs: graph.SqueezeAttrs{Axes: []int{axis}}, Inputs: []*graph.Tensor{s}}
	if ok {
		view = r.Reshape(s, y.Name+"_shape", shape)
	}
	slice.Name, slice.Outputs, slice.From = l.Name+"_slice", []*graph.Tensor{s}, l.From
	by := r.Replace(l, view)
	r.Network().Insert(slice)
	return c.Fire(slice, by)
}
