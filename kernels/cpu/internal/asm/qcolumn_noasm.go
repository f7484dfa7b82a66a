//go:build !amd64 || noasm

package asm

// QColumnKernels returns the kernels compiled in.
func QColumnKernels() []QColumnKernel { return qcolumnGenericKernels() }

// Run computes a band.
func (k QColumnKernel) Run(c *QColumnCall) { k.generic(c) }
