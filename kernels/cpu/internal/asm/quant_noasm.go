//go:build !amd64 || noasm

package asm

// QuantKernels returns the kernels compiled in.
func QuantKernels() []QuantKernel { return []QuantKernel{quantKernelGeneric()} }
