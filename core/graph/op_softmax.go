package graph

import (
	"cmp"
	"math"

	"github.com/trtui/trtui/core/graph/numeric"
)

// SoftmaxAttrs are the attributes of a softmax.
type SoftmaxAttrs struct {
	Axis    int  // counts from the end if negative
	Log     bool // the logarithm of the softmax
	Flatten bool // over all axes from Axis on together, as ONNX had it before opset 13
}

// Softmax is y = exp(x - m) / sum(exp(x - m)) along one axis, m being the maximum, or y = x - m - log(sum(exp(x - m))).
var Softmax = &Op{
	Name:  "Softmax",
	Attrs: SoftmaxAttrs{},
	Onnx:  []string{"Softmax", "LogSoftmax"},
	Class: ClassNorm, Inputs: []Role{Data}, Memory: Written,
	Moves: computed,
	FLOPs: softmaxFLOPs,
	Infer: func(l *Layer) error { return inferAlong(l, l.Attrs.(SoftmaxAttrs).Axis) },
	Eval:  evalSoftmax,
	Export: func(e *Exporter) error {
		a := e.Layer.Attrs.(SoftmaxAttrs)
		if a.Log {
			return e.along("LogSoftmax", a.Axis, a.Flatten)
		}
		return e.along("Softmax", a.Axis, a.Flatten)
	},
	Import: func(n *Node) (any, []*Tensor, error) {
		a := importAlong(n)
		a.Log = n.OpType == "LogSoftmax"
		return a, n.Inputs, nil
	},
}

// HardmaxAttrs are the attributes of a hardmax.
type HardmaxAttrs struct {
	Axis    int  // counts from the end if negative
	Flatten bool // over all axes from Axis on together, as ONNX had it before opset 13
}

// Hardmax is 1 for the first largest element along one axis and 0 for the others.
var Hardmax = &Op{
	Name:  "Hardmax",
	Attrs: HardmaxAttrs{},
	Onnx:  []string{"Hardmax"},
	Class: ClassNorm, Inputs: []Role{Data}, Memory: Written,
	Moves: computed,
	FLOPs: hardmaxFLOPs,
	Infer: func(l *Layer) error { return inferAlong(l, l.Attrs.(HardmaxAttrs).Axis) },
	Eval:  evalHardmax,
	Export: func(e *Exporter) error {
		a := e.Layer.Attrs.(HardmaxAttrs)
		return e.along("Hardmax", a.Axis, a.Flatten)
	},
	Import: func(n *Node) (any, []*Tensor, error) {
		a := importAlong(n)
		return HardmaxAttrs{Axis: a.Axis, Flatten: a.Flatten}, n.Inputs, nil
	},
}

// importAlong reads the axis. Where the axes that an old softmax flattens are but one, it is the new softmax.
func importAlong(n *Node) SoftmaxAttrs {
	if n.Version >= 13 {
		return SoftmaxAttrs{Axis: n.Int("axis", -1)}
	}
	a := SoftmaxAttrs{Axis: n.Int("axis", 1), Flatten: true}
	if x := n.Input(0); x != nil {
		if axis, err := axisIn(a.Axis, len(x.Dims)); err == nil {
			a.Axis, a.Flatten = axis, false
			for _, d := range x.Dims[axis+1:] {
				a.Flatten = a.Flatten || !d.Is(1)
			}
		}
	}
	return a
}

// along writes an op along an axis; where it is over all axes from that on, those are made one and apart again.
func (e *Exporter) along(op string, axis int, flatten bool) error {
	if !flatten {
		return e.Node(op, Attributes{"axis": axis})
	}
	if axis < 0 {
		axis += len(e.Layer.Inputs[0].Dims)
	}
	flat := e.Step(op, Attributes{"axis": 1}, e.Step("Flatten", Attributes{"axis": axis}, e.Input(0)))
	return e.Node("Reshape", Attributes{"allowzero": 1}, flat, e.Step("Shape", nil, e.Input(0)))
}

func inferAlong(l *Layer, axis int) error {
	if err := l.needNumbers(0); err != nil {
		return err
	}
	x := l.Inputs[0]
	if _, err := axisIn(axis, len(x.Dims)); err != nil {
		return err
	}
	l.Outputs[0].Type, l.Outputs[0].Dims = x.RealType(), x.Dims
	return nil
}

// along calls f for each line of a shape along an axis, or over all axes from that on: its elements are first,
// first+step, ...
func along(dims []int, axis int, flatten bool, f func(first, step, n int)) {
	if axis < 0 {
		axis += len(dims)
	}
	n, step := dims[axis], numeric.Count(dims[axis+1:])
	if flatten {
		n, step = n*step, 1
	}
	for outer := range numeric.Count(dims[:axis]) {
		for inner := range step {
			f(outer*n*step+inner, step, n)
		}
	}
}

func evalSoftmax(l *Layer, in, out []numeric.Value) error {
	if in[0].Type == numeric.F64 {
		softmax(l.Attrs.(SoftmaxAttrs), in[0].Dims, in[0].Float64s(), numeric.View[float64](out[0].Data))
	} else {
		softmax(l.Attrs.(SoftmaxAttrs), in[0].Dims, in[0].F32(), out[0].F32())
	}
	return nil
}

func softmax[T float32 | float64](a SoftmaxAttrs, dims []int, x, y []T) {
	along(dims, a.Axis, a.Flatten, func(first, step, n int) {
		top := math.Inf(-1)
		for i := range n {
			top = max(top, float64(x[first+i*step]))
		}
		sum := 0.0
		for i := range n {
			sum += math.Exp(float64(x[first+i*step]) - top)
		}
		for i := range n {
			d := float64(x[first+i*step]) - top
			if a.Log {
				y[first+i*step] = T(d - math.Log(sum))
			} else {
				y[first+i*step] = T(math.Exp(d) / sum)
			}
		}
	})
}

func evalHardmax(l *Layer, in, out []numeric.Value) error {
	a := l.Attrs.(HardmaxAttrs)
	x, y := in[0].Float64s(), make([]float64, in[0].Len())
	along(in[0].Dims, a.Axis, a.Flatten, func(first, step, n int) {
		best := first
		for i := range n {
			if at := first + i*step; cmp.Compare(x[at], x[best]) > 0 { // NaN is smaller than all else, as for ArgMax
				best = at
			}
		}
		if n > 0 {
			y[best] = 1
		}
	})
	out[0].SetFloats(y)
	return nil
}
