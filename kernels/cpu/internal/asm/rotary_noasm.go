//go:build !amd64 || noasm

package asm

// RotaryKernels returns the kernels compiled in.
func RotaryKernels() []RotaryKernel { return rotaryGenericKernels() }
