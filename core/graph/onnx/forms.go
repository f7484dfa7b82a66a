package onnx

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
)

// Forms of operators that their ops do not know, and that are imported as several layers.

// form returns how a node is imported that is of such a form; nil for others.
func (im *importer) form(n *node, name string) *graph.Composite {
	if n.domain != "" {
		return nil
	}
	open := func(i int) bool { // whether input i is integers that follow from extents which are open
		if i >= len(n.inputs) {
			return false
		}
		t, _ := im.value(n.inputs[i])
		if t == nil || t.Value == nil {
			return false
		}
		_, fixed := t.Ints()
		return !fixed
	}
	switch {
	case n.opType == "Split" && open(1):
		return openSplit
	case n.opType == "OneHot" && open(1):
		return openOneHot
	}
	if n.opType == "NonZero" && len(n.inputs) == 1 {
		if t, _ := im.value(n.inputs[0]); isFilled(t) {
			return filledPlaces
		}
	}
	if n.opType == "Dropout" && im.trains(n) {
		im.noteDropout(n, name)
		return graph.TrainingDropout
	}
	if n.opType != "BatchNormalization" {
		return nil
	}
	is := func(name string, value int64) bool {
		return slices.ContainsFunc(n.attrs, func(a *attribute) bool { return a.name == name && a.kind == kindInt && a.int == value })
	}
	switch version := im.version(n); {
	case version < 9 && is("spatial", 0):
		return elementNorm
	case version >= 14 && is("training_mode", 1):
		return trainingNorm
	}
	return nil
}

// trains reports whether a Dropout is one of training, or may be.
func (im *importer) trains(n *node) bool {
	of := func(i int) (t *graph.Tensor) {
		if i < len(n.inputs) && n.inputs[i] != "" {
			t, _ = im.value(n.inputs[i])
		}
		return t
	}
	training := of(2)
	if training == nil {
		return false
	}
	if on, known := training.Truth(); known && !on {
		return false
	}
	ratio, known := of(1).Const()
	return !known || ratio.Len() != 1 || !ratio.Type.IsFloat() || ratio.Float64s()[0] != 0
}

// noteDropout notes that a Dropout may be at work, which few people mean who export a model.
func (im *importer) noteDropout(n *node, name string) {
	reason := "training_mode is true, so that elements are dropped at random"
	if t, _ := im.value(n.inputs[2]); t != nil {
		if _, known := t.Truth(); !known {
			reason = "training_mode is not constant, and where it is true, elements are dropped at random"
		}
	}
	im.note(Problem{Node: name, Op: "Dropout", Reason: reason + "; export the model in eval mode"})
}

// elementNorm is the BatchNormalization before operator set 9 whose attribute spatial is 0: mean, variance, scale and bias have
// the shape of an item.
var elementNorm = &graph.Composite{Onnx: "BatchNormalization", Import: func(d *graph.Definition, n *graph.Node) ([]*graph.Tensor, error) {
	n.Int("spatial", 0)
	n.Float("momentum", 0.9)
	switch {
	case len(n.Inputs) != 5 || slices.Contains(n.Inputs, nil):
		return nil, fmt.Errorf("%d inputs, want 5", len(n.Inputs))
	case n.Outputs > 1:
		return nil, fmt.Errorf("outputs of training are not supported; export the model for inference")
	}
	x := n.Inputs[0]
	for i, t := range n.Inputs[1:] {
		if len(x.Dims) < 2 || !alike(t, &graph.Tensor{Dims: x.Dims[1:]}) {
			return nil, fmt.Errorf("input %d is %s, want the shape of an item of %s", i+1, t.TypeString(), x.TypeString())
		}
	}
	scale, bias, mean, variance := n.Inputs[1], n.Inputs[2], n.Inputs[3], n.Inputs[4]
	p := elementwise.Program{Args: 1, Code: []elementwise.Instr{
		{Op: elementwise.Const, Imm: [2]float32{n.Float("epsilon", 1e-5)}}, {Op: elementwise.Add, Arg: [3]int{0, 1}}, {Op: elementwise.Sqrt, Arg: [3]int{2}},
	}}
	y := d.Div(d.Sub(x, mean), d.Program(p, variance))
	return []*graph.Tensor{d.Add(d.Mul(y, scale), bias)}, nil
}}

// trainingNorm is the BatchNormalization whose training_mode is 1: by mean and variance of each channel of what is given, over items and
// places. Outputs 1 and 2 are running ones: momentum times what was, the rest of what is now.
var trainingNorm = &graph.Composite{Onnx: "BatchNormalization", Import: func(d *graph.Definition, n *graph.Node) ([]*graph.Tensor, error) {
	n.Flag("training_mode", true)
	epsilon, momentum := n.Float("epsilon", 1e-5), n.Float("momentum", 0.9)
	if len(n.Inputs) != 5 || slices.Contains(n.Inputs, nil) {
		return nil, fmt.Errorf("%d inputs, want 5", len(n.Inputs))
	}
	x, scale, bias := n.Inputs[0], n.Inputs[1], n.Inputs[2]
	if len(x.Dims) < 2 {
		return nil, fmt.Errorf("input 0 is %s, want items and channels", x.TypeString())
	}
	axes := []int{0} // of a channel
	for i := 2; i < len(x.Dims); i++ {
		axes = append(axes, i)
	}
	mean := d.Reduce(graph.ReduceMean, x, true, axes...)
	off := d.Sub(x, mean)
	variance := d.Reduce(graph.ReduceMean, d.Mul(off, off), false, axes...)
	mean = d.Squeeze(mean, axes...)
	running := func(now, before *graph.Tensor) *graph.Tensor {
		b := elementwise.NewBuilder(2)
		b.Do(elementwise.Add, b.Do(elementwise.Mul, 0, b.Constant(1-momentum)), b.Do(elementwise.Mul, 1, b.Constant(momentum)))
		return d.Program(b.Program, now, before)
	}
	y := d.BatchNorm(x, scale, bias, mean, variance, epsilon)
	return []*graph.Tensor{y, running(mean, n.Inputs[3]), running(variance, n.Inputs[4])}, nil
}}

// openSplit is the Split whose sizes are computed of open extents, as PyTorch's exporter writes for the levels of a pyramid: a part from
// the end of the one before it.
var openSplit = &graph.Composite{Onnx: "Split", Import: func(d *graph.Definition, n *graph.Node) ([]*graph.Tensor, error) {
	x, sizes, axis := n.Input(0), n.Input(1), n.Int("axis", 0)
	if x == nil || len(sizes.Value) != n.Outputs || n.Int("num_outputs", n.Outputs) != n.Outputs {
		return nil, fmt.Errorf("%d sizes (input 1, %s) of %d outputs", len(sizes.Value), sizes.Name, n.Outputs)
	}
	number := func(name string, v int64) *graph.Tensor {
		return d.Constant(n.Name+"/"+name, numeric.Values(numeric.I64, []int64{v}, 1))
	}
	begin, along := number("begin", 0), number("axis", int64(axis))
	var parts []*graph.Tensor
	for i := range n.Outputs {
		end := d.Add(begin, d.Slice(sizes, graph.SliceAttrs{Starts: []int{i}, Ends: []int{i + 1}, Axes: []int{0}}))
		parts = append(parts, d.Layer(graph.Slice, graph.SliceAttrs{}, x, begin, end, along))
		begin = end
	}
	return parts, nil
}}

// openOneHot is the OneHot whose depth is computed of open extents, such as of how many blocks a sequence has: one value where the index,
// which may count from the end, is the place along the new axis, and the other elsewhere.
var openOneHot = &graph.Composite{Onnx: "OneHot", Import: func(d *graph.Definition, n *graph.Node) ([]*graph.Tensor, error) {
	x, depth, values, axis := n.Input(0), n.Input(1), n.Input(2), n.Int("axis", -1)
	if x == nil || values == nil {
		return nil, fmt.Errorf("%d inputs, want 3", len(n.Inputs))
	}
	rank := len(x.Dims)
	if axis < 0 {
		axis += rank + 1
	}
	if axis < 0 || axis > rank {
		return nil, fmt.Errorf("axis %d is not one of %d", n.Int("axis", -1), rank+1)
	}
	number := func(name string, v int64) *graph.Tensor {
		return d.Constant(n.Name+"/"+name, numeric.Values(numeric.I64, []int64{v}))
	}
	zero, one := number("zero", 0), number("one", 1)
	depth = d.Reshape(d.Cast(depth, numeric.I64))
	places := d.Sequence(zero, depth, one)
	if behind := rank - axis; behind > 0 {
		places = d.Reshape(places, append([]int{-1}, slices.Repeat([]int{1}, behind)...)...)
	}
	at := d.Unsqueeze(d.Cast(x, numeric.I64), axis)
	at = d.Where(d.Less(at, zero), d.Add(at, depth), at)
	return []*graph.Tensor{d.Where(d.Equal(at, places), d.Gather(values, one, 0), d.Gather(values, zero, 0))}, nil
}}

// isFilled reports whether t is a list of open length that is filled with one value, which is not 0.
func isFilled(t *graph.Tensor) bool {
	if t == nil || t.Producer == nil || t.Producer.Op != graph.ConstantOfShape || len(t.Dims) != 1 {
		return false
	}
	_, fixed := t.Dims[0].IsConst()
	a := t.Producer.Attrs.(graph.FillAttrs)
	return !fixed && a.Value != nil && numeric.Value{Type: a.Type, Data: a.Value}.Float64s()[0] != 0
}

// filledPlaces is the NonZero of what is filled, by which PyTorch's exporter counts from 0 on: how many places there are does not depend
// on elements.
var filledPlaces = &graph.Composite{Onnx: "NonZero", Import: func(d *graph.Definition, n *graph.Node) ([]*graph.Tensor, error) {
	number := func(name string, v int64) *graph.Tensor {
		return d.Constant(n.Name+"/"+name, numeric.Values(numeric.I64, []int64{v}))
	}
	zero := number("start", 0)
	places := d.Sequence(zero, d.SizeOf(n.Input(0)), number("delta", 1))
	return []*graph.Tensor{d.Unsqueeze(places, 0)}, nil
}}
