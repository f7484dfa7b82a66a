package graph

import (
	"fmt"
	"math"
	"slices"
)

// QuantAttrs are the attributes of Quantize and Dequantize.
type QuantAttrs struct {
	Range Range    // not set: the layer's inputs 1 and 2 are scales and zero points, and Range.Axis is their axis
	Type  DataType // of the output
}

// Quantize turns real numbers into integers that stand for them: q = saturate(round(x / scale) + zero), rounding half
// to even, with one scale or one for each index of an axis. Blocked quantisation is not supported.
var Quantize = &Op{
	Name:  "QuantizeLinear",
	Attrs: QuantAttrs{},
	Onnx:  []string{"QuantizeLinear"},
	Class: ClassConversion, Inputs: []Role{Data, Parameter}, Memory: Written,
	Moves: computed,
	FLOPs: elementFLOPs(5),
	Infer: func(l *Layer) error {
		x, err := l.need(0)
		if err != nil {
			return err
		}
		a, out := l.Attrs.(QuantAttrs), l.Outputs[0]
		if !a.Type.IsInteger() || a.Type.Size() > 4 || a.Type == U32 {
			return fmt.Errorf("cannot quantise to %s; it can be i8, u8, i16, u16 or i32", a.Type)
		}
		out.Type, out.Dims, out.Range, out.Value = a.Type, x.Dims, a.Range, nil
		return checkRange(l, a, x)
	},
	Eval: func(l *Layer, in, out []Value) error {
		r, err := evalRange(l, in)
		if err != nil {
			return err
		}
		if out[0].Type == F32 {
			copy(out[0].F32(), in[0].Floats())
			return nil
		}
		r.Quantize(out[0], in[0].Floats())
		return nil
	},
	Export: exportQuantize,
	Import: func(n *Node) (any, []*Tensor, error) {
		to := U8
		if zero := n.Input(2); zero != nil {
			to = zero.Type
		}
		if v := n.Int("output_dtype", 0); v != 0 {
			t, err := onnxDataType(v)
			if err != nil {
				return nil, nil, err
			}
			if n.Input(2) != nil && t != to {
				return nil, nil, fmt.Errorf("output_dtype is %s, but the zero point is %s", t, to)
			}
			to = t
		}
		n.Flag("saturate", true)
		if p := n.Int("precision", 0); p != 0 && p != 1 {
			return nil, nil, fmt.Errorf("precision: element type %d of ONNX is not supported", p)
		}
		return importQuant(n, to)
	},
}

// Dequantize turns integers into the real numbers that they stand for: (q - zero) * scale in float32. It reads the
// integers themselves: a range that its input may have does not count.
var Dequantize = &Op{
	Name:  "DequantizeLinear",
	Attrs: QuantAttrs{},
	Reals: AsStored,
	Onnx:  []string{"DequantizeLinear"},
	Class: ClassConversion, Inputs: []Role{Data, Parameter}, Memory: Written,
	Moves: computed,
	FLOPs: elementFLOPs(2),
	Infer: func(l *Layer) error {
		x, err := l.need(0)
		if err != nil {
			return err
		}
		a, out := l.Attrs.(QuantAttrs), l.Outputs[0]
		if !x.Type.IsInteger() || !a.Type.IsFloat() {
			return fmt.Errorf("cannot dequantise %s to %s", x, a.Type)
		}
		out.Type, out.Dims, out.Range, out.Value = a.Type, x.Dims, Range{}, nil
		return checkRange(l, a, x)
	},
	Eval: func(l *Layer, in, out []Value) error {
		r, err := evalRange(l, in)
		if err != nil {
			return err
		}
		x := r.Dequantize(in[0])
		if out[0].Type == F64 {
			convert(View[float64](out[0].Data), x)
			return nil
		}
		FromReal(out[0], x, Range{})
		return nil
	},
	Export: exportDequantize,
	Import: func(n *Node) (any, []*Tensor, error) {
		to := F32
		if scale := n.Input(1); scale != nil {
			to = scale.Type
		}
		if v := n.Int("output_dtype", 0); v != 0 {
			var err error
			if to, err = onnxDataType(v); err != nil {
				return nil, nil, err
			}
		}
		return importQuant(n, to)
	},
}

// importQuant moves constant scales and zero points into the attributes, where a scale's type and the input's shape
// allow; others stay inputs.
func importQuant(n *Node, to DataType) (any, []*Tensor, error) {
	x, scale := n.Input(0), n.Input(1)
	if x == nil || scale == nil {
		return nil, nil, fmt.Errorf("the input or its scale is missing")
	}
	if b := n.Int("block_size", 0); b != 0 {
		return nil, nil, fmt.Errorf("blocked quantisation (block_size %d) is not supported", b)
	}
	a := QuantAttrs{Type: to}
	axis := n.Int("axis", 1)
	if len(scale.Dims) > 1 {
		return nil, nil, fmt.Errorf("scale %s: want one, or a list", scale)
	}
	if k, ok := countDims(scale.Dims); !ok || k != 1 {
		var err error
		if a.Range.Axis, err = axisIn(axis, len(x.Dims)); err != nil {
			return nil, nil, err
		}
	}
	s, ok := scale.Const()
	if !ok {
		return a, n.Inputs, nil
	}
	var zero Value
	if t := n.Input(2); t != nil {
		if zero, ok = t.Const(); !ok {
			return a, n.Inputs, nil
		}
	}
	r, err := newRange(s, zero, a.Range.Axis)
	a.Range = r
	return a, n.Inputs[:1], err
}

// exportQuantize writes reals of 16 bits whose scales are not as F32, from which they are quantised anyway.
func exportQuantize(e *Exporter) error {
	a, x := e.Layer.Attrs.(QuantAttrs), e.Input(0)
	if a.Type == I32 {
		return fmt.Errorf("ONNX does not quantise to i32")
	}
	if !a.Range.IsSet() {
		return e.Node("QuantizeLinear", Attributes{"axis": a.Range.Axis})
	}
	real := scaleType(a.Range, e.Layer.Inputs[0].RealType())
	if real != e.Layer.Inputs[0].Type {
		x = e.Step("Cast", Attributes{"to": real}, x)
	}
	scale, zero := e.scales(a.Range, real, a.Type)
	return e.Node("QuantizeLinear", Attributes{"axis": a.Range.Axis}, x, scale, zero)
}

func exportDequantize(e *Exporter) error {
	a := e.Layer.Attrs.(QuantAttrs)
	if !a.Range.IsSet() {
		return e.Node("DequantizeLinear", Attributes{"axis": a.Range.Axis})
	}
	real := scaleType(a.Range, a.Type)
	scale, zero := e.scales(a.Range, real, e.Layer.Inputs[0].Type)
	attrs, inputs := Attributes{"axis": a.Range.Axis}, []string{e.Input(0), scale, zero}
	if real == a.Type {
		return e.Node("DequantizeLinear", attrs, inputs...)
	}
	return e.Node("Cast", Attributes{"to": a.Type}, e.Step("DequantizeLinear", attrs, inputs...))
}

// scaleType returns the type in which scales are written for real numbers of type t, which ONNX wants to be t: F32 where that
// does not hold them, and for types that they are not written in.
func scaleType(r Range, t DataType) DataType {
	if t != F16 && t != BF16 {
		return F32
	}
	v := NewValue(t, len(r.Scale))
	FromReal(v, r.Scale, Range{})
	if !slices.Equal(v.Floats(), r.Scale) {
		return F32
	}
	return t
}

// scales adds the scales of a range in the type of the real numbers, and the zero points in that of the integers, from which
// importers know it.
func (e *Exporter) scales(r Range, real, integer DataType) (scale, zero string) {
	var dims []int
	if r.PerChannel() {
		dims = []int{len(r.Scale)}
	}
	scales, zeros := NewValue(real, dims...), NewValue(integer, dims...)
	FromReal(scales, r.Scale, Range{})
	list := make([]int64, len(r.Scale))
	for i := range list {
		list[i] = int64(r.ZeroAt(i))
	}
	zeros.setInts(list, false)
	return e.Constant("scale", scales), e.Constant("zero_point", zeros)
}

// newRange returns the range of given scales and zero points (a zero Value for none).
func newRange(scale, zero Value, axis int) (Range, error) {
	if !scale.Type.IsFloat() {
		return Range{}, fmt.Errorf("scales of type %s", scale.Type)
	}
	r := Range{Axis: axis, Scale: append([]float32(nil), scale.Floats()...)}
	for _, s := range r.Scale {
		if math.IsNaN(float64(s)) || math.IsInf(float64(s), 0) {
			return Range{}, fmt.Errorf("a scale is %v", s)
		}
	}
	if zero.Data == nil || !zero.Type.IsInteger() {
		return r, nil
	}
	if zero.Len() != len(r.Scale) {
		return Range{}, fmt.Errorf("%d zero points for %d scales", zero.Len(), len(r.Scale))
	}
	symmetric := true
	r.Zero = make([]int32, zero.Len())
	for i, z := range zero.Ints() {
		r.Zero[i] = int32(z)
		symmetric = symmetric && z == 0
	}
	if symmetric {
		r.Zero = nil
	}
	return r, nil
}

// evalRange returns the range in the attributes, or that of inputs 1 and 2.
func evalRange(l *Layer, in []Value) (Range, error) {
	a := l.Attrs.(QuantAttrs)
	r := a.Range
	if !r.IsSet() && len(in) > 1 {
		var zero Value
		if len(in) > 2 {
			zero = in[2]
		}
		var err error
		if r, err = newRange(in[1], zero, a.Range.Axis); err != nil {
			return r, err
		}
	}
	if !r.IsSet() {
		return r, fmt.Errorf("no scales")
	}
	if r.PerChannel() && (r.Axis >= len(in[0].Dims) || in[0].Dims[r.Axis] != len(r.Scale)) {
		return r, fmt.Errorf("%d scales do not fit axis %d of shape %v", len(r.Scale), r.Axis, in[0].Dims)
	}
	return r, nil
}

// checkRange checks the attributes' range against the shape of x.
func checkRange(l *Layer, a QuantAttrs, x *Tensor) error {
	r := a.Range
	if !r.IsSet() {
		if len(l.OpInputs()) < 2 {
			return fmt.Errorf("no scales")
		}
		return nil
	}
	if len(r.Zero) != 0 && len(r.Zero) != len(r.Scale) {
		return fmt.Errorf("%d zero points for %d scales", len(r.Zero), len(r.Scale))
	}
	if r.PerChannel() {
		if r.Axis < 0 || r.Axis >= len(x.Dims) || !x.Dims[r.Axis].Is(len(r.Scale)) {
			return fmt.Errorf("%d scales do not fit axis %d of %s", len(r.Scale), r.Axis, x)
		}
	}
	return nil
}

// DynamicQuantize quantises to U8 by a range that it computes from its input, widened to hold 0: scale = (max-min)/255,
// zero = saturate(round(-min/scale)). Outputs: the integers, the scale, the zero point. The integers carry no Range.
var DynamicQuantize = &Op{
	Name:  "DynamicQuantizeLinear",
	Onnx:  []string{"DynamicQuantizeLinear"},
	Class: ClassConversion, Inputs: []Role{Data}, Memory: Written,
	Moves: computed,
	FLOPs: elementFLOPs(7),
	Infer: func(l *Layer) error {
		x, err := l.need(0)
		if err != nil {
			return err
		}
		if len(l.Outputs) != 3 {
			return fmt.Errorf("%d outputs, want 3", len(l.Outputs))
		}
		y, scale, zero := l.Outputs[0], l.Outputs[1], l.Outputs[2]
		y.Type, y.Dims = U8, x.Dims
		scale.Type, scale.Dims = F32, nil
		zero.Type, zero.Dims = U8, nil
		return nil
	},
	Eval: func(l *Layer, in, out []Value) error {
		x := in[0].Floats()
		lo, hi := float32(0), float32(0)
		for _, v := range x {
			lo, hi = min(lo, v), max(hi, v)
		}
		r := DynamicRange(lo, hi)
		out[1].F32()[0], out[2].Data[0] = r.Scale[0], byte(r.ZeroAt(0))
		r.Quantize(out[0], x)
		return nil
	},
}

// DynamicRange returns the range by which [DynamicQuantize] quantises numbers between lo and hi, which are not above and not below 0:
// NaN if one of the numbers is.
func DynamicRange(lo, hi float32) Range {
	scale := (hi - lo) / 255
	if !(scale > 0) {
		return PerTensor(1, 0)
	}
	zero := math.RoundToEven(max(0, min(255, float64(-lo/scale))))
	if math.IsNaN(zero) { // both are infinite
		zero = 0
	}
	return PerTensor(scale, int32(zero))
}
