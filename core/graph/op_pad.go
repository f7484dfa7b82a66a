package graph

import (
	"fmt"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// PadAttrs are the attributes of Pad.
type PadAttrs struct {
	Mode  string  // constant, reflect, edge or wrap
	Pads  []int   // elements added (negative: taken away) at the begin of every axis, then at the end of every axis; nil if they are input 2
	Axes  []int   // those that input 2 is about, counted from 0; nil for every axis
	Value float32 // what is added in mode constant; input 1, if there is one, counts instead
}

// With returns the attributes with the elements of input 2 for Pads, where that is what a layer has; rank is that of its input 0.
func (a PadAttrs) With(pads []int64, rank int) (PadAttrs, error) {
	list := make([]int, len(pads))
	convertInts(list, pads)
	var err error
	a.Pads, err = onEveryAxis(list, a.Axes, rank)
	a.Axes = nil
	return a, err
}

// onEveryAxis returns begins and ends of every axis, of which list has those of some; axes of nil are all.
func onEveryAxis[T any](list []T, axes []int, rank int) ([]T, error) {
	if axes == nil {
		for i := range rank {
			axes = append(axes, i)
		}
	}
	if len(list) != 2*len(axes) {
		return nil, fmt.Errorf("%d pads for %d axes, want two for each", len(list), len(axes))
	}
	all := make([]T, 2*rank)
	for i, axis := range axes {
		if axis < 0 || axis >= rank {
			return nil, fmt.Errorf("axis %d is not one of %d", axis, rank)
		}
		all[axis], all[rank+axis] = list[i], list[len(axes)+i]
	}
	return all, nil
}

// Pad adds elements around its input: a constant; the input mirrored without its border (reflect), its border (edge),
// or its other end (wrap). The padding must follow from constants and the inputs' shapes; reflect and wrap reach at most once round. A
// quantised input is padded with the quantised value.
var Pad = &Op{
	Name:  "Pad",
	Attrs: PadAttrs{},
	Reals: AsStored,
	Onnx:  []string{"Pad"},
	Class: ClassMove, Inputs: []Role{Data, Fill, Parameter}, Memory: Written,
	Moves:  padMovement,
	FLOPs:  noFLOPs,
	Infer:  inferPad,
	Eval:   evalPad,
	Import: importPad,
	Export: func(e *Exporter) (err error) {
		a, x, fill := e.Layer.Attrs.(PadAttrs), e.Layer.Inputs[0], e.Input(1)
		switch {
		case fill != "" || a.Mode != "constant":
		case x.Quantized() && x.Range.PerChannel():
			return fmt.Errorf("a value for %s, which has a scale for each channel", x)
		case x.Quantized():
			v := numeric.NewValue(x.Type)
			x.Range.Quantize(v, []float32{a.Value})
			fill = e.Constant("value", v)
		case a.Value != 0:
			if fill, err = e.number("value", x.Type, float64(a.Value)); err != nil {
				return err
			}
		}
		pads, axes := e.Input(2), ""
		if a.Pads != nil {
			pads = e.list("pads", a.Pads)
		}
		if a.Axes != nil {
			axes = e.list("axes", a.Axes)
		}
		return e.Node("Pad", Attributes{"mode": a.Mode}, e.Input(0), pads, fill, axes)
	},
}

func inferPad(l *Layer) error {
	x, err := l.need(0)
	if err != nil {
		return err
	}
	a, rank := l.Attrs.(PadAttrs), len(x.Dims)
	pads := symbolic.Shape(a.Pads...)
	if l.Input(2) != nil {
		if pads, err = l.knownInput(2, "pads"); err != nil {
			return err
		}
		if pads, err = onEveryAxis(pads, a.Axes, rank); err != nil {
			return err
		}
	}
	if len(pads) != 2*rank {
		return fmt.Errorf("%d pads for %d axes, want two for each", len(pads), rank)
	}
	if !slices.Contains([]string{"constant", "reflect", "edge", "wrap"}, a.Mode) {
		return fmt.Errorf("mode %q is unknown; it is constant, reflect, edge or wrap", a.Mode)
	}
	dims := make([]symbolic.Dim, rank)
	for i, d := range x.Dims {
		dims[i] = d.Add(pads[i]).Add(pads[rank+i])
		n, known := d.IsConst()
		begin, ok := pads[i].IsConst()
		end, ok2 := pads[rank+i].IsConst()
		if known && ok && ok2 && a.Mode != "constant" {
			if err := checkPads(a.Mode, i, n, begin, end); err != nil {
				return err
			}
		}
	}
	if v := l.Input(1); v != nil && v.Type != x.Type {
		return fmt.Errorf("the value's type is %s, the input's %s", v.Type, x.Type)
	}
	axis := x.Range.Axis
	if x.Range.PerChannel() && (!pads[axis].Is(0) || !pads[rank+axis].Is(0)) {
		axis = -1
	}
	if err := l.inferMoved(0, x, dims, axis); err != nil {
		return err
	}
	l.moveKnown(0)
	return nil
}

// checkPads returns an error where an axis of extent n is too short for the padding.
func checkPads(mode string, axis, n, begin, end int) error {
	most := n
	switch {
	case mode == "reflect":
		most = max(0, n-1)
	case mode == "edge" && n > 0:
		most = math.MaxInt
	}
	if begin > most || end > most {
		return fmt.Errorf("mode %s cannot pad axis %d of extent %d by %d and %d", mode, axis, n, begin, end)
	}
	return nil
}

// padMovement: what is added is the input's, or zero, or another number.
func padMovement(l *Layer) Movement {
	a := l.Attrs.(PadAttrs)
	switch {
	case l.Input(2) == nil && !slices.ContainsFunc(a.Pads, func(p int) bool { return p != 0 }):
		return Kept
	case a.Mode == "constant" && (a.Value != 0 || l.Input(1) != nil):
		return Filled
	}
	return Moved
}

func evalPad(l *Layer, in, out []numeric.Value) error {
	a, x, y := l.Attrs.(PadAttrs), in[0], out[0]
	rank := len(x.Dims)
	if l.Input(2) != nil {
		var err error
		if a, err = a.With(in[2].Ints(), rank); err != nil {
			return err
		}
	}
	if a.Mode == "constant" {
		fill := numeric.NewValue(x.Type)
		switch r := l.Inputs[0].Range; {
		case len(in) > 1 && in[1].Data != nil:
			copy(fill.Data, in[1].Data)
		case x.Type.IsInteger() && r.IsSet() && !r.PerChannel():
			r.Quantize(fill, []float32{a.Value})
		default:
			fill.SetFloats([]float64{float64(a.Value)})
		}
		for i := 0; i < len(y.Data); i += len(fill.Data) {
			copy(y.Data[i:], fill.Data)
		}
	}
	tables := make([][]int, rank)
	s := strides(x.Dims)
	for axis, n := range x.Dims {
		if a.Mode != "constant" {
			if err := checkPads(a.Mode, axis, n, a.Pads[axis], a.Pads[rank+axis]); err != nil {
				return err
			}
		}
		tables[axis] = table(y.Dims[axis], s[axis], func(i int) int { return padSource(a.Mode, i-a.Pads[axis], n) })
	}
	move(y, x, tables)
	return nil
}

// padSource returns which index of an axis of extent n is at place i, where i is outside in the padding, or -1.
func padSource(mode string, i, n int) int {
	if i >= 0 && i < n {
		return i
	}
	switch {
	case mode == "reflect" && i < 0:
		return -i
	case mode == "reflect":
		return 2*(n-1) - i
	case mode == "edge":
		return max(0, min(n-1, i))
	case mode == "wrap" && i < 0:
		return i + n
	case mode == "wrap":
		return i - n
	}
	return -1
}

func importPad(n *Node) (any, []*Tensor, error) {
	rank, err := n.rank(0)
	if err != nil {
		return nil, nil, err
	}
	a := PadAttrs{Mode: n.String("mode", "constant"), Pads: n.Ints("pads"), Value: n.Float("value", 0)}
	inputs := []*Tensor{n.Inputs[0], nil, nil}
	if v := n.Input(2); v != nil && a.Mode == "constant" {
		c, ok := v.Const()
		f := math.Inf(1)
		if ok && c.Len() == 1 && c.Type != numeric.I64 && c.Type != numeric.U64 {
			f = c.Float64s()[0]
		}
		// A value that the attribute cannot hold stays an input.
		if a.Value = float32(f); float64(a.Value) != f || math.IsInf(f, 0) {
			a.Value, inputs[1] = 0, v
		}
	}
	axes, ok, err := n.known(3, "axes")
	if err != nil {
		return nil, nil, err
	}
	if ok {
		if a.Axes, err = axesIn(axes, rank); err != nil {
			return nil, nil, err
		}
	}
	if t := n.Input(1); t != nil {
		if a.Pads, ok = t.Ints(); !ok {
			inputs[2] = t
		}
	}
	for len(inputs) > 1 && inputs[len(inputs)-1] == nil {
		inputs = inputs[:len(inputs)-1]
	}
	if a.Pads != nil && a.Axes != nil {
		a.Pads, err = onEveryAxis(a.Pads, a.Axes, rank)
		a.Axes = nil
	}
	return a, inputs, err
}
