//go:build !amd64 || noasm

package asm

// AttendKernels returns the kernels compiled in.
func AttendKernels() []AttendKernel { return attendGenericKernels() }
