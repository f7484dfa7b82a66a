package graph

import (
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
)

// onnxIntegers are the integer types that ONNX's operators take where those are not all; their layers take all. What an
// operator does not take is converted to a type that holds it, and the result back, which wraps around as the layer does.
var onnxIntegers = map[string][]numeric.DataType{
	"Pow": {numeric.I32, numeric.I64}, "CumSum": {numeric.I32, numeric.I64, numeric.U32, numeric.U64}, "CumProd": {numeric.I32, numeric.I64, numeric.U32, numeric.U64},
	"ReduceMax": {numeric.I8, numeric.U8, numeric.I32, numeric.I64, numeric.U32, numeric.U64}, "ReduceMin": {numeric.I8, numeric.U8, numeric.I32, numeric.I64, numeric.U32, numeric.U64},
	"ReduceL1": {numeric.I32, numeric.I64, numeric.U32, numeric.U64}, "ReduceL2": {numeric.I32, numeric.I64, numeric.U32, numeric.U64}, "ReduceMean": {numeric.I32, numeric.I64, numeric.U32, numeric.U64}, "ReduceProd": {numeric.I32, numeric.I64, numeric.U32, numeric.U64},
	"ReduceSum": {numeric.I32, numeric.I64, numeric.U32, numeric.U64}, "ReduceSumSquare": {numeric.I32, numeric.I64, numeric.U32, numeric.U64},
}

// onnxReals are the operators whose inputs of real numbers are of one type.
var onnxReals = []string{
	"BatchNormalization", "Conv", "ConvTranspose", "Gemm", "GroupNormalization", "InstanceNormalization", "LayerNormalization", "LinearAttention", "MatMul", "MaxRoiPool", "RMSNormalization",
	"RoiAlign", "RotaryEmbedding", "STFT",
}

// wider returns the type to which an operator's data is converted, since ONNX's does not take it as it is; ok is false where
// it does.
func wider(op string, t numeric.DataType) (to numeric.DataType, ok bool) {
	allowed, limited := onnxIntegers[op]
	switch {
	case (op == "DynamicQuantizeLinear" || op == "com.microsoft:DynamicQuantizeMatMul") && t != numeric.F32:
		return numeric.F32, true
	case op == "MeanVarianceNormalization" && t != numeric.F32: // a function, whose constants are F32
		return numeric.F32, true
	case t == numeric.Bool && slices.Contains([]string{"TopK", "ArgMax", "ArgMin"}, op):
		return numeric.U8, true
	case !limited || !t.IsInteger() || slices.Contains(allowed, t):
		return t, false
	}
	return numeric.I64, true
}

// suited returns the inputs of a node as ONNX's operator takes them, and the type that its first result has then, Invalid for
// the layer's own. Inputs are those of the layer, and constants.
func (e *Exporter) suited(op string, inputs []string) ([]string, numeric.DataType) {
	types := map[string]numeric.DataType{}
	mixed, first := false, numeric.Invalid
	for _, t := range e.Layer.OpInputs() {
		if t == nil {
			continue
		}
		types[t.Name] = t.Type
		if t.Type.IsFloat() && slices.Contains(onnxReals, op) {
			mixed = mixed || first != numeric.Invalid && t.Type != first
			first = t.Type
		}
	}
	inputs, result := slices.Clone(inputs), numeric.Invalid
	cast := func(i int, to numeric.DataType) {
		if t, ok := types[inputs[i]]; ok && t != to {
			inputs[i] = e.Step("Cast", Attributes{"to": to}, inputs[i])
		}
	}
	for i, name := range inputs {
		t, ok := types[name]
		switch {
		case !ok:
		case mixed && t.IsFloat():
			result = numeric.F32
			cast(i, numeric.F32)
		case (op == "GatherND" || op == "ScatterND") && i == 1:
			cast(i, numeric.I64)
		case i == 0:
			if to, ok := wider(op, t); ok {
				cast(i, to)
				if result = to; slices.Contains([]string{"DynamicQuantizeLinear", "ArgMax", "ArgMin"}, op) {
					result = numeric.Invalid
				}
			}
		}
	}
	return inputs, result
}
