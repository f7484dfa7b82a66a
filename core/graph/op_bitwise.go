package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// ShiftAttrs are the attributes of BitShift.
type ShiftAttrs struct{ Left bool }

// BitShift and the Bitwise ops work on the bits of integers; their inputs broadcast. To the right, signed integers keep their sign;
// a shift by a negative number shifts by all bits.
var (
	BitShift = bitwise("BitShift", 2, func(l *Layer, x, y int64) int64 {
		switch {
		case l.Attrs.(ShiftAttrs).Left:
			return int64(uint64(x) << uint64(y))
		case l.Inputs[0].Type.Signed():
			return x >> uint64(y)
		}
		return int64(uint64(x) >> uint64(y))
	})
	BitwiseAnd = bitwise("BitwiseAnd", 2, func(_ *Layer, x, y int64) int64 { return x & y })
	BitwiseOr  = bitwise("BitwiseOr", 2, func(_ *Layer, x, y int64) int64 { return x | y })
	BitwiseXor = bitwise("BitwiseXor", 2, func(_ *Layer, x, y int64) int64 { return x ^ y })
	BitwiseNot = bitwise("BitwiseNot", 1, func(_ *Layer, x, _ int64) int64 { return ^x })
)

func bitwise(name string, arity int, f func(l *Layer, x, y int64) int64) *Op {
	op := &Op{
		Name:  name,
		Reals: AsStored,
		Onnx:  []string{name},
		Class: ClassElementwise, Inputs: []Role{Data}, Memory: Written,
		Moves: computed,
		FLOPs: noFLOPs,
		Infer: func(l *Layer) error {
			var shapes [][]symbolic.Dim
			for i := range arity {
				t, err := l.need(i)
				if err != nil {
					return err
				}
				if !t.Type.IsInteger() || t.Type != l.Inputs[0].Type {
					return fmt.Errorf("input %s: want integers of one type", t)
				}
				shapes = append(shapes, t.Dims)
			}
			dims, err := BroadcastDims(shapes...)
			l.Outputs[0].Type, l.Outputs[0].Dims = l.Inputs[0].Type, dims
			return err
		},
		Eval: func(l *Layer, in, out []numeric.Value) error {
			in = in[:arity]
			data := make([][]int64, 2)
			for i, v := range in {
				data[i] = v.Ints()
			}
			dst := make([]int64, out[0].Len())
			err := elementwise.Each(in, out[0], func(i int, places []int) {
				y := int64(0)
				if arity == 2 {
					y = data[1][places[1]]
				}
				dst[i] = f(l, data[0][places[0]], y)
			})
			out[0].SetInts(dst, in[0].Type == numeric.U64)
			return err
		},
	}
	if name != "BitShift" {
		return op
	}
	op.Attrs = ShiftAttrs{}
	op.Export = func(e *Exporter) error {
		direction := "RIGHT"
		if e.Layer.Attrs.(ShiftAttrs).Left {
			direction = "LEFT"
		}
		since := OldestExport
		if e.Layer.Inputs[0].Type.Signed() {
			since = 28
		}
		return e.NodeSince(since, "BitShift", Attributes{"direction": direction})
	}
	op.Import = func(n *Node) (any, []*Tensor, error) {
		switch d := n.String("direction", ""); d {
		case "LEFT", "RIGHT":
			return ShiftAttrs{d == "LEFT"}, n.Inputs, nil
		default:
			return nil, nil, fmt.Errorf("direction %q is unknown", d)
		}
	}
	return op
}
