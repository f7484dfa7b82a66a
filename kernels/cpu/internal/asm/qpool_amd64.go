//go:build amd64 && !noasm

package asm

import "unsafe"

// QPoolKernels returns the kernels compiled in, the assembly first; HostFeatures says which of them run.
func QPoolKernels() []QPoolKernel {
	return []QPoolKernel{{"qpool_u8_avx512", AVX512, avx512}, {"qpool_u8_avx2", AVX2, avx2}, qpoolGenericKernel()}
}

// Average sums windows and applies the epilogue: see averageGeneric.
func (k QPoolKernel) Average(c *QConvCall) {
	if k.level == pureGo {
		averageGeneric(c)
		return
	}
	n, tile := len(c.Pixels), 8
	if k.level == avx2 {
		tile = 4
	}
	_, _ = c.In[c.reach(n)+15], c.Start[15]
	requant := c.Requant.args(n, 1)
	args := qconvArgs{in: &c.In[0], pixels: &c.Pixels[0], steps: &c.Steps[0], numSteps: len(c.Steps), start: &c.Start[0], requant: &requant}
	full := n / tile
	if full > 0 {
		k.tiles(tile, full, &args)
	}
	if done := full * tile; done < n {
		requant = requant.after(done)
		args.pixels = &c.Pixels[done]
		k.tiles(n-done, 1, &args)
	}
}

func (k QPoolKernel) tiles(pixels, tiles int, args *qconvArgs) {
	if p := (*byte)(unsafe.Pointer(args)); k.level == avx2 {
		qaverageAVX2(pixels, tiles, p)
	} else {
		qaverageAVX512(pixels, tiles, p)
	}
}

// Max takes the maximum of windows: see maxGeneric.
func (k QPoolKernel) Max(c *QConvCall) {
	if k.level == pureGo {
		maxGeneric(c)
		return
	}
	out := c.Requant.Out
	_, _ = c.In[c.reach(len(c.Pixels))+15], out[(len(c.Pixels)-1)*c.Requant.OutPixel+15]
	args := qconvArgs{in: &c.In[0], pixels: &c.Pixels[0], steps: &c.Steps[0], numSteps: len(c.Steps)}
	qmaxAVX(len(c.Pixels), (*byte)(unsafe.Pointer(&args)), &out[0], c.Requant.OutPixel)
}
