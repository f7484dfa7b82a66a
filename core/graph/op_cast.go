package graph

import (
	"fmt"
	"math"
)

// CastAttrs are the attributes of Cast.
type CastAttrs struct {
	To       DataType
	Overflow bool   // to an 8-bit floating type: what is too large becomes an infinity or NaN, and not the largest number
	Round    string // to F8E8M0: RoundDown or RoundNearest; "" for up
}

// Cast converts each element to another type, as ONNX does: floating to integer truncates toward 0 (where the result
// does not fit it saturates, or wraps around in an integer type of less than a byte, and NaN gives 0; ONNX leaves all of it open),
// integers wrap around, to Bool is "not 0". A quantised input counts by its integers.
var Cast = &Op{
	Name:  "Cast",
	Attrs: CastAttrs{},
	Reals: AsStored,
	Onnx:  []string{"Cast", "CastLike"},
	Class: ClassConversion, Inputs: []Role{Data}, Memory: Written,
	Moves: func(l *Layer) Movement { return keptIf(l.Inputs[0].Type == l.Outputs[0].Type, Computed) },
	FLOPs: noFLOPs,
	Infer: func(l *Layer) error {
		x, err := l.need(0)
		if err != nil {
			return err
		}
		to, out := l.Attrs.(CastAttrs).To, l.Outputs[0]
		if to.Size() == 0 {
			return fmt.Errorf("cannot cast to %s", to)
		}
		out.Type, out.Dims, out.Range, out.Value = to, x.Dims, Range{}, nil
		if (to == I64 || to == I32) && (x.Type == I64 || x.Type == I32) {
			out.Value = x.Value
		} else if (to == I64 || to == I32) && x.Type.IsFloat() {
			out.Value = truncated(x, out)
		}
		return nil
	},
	Eval: func(l *Layer, in, out []Value) error {
		if a := l.Attrs.(CastAttrs); a.To.isNarrowFloat() && a.To != in[0].Type {
			out[0].setNarrowFloats(in[0].Float64s(), !a.Overflow, a.Round)
			return nil
		}
		castTo(out[0], in[0])
		return nil
	},
	Export: func(e *Exporter) error {
		a := e.Layer.Attrs.(CastAttrs)
		attrs := Attributes{"to": a.To, "saturate": !a.Overflow}
		if a.Round != "" {
			attrs["round_mode"] = a.Round
		}
		return e.Node("Cast", attrs)
	},
	Import: func(n *Node) (any, []*Tensor, error) {
		overflow, round := !n.Flag("saturate", true), n.String("round_mode", RoundUp)
		var to DataType
		if n.OpType == "CastLike" {
			like := n.Input(1)
			if like == nil {
				return nil, nil, fmt.Errorf("input 1 (the tensor to be like) is missing")
			}
			to, n.Inputs = like.Type, n.Inputs[:1]
		} else {
			var err error
			if to, err = onnxDataType(n.Int("to", 0)); err != nil {
				return nil, nil, err
			}
		}
		a := CastAttrs{To: to, Overflow: overflow && (to.IsFloat8() || to == F8E8M0)}
		switch round {
		case RoundUp:
		case RoundDown, RoundNearest:
			if to == F8E8M0 {
				a.Round = round
			}
		default:
			return nil, nil, fmt.Errorf("round_mode %q is unknown; it is up, down or nearest", round)
		}
		return a, n.Inputs, nil
	},
}

// onnxDataTypes are the element types by their number in ONNX's TensorProto.DataType.
var onnxDataTypes = [...]DataType{1: F32, 2: U8, 3: I8, 4: U16, 5: I16, 6: I32, 7: I64, 9: Bool, 10: F16, 11: F64, 12: U32, 13: U64, 16: BF16,
	17: F8E4M3FN, 18: F8E4M3FNUZ, 19: F8E5M2, 20: F8E5M2FNUZ, 21: U4, 22: I4, 23: F4E2M1, 24: F8E8M0, 25: U2, 26: I2, 27: F6E2M3, 28: F6E3M2}

// onnxDataType returns the type with the given number in ONNX's TensorProto.DataType.
func onnxDataType(n int) (DataType, error) {
	if n >= 0 && n < len(onnxDataTypes) && onnxDataTypes[n] != Invalid {
		return onnxDataTypes[n], nil
	}
	return Invalid, fmt.Errorf("element type %d of ONNX is not supported", n)
}

// castTo converts src's elements to dst's type.
func castTo(dst, src Value) {
	switch {
	case dst.Type == src.Type:
		copy(dst.Data, src.Data)
	case src.Type.IsFloat(), src.Type.isNarrowFloat(), dst.Type.isNarrowFloat():
		dst.setFloats(src.Float64s())
	default:
		dst.setInts(src.Ints(), src.Type == U64)
	}
}

// Float64s returns the elements as float64, converted where the type is another one; F64 values are not copied.
func (v Value) Float64s() []float64 {
	if v.Type == F64 {
		return View[float64](v.Data)
	}
	if v.Type.isNarrowFloat() {
		return v.narrowFloats64()
	}
	out := make([]float64, v.Len())
	if v.Type.IsFloat() {
		convert(out, v.Floats())
		return out
	}
	for i, n := range v.Ints() {
		out[i] = float64(n)
		if v.Type == U64 {
			out[i] = float64(uint64(n))
		}
	}
	return out
}

// setFloats stores x rounded to v's type; integers truncate and saturate.
func (v Value) setFloats(x []float64) {
	switch v.Type {
	case F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0, F6E2M3, F6E3M2, F4E2M1:
		v.setNarrowFloats(x, true, RoundUp)
	case F64:
		copy(View[float64](v.Data), x)
	case F32:
		convert(v.F32(), x)
	case F16, BF16:
		out := View[uint16](v.Data)
		for i, f := range x {
			if v.Type == F16 {
				out[i] = F32ToF16(roundToOdd(f))
			} else {
				out[i] = F32ToBF16(roundToOdd(f))
			}
		}
	case Bool:
		for i, f := range x {
			v.Data[i] = 0
			if f != 0 {
				v.Data[i] = 1
			}
		}
	default:
		to := v.Type
		if to.isNarrowInteger() {
			to = I64
		}
		ints := make([]int64, len(x))
		for i, f := range x {
			ints[i] = truncate(f, to)
		}
		v.setInts(ints, v.Type == U64)
	}
}

// roundToOdd rounds to float32 so that a later rounding to fewer bits equals rounding f at once.
func roundToOdd(f float64) float32 {
	r := float32(f)
	if float64(r) == f || f != f || math.IsInf(float64(r), 0) {
		return r
	}
	b := math.Float32bits(r)
	if math.Abs(float64(r)) > math.Abs(f) {
		b-- // toward 0
	}
	return math.Float32frombits(b | 1)
}

// truncate returns f rounded toward 0 and saturated to an integer type; for U64 as the bits of its int64.
func truncate(f float64, t DataType) int64 {
	if f != f {
		return 0
	}
	if t == U64 {
		switch {
		case f <= 0:
			return 0
		case f >= 1<<64:
			return -1
		}
		return int64(uint64(f))
	}
	if t == I64 {
		switch {
		case f <= math.MinInt64:
			return math.MinInt64
		case f >= 1<<63:
			return math.MaxInt64
		}
		return int64(f)
	}
	lo, hi := t.limits()
	return int64(max(lo, min(hi, f)))
}

// setInts stores x wrapped around to v's type; unsigned says that x holds the bits of uint64s.
func (v Value) setInts(x []int64, unsigned bool) {
	switch v.Type {
	case I8:
		convert(View[int8](v.Data), x)
	case U8:
		convert(v.Data, x)
	case I16:
		convert(View[int16](v.Data), x)
	case U16:
		convert(View[uint16](v.Data), x)
	case I32:
		convert(View[int32](v.Data), x)
	case U32:
		convert(View[uint32](v.Data), x)
	case I64:
		copy(View[int64](v.Data), x)
	case U64:
		convert(View[uint64](v.Data), x)
	case U4, I4, U2, I2:
		for i, n := range x {
			v.Data[i] = v.Type.wrapNarrow(n)
		}
	case Bool:
		for i, n := range x {
			v.Data[i] = 0
			if n != 0 {
				v.Data[i] = 1
			}
		}
	default:
		f := make([]float64, len(x))
		for i, n := range x {
			f[i] = float64(n)
			if unsigned {
				f[i] = float64(uint64(n))
			}
		}
		v.setFloats(f)
	}
}

// Identity returns its input. It imports Dropout, which does nothing at inference; its second output is then the mask,
// all true.
var Identity = &Op{
	Name:  "Identity",
	Reals: AsStored,
	Onnx:  []string{"Identity", "Dropout"},
	Class: ClassMove, Inputs: []Role{Data}, Memory: Viewed,
	Moves: kept,
	FLOPs: noFLOPs,
	Infer: func(l *Layer) error {
		x, err := l.need(0)
		if err != nil {
			return err
		}
		if len(l.Outputs) > 1 {
			l.Outputs[1].Type, l.Outputs[1].Dims = Bool, x.Dims
		}
		err = l.inferMoved(0, x, x.Dims, x.Range.Axis)
		l.Outputs[0].Value = x.Value
		return err
	},
	Eval: func(l *Layer, in, out []Value) error {
		copy(out[0].Data, in[0].Data)
		if len(out) > 1 {
			for i := range out[1].Data {
				out[1].Data[i] = 1
			}
		}
		return nil
	},
	Export: func(e *Exporter) error {
		if len(e.outputs) > 1 { // Dropout's mask
			yes := Values(Bool, []uint8{1}, 1)
			shape := e.Step("Shape", nil, e.Input(0))
			if err := e.add(OldestExport, "ConstantOfShape", Attributes{"value": yes}, []string{shape}, e.outputs[1:]); err != nil {
				return err
			}
		}
		return e.add(OldestExport, "Identity", nil, e.Inputs(), e.outputs[:1])
	},
	Import: func(n *Node) (any, []*Tensor, error) {
		if _, err := n.rank(0); err != nil || n.OpType != "Dropout" {
			return nil, n.Inputs, err
		}
		n.Float("ratio", 0.5)
		n.Int("seed", 0)
		if t := n.Input(2); t != nil {
			if training, known := t.Truth(); !known || training && !n.dropsNothing() {
				return nil, nil, fmt.Errorf("training_mode (input 2, %s) must be constant and false, unless the ratio is 0", t.Name)
			}
		}
		return nil, n.Inputs[:1], nil
	},
}

// dropsNothing reports whether the ratio of a Dropout, input 1, is a constant 0.
func (n *Node) dropsNothing() bool {
	v, ok := n.Input(1).Const()
	return ok && v.Len() == 1 && v.Type.IsFloat() && v.Float64s()[0] == 0
}
