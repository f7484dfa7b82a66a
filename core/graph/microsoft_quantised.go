package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
)

var microsoftQuantised = map[string]func(*Definition, *Node) ([]*Tensor, error){
	"com.microsoft:DequantizeLinear":         passedOn("DequantizeLinear"),
	"com.microsoft:DynamicQuantizeLSTM":      dynamicQuantizeLSTM,
	"com.microsoft:DynamicQuantizeMatMul":    dynamicQuantizeMatMul,
	"com.microsoft:MatMulIntegerToFloat":     matMulIntegerToFloat,
	"com.microsoft:QGemm":                    quantisedGemm,
	"com.microsoft:QLinearAdd":               quantisedBinary(elementwise.Add),
	"com.microsoft:QLinearAveragePool":       quantisedPool,
	"com.microsoft:QLinearConcat":            quantisedConcat,
	"com.microsoft:QLinearGlobalAveragePool": quantisedPool,
	"com.microsoft:QLinearLeakyRelu":         quantisedUnary,
	"com.microsoft:QLinearMul":               quantisedBinary(elementwise.Mul),
	"com.microsoft:QLinearReduceMean":        quantisedMean,
	"com.microsoft:QLinearSigmoid":           quantisedUnary,
	"com.microsoft:QLinearSoftmax":           quantisedUnary,
	"com.microsoft:QLinearWhere":             quantisedWhere,
	"com.microsoft:QuantizeLinear":           passedOn("QuantizeLinear"),
}

// The operators here are imported as what is between a Dequantize and a Quantize, which lowering fuses into layers on integers.
// Results may differ by one step from those of kernels that compute with integers throughout.

// dequantised adds a Dequantize; zero may be nil.
func (d *Definition) dequantised(x, scale, zero *Tensor) *Tensor {
	return d.imported("DequantizeLinear", nil, x, scale, zero)
}

// quantised adds a Quantize; where zero is nil, to U8.
func (d *Definition) quantised(x, scale, zero *Tensor) *Tensor {
	return d.imported("QuantizeLinear", nil, x, scale, zero)
}

// passedOn imports an operator as the one of that name in ONNX's own domain, of which it has the attribute axis.
func passedOn(name string) func(*Definition, *Node) ([]*Tensor, error) {
	return func(d *Definition, n *Node) ([]*Tensor, error) {
		if err := n.needs(0, 1); err != nil {
			return nil, err
		}
		axis := Attr{Kind: AttrInt, Int: int64(n.Int("axis", 1))}
		return result(d.imported(name, map[string]Attr{"axis": axis}, n.Inputs...))
	}
}

func quantisedBinary(op elementwise.Op) func(*Definition, *Node) ([]*Tensor, error) {
	return func(d *Definition, n *Node) ([]*Tensor, error) {
		if err := n.needs(0, 1, 3, 4, 6); err != nil {
			return nil, err
		}
		a, b := d.dequantised(n.Input(0), n.Input(1), n.Input(2)), d.dequantised(n.Input(3), n.Input(4), n.Input(5))
		return result(d.quantised(d.ElementWise(op, a, b), n.Input(6), n.Input(7)))
	}
}

// quantisedUnary is a QLinearLeakyRelu, QLinearSigmoid or QLinearSoftmax.
func quantisedUnary(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1, 3); err != nil {
		return nil, err
	}
	x := d.dequantised(n.Input(0), n.Input(1), n.Input(2))
	switch n.OpType {
	case "QLinearLeakyRelu":
		x = d.LeakyRelu(x, n.Float("alpha", 0.01))
	case "QLinearSigmoid":
		x = d.Sigmoid(x)
	default:
		x = d.Layer(Softmax, SoftmaxAttrs{Axis: n.Int("axis", -1), Flatten: n.Int("opset", 13) < 13}, x)
	}
	return result(d.quantised(x, n.Input(3), n.Input(4)))
}

// quantisedPool is a mean over windows or over all pixels; channels may be the last axis.
func quantisedPool(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1, 3); err != nil {
		return nil, err
	}
	a := PoolAttrs{Global: true}
	if n.OpType == "QLinearAveragePool" {
		attrs, _, err := importPool(n)
		if err != nil {
			return nil, err
		}
		a = attrs.(PoolAttrs)
	}
	rank, last := len(n.Input(0).Dims), n.Flag("channels_last", false)
	x := d.dequantised(n.Input(0), n.Input(1), n.Input(2))
	perm, back := []int{0, rank - 1}, []int{0}
	for i := 1; i < rank-1; i++ {
		perm, back = append(perm, i), append(back, i+1)
	}
	if last && rank > 2 {
		x = d.Transpose(x, perm...)
	}
	x = d.AveragePool(x, a)
	if last && rank > 2 {
		x = d.Transpose(x, append(back, 1)...)
	}
	return result(d.quantised(x, n.Input(3), n.Input(4)))
}

// quantisedMean is a mean over the axes that its attribute names.
func quantisedMean(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1, 3); err != nil {
		return nil, err
	}
	axes := n.Ints("axes")
	if axes == nil {
		for i := range n.Input(0).Dims {
			axes = append(axes, i)
		}
	}
	x := d.dequantised(n.Input(0), n.Input(1), n.Input(2))
	return result(d.quantised(d.Reduce(ReduceMean, x, n.Flag("keepdims", true), axes...), n.Input(3), n.Input(4)))
}

// quantisedConcat has the scale and the zero point of the result before all inputs with theirs.
func quantisedConcat(d *Definition, n *Node) ([]*Tensor, error) {
	if len(n.Inputs) < 5 || (len(n.Inputs)-2)%3 != 0 {
		return nil, fmt.Errorf("%d inputs, want two and three for each part", len(n.Inputs))
	}
	var list []*Tensor
	for i := 2; i < len(n.Inputs); i += 3 {
		if err := n.needs(0, i, i+1); err != nil {
			return nil, err
		}
		list = append(list, d.dequantised(n.Input(i), n.Input(i+1), n.Input(i+2)))
	}
	return result(d.quantised(d.Concat(n.Int("axis", 0), list...), n.Input(0), n.Input(1)))
}

func quantisedWhere(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1, 2, 4, 5, 7); err != nil {
		return nil, err
	}
	x, y := d.dequantised(n.Input(1), n.Input(2), n.Input(3)), d.dequantised(n.Input(4), n.Input(5), n.Input(6))
	return result(d.quantised(d.Where(n.Input(0), x, y), n.Input(7), n.Input(8)))
}

// quantisedGemm is alpha*A*B and C, whose scale is that of the product.
func quantisedGemm(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1, 3, 4); err != nil {
		return nil, err
	}
	g := GemmAttrs{Alpha: n.Float("alpha", 1), Beta: 1, TransA: n.Flag("transA", false), TransB: n.Flag("transB", false)}
	axis := Attr{Kind: AttrInt, Int: 1}
	if g.TransB {
		axis.Int = 0
	}
	b := d.imported("DequantizeLinear", map[string]Attr{"axis": axis}, n.Input(3), n.Input(4), n.Input(5))
	c := n.Input(6)
	if c != nil {
		c = d.Mul(d.Cast(c, numeric.F32), d.times(d.Mul(n.Input(1), n.Input(4)), g.Alpha))
	}
	y := d.Gemm(d.dequantised(n.Input(0), n.Input(1), n.Input(2)), b, c, g)
	if n.Input(7) == nil {
		return result(y)
	}
	return result(d.quantised(y, n.Input(7), n.Input(8)))
}

// dynamicQuantizeMatMul is the product of A, quantised by its own range, and B, in integers.
func dynamicQuantizeMatMul(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1, 2); err != nil {
		return nil, err
	}
	a, scale, zero := d.DynamicQuantize(n.Input(0))
	y := d.Cast(d.MatMulInteger(a, n.Input(1), zero, n.Input(3)), numeric.F32)
	return result(d.plus(d.Mul(y, d.Mul(scale, n.Input(2))), n.Input(4)))
}

// dynamicQuantizeLSTM is an LSTM of quantised weights [directions,I,4*H] and [directions,H,4*H], with a scale for each direction or
// column, over what is quantised by its own range. The states stay real: ONNX Runtime quantises them, too, at each step.
func dynamicQuantizeLSTM(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1, 2, 8, 10); err != nil {
		return nil, err
	}
	if err := n.ranked(axes{0, []int{3}}, axes{1, []int{3}}, axes{2, []int{3}}, axes{8, []int{1, 2}}, axes{10, []int{1, 2}}); err != nil {
		return nil, err
	}
	attrs, _, err := LSTM.Import(n)
	if err != nil {
		return nil, err
	}
	a := attrs.(RecurrentAttrs)
	if hidden, ok := n.Input(2).Dims[1].IsConst(); ok && !n.Has("hidden_size") {
		a.Hidden = hidden
	}
	spread := func(t *Tensor) *Tensor { // over the rows, and of one for a direction over the columns
		for len(t.Dims) < 2 {
			t = d.Unsqueeze(t, len(t.Dims))
		}
		return d.Unsqueeze(t, 1)
	}
	weights := func(i, scale int) *Tensor {
		w := d.Cast(n.Input(i), numeric.F32)
		if zero := n.Input(scale + 1); zero != nil {
			w = d.Sub(w, spread(d.Cast(zero, numeric.F32)))
		}
		return d.Transpose(d.Mul(w, spread(n.Input(scale))), 0, 2, 1)
	}
	x, scale, zero := d.DynamicQuantize(n.Input(0))
	r := Recurrent{W: weights(1, 8), R: weights(2, 10), Bias: n.Input(3), Lengths: n.Input(4), State: n.Input(5), Cell: n.Input(6), Peepholes: n.Input(7)}
	y, state, cell := d.LSTM(d.dequantised(x, scale, zero), r, a)
	return []*Tensor{y, state, cell}, nil
}

// matMulIntegerToFloat is a product of integers, times both scales, plus a bias.
func matMulIntegerToFloat(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1, 2, 3); err != nil {
		return nil, err
	}
	y := d.as(d.MatMulInteger(n.Input(0), n.Input(1), n.Input(4), n.Input(5)), n.Input(2).Type)
	return result(d.plus(d.Mul(y, d.Mul(n.Input(2), n.Input(3))), n.Input(6)))
}
