//go:build !amd64 || noasm

package asm

// DepthwiseKernels returns the kernels compiled in.
func DepthwiseKernels() []DepthwiseKernel { return depthwiseGenericKernels() }
