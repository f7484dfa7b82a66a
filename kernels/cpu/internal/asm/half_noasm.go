//go:build !amd64 || noasm

package asm

// HalfKernels returns the kernels compiled in.
func HalfKernels() []HalfKernel { return halfGenericKernels() }
