//go:build !amd64 || noasm

package asm

// GemmKernels returns the kernels compiled in.
func GemmKernels() []GemmKernel { return gemmGenericKernels() }
