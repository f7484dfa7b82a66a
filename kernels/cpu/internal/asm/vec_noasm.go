//go:build !amd64 || noasm

package asm

// VecKernels returns the kernels compiled in.
func VecKernels() []VecKernel { return []VecKernel{vecKernelGeneric()} }
