package onnx

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
)

// Forms of BatchNormalization that its op does not know, and that are imported as several layers.

// form returns how a node is imported that is of such a form; nil for others.
func (im *importer) form(n *node) *graph.Composite {
	if n.domain != "" || n.opType != "BatchNormalization" {
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
