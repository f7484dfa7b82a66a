// Package cuda is the backend for NVIDIA GPUs: its tactics emit PTX for the very layer and shape that they are bound to,
// and the driver compiles it. Nothing of NVIDIA's is needed but the driver.
//
// Start at tactics.go, the table: the families of kernels are packages of their own (products, reductions, pointwise, moves),
// on the ground of package emit. A tactic's Emit returns a work: kernels, the launches of them, and the constants that they
// read. What is here binds and runs it: backend.go, stream.go, code.go and bound.go are memory, time, compiled code and
// launches over the interface driver.Context, which package simulator implements too: what is tested without a GPU is the
// text that a GPU gets.
package cuda
