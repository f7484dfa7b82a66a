package graph

import "slices"

// onnxIntegers are the integer types that ONNX's operators take where those are not all; their layers take all. What an
// operator does not take is converted to a type that holds it, and the result back, which wraps around as the layer does.
var onnxIntegers = map[string][]DataType{
	"Pow": {I32, I64}, "CumSum": {I32, I64, U32, U64}, "CumProd": {I32, I64, U32, U64},
	"ReduceMax": {I8, U8, I32, I64, U32, U64}, "ReduceMin": {I8, U8, I32, I64, U32, U64},
	"ReduceL1": {I32, I64, U32, U64}, "ReduceL2": {I32, I64, U32, U64}, "ReduceMean": {I32, I64, U32, U64}, "ReduceProd": {I32, I64, U32, U64},
	"ReduceSum": {I32, I64, U32, U64}, "ReduceSumSquare": {I32, I64, U32, U64},
}

// onnxReals are the operators whose inputs of real numbers are of one type.
var onnxReals = []string{
	"BatchNormalization", "Conv", "ConvTranspose", "Gemm", "GroupNormalization", "InstanceNormalization", "LayerNormalization", "LinearAttention", "MatMul", "MaxRoiPool", "RMSNormalization",
	"RoiAlign", "RotaryEmbedding", "STFT",
}

// wider returns the type to which an operator's data is converted, since ONNX's does not take it as it is; ok is false where
// it does.
func wider(op string, t DataType) (to DataType, ok bool) {
	allowed, limited := onnxIntegers[op]
	switch {
	case (op == "DynamicQuantizeLinear" || op == "com.microsoft:DynamicQuantizeMatMul") && t != F32:
		return F32, true
	case op == "MeanVarianceNormalization" && t != F32: // a function, whose constants are F32
		return F32, true
	case t == Bool && slices.Contains([]string{"TopK", "ArgMax", "ArgMin"}, op):
		return U8, true
	case !limited || !t.IsInteger() || slices.Contains(allowed, t):
		return t, false
	}
	return I64, true
}

// suited returns the inputs of a node as ONNX's operator takes them, and the type that its first result has then, Invalid for
// the layer's own. Inputs are those of the layer, and constants.
func (e *Exporter) suited(op string, inputs []string) ([]string, DataType) {
	types := map[string]DataType{}
	mixed, first := false, Invalid
	for _, t := range e.Layer.OpInputs() {
		if t == nil {
			continue
		}
		types[t.Name] = t.Type
		if t.Type.IsFloat() && slices.Contains(onnxReals, op) {
			mixed = mixed || first != Invalid && t.Type != first
			first = t.Type
		}
	}
	inputs, result := slices.Clone(inputs), Invalid
	cast := func(i int, to DataType) {
		if t, ok := types[inputs[i]]; ok && t != to {
			inputs[i] = e.Step("Cast", Attributes{"to": to}, inputs[i])
		}
	}
	for i, name := range inputs {
		t, ok := types[name]
		switch {
		case !ok:
		case mixed && t.IsFloat():
			result = F32
			cast(i, F32)
		case (op == "GatherND" || op == "ScatterND") && i == 1:
			cast(i, I64)
		case i == 0:
			if to, ok := wider(op, t); ok {
				cast(i, to)
				if result = to; slices.Contains([]string{"DynamicQuantizeLinear", "ArgMax", "ArgMin"}, op) {
					result = Invalid
				}
			}
		}
	}
	return inputs, result
}
