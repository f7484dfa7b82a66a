//go:build !amd64 || noasm

package asm

// WeightsKernels returns the kernels compiled in.
func WeightsKernels() []WeightsKernel { return weightsGenericKernels() }
