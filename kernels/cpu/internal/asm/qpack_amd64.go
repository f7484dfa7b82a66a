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
	quads  int // of steps
}

// PackedSize returns the bytes that Pack fills for so many pixels and steps; 0 for kernels that read inputs where they lie.
func (k QConvKernel) PackedSize(pixels, steps int) int {
	if k.packs == inPlace {
		return 0
	}
	return (pixels + tilePixels - 1) / tilePixels * tileBytes * (steps / tileSteps)
}

// Pack lays out the inputs of a call for kernels that want them so: for every 32 pixels and quad of steps, 64 bytes of each pixel.
func (k QConvKernel) Pack(to []byte, c *QConvCall) {
	if k.packs == inPlace {
		return
	}
	_, _ = c.In[c.reach(len(c.Pixels))+15], to[k.PackedSize(len(c.Pixels), len(c.Steps))-1]
	args := packArgs{&to[0], &c.In[0], &c.Pixels[0], len(c.Pixels), &c.Steps[0], len(c.Steps) / tileSteps}
	packTiles((*byte)(unsafe.Pointer(&args)))
}

// packRooms are what inputs are laid out in by calls that come without.
var packRooms = sync.Pool{New: func() any { return new([]byte) }}

// runPacked computes a strip of inputs that are laid out.
func (k QConvKernel) runPacked(c *QConvCall) {
	n, steps := len(c.Pixels), len(c.Steps)
	_, _, _ = c.Packed[k.PackedSize(n, steps)-1], c.Start[16*k.Blocks-1], c.Weights[steps*256*k.Blocks-1]
	k.runTiles(c)
}

// alignedLines returns memory that begins with a line of the caches.
func alignedLines(n int) []byte {
	b := make([]byte, n+tileLine)
	at := -int(uintptr(unsafe.Pointer(&b[0]))) & (tileLine - 1)
	return b[at:][:n:n]
}
