//go:build !amd64 || noasm

package asm

// QDepthwiseKernels returns the kernels compiled in.
func QDepthwiseKernels() []QDepthwiseKernel { return []QDepthwiseKernel{qdepthwiseGenericKernel()} }

// Run computes a strip.
func (k QDepthwiseKernel) Run(c *QConvCall) { qdepthwiseGeneric(c) }
