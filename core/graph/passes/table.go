package passes

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes/fuse"
	"github.com/trtui/trtui/core/graph/passes/quantise"
	"github.com/trtui/trtui/core/graph/passes/recognise"
	"github.com/trtui/trtui/core/graph/passes/simplify"
)

// Standard returns the passes that do not depend on the precision, in order. Of the target they ask one thing, by Config.Target:
// whether it computes what they would make of several layers.
func Standard() []pass.Pass {
	return []pass.Pass{
		simplify.DeadCode,
		simplify.ControlFlow,
		simplify.InF32,
		quantise.ExpandQuantized,
		quantise.ExpandWeights,
		simplify.FoldConstants,
		simplify.TrimBodies,
		simplify.StaticReshapes,
		simplify.UnflattenProducts,
		simplify.DeadShapes,
		simplify.RemoveNoOps,
		simplify.CommonSubexpressions,
		simplify.WriteRegions,
		recognise.Dynamic,
		recognise.PartHeads,
		recognise.Norms,
		recognise.Activations,
		recognise.Rounded,
		recognise.Rotary,
		simplify.CancelReshapes,
		recognise.Attention,
		simplify.LateFoldConstants,
		simplify.SliceGathers,
		fuse.Pads,
		fuse.CanonicalGemm,
		fuse.FoldBatchNorm,
		fuse.FoldScale,
		fuse.Epilogue,
		fuse.Horizontal,
		fuse.Residual,
		fuse.Pointwise,
		simplify.LateDeadCode,
	}
}

// Lowering returns the passes that turn Quantize and Dequantize layers, of the model or placed by the quantiser, into
// layers that compute with integers, as far as Config.Supports allows, and then those that fuse what only some targets have
// kernels for. Their result is lowered.
func Lowering() []pass.Pass {
	return []pass.Pass{
		quantise.Propagate,
		quantise.Constants,
		quantise.Cancel,
		quantise.Rows,
		quantise.Fuse,
		quantise.Join,
		quantise.WeightOnly,
		quantise.FoldDequantize,
		fuse.Casts,
		fuse.AttentionPast,
		fuse.Rotations,
		fuse.MergeRotations,
		fuse.Gates,
		simplify.LateDeadCode,
	}
}

// Dropping returns the passes that make a network of real numbers of one that brings its own quantisation, in order.
func Dropping() []pass.Pass {
	return []pass.Pass{simplify.DeadCode, quantise.ExpandQuantized, quantise.Drop, simplify.LateDeadCode}
}

// order says which pass must come before which in a table that has both, and why.
var order = []struct{ first, then, why string }{
	{"dead-code", "expand-weights", "what nothing needs stays small"},
	{"expand-weights", "unflatten-products", "products by real weights are as all others"},
	{"dead-code", "control-flow", "what nothing needs is not worth unrolling"},
	{"control-flow", "fold-constants", "what an iteration computes of its number is constant then"},
	{"dead-code", "in-f32", "what nothing needs is not worth converting"},
	{"control-flow", "in-f32", "layers with networks inside stay as they are"},
	{"in-f32", "fold-constants", "constants are computed in the type that their users read"},
	{"in-f32", "remove-no-ops", "casts to f32 are no-ops then"},
	{"fold-constants", "trim-bodies", "what is folded around a body is a constant in it"},
	{"dead-code", "expand-quantized", "what nothing needs stays small"},
	{"expand-quantized", "fuse-epilogue", "products of integers take no epilogues"},
	{"dead-code", "fold-constants", "what nothing needs is not worth computing"},
	{"fold-constants", "static-reshapes", "shapes computed from constants are constants first"},
	{"static-reshapes", "remove-no-ops", "a reshape to the same shape is recognised by its static form"},
	{"static-reshapes", "unflatten-products", "rows are flattened by Reshape, whatever the model has for it"},
	{"unflatten-products", "dead-shapes", "what computed the shape behind a product is dead once it keeps its axes"},
	{"static-reshapes", "dead-shapes", "what computed a shape is dead once the shape is static"},
	{"dead-shapes", "recognise-normalisations", "a shape that nothing needs would be a second user"},
	{"dead-shapes", "recognise-attention", "a shape that nothing needs would be a second user"},
	{"dead-shapes", "fuse-epilogue", "a shape that nothing needs would be a second user"},
	{"static-reshapes", "cancel-reshapes", "only reshapes to known shapes merge"},
	{"remove-no-ops", "common-subexpressions", "equal expressions differ by no-ops"},
	{"common-subexpressions", "write-regions", "parts of one tensor are of one tensor"},
	{"write-regions", "recognise-attention", "what is added to a part of the scores is a mask"},
	{"common-subexpressions", "recognise-activations", "x*sigmoid(x) is one only if both x are one tensor"},
	{"common-subexpressions", "recognise-normalisations", "x and the mean of x*x are of one x only if both x are one tensor"},
	{"common-subexpressions", "fuse-dynamic", "a scale that is computed twice is one of two tensors"},
	{"fuse-dynamic", "part-heads", "heads are parts of products"},
	{"fuse-dynamic", "fuse-epilogue", "scales are no epilogue of integers, and what follows them is"},
	{"common-subexpressions", "part-heads", "what is cut from heads is found as the readers of one tensor"},
	{"part-heads", "recognise-rotary", "queries and keys that are turned lie in one piece"},
	{"part-heads", "cancel-reshapes", "each part has a Reshape and a Transpose of its own"},
	{"recognise-normalisations", "fold-scale", "a constant factor may be the scale of a normalisation"},
	{"recognise-normalisations", "fuse-epilogue", "patterns are of single element-wise layers"},
	{"cancel-reshapes", "recognise-attention", "heads are cut and joined by one Reshape and one Transpose each"},
	{"common-subexpressions", "recognise-rotary", "components and angles are the same only if they are one tensor"},
	{"recognise-rotary", "recognise-attention", "an attention cuts heads only where no embedding stands between"},
	{"recognise-rotary", "fold-scale", "constant angles are no scale"},
	{"recognise-rotary", "fuse-epilogue", "patterns are of single element-wise layers"},
	{"recognise-attention", "late-fold-constants", "masks and angles may be made of constants"},
	{"late-fold-constants", "canonical-gemm", "weights that were made are constants"},
	{"late-fold-constants", "fuse-epilogue", "an extent that only a mask needed would be a second user"},
	{"recognise-attention", "fold-scale", "a constant factor may be that of the scores"},
	{"recognise-attention", "canonical-gemm", "a product of queries and constant keys is a MatMul"},
	{"recognise-rounded", "fuse-epilogue", "what rounds is an epilogue"},
	{"common-subexpressions", "recognise-rounded", "what is dequantised twice has one reader"},
	{"recognise-activations", "fuse-epilogue", "patterns are of single element-wise layers"},
	{"recognise-activations", "fold-scale", "a constant factor may belong to an activation"},
	{"recognise-rotary", "cancel-reshapes", "pairs are cut from heads by a Reshape of their own"},
	{"recognise-rotary", "slice-gathers", "patterns have gathers"},
	{"recognise-attention", "slice-gathers", "patterns have gathers"},
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
	{"recognise-attention", "attention-past", "attentions must be known"},
	{"attention-past", "fuse-rotations", "new keys are turned before a past is joined to them"},
	{"recognise-attention", "fuse-rotations", "rotations must be known, and attentions"},
	{"fuse-rotations", "merge-rotations", "none is launched where attention turns by itself"},
	{"recognise-rotary", "merge-rotations", "two are one only where they are known"},
	{"fuse-horizontal", "fuse-residual", "epilogues that read activations are not alike"},
	{"fuse-residual", "fuse-pointwise", "an epilogue is better than a layer of its own"},
	{"propagate-quantization", "quantize-constants", "moved weights are constants when what moves them reads integers"},
	{"quantize-constants", "fuse-quantized", "weights must be integer constants"},
	{"quantize-constants", "fuse-rows", "weights must be integer constants"},
	{"fuse-rows", "weight-only", "products of bytes are faster than those of real numbers by weights of few bits"},
	{"propagate-quantization", "cancel-quantization", "pairs meet by moving"},
	{"cancel-quantization", "fuse-quantized", "a cancelled pair leaves one integer tensor"},
	{"fuse-quantized", "join-bytes", "layers read and write real numbers before"},
	{"fuse-quantized", "weight-only", "what is left computes with real numbers"},
	{"weight-only", "fold-dequantize", "weights must be integers"},
	{"fuse-quantized", "fold-dequantize", "what is left computes with real weights"},
	{"fuse-quantized", "fuse-gates", "products of integers are layers of their own"},
	{"fold-dequantize", "fuse-gates", "weights must be real constants"},
}

// checkOrder returns an error for a table whose order breaks a constraint or that has a pass twice.
func checkOrder(table []pass.Pass) error {
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
