package onnx

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// An input of a model that says a shape, such as that of a Reshape or how far a Range goes, is an input whose elements are symbols:
// see [graph.Tensor.Extents]. It is found from its uses backwards, through what integers of shapes are computed with.

// shapeOperands are the inputs of operators that say shapes, by number.
var shapeOperands = map[string][]int{
	"ConstantOfShape": {0}, "Expand": {1}, "Range": {0, 1, 2}, "Reshape": {1}, "Resize": {3}, "Slice": {1, 2},
}

// shapeArithmetic are operators on integers that say shapes; their first input, or all, are such integers.
var shapeArithmetic = map[string]bool{ // whether all are
	"Add": true, "Cast": false, "Concat": true, "Div": true, "Gather": false, "Identity": false, "Max": true, "Min": true, "Mul": true,
	"Reshape": false, "Slice": false, "Squeeze": false, "Sub": true, "Unsqueeze": false,
}

// saysShape returns the values on which shapes depend, of nodes in a topological order.
func saysShape(order []*node) map[string]bool {
	says := map[string]bool{}
	for i := len(order) - 1; i >= 0; i-- {
		n := order[i]
		if n.domain != "" {
			continue
		}
		for _, k := range shapeOperands[n.opType] {
			if k < len(n.inputs) {
				says[n.inputs[k]] = true
			}
		}
		all, arithmetic := shapeArithmetic[n.opType]
		if !arithmetic || len(n.outputs) != 1 || !says[n.outputs[0]] {
			continue
		}
		for k, in := range n.inputs {
			if k == 0 || all {
				says[in] = true
			}
		}
	}
	delete(says, "")
	return says
}

// shape makes an input that says a shape one whose elements are symbols: a few integers, whose number is known.
func (im *importer) shape(t *graph.Tensor) {
	if t == nil || t.Type != numeric.I64 && t.Type != numeric.I32 || len(t.Dims) > 1 {
		return
	}
	names := []string{t.Name}
	if len(t.Dims) == 1 {
		count, known := t.Dims[0].IsConst()
		if !known || count > maxShapeElements {
			return
		}
		names = nil
		for i := range count {
			names = append(names, fmt.Sprintf("%s_%d", t.Name, i))
		}
	}
	elements := make([]symbolic.Dim, len(names))
	for i, name := range names {
		elements[i] = symbolic.Symbol(im.symbol(name))
	}
	_ = t.MakeShape(elements...) // what is none stays data, and what needs it says so
}

// maxShapeElements bounds the elements of an input that says a shape.
const maxShapeElements = 64
