package graph

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// UnpoolAttrs are the attributes of MaxUnpool, those of the pooling that it undoes. Empty lists mean 1 for strides and 0 for pads.
type UnpoolAttrs struct {
	Kernel, Strides []int
	Pads            []int // begin of each spatial axis, then end of each
}

// MaxUnpool puts the elements of x [N,C,D1,...] where MaxPool took them from, at the indices of input 1 in the whole of what was
// pooled, and 0 elsewhere. What was pooled has the extents that kernel, strides and pads give, (D-1)*stride + kernel - pads;
// input 2, an I64 list, may ask for a larger result, whose first places on each axis these are, as in ONNX's reference. (ONNX
// Runtime counts indices in the larger one.) Of elements with one index the last stays.
var MaxUnpool = &Op{
	Name:  "MaxUnpool",
	Attrs: UnpoolAttrs{},
	Reals: AsStored,
	Onnx:  []string{"MaxUnpool"},
	Class: ClassLookup, Inputs: []Role{Data, Indices, Parameter}, Memory: Written,
	Moves: moved,
	FLOPs: noFLOPs,
	Chosen: func(l *Layer) []symbolic.Dim {
		return []symbolic.Dim{productOf(l.Attrs.(UnpoolAttrs).pooled(l.Inputs[0].Dims))}
	},
	Infer: inferUnpool,
	Eval:  evalUnpool,
	Import: func(n *Node) (any, []*Tensor, error) {
		return UnpoolAttrs{n.Ints("kernel_shape"), n.Ints("strides"), n.Ints("pads")}, n.Inputs, nil
	},
	Export: func(e *Exporter) error {
		a := e.Layer.Attrs.(UnpoolAttrs)
		return e.Node("MaxUnpool", Attributes{"kernel_shape": a.Kernel, "strides": a.Strides, "pads": a.Pads})
	},
}

// pooled returns the shape of what was pooled to the given one.
func (a UnpoolAttrs) pooled(dims []symbolic.Dim) []symbolic.Dim {
	out := slices.Clone(dims)
	for i, k := range a.Kernel {
		out[i+2] = dims[i+2].AddN(-1).MulN(at(a.Strides, i, 1)).AddN(k - at(a.Pads, i, 0) - at(a.Pads, i+len(a.Kernel), 0))
	}
	return out
}

// Pooled is the shape of what was pooled to an actual one.
func (a UnpoolAttrs) Pooled(dims []int) []int {
	return symbolic.Eval(a.pooled(symbolic.Shape(dims...)), nil)
}

func inferUnpool(l *Layer) error {
	x, err := l.needNumber(0)
	if err != nil {
		return err
	}
	indices, err := l.need(1)
	if err != nil {
		return err
	}
	a, k := l.Attrs.(UnpoolAttrs), len(x.Dims)-2
	switch {
	case k < 1 || len(a.Kernel) != k:
		return fmt.Errorf("kernel_shape %v does not fit the spatial axes of %s", a.Kernel, x.TypeString())
	case indices.Type != numeric.I64 || !SameShape(indices.Dims, x.Dims):
		return fmt.Errorf("indices %s are not i64 of the shape of %s", indices.TypeString(), x.TypeString())
	}
	for _, err := range []error{checkList("kernel_shape", a.Kernel, k, 1), checkList("strides", a.Strides, k, 1), checkList("pads", a.Pads, 2*k, 0)} {
		if err != nil {
			return err
		}
	}
	pooled := a.pooled(x.Dims)
	dims := pooled
	if l.Input(2) != nil {
		if dims, err = l.knownInput(2, "output_shape"); err != nil {
			return err
		}
	}
	if len(dims) != len(pooled) || conflict(dims[0], pooled[0]) || conflict(dims[1], pooled[1]) {
		return fmt.Errorf("output_shape %s does not fit %s", symbolic.Format(dims), x.TypeString())
	}
	for i, p := range pooled {
		n, ok := p.IsConst()
		if m, given := dims[i].IsConst(); ok && (n < 0 || given && m < n) {
			return fmt.Errorf("output_shape %s for a pooled shape of %s", symbolic.Format(dims), symbolic.Format(pooled))
		}
	}
	axis := x.Range.Axis
	if axis > 1 {
		axis = -1
	}
	return l.inferMoved(0, x, dims, axis)
}

func evalUnpool(l *Layer, in, out []numeric.Value) error {
	a, x, y := l.Attrs.(UnpoolAttrs), in[0], out[0]
	if err := fillZero(y, l.Inputs[0].Range); err != nil {
		return err
	}
	pooled, s, size := a.Pooled(x.Dims), strides(y.Dims), x.Type.Size()
	total := numeric.Count(pooled)
	for i, index := range in[1].Ints() {
		if index < 0 || index >= int64(total) {
			return &IndexError{index, total}
		}
		to := 0
		for axis, p := range unravel(int(index), pooled) {
			to += p * s[axis]
		}
		copy(y.Data[to*size:(to+1)*size], x.Data[i*size:])
	}
	return nil
}

// fillZero sets all elements of v to what stands for the number 0.
func fillZero(v numeric.Value, r numeric.Range) error {
	if !v.Type.IsInteger() || !r.IsSet() {
		clear(v.Data)
		return nil
	}
	r.Quantize(v, make([]float32, v.Len()))
	return nil
}
