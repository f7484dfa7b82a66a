package onnx

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
)

// An If whose branches count what there is, or give results of different extents, is no layer: what a layer gives has one shape. Both
// graphs are imported in its place, and the results are those of the one that the condition names, of which there are as many as are
// counted.

// needsBoth reports whether an If with these branches is imported so.
func needsBoth(then, other *graph.Network) bool {
	needs := false
	for _, l := range slices.Concat(then.AllLayers(), other.AllLayers()) {
		needs = needs || l.Counts()
	}
	for i, t := range then.Outputs {
		o := other.Outputs[i]
		axes := differing(t, o)
		if t.Type != o.Type || t.Range.IsSet() || o.Range.IsSet() || len(t.Dims) != len(o.Dims) || len(axes) > 1 {
			return false
		}
		needs = needs || len(axes) > 0
	}
	return needs
}

// differing returns the axes on which two tensors of as many axes have different extents.
func differing(a, b *graph.Tensor) (axes []int) {
	for axis := range min(len(a.Dims), len(b.Dims)) {
		if !a.Dims[axis].Equal(b.Dims[axis]) {
			axes = append(axes, axis)
		}
	}
	return axes
}

// both imports the two graphs of an If in its place.
func (im *importer) both(n *node, name string, condition *graph.Tensor, graphs []*graphProto) []error {
	before := len(im.net.Layers)
	var results [2][]*graph.Tensor
	var sub *importer
	for i, part := range []string{"then", "else"} {
		sub = im.within(graphs[i], name+"/"+part, true)
		sub.body(graphs[i])
		if len(sub.problems) == 0 {
			for _, v := range sub.outputs(graphs[i].outputs) {
				results[i] = append(results[i], v.tensor)
			}
		}
		if len(sub.problems) > 0 {
			return im.bring(n, name, before, part, sub, nil)
		}
	}
	names := make([]string, len(results[0]))
	for i := range names {
		names[i] = fmt.Sprintf("%s/chosen%d", name, i)
	}
	c := &graph.Composite{Import: func(d *graph.Definition, _ *graph.Node) ([]*graph.Tensor, error) {
		return chosen(d, condition, results[0], results[1]), nil
	}}
	list, errs := c.Add(im.net, im.Ops, &graph.Node{Name: name, OpType: n.opType, Outputs: len(names)}, names, im.isReserved)
	var values []value
	for _, t := range list {
		values = append(values, value{tensor: t})
	}
	for _, err := range errs {
		sub.report(&Problem{Reason: err.Error()})
	}
	return im.bring(n, name, before, "else", sub, values)
}

// chosen adds layers that give the tensors of then where the condition holds, else those of other. Where two differ in an extent they
// are put one behind the other, and what is there of the one is taken; results that differ in the same way are as many.
func chosen(d *graph.Definition, condition *graph.Tensor, then, other []*graph.Tensor) (list []*graph.Tensor) {
	for len(condition.Dims) > 0 {
		condition = d.Squeeze(condition, 0)
	}
	places := map[string]*graph.Tensor{}
	for i, t := range then {
		o := other[i]
		axes := differing(t, o)
		if len(axes) == 0 {
			list = append(list, d.Where(condition, t, o))
			continue
		}
		axis := axes[0]
		extents := fmt.Sprint(t.Dims[axis], o.Dims[axis])
		if places[extents] == nil {
			extent := func(t *graph.Tensor) *graph.Tensor {
				return d.Layer(graph.ShapeOf, graph.ShapeAttrs{Start: axis, End: axis + 1}, t)
			}
			taken := d.Concat(0, d.ExpandTo(condition, extent(t)), d.ExpandTo(d.Not(condition), extent(o)))
			places[extents] = d.Squeeze(d.NonZero(taken), 0)
		}
		list = append(list, d.Gather(d.Concat(axis, t, o), places[extents], axis))
	}
	return list
}
