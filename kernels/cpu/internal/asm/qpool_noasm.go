//go:build !amd64 || noasm

package asm

// QPoolKernels returns the kernels compiled in.
func QPoolKernels() []QPoolKernel { return []QPoolKernel{qpoolGenericKernel()} }

// Average sums windows and applies the epilogue: see averageGeneric.
func (k QPoolKernel) Average(c *QConvCall) { averageGeneric(c) }

// Max takes the maximum of windows: see maxGeneric.
func (k QPoolKernel) Max(c *QConvCall) { maxGeneric(c) }
