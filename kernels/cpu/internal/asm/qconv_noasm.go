//go:build !amd64 || noasm

package asm

// QConvKernels returns the kernels compiled in.
func QConvKernels() []QConvKernel { return qconvGenericKernels() }

// Run computes a strip.
func (k QConvKernel) Run(c *QConvCall) { qconvGeneric(c, k.Blocks) }
