// Package graph says what a network is and what it means.
//
// A [Network] is a list of [Layer] values in topological order, joined by [Tensor] values. Each layer names an
// [Op]: a value in a table that infers shapes, evaluates the op in plain Go and imports it from ONNX. Start with
// network.go for the structure, op.go for what an op is, op_properties.go for what it says of itself to passes, planners and
// reports, and op_conv.go or op_transpose.go for examples of one.
//
// There is one representation from import to execution: optimisation and quantisation annotate and fuse layers of
// the same graph. A fused layer carries what happens after its anchor as an [elementwise.Program] (its epilogue)
// and the names of the source layers it stands for. A tensor of an integer type with a [numeric.Range] is quantised: the
// real number it holds is (q - zero) * scale, and [Layer.Eval] computes with that meaning, so that evaluating the
// optimised network is the specification of the kernels that run it.
package graph
