package onnx

import (
	"maps"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// What says a shape may be an element that data decide, such as how long a speech is of which the durations are computed. Where
// [Importer.MaxExtent] says how large such elements can be, each becomes an extent, by a [graph.Places].

// LargestExtent is the largest [Importer.MaxExtent]: memory is planned for as much.
const LargestExtent = 1 << 24

// undecided returns the inputs of a node that say shapes and do not follow from shapes, by number: a few integers.
func undecided(n *node, inputs []*graph.Tensor) (list []int) {
	if n.domain != "" {
		return nil
	}
	for _, k := range shapeOperands[n.opType] {
		if k >= len(inputs) || inputs[k] == nil || inputs[k].Value != nil || inputs[k].IsConst() {
			continue
		}
		if _, ok := inputs[k].Elements(); ok {
			list = append(list, k)
		}
	}
	return list
}

// decide imports a node of which data decide a shape. errs are why it is no layer as it is.
func (im *importer) decide(n *node, name string, op *graph.Op, inputs []*graph.Tensor, errs []error) []error {
	if im.MaxExtent <= 0 {
		return []error{&undecidedError{errs[0]}}
	}
	inputs = slices.Clone(inputs)
	before := maps.Clone(im.decided)
	c := &graph.Composite{Import: func(d *graph.Definition, _ *graph.Node) ([]*graph.Tensor, error) {
		for _, k := range undecided(n, inputs) {
			inputs[k] = im.extents(d, inputs[k])
		}
		return nil, nil
	}}
	if _, errs := c.Add(im.net, im.Ops, &graph.Node{Name: name, OpType: n.opType}, nil, im.isReserved); len(errs) > 0 {
		im.decided = before
		return errs
	}
	return im.layer(n, name, op, inputs, nil)
}

// undecidedError is the error of a node of which data decide an extent where nothing says how large that can be.
type undecidedError struct{ error }

func (e *undecidedError) Unwrap() error { return e.error }

// extents adds a tensor of the elements of t, each of which follows from shapes or is counted.
func (im *importer) extents(d *graph.Definition, t *graph.Tensor) *graph.Tensor {
	var parts []*graph.Tensor
	elements, _ := t.Elements()
	for _, e := range elements {
		part := im.decided[e]
		if part == nil {
			part = d.Slice(d.Reshape(e.Of, -1), graph.SliceAttrs{Starts: []int{e.At}, Ends: []int{e.At + 1}, Axes: []int{0}})
			if !e.IsKnown() {
				symbol := im.symbol("count_" + e.String())
				part = d.ShapeOf(d.Places(part, graph.PlacesAttrs{Most: im.MaxExtent, Count: symbol}))
			} else if part.Type != numeric.I64 {
				part = d.Cast(part, numeric.I64)
			}
			im.decided[e] = part
		}
		parts = append(parts, part)
	}
	all := parts[0]
	if len(parts) > 1 {
		all = d.Concat(0, parts...)
	}
	if len(t.Dims) == 0 {
		all = d.Squeeze(all, 0)
	}
	if t.Type != all.Type {
		all = d.Cast(all, t.Type)
	}
	return all
}
