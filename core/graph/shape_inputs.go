package graph

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// An input may be a shape: a list, or one, of integers on whose elements shapes depend, as on those of a Reshape. Its elements are
// symbols, or constants, in Tensor.Value, and where shapes of inputs are said, what is said of it are the values of its elements, as
// with TensorRT's shape tensors.

// Extents are what the shape that is said of a network's input is of: its axes, or the elements of one that is a shape.
func (t *Tensor) Extents() []symbolic.Dim {
	if t.IsShape {
		return t.Value
	}
	return t.Dims
}

// ShapesAt returns what is said of the shapes of the network's inputs at values of its symbols.
func (n *Network) ShapesAt(env map[string]int) map[string][]int {
	shapes := map[string][]int{}
	for _, t := range n.Inputs {
		shapes[t.Name] = symbolic.Eval(t.Extents(), env)
	}
	return shapes
}

// ShapeOf returns what data for an input says of its shape: its extents, or its elements where the input is a shape.
func (t *Tensor) ShapeOf(v numeric.Value) ([]int, error) {
	if !t.IsShape {
		return v.Dims, nil
	}
	dims := symbolic.Eval(t.Dims, nil)
	if v.Type != t.Type || !slices.Equal(v.Dims, dims) {
		return nil, fmt.Errorf("input %s: data is %s%v, the network needs %s", t.Name, v.Type, v.Dims, t)
	}
	list := make([]int, v.Len())
	for i, e := range v.Ints() {
		if e < 0 || e > maxExtent {
			return nil, fmt.Errorf("input %s: element %d is %d, want 0 to %d: shapes depend on it", t.Name, i, e, maxExtent)
		}
		list[i] = int(e)
	}
	return list, nil
}

// ShapeValue returns the data of an input that is a shape at values of the network's symbols.
func (t *Tensor) ShapeValue(env map[string]int) numeric.Value {
	v := numeric.NewValue(t.Type, symbolic.Eval(t.Dims, nil)...)
	list := make([]int64, v.Len())
	for i, d := range t.Value {
		list[i] = int64(d.Eval(env))
	}
	v.SetInts(list, false)
	return v
}

// MakeShape makes an input a shape whose elements are the given symbols or constants: one integer, or a list of at most 64.
func (t *Tensor) MakeShape(elements ...symbolic.Dim) error {
	count, ok := countDims(t.Dims)
	switch {
	case t.Producer != nil || t.IsConst() || t.Type != numeric.I64 && t.Type != numeric.I32 || len(t.Dims) > 1:
		return fmt.Errorf("input %s: want integers, one or a list, of 32 or 64 bits", t)
	case !ok || count != len(elements) || count > maxKnownValue:
		return fmt.Errorf("input %s: %d elements, of %d at most", t, len(elements), maxKnownValue)
	}
	for _, e := range elements {
		if _, symbol := e.SymbolName(); !symbol {
			if c, known := e.IsConst(); !known || c < 0 || c > maxExtent {
				return fmt.Errorf("input %s: an element %s; want symbols and constants", t, e)
			}
		}
	}
	t.Value, t.IsShape = slices.Clone(elements), true
	return nil
}

// extentName names an axis of an input, or an element of one that is a shape, in messages.
func (t *Tensor) extentName(i int) string {
	if t.IsShape {
		return fmt.Sprintf("element %d", i)
	}
	return fmt.Sprintf("axis %d", i)
}
