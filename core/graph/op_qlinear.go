package graph

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/core/graph/numeric"
)

// The ops here are ONNX's quantised operators from before Q/DQ pairs: scales and zero points are inputs of their own, so
// that tensors are plain integers to the network. Where scales are constants, the pass expand-quantized writes QLinearConv and
// QLinearMatMul as what is between Q/DQ pairs, which is fused into layers on integers. Not supported of them: scales and zero points for each row of the first
// operand or of the result, and 8-bit floating types.

// QLinearConv is a convolution of 8-bit integers: inputs x, x scale, x zero point, w, w scale, w zero point, y scale, y zero
// point and an optional I32 bias of scale sx*sw. Weights may have one scale and zero point for each output channel.
//
//	y = saturate(round(float32(sum of (x-zx)*(w-zw) + bias) * (sx*sw/sy)) + zy)
var QLinearConv = &Op{
	Name: "QLinearConv", Attrs: ConvAttrs{}, Reals: AsStored, Onnx: []string{"QLinearConv"}, Import: importIntConv(3), Export: exportIntConv,
	Class: ClassIntegers, Inputs: []Role{Data, Parameter, Parameter, Weights, Parameter, Parameter, Parameter, Parameter, Bias}, Memory: Written,
	Moves: computed,
	FLOPs: convFLOPs,
	Product: &Product{
		Axes:   func(l *Layer) (out, in int) { return 0, 1 },
		Groups: func(l *Layer) int { return l.Attrs.(ConvAttrs).Group },
	},
	Infer: func(l *Layer) error { return inferIntConv(l, 3, 8, 7) },
	Eval: func(l *Layer, in, out []numeric.Value) error {
		d, err := newIntDot(in[0], in[2], in[3], in[5])
		if err != nil {
			return err
		}
		rq, err := newRequantize(in[1], in[4], in[6], in[7])
		if err != nil {
			return err
		}
		var bias []int64
		if len(in) > 8 && in[8].Data != nil {
			bias = in[8].Ints()
		}
		if err := d.fits(in[3].Dims[0]); err != nil {
			return err
		}
		l.Attrs.(ConvAttrs).convolve(d, in[0].Dims, in[3].Dims, out[0].Dims, func(at, m int) {
			if bias != nil {
				d.acc += bias[m]
			}
			storeInt(out[0], at, rq.apply(d.acc, m))
		})
		return nil
	},
}

// ConvInteger is the I32 sum of (x-zx)*(w-zw) of a convolution of 8-bit integers; inputs 2 and 3, the zero points, are
// optional.
var ConvInteger = &Op{
	Name: "ConvInteger", Attrs: ConvAttrs{}, Reals: AsStored, Onnx: []string{"ConvInteger"}, Import: importIntConv(1), Export: exportIntConv,
	Class: ClassIntegers, Inputs: []Role{Data, Weights, Parameter}, Memory: Written,
	Moves: computed,
	FLOPs: convFLOPs,
	Product: &Product{
		Axes:   func(l *Layer) (out, in int) { return 0, 1 },
		Groups: func(l *Layer) int { return l.Attrs.(ConvAttrs).Group },
	},
	Infer: func(l *Layer) error { return inferIntConv(l, 1, -1, -1) },
	Eval: func(l *Layer, in, out []numeric.Value) error {
		d, err := newIntDot(in[0], optional(in, 2), in[1], optional(in, 3))
		if err != nil {
			return err
		}
		if err := d.fits(in[1].Dims[0]); err != nil {
			return err
		}
		l.Attrs.(ConvAttrs).convolve(d, in[0].Dims, in[1].Dims, out[0].Dims, func(at, _ int) { storeInt(out[0], at, d.acc) })
		return nil
	},
}

// QLinearMatMul is a matrix product of 8-bit integers: inputs a, a scale, a zero point, b, b scale, b zero point, y scale and
// y zero point, with the arithmetic of [QLinearConv]. b may have one scale and zero point for each column.
var QLinearMatMul = &Op{
	Name: "QLinearMatMul", Reals: AsStored, Onnx: []string{"QLinearMatMul"},
	Class: ClassIntegers, Inputs: []Role{Data, Parameter, Parameter, Weights, Parameter}, Memory: Written,
	Moves:   computed,
	FLOPs:   matrixFLOPs,
	Product: &Product{Axes: matmulAxes, Groups: oneGroup},
	Infer:   func(l *Layer) error { return inferIntMatMul(l, 3, 7) },
	Eval: func(l *Layer, in, out []numeric.Value) error {
		d, err := newIntDot(in[0], in[2], in[3], in[5])
		if err != nil {
			return err
		}
		rq, err := newRequantize(in[1], in[4], in[6], in[7])
		if err != nil {
			return err
		}
		if err := d.fits(in[3].Dims[len(in[3].Dims)-1]); err != nil {
			return err
		}
		return matmul(d, in[0].Dims, in[3].Dims, out[0].Dims, func(at, _, column int) {
			storeInt(out[0], at, rq.apply(d.acc, column))
		})
	},
}

// MatMulInteger is the I32 product of (a-za) and (b-zb) for 8-bit integers; inputs 2 and 3, the zero points, are optional.
var MatMulInteger = &Op{
	Name: "MatMulInteger", Reals: AsStored, Onnx: []string{"MatMulInteger"},
	Class: ClassIntegers, Inputs: []Role{Data, Weights, Parameter}, Memory: Written,
	Moves:   computed,
	FLOPs:   matrixFLOPs,
	Product: &Product{Axes: matmulAxes, Groups: oneGroup},
	Infer:   func(l *Layer) error { return inferIntMatMul(l, 1, -1) },
	Eval: func(l *Layer, in, out []numeric.Value) error {
		d, err := newIntDot(in[0], optional(in, 2), in[1], optional(in, 3))
		if err != nil {
			return err
		}
		if err := d.fits(in[1].Dims[len(in[1].Dims)-1]); err != nil {
			return err
		}
		return matmul(d, in[0].Dims, in[1].Dims, out[0].Dims, func(at, _, _ int) { storeInt(out[0], at, d.acc) })
	},
}

func optional(in []numeric.Value, i int) numeric.Value {
	if i < len(in) {
		return in[i]
	}
	return numeric.Value{}
}

func importIntConv(weights int) func(n *Node) (any, []*Tensor, error) {
	return func(n *Node) (any, []*Tensor, error) {
		w := n.Input(weights)
		if w == nil {
			return nil, nil, fmt.Errorf("input %d (weights) is missing", weights)
		}
		a, err := importConv(n, w)
		return a, n.Inputs, err
	}
}

func exportIntConv(e *Exporter) error {
	return e.Node(e.Layer.Op.Name, e.Layer.Attrs.(ConvAttrs).onnx())
}

// need8 returns inputs 0 and second, checked to be 8-bit integers, whatever range they have of those that made them, with at
// least the given rank.
func (l *Layer) need8(second, rank int) (x, w *Tensor, err error) {
	if x, err = l.need(0); err != nil {
		return nil, nil, err
	}
	if w, err = l.need(second); err != nil {
		return nil, nil, err
	}
	for _, t := range []*Tensor{x, w} {
		if t.Type != numeric.I8 && t.Type != numeric.U8 || len(t.Dims) < rank {
			return nil, nil, fmt.Errorf("input %s is %s, want i8 or u8 with at least %d axes", t.Name, t.TypeString(), rank)
		}
	}
	return x, w, nil
}

// inferIntConv infers a convolution of integers whose weights, bias and output zero point are the given inputs; the last
// two are -1 where the result is I32.
func inferIntConv(l *Layer, weights, bias, zero int) error {
	x, w, err := l.need8(weights, 3)
	if err != nil {
		return err
	}
	if len(x.Dims) != len(w.Dims) {
		return fmt.Errorf("input %s and weights %s: want equal ranks", x.TypeString(), w.TypeString())
	}
	kernel, err := kernelExtents(w)
	if err != nil {
		return err
	}
	var b *Tensor
	if bias >= 0 {
		b = l.Input(bias)
	}
	dims, err := l.Attrs.(ConvAttrs).dims(x, w, b, kernel)
	if err != nil {
		return err
	}
	l.Outputs[0].Dims = dims
	return l.intResult(zero)
}

func inferIntMatMul(l *Layer, second, zero int) error {
	a, b, err := l.need8(second, 1)
	if err != nil {
		return err
	}
	if l.Outputs[0].Dims, err = matmulDims(a, b); err != nil {
		return err
	}
	return l.intResult(zero)
}

// intResult sets the output's type: that of the zero point, after checking that all parameters are there, or I32.
func (l *Layer) intResult(zero int) error {
	l.Outputs[0].Type = numeric.I32
	if zero < 0 {
		return nil
	}
	for i := range zero + 1 {
		t, err := l.need(i)
		if err != nil {
			return err
		}
		if scale := i == 1 || i == 4 || i == 6; scale && !isReal(t) {
			return fmt.Errorf("input %d is %s, want a floating-point scale", i, t.TypeString())
		}
	}
	if t := l.Inputs[zero].Type; t != numeric.I8 && t != numeric.U8 {
		return fmt.Errorf("the result's zero point is %s, want i8 or u8", t)
	}
	l.Outputs[0].Type = l.Inputs[zero].Type
	return nil
}

// newIntDot prepares integer sums over x and w with zero points that are one number, or for w one for each channel; a zero
// Value is 0.
func newIntDot(x, xZero, w, wZero numeric.Value) (*dot, error) {
	if xZero.Data != nil && xZero.Len() != 1 {
		return nil, fmt.Errorf("%d zero points for the first operand; only one is supported", xZero.Len())
	}
	return &dot{xq: x.Ints(), wq: w.Ints(), xr: zeroRange(xZero), wr: zeroRange(wZero), zx: int64(zeroRange(xZero).ZeroAt(0))}, nil
}

func zeroRange(v numeric.Value) numeric.Range {
	var r numeric.Range
	if v.Data != nil {
		for _, z := range v.Ints() {
			r.Zero = append(r.Zero, int32(z))
		}
	}
	return r
}

// fits checks that the weights have one zero point or one for each channel.
func (d *dot) fits(channels int) error {
	if n := len(d.wr.Zero); n > 1 && n != channels {
		return fmt.Errorf("%d zero points for %d channels", n, channels)
	}
	return nil
}

// requantize turns sums into integers of another scale.
type requantize struct {
	factors []float32 // sx*sw/sy for each channel, or one
	zero    int64
	lo, hi  float64
}

func newRequantize(x, w, y, zero numeric.Value) (requantize, error) {
	if x.Len() != 1 || y.Len() != 1 || zero.Len() != 1 {
		return requantize{}, fmt.Errorf("only the weights may have more than one scale and zero point")
	}
	r := requantize{zero: zero.Ints()[0]}
	r.lo, r.hi = zero.Type.Limits()
	for _, s := range w.Floats() {
		r.factors = append(r.factors, x.Floats()[0]*s/y.Floats()[0])
	}
	return r, nil
}

func (r requantize) apply(acc int64, channel int) int64 {
	f := r.factors[0]
	if len(r.factors) > 1 {
		f = r.factors[channel]
	}
	return int64(max(r.lo, min(r.hi, math.RoundToEven(float64(float32(acc)*f))+float64(r.zero))))
}
