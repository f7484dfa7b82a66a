//go:build !amd64 || noasm

package asm

// LayoutKernels returns the kernels compiled in.
func LayoutKernels() []LayoutKernel { return layoutGenericKernels() }
