package graph

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// OneHotAttrs are the attributes of OneHot.
type OneHotAttrs struct {
	Axis  int // of the new axis in the output; Import counts it from 0
	Depth int
}

// OneHot returns its input 0, indices, with a new axis of extent Depth on which values[1] is at the index and values[0]
// elsewhere; input 1 is the pair of values. Negative indices count from the end; those out of range give no values[1].
// ONNX's depth input must be constant: one that follows from open extents is imported as a comparison with the places.
var OneHot = &Op{
	Name:  "OneHot",
	Attrs: OneHotAttrs{},
	Reals: AsStored,
	Onnx:  []string{"OneHot"},
	Class: ClassLookup, Inputs: []Role{Indices, Data}, Memory: Written,
	Moves:  moved,
	FLOPs:  noFLOPs,
	Chosen: func(l *Layer) []symbolic.Dim { return []symbolic.Dim{symbolic.Const(l.Attrs.(OneHotAttrs).Depth)} },
	Infer: func(l *Layer) error {
		x, err := l.need(0)
		if err != nil {
			return err
		}
		values, err := l.need(1)
		if err != nil {
			return err
		}
		a := l.Attrs.(OneHotAttrs)
		axis, err := axisIn(a.Axis, len(x.Dims)+1)
		if err != nil {
			return err
		}
		if n, ok := countDims(values.Dims); !ok || n != 2 || a.Depth < 0 || a.Depth > maxExtent {
			return fmt.Errorf("depth %d and values %s: want a pair", a.Depth, values)
		}
		if err := l.inferMoved(0, values, slices.Insert(slices.Clone(x.Dims), axis, symbolic.Const(a.Depth)), -1); err != nil {
			return err
		}
		l.moveKnown(1)
		return nil
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		a, values, y := l.Attrs.(OneHotAttrs), in[1], out[0]
		axis, err := axisIn(a.Axis, len(y.Dims))
		if err != nil {
			return err
		}
		index := numeric.NewValue(numeric.I64, in[0].Dims...)
		numeric.Cast(index, in[0])
		inner, size := numeric.Count(y.Dims[axis+1:]), values.Type.Size()
		for i := 0; i < len(y.Data); i += size {
			copy(y.Data[i:], values.Data[:size])
		}
		for i, at := range index.I64() {
			if at < 0 {
				at += int64(a.Depth)
			}
			if at >= 0 && at < int64(a.Depth) {
				copy(y.Data[((i/inner*a.Depth+int(at))*inner+i%inner)*size:], values.Data[size:])
			}
		}
		return nil
	},
	Export: func(e *Exporter) error {
		a := e.Layer.Attrs.(OneHotAttrs)
		return e.Node("OneHot", Attributes{"axis": a.Axis}, e.Input(0), e.scalar("depth", a.Depth), e.Input(1))
	},
	Import: func(n *Node) (any, []*Tensor, error) {
		rank, err := n.rank(0)
		if err != nil {
			return nil, nil, err
		}
		axis, err := axisIn(n.Int("axis", -1), rank+1)
		if err != nil {
			return nil, nil, err
		}
		depth := 0
		if v, ok := n.Const(1); ok && v.Len() == 1 {
			depth = int(numeric.Truncate(v.Float64s()[0], numeric.I64))
		} else if d, ok, err := n.knownScalar(1, "depth"); ok && err == nil {
			depth = d
		} else {
			return nil, nil, fmt.Errorf("depth (input 1) must be constant")
		}
		if n.Input(2) == nil {
			return nil, nil, fmt.Errorf("input 2 (values) is missing")
		}
		return OneHotAttrs{axis, depth}, []*Tensor{n.Inputs[0], n.Inputs[2]}, nil
	},
}
