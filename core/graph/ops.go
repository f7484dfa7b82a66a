package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Ops returns the built-in ops.
func Ops() OpSet {
	return NewOpSet(elementwiseOps()...).With(reductions...).With(
		ArgMax,
		ArgMin,
		Attention,
		AveragePool,
		BatchNorm,
		BitCast,
		BitShift,
		BitwiseAnd,
		BitwiseNot,
		BitwiseOr,
		BitwiseXor,
		BlackmanWindow,
		Cast,
		Col2Im,
		Concat,
		ConstantOfShape,
		Conv,
		ConvInteger,
		ConvTranspose,
		CumProd,
		CumSum,
		DeformColumns,
		DepthToSpace,
		Dequantize,
		Det,
		DFT,
		DynamicQuantize,
		DynamicQuantizeMatMul,
		Expand,
		EyeLike,
		Flatten,
		GatedMatMul,
		Gather,
		GatherElements,
		GatherND,
		Gemm,
		GridSample,
		GroupNorm,
		GRU,
		HammingWindow,
		HannWindow,
		Hardmax,
		Identity,
		If,
		ImageDecoder,
		InstanceNorm,
		LayerNorm,
		LinearAttention,
		Loop,
		LpNorm,
		LRN,
		LSTM,
		MatMul,
		MatMulInteger,
		MatMulNBits,
		MaxPool,
		MaxRoiPool,
		MaxUnpool,
		MeanVarianceNorm,
		MelWeightMatrix,
		NonMaxSuppression,
		NonZero,
		OneHot,
		Pad,
		Places,
		Pointwise,
		QLinearConv,
		QLinearMatMul,
		Quantize,
		RandomNormal,
		RandomUniform,
		Reformat,
		RegexFullMatch,
		Reshape,
		Resize,
		ReverseSequence,
		RMSNorm,
		RNN,
		RoiAlign,
		Rotary,
		RoundRows,
		Scan,
		ScatterElements,
		ScatterND,
		Sequence,
		ShapeOf,
		SizeOf,
		Slice,
		Softmax,
		SpaceToDepth,
		Split,
		Squeeze,
		STFT,
		StringCase,
		StringConcat,
		StringIndex,
		StringSplit,
		TensorScatter,
		TfIdf,
		Tile,
		TopK,
		Transpose,
		Trilu,
		Unique,
		Unsqueeze,
	).WithComposites(Composites()...)
}

// Reformat copies its input to a tensor of another type, range or memory format: what a builder puts between two
// layers that do not agree. Its meaning is the identity on real numbers.
var Reformat = &Op{
	Name:  "Reformat",
	Class: ClassConversion, Inputs: []Role{Data}, Memory: Converted,
	Moves: kept,
	FLOPs: noFLOPs,
	Infer: func(l *Layer) error {
		l.Outputs[0].Type, l.Outputs[0].Dims = l.Inputs[0].Type, l.Inputs[0].Dims
		return nil
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		copy(out[0].Data, in[0].Data)
		return nil
	},
	Export: func(e *Exporter) error { return e.Node("Identity", nil) },
}

// inferSame gives the first output the real type and the dims of the first input.
func inferSame(l *Layer) error {
	x, err := l.need(0)
	if err != nil {
		return err
	}
	l.Outputs[0].Type, l.Outputs[0].Dims = x.RealType(), x.Dims
	return nil
}

// need returns the op's input i, or an error if it is left out.
func (l *Layer) need(i int) (*Tensor, error) {
	if t := l.Input(i); t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("input %d is missing", i)
}

// BroadcastDims returns the shape to which the given ones broadcast as in ONNX. A symbol meets 1 as itself; where two
// different symbols meet, they are taken to be equal at run time, and the first is used, or a symbol where the other is what a bound
// leaves of that.
func BroadcastDims(shapes ...[]symbolic.Dim) ([]symbolic.Dim, error) {
	rank := 0
	for _, s := range shapes {
		rank = max(rank, len(s))
	}
	out := make([]symbolic.Dim, rank)
	for i := range out {
		out[i] = symbolic.Const(1)
	}
	for _, s := range shapes {
		for j, d := range s {
			i := j + rank - len(s)
			switch have := out[i]; {
			case have.Is(1):
				out[i] = d
			case d.Is(1), d.Equal(have):
			default:
				a, ok := have.IsConst()
				b, ok2 := d.IsConst()
				if ok && ok2 {
					return nil, fmt.Errorf("shapes do not broadcast: %d meets %d on axis %d", a, b, i)
				}
				if ok2 || have.Remains(d) {
					out[i] = d
				}
			}
		}
	}
	return out, nil
}
