package graph

import (
	"fmt"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
)

// QuantAttrs are the attributes of Quantize and Dequantize.
type QuantAttrs struct {
	Range    numeric.Range    // not set: the layer's inputs 1 and 2 are scales and zero points, and Range.Axis is their axis
	Type     numeric.DataType // of the output
	Block    int              // how many elements along Range.Axis have a scale in common; 0: all, or with several scales one each
	Overflow bool             // to an 8-bit floating type: what is too large becomes an infinity or NaN, and not the largest number
}

// Quantize turns real numbers into integers that stand for them: q = saturate(round(x / scale) + zero), rounding half
// to even, with one scale, one for each index of an axis, or one for each block along it. Floats of 8 bits and fewer stand for
// real numbers as integers do; the division is in float32. The zero points of an output of a narrow type are not a Range, and
// neither are those of blocks: what reads it dequantises it by a layer of its own.
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
		if !a.Type.IsQuantised() || x.Type.IsNarrow() {
			return fmt.Errorf("cannot quantise %s to %s; it can be an integer of up to 16 bits, i32 or a float of up to 8 bits", x.TypeString(), a.Type)
		}
		out.Type, out.Dims, out.Range, out.Value = a.Type, x.Dims, a.Range, nil
		if a.Type.IsNarrow() {
			out.Range = numeric.Range{}
		}
		return checkRange(l, a, x, a.Type)
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		s, err := evalScales(l, in)
		if err != nil {
			return err
		}
		switch a := l.Attrs.(QuantAttrs); {
		case out[0].Type == numeric.F32: // Eval quantises it by the output's range
			copy(out[0].F32(), in[0].Floats())
		case s.block > 0 || a.Type.IsNarrow():
			s.quantize(out[0], in[0].Floats(), a.Overflow)
		default:
			s.Quantize(out[0], in[0].Floats())
		}
		return nil
	},
	Export: exportQuantize,
	Import: func(n *Node) (any, []*Tensor, error) {
		to := numeric.U8
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
		overflow := !n.Flag("saturate", true) && to.IsFloat8()
		if p := n.Int("precision", 0); p != 0 && p != 1 {
			return nil, nil, fmt.Errorf("precision: element type %d of ONNX is not supported", p)
		}
		a, inputs, err := importQuant(n, to)
		a.Overflow = overflow
		return a, inputs, err
	},
}

// Dequantize turns integers, and floats of 8 bits and fewer, into the real numbers that they stand for: (q - zero) * scale in
// float32. It reads the integers themselves: a range that its input may have does not count.
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
		if !x.Type.IsInteger() && !x.Type.IsQuantised() || !a.Type.IsFloat() {
			return fmt.Errorf("cannot dequantise %s to %s", x, a.Type)
		}
		out.Type, out.Dims, out.Range, out.Value = a.Type, x.Dims, numeric.Range{}, nil
		return checkRange(l, a, x, x.Type)
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		s, err := evalScales(l, in)
		if err != nil {
			return err
		}
		var x []float32
		if s.block > 0 || in[0].Type.IsNarrow() {
			x = s.dequantize(in[0])
		} else {
			x = s.Dequantize(in[0])
		}
		if out[0].Type == numeric.F64 {
			numeric.Convert(numeric.View[float64](out[0].Data), x)
			return nil
		}
		numeric.FromReal(out[0], x, numeric.Range{})
		return nil
	},
	Export: exportDequantize,
	Import: func(n *Node) (any, []*Tensor, error) {
		to := numeric.F32
		if scale := n.Input(1); scale != nil {
			to = scale.Type
		}
		if v := n.Int("output_dtype", 0); v != 0 {
			var err error
			if to, err = onnxDataType(v); err != nil {
				return nil, nil, err
			}
		}
		a, inputs, err := importQuant(n, to)
		return a, inputs, err
	},
}

// importQuant moves constant scales and zero points into the attributes, where a scale's type and the input's shape
// allow; others stay inputs, and those of blocks.
func importQuant(n *Node, to numeric.DataType) (a QuantAttrs, inputs []*Tensor, err error) {
	x, scale := n.Input(0), n.Input(1)
	if x == nil || scale == nil {
		return a, nil, fmt.Errorf("the input or its scale is missing")
	}
	a.Type, a.Block = to, n.Int("block_size", 0)
	axis := n.Int("axis", 1)
	switch k, ok := countDims(scale.Dims); {
	case a.Block != 0, !ok, k != 1:
		if a.Range.Axis, err = axisIn(axis, len(x.Dims)); err != nil {
			return a, nil, err
		}
	}
	if a.Block != 0 {
		return a, n.Inputs, nil
	}
	if len(scale.Dims) > 1 {
		return a, nil, fmt.Errorf("scale %s: want one, a list, or a block_size", scale)
	}
	s, ok := scale.Const()
	if !ok {
		return a, n.Inputs, nil
	}
	var zero numeric.Value
	if t := n.Input(2); t != nil {
		if zero, ok = t.Const(); !ok {
			return a, n.Inputs, nil
		}
	}
	a.Range, err = newRange(s, zero, a.Range.Axis)
	return a, n.Inputs[:1], err
}

// exportQuantize writes reals of 16 bits whose scales are not as F32, from which they are quantised anyway.
func exportQuantize(e *Exporter) error {
	a, x := e.Layer.Attrs.(QuantAttrs), e.Input(0)
	if a.Type == numeric.I32 {
		return fmt.Errorf("ONNX does not quantise to i32")
	}
	attrs := Attributes{"axis": a.Range.Axis}
	if a.Overflow {
		attrs["saturate"] = false
	}
	if !a.Range.IsSet() {
		a.describeBlocks(attrs)
		if e.Layer.Input(2) == nil && a.Type != numeric.U8 {
			attrs["output_dtype"] = a.Type
		}
		return e.Node("QuantizeLinear", attrs)
	}
	real := scaleType(a.Range, e.Layer.Inputs[0].RealType())
	if real != e.Layer.Inputs[0].Type {
		x = e.Step("Cast", Attributes{"to": real}, x)
	}
	scale, zero := e.scales(a.Range, real, a.Type)
	return e.Node("QuantizeLinear", attrs, x, scale, zero)
}

// describeBlocks adds the attribute of blocks, if there are any.
func (a QuantAttrs) describeBlocks(attrs Attributes) {
	if a.Block > 0 {
		attrs["block_size"] = a.Block
	}
}

func exportDequantize(e *Exporter) error {
	a := e.Layer.Attrs.(QuantAttrs)
	if !a.Range.IsSet() {
		attrs := Attributes{"axis": a.Range.Axis}
		a.describeBlocks(attrs)
		if e.Layer.Inputs[1].Type == a.Type {
			return e.Node("DequantizeLinear", attrs)
		}
		attrs["output_dtype"] = a.Type
		return e.NodeSince(23, "DequantizeLinear", attrs)
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
func scaleType(r numeric.Range, t numeric.DataType) numeric.DataType {
	if t != numeric.F16 && t != numeric.BF16 {
		return numeric.F32
	}
	v := numeric.NewValue(t, len(r.Scale))
	numeric.FromReal(v, r.Scale, numeric.Range{})
	if !slices.Equal(v.Floats(), r.Scale) {
		return numeric.F32
	}
	return t
}

// scales adds the scales of a range in the type of the real numbers, and the zero points in that of the integers, from which
// importers know it.
func (e *Exporter) scales(r numeric.Range, real, integer numeric.DataType) (scale, zero string) {
	var dims []int
	if r.PerChannel() {
		dims = []int{len(r.Scale)}
	}
	scales, zeros := numeric.NewValue(real, dims...), numeric.NewValue(integer, dims...)
	numeric.FromReal(scales, r.Scale, numeric.Range{})
	list := make([]int64, len(r.Scale))
	for i := range list {
		list[i] = int64(r.ZeroAt(i))
	}
	zeros.SetInts(list, false)
	return e.Constant("scale", scales), e.Constant("zero_point", zeros)
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
		y.Type, y.Dims = numeric.U8, x.Dims
		scale.Type, scale.Dims = numeric.F32, nil
		zero.Type, zero.Dims = numeric.U8, nil
		return nil
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
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
func DynamicRange(lo, hi float32) numeric.Range { return numeric.PerTensor(dynamicRange(lo, hi)) }

func dynamicRange(lo, hi float32) (scale float32, zero int32) {
	scale = (hi - lo) / 255
	if !(scale > 0) {
		return 1, 0
	}
	z := math.RoundToEven(max(0, min(255, float64(-lo/scale))))
	if math.IsNaN(z) { // both are infinite
		z = 0
	}
	return scale, int32(z)
}
