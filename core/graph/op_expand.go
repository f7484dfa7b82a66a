package graph

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Expand broadcasts its first input with the shape that its second, an I64 list, says; the shape must be known from
// constants and the inputs' shapes.
var Expand = &Op{
	Name:  "Expand",
	Reals: AsStored,
	Onnx:  []string{"Expand"},
	Class: ClassMove, Inputs: []Role{Data, Parameter}, Memory: Written,
	Moves: kept,
	FLOPs: noFLOPs,
	Infer: func(l *Layer) error {
		x, err := l.need(0)
		if err != nil {
			return err
		}
		shape, err := l.knownInput(1, "shape")
		if err != nil {
			return err
		}
		dims, err := BroadcastDims(x.Dims, shape)
		if err != nil {
			return err
		}
		if err := l.inferMoved(0, x, dims, x.Range.Axis+len(dims)-len(x.Dims)); err != nil {
			return err
		}
		l.Outputs[0].Value = expandKnown(x, l.Outputs[0])
		return nil
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		x, y := in[0], out[0]
		b, err := numeric.NewBroadcast(x.Dims, y.Dims)
		if err != nil {
			return err
		}
		tables := make([][]int, len(y.Dims))
		for a, n := range y.Dims {
			tables[a] = table(n, b.Strides[a], func(i int) int { return i })
		}
		move(y, x, tables)
		return nil
	},
}

// expandKnown returns the known elements of y, which is x of one element or of y's shape broadcast.
func expandKnown(x, y *Tensor) []symbolic.Dim {
	n, ok := countDims(y.Dims)
	switch {
	case x.Value == nil || !ok || n > maxKnownValue:
		return nil
	case len(x.Value) == n:
		return x.Value
	case len(x.Value) == 1:
		return slices.Repeat(x.Value, n)
	}
	return nil
}

// TileAttrs are the attributes of Tile.
type TileAttrs struct {
	Repeats []int // for each axis; nil if they are input 1
}

// Tile repeats its input along each axis, as often as its attribute says, or the second input, an I64 list that must be known from
// constants and the inputs' shapes.
var Tile = &Op{
	Name:  "Tile",
	Attrs: TileAttrs{},
	Reals: AsStored,
	Onnx:  []string{"Tile"},
	Class: ClassMove, Inputs: []Role{Data, Parameter}, Memory: Written,
	Moves: kept,
	FLOPs: noFLOPs,
	Infer: func(l *Layer) error {
		x, err := l.need(0)
		if err != nil {
			return err
		}
		repeats := symbolic.Shape(l.Attrs.(TileAttrs).Repeats...)
		if l.Input(1) != nil {
			if repeats, err = l.knownInput(1, "repeats"); err != nil {
				return err
			}
		}
		beyond := func(d symbolic.Dim) bool { r, ok := d.IsConst(); return ok && (r < 0 || r > maxExtent) }
		if len(repeats) != len(x.Dims) || slices.ContainsFunc(repeats, beyond) {
			return fmt.Errorf("repeats %s do not fit %s", symbolic.Format(repeats), x)
		}
		dims := make([]symbolic.Dim, len(repeats))
		for i, r := range repeats {
			dims[i] = x.Dims[i].Mul(r)
		}
		axis := x.Range.Axis
		if x.Range.PerChannel() && !repeats[axis].Is(1) {
			axis = -1
		}
		if err := l.inferMoved(0, x, dims, axis); err != nil {
			return err
		}
		l.moveKnown(0)
		return nil
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		x := in[0]
		tables, s := make([][]int, len(x.Dims)), strides(x.Dims)
		for a, n := range x.Dims {
			tables[a] = table(out[0].Dims[a], s[a], func(i int) int { return i % max(1, n) })
		}
		move(out[0], x, tables)
		return nil
	},
	Export: func(e *Exporter) error {
		if repeats := e.Layer.Attrs.(TileAttrs).Repeats; repeats != nil {
			return e.Node("Tile", nil, e.Input(0), e.list("repeats", repeats))
		}
		return e.Node("Tile", nil)
	},
	Import: func(n *Node) (any, []*Tensor, error) {
		if _, err := n.rank(0); err != nil {
			return nil, nil, err
		}
		if n.Input(1) == nil {
			return nil, nil, fmt.Errorf("input 1 (repeats) is missing")
		}
		if repeats, ok := n.Input(1).Ints(); ok {
			return TileAttrs{repeats}, n.Inputs[:1], nil
		}
		return TileAttrs{}, n.Inputs, nil
	},
}
