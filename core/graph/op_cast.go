package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
)

// CastAttrs are the attributes of Cast.
type CastAttrs struct {
	To       numeric.DataType
	Overflow bool   // to an 8-bit floating type: what is too large becomes an infinity or NaN, and not the largest number
	Round    string // to F8E8M0: RoundDown or RoundNearest; "" for up
}

// Cast converts each element to another type, as ONNX does: floating to integer truncates toward 0 (where the result
// does not fit it saturates, or wraps around in an integer type of less than a byte, and NaN gives 0; ONNX leaves all of it open),
// integers wrap around, to Bool is "not 0". A quantised input counts by its integers. Numbers are written as ONNX Runtime writes
// them, and strings that are none are an error: see numeric.Value's Format and SetParsed.
var Cast = &Op{
	Name:  "Cast",
	Attrs: CastAttrs{},
	Reals: AsStored, Strings: StringsRead,
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
		out.Type, out.Dims, out.Range, out.Value = to, x.Dims, numeric.Range{}, nil
		if (to == numeric.I64 || to == numeric.I32) && (x.Type == numeric.I64 || x.Type == numeric.I32) {
			out.Value = x.Value
		} else if (to == numeric.I64 || to == numeric.I32) && x.Type.IsFloat() {
			out.Value = truncated(x, out)
		}
		return nil
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		switch {
		case out[0].Type == numeric.Str:
			out[0] = numeric.Strings(in[0].Format(), out[0].Dims...)
			return nil
		case in[0].Type == numeric.Str && out[0].Type.IsNarrow():
			v := numeric.NewValue(numeric.F64, out[0].Dims...)
			if err := v.SetParsed(in[0].Strings()); err != nil {
				return err
			}
			in = []numeric.Value{v}
		case in[0].Type == numeric.Str:
			return out[0].SetParsed(in[0].Strings())
		}
		if a := l.Attrs.(CastAttrs); a.To.IsNarrowFloat() && a.To != in[0].Type {
			out[0].SetNarrowFloats(in[0].Float64s(), !a.Overflow, a.Round)
			return nil
		}
		numeric.Cast(out[0], in[0])
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
		overflow, round := !n.Flag("saturate", true), n.String("round_mode", numeric.RoundUp)
		var to numeric.DataType
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
		a := CastAttrs{To: to, Overflow: overflow && (to.IsFloat8() || to == numeric.F8E8M0)}
		switch round {
		case numeric.RoundUp:
		case numeric.RoundDown, numeric.RoundNearest:
			if to == numeric.F8E8M0 {
				a.Round = round
			}
		default:
			return nil, nil, fmt.Errorf("round_mode %q is unknown; it is up, down or nearest", round)
		}
		return a, n.Inputs, nil
	},
}

// onnxDataTypes are the element types by their number in ONNX's TensorProto.DataType.
var onnxDataTypes = [...]numeric.DataType{1: numeric.F32, 2: numeric.U8, 3: numeric.I8, 4: numeric.U16, 5: numeric.I16, 6: numeric.I32, 7: numeric.I64, 8: numeric.Str, 9: numeric.Bool, 10: numeric.F16, 11: numeric.F64, 12: numeric.U32, 13: numeric.U64, 16: numeric.BF16,
	17: numeric.F8E4M3FN, 18: numeric.F8E4M3FNUZ, 19: numeric.F8E5M2, 20: numeric.F8E5M2FNUZ, 21: numeric.U4, 22: numeric.I4, 23: numeric.F4E2M1, 24: numeric.F8E8M0, 25: numeric.U2, 26: numeric.I2, 27: numeric.F6E2M3, 28: numeric.F6E3M2}

// onnxDataType returns the type with the given number in ONNX's TensorProto.DataType.
func onnxDataType(n int) (numeric.DataType, error) {
	if n >= 0 && n < len(onnxDataTypes) && onnxDataTypes[n] != numeric.Invalid {
		return onnxDataTypes[n], nil
	}
	return numeric.Invalid, fmt.Errorf("element type %d of ONNX is not supported", n)
}

// Identity returns its input. It imports Dropout of an inference, which does nothing; its second output is then the mask,
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
			l.Outputs[1].Type, l.Outputs[1].Dims = numeric.Bool, x.Dims
		}
		err = l.inferMoved(0, x, x.Dims, x.Range.Axis)
		l.Outputs[0].Value = x.Value
		return err
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
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
			yes := numeric.Values(numeric.Bool, []uint8{1}, 1)
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
		return nil, n.Inputs[:1], nil
	},
}
