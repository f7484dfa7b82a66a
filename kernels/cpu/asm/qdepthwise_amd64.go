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
	_ = c.Weights[64*len(c.Steps)-1]
	w := windowRun{call: c, weights: &c.Weights[0]}
	w.init()
	for w.next(k.Pixels) {
		qdepthwiseVNNI(w.pixels, w.tiles, (*byte)(unsafe.Pointer(&w.args)))
	}
}

// windowRun splits a strip of one channel block into runs of equal tiles.
type windowRun struct {
	call          *QConvCall
	weights       *int8
	args          qconvArgs
	requant       requantArgs
	pixels, tiles int
	done          int
}

// init translates the call. The arguments point into w, which must not move.
func (w *windowRun) init() {
	c := w.call
	_ = c.Start[15]
	w.requant = c.Requant.args(len(c.Pixels), 1)
	w.args = qconvArgs{&c.In[0], &c.Pixels[0], &c.Steps[0], len(c.Steps), w.weights, &c.Start[0], &w.requant}
}

// next moves to the next run: whole tiles first, then what is left. It reports whether there is one.
func (w *windowRun) next(most int) bool {
	n := w.pixels * w.tiles
	w.done += n
	left := len(w.call.Pixels) - w.done
	if left == 0 {
		return false
	}
	if n > 0 {
		w.requant.advance(n)
		w.args.pixels = &w.call.Pixels[w.done]
	}
	w.pixels, w.tiles = most, left/most
	if w.tiles == 0 {
		w.pixels, w.tiles = left, 1
	}
	return true
}
