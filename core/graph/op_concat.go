package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// ConcatAttrs are the attributes of Concat.
type ConcatAttrs struct {
	Axis int // Import counts it from 0; Infer and Eval take a negative one too
}

// Concat joins its inputs, of which there is any number, along an axis. Quantised inputs must have equal ranges.
var Concat = &Op{
	Name:  "Concat",
	Attrs: ConcatAttrs{},
	Reals: AsStored,
	Onnx:  []string{"Concat"},
	Class: ClassMove, Inputs: []Role{Data}, Memory: Joined,
	Moves: func(l *Layer) Movement { return keptIf(len(l.OpInputs()) == 1, Moved) },
	FLOPs: noFLOPs,
	Infer: inferConcat,
	Eval: func(l *Layer, in, out []numeric.Value) error {
		y := out[0]
		axis, err := axisIn(l.Attrs.(ConcatAttrs).Axis, len(y.Dims))
		if err != nil {
			return err
		}
		row := numeric.Count(y.Dims[axis:]) * y.Type.Size()
		at := 0
		for _, x := range in {
			n := numeric.Count(x.Dims[axis:]) * x.Type.Size()
			for i := range numeric.Count(x.Dims[:axis]) {
				copy(y.Data[i*row+at:i*row+at+n], x.Data[i*n:])
			}
			at += n
		}
		return nil
	},
	Export: func(e *Exporter) error {
		return e.Node("Concat", Attributes{"axis": e.Layer.Attrs.(ConcatAttrs).Axis})
	},
	Import: func(n *Node) (any, []*Tensor, error) {
		rank, err := n.rank(0)
		if err != nil {
			return nil, nil, err
		}
		axis, err := axisIn(n.Int("axis", 1), rank)
		return ConcatAttrs{axis}, n.Inputs, err
	},
}

func inferConcat(l *Layer) error {
	x, err := l.need(0)
	if err != nil {
		return err
	}
	axis, err := axisIn(l.Attrs.(ConcatAttrs).Axis, len(x.Dims))
	if err != nil {
		return err
	}
	dims := append([]symbolic.Dim(nil), x.Dims...)
	data := []int{0}
	for i := 1; i < len(l.OpInputs()); i++ {
		t, err := l.need(i)
		if err != nil {
			return err
		}
		switch {
		case t.Type != x.Type:
			return fmt.Errorf("input %d (%s) is %s, the first is %s", i, t.Name, t.Type, x.Type)
		case len(t.Dims) != len(dims):
			return fmt.Errorf("input %s has another rank than %s", t, x)
		case !t.Range.Equal(x.Range), t.Range.PerChannel() && t.Range.Axis == axis:
			return fmt.Errorf("inputs %s and %s are quantised differently", x, t)
		}
		for a := range dims {
			if a == axis {
				dims[a] = dims[a].Add(t.Dims[a])
			} else if dims[a], err = sameDim(dims[a], t.Dims[a]); err != nil {
				return fmt.Errorf("axis %d of %s and %s: %w", a, x, t, err)
			}
		}
		data = append(data, i)
	}
	if err := l.inferMoved(0, x, dims, x.Range.Axis); err != nil {
		return err
	}
	l.moveKnown(data...)
	return nil
}

// sameDim returns the one of two dims that must be equal that says more; symbols that differ are taken to be equal at
// run time.
func sameDim(a, b symbolic.Dim) (symbolic.Dim, error) {
	n, ok := a.IsConst()
	m, ok2 := b.IsConst()
	if ok && ok2 && n != m {
		return a, fmt.Errorf("%d is not %d", n, m)
	}
	if ok2 {
		return b, nil
	}
	return a, nil
}

// SplitAttrs are the attributes of Split.
type SplitAttrs struct {
	Axis  int
	Sizes []int // extents of the outputs; nil: as equal as can be, the last one being smaller
}

// Split cuts its input along an axis into its outputs: the inverse of Concat.
var Split = &Op{
	Name:  "Split",
	Attrs: SplitAttrs{},
	Reals: AsStored,
	Onnx:  []string{"Split"},
	Class: ClassMove, Inputs: []Role{Data, Parameter}, Memory: Parted,
	Moves: func(l *Layer) Movement { return keptIf(len(l.Outputs) == 1, Moved) },
	FLOPs: noFLOPs,
	Infer: inferSplit,
	Eval: func(l *Layer, in, out []numeric.Value) error {
		x := in[0]
		axis, err := axisIn(l.Attrs.(SplitAttrs).Axis, len(x.Dims))
		if err != nil {
			return err
		}
		row := numeric.Count(x.Dims[axis:]) * x.Type.Size()
		at := 0
		for _, y := range out {
			n := numeric.Count(y.Dims[axis:]) * y.Type.Size()
			for i := range numeric.Count(x.Dims[:axis]) {
				copy(y.Data[i*n:(i+1)*n], x.Data[i*row+at:])
			}
			at += n
		}
		return nil
	},
	Export: func(e *Exporter) error {
		a := e.Layer.Attrs.(SplitAttrs)
		if a.Sizes == nil {
			return e.Node("Split", Attributes{"axis": a.Axis, "num_outputs": len(e.Layer.Outputs)})
		}
		return e.Node("Split", Attributes{"axis": a.Axis}, e.Input(0), e.list("split", a.Sizes))
	},
	Import: func(n *Node) (any, []*Tensor, error) {
		rank, err := n.rank(0)
		if err != nil {
			return nil, nil, err
		}
		axis, err := axisIn(n.Int("axis", 0), rank)
		if err != nil {
			return nil, nil, err
		}
		a := SplitAttrs{axis, n.Ints("split")}
		if k := n.Int("num_outputs", n.Outputs); k != n.Outputs {
			return nil, nil, fmt.Errorf("num_outputs is %d, but the node has %d outputs", k, n.Outputs)
		}
		sizes, ok, err := n.known(1, "split")
		if ok {
			a.Sizes = sizes
		}
		return a, n.Inputs[:1], err
	},
}

func inferSplit(l *Layer) error {
	x, err := l.need(0)
	if err != nil {
		return err
	}
	a := l.Attrs.(SplitAttrs)
	axis, err := axisIn(a.Axis, len(x.Dims))
	if err != nil {
		return err
	}
	n, isConst := x.Dims[axis].IsConst()
	cut := x.Quantized() && x.Range.PerChannel() && x.Range.Axis == axis
	if cut && n != len(x.Range.Scale) {
		return fmt.Errorf("input %s is quantised by %d scales on the axis that is split", x, len(x.Range.Scale))
	}
	count := len(l.Outputs)
	if a.Sizes != nil && len(a.Sizes) != count {
		return fmt.Errorf("%d sizes for %d outputs", len(a.Sizes), count)
	}
	left := n
	for i, out := range l.Outputs {
		from := n - left
		dims := append([]symbolic.Dim(nil), x.Dims...)
		switch {
		case a.Sizes != nil:
			if a.Sizes[i] < 0 {
				return fmt.Errorf("sizes %v: %d is negative", a.Sizes, a.Sizes[i])
			}
			dims[axis] = symbolic.Const(a.Sizes[i])
			left -= a.Sizes[i]
		case isConst:
			part := min(left, (n+count-1)/count)
			dims[axis] = symbolic.Const(part)
			left -= part
		default:
			part := x.Dims[axis].AddN(count - 1).DivN(count)
			if d, ok := x.Dims[axis].Exactly(int64(count)); ok {
				part = d
			}
			dims[axis] = x.Dims[axis].Sub(part.MulN(i)).Min(part).AtLeast0()
		}
		if err := l.inferMoved(i, x, dims, x.Range.Axis); err != nil {
			return err
		}
		if cut && left >= 0 {
			out.Range = x.Range.Part(from, n-left)
		}
	}
	if isConst && left != 0 {
		return fmt.Errorf("sizes %v do not sum to the extent %d of axis %d", a.Sizes, n, axis)
	}
	l.moveKnown(0)
	return nil
}
