//go:build !amd64 || noasm

package asm

// ConvKernels returns the kernels compiled in.
func ConvKernels() []ConvKernel { return convGenericKernels() }
