package graph

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// ReshapeAttrs are the attributes of Reshape.
type ReshapeAttrs struct {
	AllowZero bool // a 0 in the shape is an extent of 0, not "as in the input"
}

// Reshape gives its first input, data, the shape that its second, an I64 list, says: 0 stands for the input's extent
// on the same axis, one -1 for what is left. The list must be known from constants and the inputs' shapes.
var Reshape = &Op{
	Name:  "Reshape",
	Attrs: ReshapeAttrs{},
	Reals: AsStored,
	Onnx:  []string{"Reshape"},
	Class: ClassMove, Inputs: []Role{Data, Parameter}, Memory: Viewed,
	Moves: kept,
	FLOPs: noFLOPs,
	Infer: func(l *Layer) error {
		x, err := l.need(0)
		if err != nil {
			return err
		}
		shape, err := l.need(1)
		if err != nil {
			return err
		}
		if len(shape.Dims) != 1 {
			return fmt.Errorf("shape %s must be a list", shape)
		}
		target := shape.Value
		if target == nil {
			list, ok := shape.Ints()
			if !ok {
				return fmt.Errorf("shape %s does not follow from constants and the inputs' shapes", shape)
			}
			target = symbolic.Shape(list...)
		}
		dims, err := reshapeDims(x.Dims, target, l.Attrs.(ReshapeAttrs).AllowZero)
		if err != nil {
			return err
		}
		return l.inferReshaped(x, dims)
	},
	Eval: copyElements,
	Export: func(e *Exporter) error {
		return e.Node("Reshape", Attributes{"allowzero": e.Layer.Attrs.(ReshapeAttrs).AllowZero})
	},
	Import: func(n *Node) (any, []*Tensor, error) {
		return ReshapeAttrs{n.Flag("allowzero", false)}, n.Inputs, nil
	},
}

// copyElements evaluates the ops that change only the shape.
func copyElements(l *Layer, in, out []numeric.Value) error {
	copy(out[0].Data, in[0].Data)
	return nil
}

// inferReshaped gives the first output x's elements in another shape. A quantisation axis is followed where the
// elements before and behind it stay as many.
func (l *Layer) inferReshaped(x *Tensor, dims []symbolic.Dim) error {
	axis := -1
	if r := x.Range; r.PerChannel() {
		for i, d := range dims {
			if d.Equal(x.Dims[r.Axis]) && productOf(dims[:i]).Equal(productOf(x.Dims[:r.Axis])) {
				axis = i
			}
		}
	}
	err := l.inferMoved(0, x, dims, axis)
	l.Outputs[0].Value = x.Value
	return err
}

func productOf(dims []symbolic.Dim) symbolic.Dim {
	p := symbolic.Const(1)
	for _, d := range dims {
		p = p.Mul(d)
	}
	return p
}

// reshapeDims resolves the 0 and -1 of a target shape for an input of shape in. The -1 is what is left beside the axes that are
// copied, so that it is known where one of these has no extent, too.
func reshapeDims(in, target []symbolic.Dim, allowZero bool) ([]symbolic.Dim, error) {
	out := slices.Clone(target)
	open := -1
	for i, d := range target {
		switch {
		case d.Is(-1) && open >= 0:
			return nil, fmt.Errorf("shape %s has more than one -1", symbolic.Format(target))
		case d.Is(-1):
			open = i
		case d.Is(0) && !allowZero:
			if i >= len(in) {
				return nil, fmt.Errorf("shape %s: 0 on axis %d, but the input has %d axes", symbolic.Format(target), i, len(in))
			}
			out[i] = in[i]
		default:
			if n, ok := d.IsConst(); ok && n < 0 {
				return nil, fmt.Errorf("shape %s: extent %d on axis %d", symbolic.Format(target), n, i)
			}
		}
	}
	// Equal factors on both sides cancel, so that the rest is a simple product more often.
	left, right := slices.Clone(in), slices.Clone(out)
	if open >= 0 {
		for i, d := range target {
			if d.Is(0) && !allowZero {
				left[i], right[i] = symbolic.Const(1), symbolic.Const(1)
			}
		}
		right = slices.Delete(right, open, open+1)
	}
	left = slices.DeleteFunc(left, func(d symbolic.Dim) bool {
		i := slices.IndexFunc(right, d.Equal)
		if i >= 0 && !d.Is(0) {
			right = slices.Delete(right, i, i+1)
			return true
		}
		return false
	})
	have, want := productOf(left), productOf(right)
	n, ok := have.IsConst()
	m, ok2 := want.IsConst()
	if open >= 0 {
		if want.Is(0) {
			return nil, fmt.Errorf("shape %s: -1 beside an extent of 0", symbolic.Format(target))
		}
		if ok && ok2 && n%m != 0 {
			return nil, fmt.Errorf("shape %s does not divide the elements of %s", symbolic.Format(target), symbolic.Format(in))
		}
		out[open] = have.Div(want)
	} else if ok && ok2 && n != m {
		return nil, fmt.Errorf("shape %s does not have as many elements as %s", symbolic.Format(target), symbolic.Format(in))
	}
	return out, nil
}

// FlattenAttrs are the attributes of Flatten.
type FlattenAttrs struct{ Axis int }

// Flatten makes a matrix of its input: the axes before Axis become rows, those from Axis on columns.
var Flatten = &Op{
	Name:  "Flatten",
	Attrs: FlattenAttrs{},
	Reals: AsStored,
	Onnx:  []string{"Flatten"},
	Class: ClassMove, Inputs: []Role{Data}, Memory: Viewed,
	Moves: kept,
	FLOPs: noFLOPs,
	Infer: func(l *Layer) error {
		x, err := l.need(0)
		if err != nil {
			return err
		}
		axis, rank := l.Attrs.(FlattenAttrs).Axis, len(x.Dims)
		if axis < -rank || axis > rank {
			return fmt.Errorf("axis %d is not one of %d", axis, rank)
		}
		if axis < 0 {
			axis += rank
		}
		return l.inferReshaped(x, []symbolic.Dim{productOf(x.Dims[:axis]), productOf(x.Dims[axis:])})
	},
	Eval: copyElements,
	Export: func(e *Exporter) error {
		return e.Node("Flatten", Attributes{"axis": e.Layer.Attrs.(FlattenAttrs).Axis})
	},
	Import: func(n *Node) (any, []*Tensor, error) {
		return FlattenAttrs{n.Int("axis", 1)}, n.Inputs, nil
	},
}

// SqueezeAttrs are the attributes of Squeeze.
type SqueezeAttrs struct {
	Axes []int // nil: every axis whose extent is the constant 1
}

// Squeeze removes axes of extent 1. ONNX's axes input must be constant.
var Squeeze = &Op{
	Name:  "Squeeze",
	Attrs: SqueezeAttrs{},
	Reals: AsStored,
	Onnx:  []string{"Squeeze"},
	Class: ClassMove, Inputs: []Role{Data, Parameter}, Memory: Viewed,
	Moves: kept,
	FLOPs: noFLOPs,
	Infer: func(l *Layer) error {
		x, err := l.need(0)
		if err != nil {
			return err
		}
		axes, err := axesIn(l.Attrs.(SqueezeAttrs).Axes, len(x.Dims))
		if err != nil {
			return err
		}
		var dims []symbolic.Dim
		for i, d := range x.Dims {
			n, ok := d.IsConst()
			named := slices.Contains(axes, i)
			if named && ok && n != 1 {
				return fmt.Errorf("axis %d of %s is not 1", i, x)
			}
			if !named && (len(axes) > 0 || n != 1 || !ok) {
				dims = append(dims, d)
			}
		}
		return l.inferReshaped(x, dims)
	},
	Eval: copyElements,
	Export: func(e *Exporter) error {
		axes := ""
		if list := e.Layer.Attrs.(SqueezeAttrs).Axes; len(list) > 0 {
			axes = e.list("axes", list)
		}
		return e.Node("Squeeze", nil, e.Input(0), axes)
	},
	Import: func(n *Node) (any, []*Tensor, error) {
		axes, err := importAxes(n)
		if err != nil {
			return nil, nil, err
		}
		return SqueezeAttrs{axes}, n.Inputs[:1], nil
	},
}

// importAxes reads axes from the attribute (before opset 13) or the constant input 1.
func importAxes(n *Node) ([]int, error) {
	if _, err := n.rank(0); err != nil {
		return nil, err
	}
	axes := n.Ints("axes")
	list, ok, err := n.known(1, "axes")
	if ok {
		axes = list
	}
	return axes, err
}

// UnsqueezeAttrs are the attributes of Unsqueeze.
type UnsqueezeAttrs struct {
	Axes []int // places of the new axes in the output
}

// Unsqueeze adds axes of extent 1. ONNX's axes input must be constant.
var Unsqueeze = &Op{
	Name:  "Unsqueeze",
	Attrs: UnsqueezeAttrs{},
	Reals: AsStored,
	Onnx:  []string{"Unsqueeze"},
	Class: ClassMove, Inputs: []Role{Data, Parameter}, Memory: Viewed,
	Moves: kept,
	FLOPs: noFLOPs,
	Infer: func(l *Layer) error {
		x, err := l.need(0)
		if err != nil {
			return err
		}
		a := l.Attrs.(UnsqueezeAttrs)
		dims := make([]symbolic.Dim, len(x.Dims)+len(a.Axes))
		axes, err := axesIn(a.Axes, len(dims))
		if err != nil {
			return err
		}
		from := 0
		for i := range dims {
			if slices.Contains(axes, i) {
				dims[i] = symbolic.Const(1)
			} else {
				dims[i] = x.Dims[from]
				from++
			}
		}
		return l.inferReshaped(x, dims)
	},
	Eval: copyElements,
	Export: func(e *Exporter) error {
		return e.Node("Unsqueeze", nil, e.Input(0), e.list("axes", e.Layer.Attrs.(UnsqueezeAttrs).Axes))
	},
	Import: func(n *Node) (any, []*Tensor, error) {
		axes, err := importAxes(n)
		if err != nil {
			return nil, nil, err
		}
		return UnsqueezeAttrs{axes}, n.Inputs[:1], nil
	},
}
