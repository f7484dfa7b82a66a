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
	Pads  []int   // elements added (negative: taken away) at the begin of every axis, then at the end of every axis
	Value float32 // what is added in mode constant; input 1, if there is one, counts instead
}

// Pad adds elements around its input: a constant; the input mirrored without its border (reflect), its border (edge),
// or its other end (wrap). The padding must be constant; reflect and wrap reach at most once round. A quantised input is padded with the quantised value.
var Pad = &Op{
	Name:  "Pad",
	Attrs: PadAttrs{},
	Reals: AsStored,
	Onnx:  []string{"Pad"},
	Class: ClassMove, Inputs: []Role{Data, Fill}, Memory: Written,
	Moves: padMovement,
	FLOPs: noFLOPs,
	Infer: func(l *Layer) error {
		x, err := l.need(0)
		if err != nil {
			return err
		}
		a, rank := l.Attrs.(PadAttrs), len(x.Dims)
		if len(a.Pads) != 2*rank {
			return fmt.Errorf("%d pads for %d axes, want two for each", len(a.Pads), rank)
		}
		if !slices.Contains([]string{"constant", "reflect", "edge", "wrap"}, a.Mode) {
			return fmt.Errorf("mode %q is unknown; it is constant, reflect, edge or wrap", a.Mode)
		}
		dims := make([]symbolic.Dim, rank)
		for i, d := range x.Dims {
			dims[i] = d.AddN(a.Pads[i] + a.Pads[rank+i])
			if n, ok := d.IsConst(); ok && a.Mode != "constant" {
				if err := checkPads(a, i, n, a.Pads[rank+i]); err != nil {
					return err
				}
			}
		}
		if v := l.Input(1); v != nil && v.Type != x.Type {
			return fmt.Errorf("the value's type is %s, the input's %s", v.Type, x.Type)
		}
		axis := x.Range.Axis
		if x.Range.PerChannel() && a.Pads[axis] != 0 || x.Range.PerChannel() && a.Pads[rank+axis] != 0 {
			axis = -1
		}
		if err := l.inferMoved(0, x, dims, axis); err != nil {
			return err
		}
		l.moveKnown(0)
		return nil
	},
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
		return e.Node("Pad", Attributes{"mode": a.Mode}, e.Input(0), e.list("pads", a.Pads), fill)
	},
}

// checkPads returns an error where an axis of extent n is too short for the padding.
func checkPads(a PadAttrs, axis, n, end int) error {
	begin, most := a.Pads[axis], n
	switch {
	case a.Mode == "reflect":
		most = max(0, n-1)
	case a.Mode == "edge" && n > 0:
		most = math.MaxInt
	}
	if begin > most || end > most {
		return fmt.Errorf("mode %s cannot pad axis %d of extent %d by %d and %d", a.Mode, axis, n, begin, end)
	}
	return nil
}

// padMovement: what is added is the input's, or zero, or another number.
func padMovement(l *Layer) Movement {
	a := l.Attrs.(PadAttrs)
	switch {
	case !slices.ContainsFunc(a.Pads, func(p int) bool { return p != 0 }):
		return Kept
	case a.Mode == "constant" && (a.Value != 0 || l.Input(1) != nil):
		return Filled
	}
	return Moved
}

func evalPad(l *Layer, in, out []numeric.Value) error {
	a, x, y := l.Attrs.(PadAttrs), in[0], out[0]
	rank := len(x.Dims)
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
			if err := checkPads(a, axis, n, a.Pads[rank+axis]); err != nil {
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
	inputs := n.Inputs[:1]
	pads, ok, err := n.known(1, "pads")
	if err != nil {
		return nil, nil, err
	}
	if ok {
		a.Pads = pads
	}
	if v := n.Input(2); v != nil && a.Mode == "constant" {
		c, ok := v.Const()
		f := math.Inf(1)
		if ok && c.Len() == 1 && c.Type != numeric.I64 && c.Type != numeric.U64 {
			f = c.Float64s()[0]
		}
		// A value that the attribute cannot hold stays an input.
		if a.Value = float32(f); float64(a.Value) != f || math.IsInf(f, 0) {
			a.Value, inputs = 0, []*Tensor{n.Inputs[0], v}
		}
	}
	axes, ok, err := n.known(3, "axes")
	if err != nil || !ok {
		return a, inputs, err
	}
	if axes, err = axesIn(axes, rank); err != nil {
		return nil, nil, err
	}
	if len(a.Pads) != 2*len(axes) {
		return nil, nil, fmt.Errorf("%d pads for %d axes, want two for each", len(a.Pads), len(axes))
	}
	all := make([]int, 2*rank)
	for i, axis := range axes {
		all[axis], all[rank+axis] = a.Pads[i], a.Pads[len(axes)+i]
	}
	a.Pads = all
	return a, inputs, nil
}
