package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
)

// ReverseSequenceAttrs are the attributes of ReverseSequence.
type ReverseSequenceAttrs struct {
	Batch, Time int // the axes of items and of places: 0 and 1, or 1 and 0
}

// ReverseSequence turns the first places of each item around, as many as input 1, I64 [B], says, and leaves the others.
var ReverseSequence = &Op{
	Name:  "ReverseSequence",
	Attrs: ReverseSequenceAttrs{},
	Reals: AsStored,
	Onnx:  []string{"ReverseSequence"},
	Class: ClassLookup, Inputs: []Role{Data, Parameter}, Memory: Written,
	Moves: moved,
	FLOPs: noFLOPs,
	Infer: func(l *Layer) error {
		a := l.Attrs.(ReverseSequenceAttrs)
		x, err := l.need(0)
		if err != nil {
			return err
		}
		lengths, err := l.need(1)
		if err != nil {
			return err
		}
		if a.Batch+a.Time != 1 || a.Batch*a.Time != 0 {
			return fmt.Errorf("items along axis %d and places along axis %d, want axes 0 and 1", a.Batch, a.Time)
		}
		if len(x.Dims) < 2 {
			return fmt.Errorf("input 0 is %s, want an axis of items and one of places", x.TypeString())
		}
		if lengths.Type != numeric.I64 && lengths.Type != numeric.I32 || len(lengths.Dims) != 1 || conflict(lengths.Dims[0], x.Dims[a.Batch]) {
			return fmt.Errorf("the lengths are %s, want i64[%s]", lengths.TypeString(), x.Dims[a.Batch])
		}
		axis := x.Range.Axis
		if axis == a.Time {
			axis = -1
		}
		return l.inferMoved(0, x, x.Dims, axis)
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		a, x := l.Attrs.(ReverseSequenceAttrs), in[0]
		row := numeric.Count(x.Dims[2:]) * x.Type.Size()
		strides := [2]int{x.Dims[1] * row, row}
		lengths, places := in[1].Ints(), x.Dims[a.Time]
		for b, n := range lengths {
			if n < 0 || n > int64(places) {
				return fmt.Errorf("sequence %d has %d places, and there are 0 to %d", b, n, places)
			}
			for t := range places {
				from := t
				if t < int(n) {
					from = int(n) - 1 - t
				}
				base := b * strides[a.Batch]
				copy(out[0].Data[base+t*strides[a.Time]:][:row], x.Data[base+from*strides[a.Time]:])
			}
		}
		return nil
	},
	Import: func(n *Node) (any, []*Tensor, error) {
		return ReverseSequenceAttrs{n.Int("batch_axis", 1), n.Int("time_axis", 0)}, n.Inputs, nil
	},
	Export: func(e *Exporter) error {
		a, inputs := e.Layer.Attrs.(ReverseSequenceAttrs), e.Inputs()
		if e.Layer.Inputs[1].Type == numeric.I32 {
			inputs[1] = e.Step("Cast", Attributes{"to": numeric.I64}, inputs[1])
		}
		return e.Node("ReverseSequence", Attributes{"batch_axis": a.Batch, "time_axis": a.Time}, inputs...)
	},
}
