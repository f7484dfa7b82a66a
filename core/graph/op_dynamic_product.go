package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
)

// The inputs of a dynamically quantised product behind x and the weights.
const (
	DynamicScales = 2 + iota // [N] or one, F32: those of the weights
	DynamicZeros             // optional: [N] or one, of the weights' type
)

// DynamicQuantizeMatMul is the matrix product of x [...,K], quantised as [DynamicQuantize] does, and weights [K,N] of I8 or U8, in
// integers, times both scales: float32(sum of (q-zq)*(w-zw)) * (sq*sw). It is what ONNX Runtime's dynamic quantisation makes of a
// product, in four layers, and its operator of that name; passes make it of the former, and its import comes to the same.
var DynamicQuantizeMatMul = &Op{
	Name:  "DynamicQuantizeMatMul",
	Class: ClassWeightOnly, Inputs: []Role{Data, Weights, Parameter}, Memory: Written,
	Moves:   computed,
	FLOPs:   func(l *Layer, env map[string]int) int64 { return matrixFLOPs(l, env) + DynamicQuantize.FLOPs(l, env) },
	Product: &Product{Axes: matmulAxes, Groups: oneGroup},
	Infer:   inferDynamicProduct,
	Eval:    evalDynamicProduct,
	Export: func(e *Exporter) error {
		return e.Node("com.microsoft:DynamicQuantizeMatMul", nil, e.Inputs()...)
	},
}

func inferDynamicProduct(l *Layer) error {
	x, err := l.needReal(0)
	if err != nil {
		return err
	}
	w, err := l.need(1)
	if err != nil {
		return err
	}
	if x.Quantized() || len(x.Dims) < 2 {
		return fmt.Errorf("input %s: want rows of real numbers", x.TypeString())
	}
	if w.Type != numeric.I8 && w.Type != numeric.U8 || w.Quantized() || len(w.Dims) != 2 {
		return fmt.Errorf("weights %s: want a matrix of i8 or u8", w.TypeString())
	}
	s, err := l.need(DynamicScales)
	if err != nil {
		return err
	}
	row := func(t *Tensor) bool {
		return len(t.Dims) == 0 || len(t.Dims) == 1 && (t.Dims[0].Is(1) || t.Dims[0].Equal(w.Dims[1]))
	}
	if s.Type != numeric.F32 || s.Quantized() || !row(s) {
		return fmt.Errorf("scales %s: want f32, one or one for each of %s columns", s.TypeString(), w.Dims[1])
	}
	if z := l.Input(DynamicZeros); z != nil && (z.Type != w.Type || z.Quantized() || !row(z)) {
		return fmt.Errorf("zero points %s: want %s, one or one for each of %s columns", z.TypeString(), w.Type, w.Dims[1])
	}
	dims, err := matmulDims(x, w)
	if err != nil {
		return err
	}
	l.Outputs[0].Type, l.Outputs[0].Dims = x.Type, dims
	return nil
}

func evalDynamicProduct(l *Layer, in, out []numeric.Value) error {
	q := []numeric.Value{numeric.NewValue(numeric.U8, in[0].Dims...), numeric.NewValue(numeric.F32), numeric.NewValue(numeric.U8)}
	if err := DynamicQuantize.Eval(nil, in[:1], q); err != nil {
		return err
	}
	d, err := newIntDot(q[0], q[2], in[1], optional(in[:len(l.OpInputs())], DynamicZeros))
	if err != nil {
		return err
	}
	n := in[1].Dims[1]
	if err := d.fits(n); err != nil {
		return err
	}
	x, w := q[1].F32()[0], in[DynamicScales].F32()
	y := make([]float32, numeric.Count(out[0].Dims))
	err = matmul(d, in[0].Dims, in[1].Dims, out[0].Dims, func(at, _, column int) { y[at] = float32(d.acc) * (x * w[column%len(w)]) })
	numeric.FromReal(out[0], y, numeric.Range{})
	return err
}
