//go:build amd64 && !noasm

package asm

import (
	"sync"
	"unsafe"
)

// packArgs is what the assembly that lays out inputs reads.
type packArgs struct {
	to, in *byte
	pixels *int32
	count  int
	steps  *int32
	quads  int // of four steps in tiles, else steps
}

// wideBytes is what the 16 bytes of a step take in 16 bits each.
const wideBytes = 32

// PackedSize returns the bytes that Pack fills for so many pixels and steps; 0 for kernels that read inputs where they lie.
func (k QConvKernel) PackedSize(pixels, steps int) int {
	switch k.packs {
	case tiled:
		return (pixels + tilePixels - 1) / tilePixels * tileBytes * (steps / tileSteps)
	case widened:
		return pixels * steps * wideBytes
	}
	return 0
}

// Pack lays out the inputs of a call for kernels that want them so. Tiles have, for every 32 pixels and quad of steps, 64 bytes of
// each pixel; others have, for every pixel and step, 16 bits of its 8 bytes at even places and then of those at odd ones.
func (k QConvKernel) Pack(to []byte, c *QConvCall) {
	if k.packs == inPlace {
		return
	}
	_, _ = c.In[c.reach(len(c.Pixels))+15], to[k.PackedSize(len(c.Pixels), len(c.Steps))-1]
	args := packArgs{&to[0], &c.In[0], &c.Pixels[0], len(c.Pixels), &c.Steps[0], len(c.Steps)}
	if k.packs == widened {
		widenBytesAVX2((*byte)(unsafe.Pointer(&args)))
		return
	}
	args.quads /= tileSteps
	packTiles((*byte)(unsafe.Pointer(&args)))
}

// packRooms are what inputs are laid out in by calls that come without.
var packRooms = sync.Pool{New: func() any { return new([]byte) }}

// runPacked computes a strip of inputs that are laid out.
func (k QConvKernel) runPacked(c *QConvCall) {
	n, steps := len(c.Pixels), len(c.Steps)
	_, _, _ = c.Packed[k.PackedSize(n, steps)-1], c.Start[16*k.Blocks-1], c.Weights[steps*256*k.Blocks-1]
	if k.packs == tiled {
		k.runTiles(c)
		return
	}
	requant := c.Requant.args(n, k.Blocks)
	args := qconvArgs{in: &c.Packed[0], numSteps: steps, weights: &c.Weights[0], start: &c.Start[0], requant: &requant}
	p, full := evenly(n, k.Pixels)
	qconv16WideAVX2(p, full, (*byte)(unsafe.Pointer(&args)))
	if done := full * p; done < n {
		requant = requant.after(done)
		args.in = &c.Packed[k.PackedSize(done, steps)]
		qconv16WideAVX2(n-done, 1, (*byte)(unsafe.Pointer(&args)))
	}
}

// alignedLines returns memory that begins with a line of the caches.
func alignedLines(n int) []byte {
	b := make([]byte, n+tileLine)
	at := -int(uintptr(unsafe.Pointer(&b[0]))) & (tileLine - 1)
	return b[at:][:n:n]
}
