package graph

import (
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// NonZeroAttrs are the attributes of NonZero.
type NonZeroAttrs struct {
	Count string // the symbol of how many they are, where that does not follow from constants; "" if it must
}

// NonZero has the indices of the elements of x that are not 0, in order: y I64 [rank, count], a row for each axis.
var NonZero = &Op{
	Name:  "NonZero",
	Attrs: NonZeroAttrs{},
	Onnx:  []string{"NonZero"},
	Class: ClassReduction, Inputs: []Role{Data}, Memory: Written,
	Moves: computed,
	FLOPs: elementFLOPs(1),
	Counted: func(l *Layer) []Counting {
		a, x := l.Attrs.(NonZeroAttrs), l.Inputs[0]
		if _, err := x.determined(); err == nil || a.Count == "" || len(x.Dims) == 0 {
			return nil
		}
		return []Counting{{Symbol: a.Count, Axis: 1, Most: productOf(x.Dims)}}
	},
	Infer: func(l *Layer) error {
		x, err := l.need(0)
		if err != nil {
			return err
		}
		l.Outputs[0].Type = numeric.I64
		if l.Counts() {
			l.Outputs[0].Dims = []symbolic.Dim{symbolic.Const(len(x.Dims)), symbolic.Symbol(l.Attrs.(NonZeroAttrs).Count)}
			return nil
		}
		v, err := l.determined(0)
		if err != nil {
			return err
		}
		l.Outputs[0].Dims = symbolic.Shape(len(v.Dims), len(nonZeros(v)))
		return nil
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		places, x := nonZeros(in[0]), in[0]
		list := make([]int64, len(x.Dims)*len(places))
		for k, at := range places {
			for axis, p := range unravel(at, x.Dims) {
				list[axis*len(places)+k] = int64(p)
			}
		}
		return writeCounted(l, out[0], list)
	},
	Import: func(n *Node) (any, []*Tensor, error) { return NonZeroAttrs{countSymbol(n.Name)}, n.Inputs, nil },
	Export: func(e *Exporter) error { return e.Node("NonZero", nil) },
}

// nonZeros returns the places of the elements that are not 0.
func nonZeros(v numeric.Value) (places []int) {
	size := v.Type.Size()
	if v.Type.IsFloat() {
		for i, f := range v.Float64s() {
			if f != 0 {
				places = append(places, i)
			}
		}
		return places
	}
	for i := range v.Len() {
		for _, b := range v.Data[i*size : (i+1)*size] {
			if b != 0 {
				places = append(places, i)
				break
			}
		}
	}
	return places
}
