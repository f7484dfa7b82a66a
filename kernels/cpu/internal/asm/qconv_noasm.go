//go:build !amd64 || noasm

package asm

// QConvKernels returns the kernels compiled in.
func QConvKernels() []QConvKernel { return qconvGenericKernels() }

// Run computes a strip.
func (k QConvKernel) Run(c *QConvCall) { qconvGeneric(c, k.Blocks) }

// PackedSize returns 0: plain Go reads inputs where they lie.
func (k QConvKernel) PackedSize(_, _ int) int { return 0 }

// Pack does nothing.
func (k QConvKernel) Pack(_ []byte, _ *QConvCall) {}
