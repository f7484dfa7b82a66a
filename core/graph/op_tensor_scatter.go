package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TensorScatterAttrs are the attributes of TensorScatter.
type TensorScatterAttrs struct {
	Axis     int  // of the sequence, not 0; Import counts it from 0
	Circular bool // places behind the end of the axis are those at its begin
}

// TensorScatter returns data, such as keys that are kept, with update written over it along an axis, for each item of the
// batch from the place on that the optional input 2, I64 [B], gives it; from 0 without.
var TensorScatter = &Op{
	Name:  "TensorScatter",
	Attrs: TensorScatterAttrs{},
	Reals: AsStored,
	Onnx:  []string{"TensorScatter"},
	Class: ClassLookup, Inputs: []Role{Data, Data, Indices}, Memory: Written,
	Moves:  moved,
	FLOPs:  noFLOPs,
	Chosen: tensorScatterPlaces,
	Infer:  inferTensorScatter,
	Eval:   evalTensorScatter,
	Import: func(n *Node) (any, []*Tensor, error) {
		rank, err := n.rank(0)
		if err != nil {
			return nil, nil, err
		}
		a := TensorScatterAttrs{}
		switch mode := n.String("mode", "linear"); mode {
		case "linear":
		case "circular":
			a.Circular = true
		default:
			return nil, nil, fmt.Errorf("mode %q is unknown; it is linear or circular", mode)
		}
		a.Axis, err = axisIn(n.Int("axis", -2), rank)
		return a, n.Inputs, err
	},
	Export: func(e *Exporter) error {
		a, mode := e.Layer.Attrs.(TensorScatterAttrs), "linear"
		if a.Circular {
			mode = "circular"
		}
		return e.NodeSince(24, "TensorScatter", Attributes{"axis": a.Axis, "mode": mode})
	},
}

// tensorScatterPlaces returns how many places an update may begin at.
func tensorScatterPlaces(l *Layer) []symbolic.Dim {
	a := l.Attrs.(TensorScatterAttrs)
	axis, err := axisIn(a.Axis, len(l.Inputs[0].Dims))
	if err != nil {
		return nil
	}
	if a.Circular {
		return l.Inputs[0].Dims[axis : axis+1]
	}
	return []symbolic.Dim{l.Inputs[0].Dims[axis].Sub(l.Inputs[1].Dims[axis]).AddN(1)}
}

func inferTensorScatter(l *Layer) error {
	a := l.Attrs.(TensorScatterAttrs)
	x, err := l.need(0)
	if err != nil {
		return err
	}
	update, err := l.need(1)
	if err != nil {
		return err
	}
	axis, err := axisIn(a.Axis, len(x.Dims))
	if err != nil {
		return err
	}
	if axis == 0 {
		return fmt.Errorf("axis 0 is that of the batch")
	}
	if update.Type != x.Type || !update.Range.Equal(x.Range) || len(update.Dims) != len(x.Dims) {
		return fmt.Errorf("update %s cannot be written over %s", update, x)
	}
	for i, d := range x.Dims {
		have, ok := update.Dims[i].IsConst()
		most, ok2 := d.IsConst()
		if i == axis && ok && ok2 && have > most || i != axis && conflict(update.Dims[i], d) {
			return fmt.Errorf("update %s cannot be written over %s along axis %d", update, x, axis)
		}
	}
	if t := l.Input(2); t != nil && (t.Type != numeric.I64 && t.Type != numeric.I32 || len(t.Dims) != 1 || conflict(t.Dims[0], x.Dims[0])) {
		return fmt.Errorf("places %s, want i64[%s]", t.TypeString(), x.Dims[0])
	}
	return l.inferMoved(0, x, x.Dims, x.Range.Axis)
}

func evalTensorScatter(l *Layer, in, out []numeric.Value) error {
	a, y, update := l.Attrs.(TensorScatterAttrs), out[0], in[1]
	axis, err := axisIn(a.Axis, len(y.Dims))
	if err != nil {
		return err
	}
	copy(y.Data, in[0].Data)
	places := make([]int64, y.Dims[0])
	if len(in) > 2 && in[2].Dims != nil {
		places = in[2].Ints()
	}
	rows, most := update.Dims[axis], y.Dims[axis]
	row := numeric.Count(y.Dims[axis+1:]) * y.Type.Size()
	outer := numeric.Count(y.Dims[1:axis])
	for b, from := range places {
		if limit := int64(most - rows); from < 0 || !a.Circular && from > limit {
			return fmt.Errorf("item %d begins at place %d, and %d places are written along an axis of %d", b, from, rows, most)
		}
		for o := range outer {
			for i := range rows {
				src, dst := ((b*outer+o)*rows+i)*row, ((b*outer+o)*most+(int(from%int64(max(1, most)))+i)%most)*row
				copy(y.Data[dst:dst+row], update.Data[src:src+row])
			}
		}
	}
	return nil
}
