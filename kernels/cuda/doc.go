// Package cuda is the backend for NVIDIA GPUs: its tactics emit PTX for the very layer and shape that they are bound to,
// and the driver compiles it. Nothing of NVIDIA's is needed but the driver.
//
// Start at tactics.go, the table. A tactic's emit function returns a work: kernels, the launches of them, and the
// constants that they read (work.go). Tactics share the addressing of tensors (tensor.go) and the translation of
// element-wise programs (program.go). backend.go, stream.go and code.go are memory, time and compiled code over the
// interface driver.Context, which package simulator implements too: what is tested without a GPU is the text that a GPU
// gets.
package cuda
