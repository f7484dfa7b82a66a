//go:build !amd64 || noasm

package asm

// PoolKernels returns the kernels compiled in.
func PoolKernels() []PoolKernel { return poolGenericKernels() }
