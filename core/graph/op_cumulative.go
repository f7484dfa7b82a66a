package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
)

// CumAttrs are the attributes of CumSum and CumProd.
type CumAttrs struct {
	Axis      int  // if the layer has no input 1, which ONNX allows not to be constant
	Exclusive bool // an element is not part of its own sum
	Reverse   bool // from the end
}

// CumSum and CumProd give each element the sum or product of those up to it along an axis; real numbers are computed in
// float64, integers wrap around.
var (
	CumSum  = cumulative("CumSum", 0, func(a, b float64) float64 { return a + b }, func(a, b int64) int64 { return a + b })
	CumProd = cumulative("CumProd", 1, func(a, b float64) float64 { return a * b }, func(a, b int64) int64 { return a * b })
)

func cumulative(name string, start int, reals func(a, b float64) float64, ints func(a, b int64) int64) *Op {
	return &Op{
		Name:  name,
		Attrs: CumAttrs{},
		Onnx:  []string{name},
		Class: ClassReduction, Inputs: []Role{Data, Parameter}, Memory: Written,
		Moves: computed,
		FLOPs: elementFLOPs(1),
		Infer: func(l *Layer) error {
			x, err := l.need(0)
			if err != nil {
				return err
			}
			if x.Type == numeric.Bool {
				return fmt.Errorf("not defined on bool")
			}
			if l.Input(1) == nil {
				if _, err := axisIn(l.Attrs.(CumAttrs).Axis, len(x.Dims)); err != nil {
					return err
				}
			}
			return inferSame(l)
		},
		Eval: func(l *Layer, in, out []numeric.Value) error {
			a := l.Attrs.(CumAttrs)
			if len(in) > 1 && in[1].Len() == 1 {
				a.Axis = int(in[1].Ints()[0])
			}
			if in[0].Type.IsFloat() {
				dst, err := accumulate(a, in[0].Dims, in[0].Float64s(), float64(start), reals)
				out[0].SetFloats(dst)
				return err
			}
			dst, err := accumulate(a, in[0].Dims, in[0].Ints(), int64(start), ints)
			out[0].SetInts(dst, in[0].Type == numeric.U64)
			return err
		},
		Export: func(e *Exporter) error {
			a, axis, since := e.Layer.Attrs.(CumAttrs), e.Input(1), OldestExport
			if axis == "" {
				axis = e.scalar("axis", a.Axis)
			}
			if name == "CumProd" {
				since = 26
			}
			return e.NodeSince(since, name, Attributes{"exclusive": a.Exclusive, "reverse": a.Reverse}, e.Input(0), axis)
		},
		Import: func(n *Node) (any, []*Tensor, error) {
			a := CumAttrs{Exclusive: n.Flag("exclusive", false), Reverse: n.Flag("reverse", false)}
			rank, err := n.rank(0)
			if err != nil || n.Input(1) == nil {
				return nil, nil, fmt.Errorf("an input is missing")
			}
			axis, _, err := n.knownScalar(1, "axis")
			if err != nil {
				return a, n.Inputs, nil
			}
			a.Axis, err = axisIn(axis, rank)
			return a, n.Inputs[:1], err
		},
	}
}

func accumulate[T float64 | int64](a CumAttrs, dims []int, src []T, start T, f func(a, b T) T) ([]T, error) {
	dst := make([]T, len(src))
	axis, err := axisIn(a.Axis, len(dims))
	if err != nil {
		return dst, err
	}
	eachReduced(dims, []int{axis}, func(_ int, places []int) {
		acc := start
		for k := range places {
			at := places[k]
			if a.Reverse {
				at = places[len(places)-1-k]
			}
			next := f(acc, src[at])
			if a.Exclusive {
				dst[at] = acc
			} else {
				dst[at] = next
			}
			acc = next
		}
	})
	return dst, nil
}

// TriluAttrs are the attributes of Trilu.
type TriluAttrs struct {
	Upper bool
	K     int // the diagonal, positive above the main one, if the layer has no input 1
}

// Trilu keeps the upper or lower triangle, diagonal K included, of its input's last two axes, and sets the rest to 0.
var Trilu = &Op{
	Name:  "Trilu",
	Attrs: TriluAttrs{},
	Reals: AsStored,
	Onnx:  []string{"Trilu"},
	Class: ClassMove, Inputs: []Role{Data, Parameter}, Memory: Written,
	Moves: computed,
	FLOPs: noFLOPs,
	Infer: func(l *Layer) error {
		x, err := l.need(0)
		if err != nil {
			return err
		}
		if len(x.Dims) < 2 || x.Quantized() {
			return fmt.Errorf("input %s: want a matrix that is not quantised", x)
		}
		return l.inferMoved(0, x, x.Dims, -1)
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		a, x, size := l.Attrs.(TriluAttrs), in[0], in[0].Type.Size()
		if len(in) > 1 && in[1].Len() == 1 {
			a.K = int(in[1].Ints()[0])
		}
		rank := len(x.Dims)
		rows, columns := x.Dims[rank-2], x.Dims[rank-1]
		for r := range numeric.Count(x.Dims[:rank-1]) {
			from, to := 0, columns
			if diagonal := r%rows + a.K; a.Upper {
				from = max(0, min(columns, diagonal))
			} else {
				to = max(0, min(columns, diagonal+1))
			}
			begin, end := (r*columns+from)*size, (r*columns+to)*size
			copy(out[0].Data[begin:end], x.Data[begin:end])
		}
		return nil
	},
	Export: func(e *Exporter) error {
		a, k := e.Layer.Attrs.(TriluAttrs), e.Input(1)
		if k == "" && a.K != 0 {
			k = e.scalar("k", a.K)
		}
		return e.Node("Trilu", Attributes{"upper": a.Upper}, e.Input(0), k)
	},
	Import: func(n *Node) (any, []*Tensor, error) {
		a := TriluAttrs{Upper: n.Flag("upper", true)}
		if _, err := n.rank(0); err != nil {
			return nil, nil, err
		}
		k, ok, err := n.knownScalar(1, "k")
		if ok && err != nil {
			return a, n.Inputs, nil
		}
		a.K = k
		return a, n.Inputs[:1], nil
	},
}
