//go:build amd64 && !noasm

package asm

import "unsafe"

// QDepthwiseKernels returns the kernels compiled in, the assembly first; HostFeatures says which of them run.
func QDepthwiseKernels() []QDepthwiseKernel {
	return []QDepthwiseKernel{
		{"qdepthwise_u8s8_vnni_8x16", AVX512 | AVX512VNNI, 8, true},
		qdepthwiseGenericKernel(),
	}
}

// Run computes a strip.
func (k QDepthwiseKernel) Run(c *QConvCall) {
	if !k.assembly {
		qdepthwiseGeneric(c)
		return
	}
	n := len(c.Pixels)
	_, _ = c.Weights[64*len(c.Steps)-1], c.Start[15]
	_ = c.In[c.reach(n)+63]
	requant := c.Requant.args(n, 1)
	args := qconvArgs{&c.In[0], &c.Pixels[0], &c.Steps[0], len(c.Steps), &c.Weights[0], &c.Start[0], &requant}
	full := n / k.Pixels
	if full > 0 {
		qdepthwiseVNNI(k.Pixels, full, (*byte)(unsafe.Pointer(&args)))
	}
	if done := full * k.Pixels; done < n {
		requant = requant.after(done)
		args.pixels = &c.Pixels[done]
		qdepthwiseVNNI(n-done, 1, (*byte)(unsafe.Pointer(&args)))
	}
}
