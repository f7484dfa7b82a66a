// Package quantised is what kernels on 8-bit activations share: weights packed in steps of 16 bytes for the kernels that sum
// products of bytes (pack.go), a computation in blocks of channels bound to a layer (kernel.go), and what becomes of its int32
// sums (epilogue.go, output.go).
package quantised
