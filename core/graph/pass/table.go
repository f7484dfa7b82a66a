package pass

import "fmt"

// Standard returns the passes that do not depend on target or precision, in order.
func Standard() []Pass {
	return []Pass{
		deadCode,
		foldConstants,
		staticReshapes,
		removeNoOps,
		commonSubexpressions,
		recogniseNorms,
		recogniseActivations,
		recogniseRotary,
		recogniseAttention,
		sliceGathers,
		cancelReshapes,
		fusePads,
		canonicalGemm,
		foldBatchNorm,
		foldScale,
		fuseEpilogue,
		fuseHorizontal,
		fuseResidual,
		fusePointwise,
		lateDeadCode,
	}
}

// Lowering returns the passes that turn Quantize and Dequantize layers, of the model or placed by the quantiser, into
// layers that compute with integers, as far as Config.Supports allows, and then those that fuse what only some targets have
// kernels for. Their result is lowered.
func Lowering() []Pass {
	return []Pass{
		propagateQuantization,
		quantizeConstants,
		cancelQuantization,
		fuseQuantized,
		foldDequantize,
		fuseCasts,
		fuseRotations,
		mergeRotations,
		fuseGates,
		lateDeadCode,
	}
}

// order says which pass must come before which in a table that has both, and why.
var order = []struct{ first, then, why string }{
	{"dead-code", "fold-constants", "what nothing needs is not worth computing"},
	{"fold-constants", "static-reshapes", "shapes computed from constants are constants first"},
	{"static-reshapes", "remove-no-ops", "a reshape to the same shape is recognised by its static form"},
	{"static-reshapes", "cancel-reshapes", "only reshapes to known shapes merge"},
	{"remove-no-ops", "common-subexpressions", "equal expressions differ by no-ops"},
	{"common-subexpressions", "recognise-normalisations", "x - mean(x) is one tensor only then"},
	{"recognise-normalisations", "fold-scale", "a scale behind a normalisation belongs to it"},
	{"recognise-normalisations", "fuse-epilogue", "patterns are of single element-wise layers"},
	{"common-subexpressions", "recognise-activations", "x*sigmoid(x) is one only if both x are one tensor"},
	{"recognise-activations", "fuse-epilogue", "patterns are of single element-wise layers"},
	{"recognise-activations", "fold-scale", "a constant factor may belong to an activation"},
	{"static-reshapes", "recognise-attention", "heads are split by reshapes to known shapes"},
	{"recognise-attention", "cancel-reshapes", "merged with others, the transposes of heads are not seen"},
	{"common-subexpressions", "recognise-rotary", "a component is one tensor only then"},
	{"static-reshapes", "recognise-rotary", "pairs are split by reshapes to known shapes"},
	{"recognise-rotary", "recognise-attention", "what is rotated is a view of heads again"},
	{"recognise-rotary", "slice-gathers", "patterns have gathers"},
	{"recognise-rotary", "fuse-epilogue", "patterns are of single element-wise layers"},
	{"recognise-attention", "slice-gathers", "patterns have gathers"},
	{"slice-gathers", "cancel-reshapes", "a slice of one index is followed by a reshape"},
	{"recognise-attention", "fuse-epilogue", "scale and mask are layers of their own"},
	{"canonical-gemm", "fold-batch-norm", "a matrix product takes a bias and scale only as Gemm"},
	{"fuse-pads", "fold-batch-norm", "a batch normalisation before a padding must not be moved past it"},
	{"fold-batch-norm", "fold-scale", "a batch normalisation without a producer to go to becomes a scale"},
	{"fold-scale", "fuse-epilogue", "weights take a scale for nothing, epilogues do not"},
	{"fuse-epilogue", "fuse-residual", "the activation before an addition comes before it"},
	{"fuse-epilogue", "fuse-horizontal", "products are alike with their biases and activations"},
	{"recognise-attention", "fuse-horizontal", "what reads the results says whether they can be slices"},
	{"fuse-horizontal", "merge-rotations", "queries and keys are parts of one tensor then"},
	{"recognise-rotary", "fuse-rotations", "rotations must be known, and attentions"},
	{"recognise-attention", "fuse-rotations", "rotations must be known, and attentions"},
	{"fuse-rotations", "merge-rotations", "none is launched where attention turns by itself"},
	{"recognise-rotary", "merge-rotations", "two are one only where they are known"},
	{"fuse-horizontal", "fuse-residual", "epilogues that read activations are not alike"},
	{"fuse-residual", "fuse-pointwise", "an epilogue is better than a layer of its own"},
	{"propagate-quantization", "quantize-constants", "moved weights are constants when what moves them reads integers"},
	{"quantize-constants", "fuse-quantized", "weights must be integer constants"},
	{"propagate-quantization", "cancel-quantization", "pairs meet by moving"},
	{"cancel-quantization", "fuse-quantized", "a cancelled pair leaves one integer tensor"},
	{"fuse-quantized", "fold-dequantize", "what is left computes with real weights"},
	{"fuse-quantized", "fuse-gates", "products of integers are layers of their own"},
	{"fold-dequantize", "fuse-gates", "weights must be real constants"},
}

// checkOrder returns an error for a table whose order breaks a constraint or that has a pass twice.
func checkOrder(table []Pass) error {
	at := map[string]int{}
	for i, p := range table {
		if _, ok := at[p.Name]; ok {
			return fmt.Errorf("pass %s is twice in the table", p.Name)
		}
		at[p.Name] = i
	}
	for _, c := range order {
		i, ok := at[c.first]
		j, ok2 := at[c.then]
		if ok && ok2 && i > j {
			return fmt.Errorf("pass %s must come before %s: %s", c.first, c.then, c.why)
		}
	}
	return nil
}
