// Package networks hunts for wrong results: random networks of every op, written as ONNX, go through the importer, the
// passes, lowering and built engines in every precision, with random tactics, and are compared with what they mean: with
// onnxruntime where Python has it, and with the layers' own Eval.
//
// Start with [Generate], which makes a [Model]; [Check] takes it through a [Setup]; [Shrink] makes what failed small. The
// proposals, one for each ONNX operator, are in the files propose_*.go.
package networks
