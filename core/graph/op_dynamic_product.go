package graph

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// The inputs of a dynamically quantised product behind x and the weights.
const (
	DynamicScales = 2 + iota // [N] or one, F32: those of the weights
	DynamicZeros             // optional: [N] or one, of the weights' type
)

// DynamicAttrs say by which range DynamicQuantizeMatMul quantises what it reads.
type DynamicAttrs struct{ Rows RowRange }

// DynamicQuantizeMatMul is the matrix product of x [...,K], quantised as [DynamicQuantize] does or row by row as [RoundRows] does, and
// weights [K,N] of I8 or U8, in integers, times both scales: float32(sum of (q-zq)*(w-zw)) * (sq*sw). By one range it is what ONNX
// Runtime's dynamic quantisation makes of a product, in four layers, and its operator of that name; passes make it of the former, and its
// import comes to the same. By a range for each row it is what passes make of RoundRows and a product, which its export writes again.
var DynamicQuantizeMatMul = &Op{
	Name:  "DynamicQuantizeMatMul",
	Attrs: DynamicAttrs{},
	Class: ClassWeightOnly, Inputs: []Role{Data, Weights, Parameter}, Memory: Written,
	Moves:   computed,
	FLOPs:   func(l *Layer, env map[string]int) int64 { return matrixFLOPs(l, env) + DynamicQuantize.FLOPs(l, env) },
	Product: &Product{Axes: matmulAxes, Groups: oneGroup},
	Infer:   inferDynamicProduct,
	Eval:    evalDynamicProduct,
	Export:  exportDynamicProduct,
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

// exportDynamicProduct writes ONNX Runtime's operator, which has one range for all that it reads; rows of ranges of their own are rounded by
// nodes of their own, in front of a product of real numbers.
func exportDynamicProduct(e *Exporter) error {
	by := e.Layer.Attrs.(DynamicAttrs).Rows
	if by == OneRange {
		return e.Node("com.microsoft:DynamicQuantizeMatMul", nil, e.Inputs()...)
	}
	x, err := e.roundRows(e.Input(0), by)
	if err != nil {
		return err
	}
	scales := e.Input(DynamicScales)
	w := e.Step("Cast", Attributes{"to": numeric.F32}, e.Input(1))
	if e.Layer.Input(DynamicZeros) != nil {
		w = e.Step("Sub", nil, w, e.Step("Cast", Attributes{"to": numeric.F32}, e.Input(DynamicZeros)))
	}
	w = e.Step("Mul", nil, w, scales)
	if t := e.Layer.Inputs[0].Type; t != numeric.F32 {
		return e.Node("Cast", Attributes{"to": t}, e.Step("MatMul", nil, x, w))
	}
	return e.Node("MatMul", nil, x, w)
}

func evalDynamicProduct(l *Layer, in, out []numeric.Value) error {
	if by := l.Attrs.(DynamicAttrs).Rows; by != OneRange {
		return evalRowProduct(l, by, in, out)
	}
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

// evalRowProduct is the product of rows, each quantised by its own range.
func evalRowProduct(l *Layer, by RowRange, in, out []numeric.Value) error {
	k, n := in[1].Dims[0], in[1].Dims[1]
	x, scales := in[0].Floats(), in[DynamicScales].F32()
	zeros := optional(in[:len(l.OpInputs())], DynamicZeros)
	weights, zw := in[1].Ints(), []int64{0}
	if zeros.Data != nil {
		zw = zeros.Ints()
	}
	y := make([]float32, numeric.Count(out[0].Dims))
	q := numeric.NewValue(numeric.U8, k)
	for row := range len(y) / max(1, n) {
		r := by.quantize(q, x[row*k:][:k])
		for j := range n {
			var sum int64
			for i, b := range q.Data {
				sum += (int64(b) - int64(r.ZeroAt(0))) * (weights[i*n+j] - zw[j%len(zw)])
			}
			y[row*n+j] = float32(sum) * (r.ScaleAt(0) * scales[j%len(scales)])
		}
	}
	numeric.FromReal(out[0], y, numeric.Range{})
	return nil
}

// ByRows returns the dynamic product, of no network, that computes what l does, a product of rows x and a matrix, by bytes: w are the
// weights as l has them, r what they stand for. The error says why there is none.
func (l *Layer) ByRows(x *Tensor, w numeric.Value, r numeric.Range, by RowRange) (*Layer, error) {
	g, _ := l.Attrs.(GemmAttrs)
	bias := l.Input(2)
	switch {
	case l.Op != MatMul && l.Op != Gemm:
		return nil, fmt.Errorf("%s is no product of rows and a matrix", l.Op.Name)
	case l.Op == Gemm && (g.TransA || g.Alpha != 1 || bias != nil && g.Beta != 1):
		return nil, fmt.Errorf("%s has factors, or transposes its rows", l.Name)
	case len(w.Dims) != 2 || w.Len() == 0 || len(x.Dims) < 2:
		return nil, fmt.Errorf("%s is no product of rows and a matrix", l.Name)
	case w.Type != numeric.I8 && w.Type != numeric.U8:
		return nil, fmt.Errorf("weights of %s are %s, not bytes", l.Name, w.Type)
	}
	column := 1
	if g.TransB {
		column = 0
	}
	if r.PerChannel() && r.Axis != column {
		return nil, fmt.Errorf("the scales of the weights of %s are not of columns", l.Name)
	}
	n := w.Dims[column]
	if g.TransB {
		w = transposed(w)
	}
	scales, zeros, some := make([]float32, n), numeric.NewValue(w.Type, n), false
	for j := range n {
		scales[j], zeros.Data[j] = r.ScaleAt(j), byte(r.ZeroAt(j))
		some = some || zeros.Data[j] != 0
	}
	name := l.Inputs[1].Name
	constant := func(what string, v numeric.Value) *Tensor {
		return &Tensor{Name: name + what, Type: v.Type, Dims: symbolic.Shape(v.Dims...), Weights: v.Data}
	}
	d := &Layer{Name: l.Name, Op: DynamicQuantizeMatMul, Attrs: DynamicAttrs{by}, Outputs: l.Outputs, From: l.From,
		Inputs: []*Tensor{x, constant("_bytes", w), constant("_scales", numeric.Values(numeric.F32, scales, n))}}
	if some {
		d.Inputs = append(d.Inputs, constant("_zeros", zeros))
	}
	if d.Epilogue = l.Epilogue; bias != nil {
		if d.Epilogue = elementwise.Binary(elementwise.Add); l.Epilogue.Args > 0 {
			d.Epilogue = d.Epilogue.Then(l.Epilogue, 0)
		}
		d.Inputs = append(d.Inputs, bias)
	}
	d.Inputs = append(d.Inputs, slices.Clone(l.EpilogueInputs())...)
	return d, nil
}

// transposed returns a matrix of bytes with rows for columns.
func transposed(w numeric.Value) numeric.Value {
	t := numeric.NewValue(w.Type, w.Dims[1], w.Dims[0])
	for i := range w.Dims[0] {
		for j := range w.Dims[1] {
			t.Data[j*w.Dims[0]+i] = w.Data[i*w.Dims[1]+j]
		}
	}
	return t
}
