//go:build amd64 && !noasm

package asm

import "unsafe"

// QPoolKernels returns the kernels compiled in, the assembly first; HostFeatures says which of them run.
func QPoolKernels() []QPoolKernel {
	return []QPoolKernel{{"qpool_u8_avx512", AVX512, true}, qpoolGenericKernel()}
}

// Average sums windows and applies the epilogue: see averageGeneric.
func (k QPoolKernel) Average(c *QConvCall) {
	if !k.assembly {
		averageGeneric(c)
		return
	}
	const tile = 8
	n := len(c.Pixels)
	_, _ = c.In[c.reach(n)+15], c.Start[15]
	requant := c.Requant.args(n, 1)
	args := qconvArgs{in: &c.In[0], pixels: &c.Pixels[0], steps: &c.Steps[0], numSteps: len(c.Steps), start: &c.Start[0], requant: &requant}
	full := n / tile
	if full > 0 {
		qaverageAVX512(tile, full, (*byte)(unsafe.Pointer(&args)))
	}
	if done := full * tile; done < n {
		requant = requant.after(done)
		args.pixels = &c.Pixels[done]
		qaverageAVX512(n-done, 1, (*byte)(unsafe.Pointer(&args)))
	}
}

// Max takes the maximum of windows: see maxGeneric.
func (k QPoolKernel) Max(c *QConvCall) {
	if !k.assembly {
		maxGeneric(c)
		return
	}
	out := c.Requant.Out
	_, _ = c.In[c.reach(len(c.Pixels))+15], out[(len(c.Pixels)-1)*c.Requant.OutPixel+15]
	args := qconvArgs{in: &c.In[0], pixels: &c.Pixels[0], steps: &c.Steps[0], numSteps: len(c.Steps)}
	qmaxAVX512(len(c.Pixels), (*byte)(unsafe.Pointer(&args)), &out[0], c.Requant.OutPixel)
}
