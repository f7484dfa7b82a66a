package graph

import (
	"fmt"
	"maps"
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

// SharedExtent is the error of shapes that give one symbol, which several extents of inputs are, two values.
type SharedExtent struct {
	Symbol string
	Places [2]string // as in "axis 0 of input x"
	Values [2]int
}

func (e *SharedExtent) Error() string {
	return fmt.Sprintf("%s is %d on %s, but %d on %s: the model has one extent there", e.Symbol, e.Values[0], e.Places[0], e.Values[1], e.Places[1])
}

// CheckShared returns a [*SharedExtent] where shapes, perhaps of some inputs alone, differ in a symbol.
func (n *Network) CheckShared(shapes map[string][]int) error {
	type place struct {
		of    string
		value int
	}
	first := map[string]place{}
	for _, t := range n.Inputs {
		extents, dims := t.Extents(), shapes[t.Name]
		for i := range min(len(extents), len(dims)) {
			name, ok := extents[i].SymbolName()
			if !ok || t.IsShape && dims[i] <= 0 { // that is inferred
				continue
			}
			now := place{fmt.Sprintf("%s of input %s", t.extentName(i), t.Name), dims[i]}
			if before, known := first[name]; !known {
				first[name] = now
			} else if before.value != now.value {
				return &SharedExtent{name, [2]string{before.of, now.of}, [2]int{before.value, now.value}}
			}
		}
	}
	return nil
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
		if e < -1 || e > maxExtent {
			return nil, fmt.Errorf("input %s: element %d is %d, want 0 to %d, or -1 for what is left: shapes depend on it", t.Name, i, e, maxExtent)
		}
		list[i] = int(e)
	}
	return list, nil
}

// inferElements returns the shapes with values for elements of inputs that are shapes in the place of a -1, which is what is left of the
// extents that a Reshape has, and of a 0, which is the extent on the same axis where that Reshape says so.
func (n *Network) inferElements(shapes map[string][]int) (map[string][]int, error) {
	open, env := map[string]int{}, map[string]int{} // elements to be inferred, and values of other symbols
	for _, t := range n.Inputs {
		for i, d := range t.Extents() {
			name, symbol := d.SymbolName()
			if !symbol || i >= len(shapes[t.Name]) {
				continue
			}
			if v := shapes[t.Name][i]; t.IsShape && v <= 0 {
				open[name] = v
			} else {
				env[name] = v
			}
		}
	}
	if len(open) == 0 {
		return shapes, nil
	}
	for _, l := range n.Layers {
		if l.Op == Reshape {
			if err := l.inferElements(open, env); err != nil {
				return nil, err
			}
		}
	}
	inferred := maps.Clone(shapes)
	for _, t := range n.Inputs {
		if !t.IsShape || len(shapes[t.Name]) != len(t.Value) {
			continue
		}
		list := slices.Clone(shapes[t.Name])
		for i, d := range t.Value {
			name, symbol := d.SymbolName()
			switch v, known := env[name]; {
			case symbol && known:
				list[i] = v
			case list[i] < 0:
				return nil, fmt.Errorf("input %s: element %d is %d, and no Reshape from a shape that is known says what that is", t.Name, i, list[i])
			}
		}
		inferred[t.Name] = list
	}
	return inferred, nil
}

// inferElements moves what a Reshape says of open symbols to env.
func (l *Layer) inferElements(open, env map[string]int) error {
	in, target := l.Inputs[0].Dims, l.Inputs[1].Value
	all := map[string]bool{}
	for _, d := range in {
		d.Symbols(all)
	}
	for name := range all {
		if _, known := env[name]; !known {
			return nil
		}
	}
	count, others, left := numeric.Count(symbolic.Eval(in, env)), 1, ""
	for k, d := range target {
		name, symbol := d.SymbolName()
		v, pending := open[name]
		switch {
		case symbol && pending && v < 0 && left == "":
			left = name
			continue
		case symbol && pending && v < 0:
			return fmt.Errorf("layer %s (Reshape): its shape has more than one -1", l.Name)
		case symbol && pending && !l.Attrs.(ReshapeAttrs).AllowZero:
			if k >= len(in) {
				return fmt.Errorf("layer %s (Reshape): its shape is 0 on axis %d, but its input has %d axes", l.Name, k, len(in))
			}
			env[name] = in[k].Eval(env)
			delete(open, name)
		case symbol && pending:
			env[name] = 0
			delete(open, name)
		}
		others *= d.Eval(env)
	}
	if left == "" {
		return nil
	}
	if others <= 0 || count%others != 0 {
		return fmt.Errorf("layer %s (Reshape): its shape has a -1 beside %d elements, and its input %s has %d", l.Name, others, l.Inputs[0].TypeString(), count)
	}
	env[left] = count / others
	delete(open, left)
	return nil
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
