//go:build amd64 && !noasm

package asm

import "unsafe"

// QDepthwiseKernels returns the kernels compiled in, the assembly first; HostFeatures says which of them run.
func QDepthwiseKernels() []QDepthwiseKernel {
	return []QDepthwiseKernel{
		{"qdepthwise_u8s8_vnni_8x16", AVX512 | AVX512VNNI, 8, avx512},
		{"qdepthwise_u8s8_avxvnni_4x16", AVX2 | AVXVNNI, 4, avxVNNI},
		{"qdepthwise_u8s8_avx2_4x16", AVX2, 4, avx2},
		qdepthwiseGenericKernel(),
	}
}

// Run computes a strip.
func (k QDepthwiseKernel) Run(c *QConvCall) {
	if k.level == pureGo {
		qdepthwiseGeneric(c)
		return
	}
	n := len(c.Pixels)
	_, _ = c.Weights[64*len(c.Steps)-1], c.Start[15]
	_ = c.In[c.reach(n)+63]
	requant := c.Requant.args(n, 1)
	args := qconvArgs{in: &c.In[0], pixels: &c.Pixels[0], steps: &c.Steps[0], numSteps: len(c.Steps), weights: &c.Weights[0], start: &c.Start[0],
		requant: &requant}
	full := n / k.Pixels
	if full > 0 {
		k.tiles(k.Pixels, full, &args)
	}
	if done := full * k.Pixels; done < n {
		requant = requant.after(done)
		args.pixels = &c.Pixels[done]
		k.tiles(n-done, 1, &args)
	}
}

func (k QDepthwiseKernel) tiles(pixels, tiles int, args *qconvArgs) {
	switch p := (*byte)(unsafe.Pointer(args)); k.level {
	case avx2:
		qdepthwiseAVX2(pixels, tiles, p)
	case avxVNNI:
		qdepthwiseAVXVNNI(pixels, tiles, p)
	default:
		qdepthwiseVNNI(pixels, tiles, p)
	}
}
