//go:build amd64 && !noasm

package asm

import (
	"sync"
	"unsafe"
)

// tileArgs is what the assembly for tile registers computes: pixels in tiles of 32, of inputs that are laid out, each of so many quads
// of four steps.
type tileArgs struct {
	in           *byte
	quads        int
	weights      *int8
	start        *int32
	requant      *requantArgs
	config, sums *byte
	pixels       int
	ahead        *int8
	aheadStep    int
}

// packArgs is what the assembly that lays out inputs reads.
type packArgs struct {
	to, in *byte
	pixels *int32
	count  int
	steps  *int32
	quads  int
}

const (
	tileLine   = 64 // bytes of a row
	tileRows   = 16 // of a register
	tilePixels = 2 * tileRows
	tileBytes  = tilePixels * tileLine // of a quad's inputs
	tileSteps  = 4                     // of a quad
	tileAhead  = 8                     // lines of what follows that a quad asks for
)

// tileRoom is the memory through which tile registers exchange data with others.
type tileRoom struct {
	config *[tileLine]byte
	sums   *[2 * tilePixels * tileLine]byte // of two blocks
	packed []byte
}

// tileRooms are those that no call is using.
var tileRooms = sync.Pool{New: func() any {
	var sums [2 * tilePixels * tileLine]byte
	lines := alignedLines(tileLine + len(sums))
	room := &tileRoom{config: (*[tileLine]byte)(lines), sums: (*[len(sums)]byte)(lines[tileLine:])}
	// Palette 1: eight registers of 16 rows of 64 bytes.
	room.config[0] = 1
	for i := range 8 {
		room.config[16+2*i], room.config[48+i] = tileLine, tileRows
	}
	return room
}}

// alignedLines returns memory that begins with a line of the caches.
func alignedLines(n int) []byte {
	b := make([]byte, n+tileLine)
	at := -int(uintptr(unsafe.Pointer(&b[0]))) & (tileLine - 1)
	return b[at:][:n:n]
}

// runTiles computes a strip by tile registers.
func (k QConvKernel) runTiles(c *QConvCall) {
	n, steps := len(c.Pixels), len(c.Steps)
	requant := c.Requant.args(n, k.Blocks)
	_, _ = c.Start[16*k.Blocks-1], c.Weights[steps*256*k.Blocks-1]
	room := tileRooms.Get().(*tileRoom)
	packed, size := c.Packed, k.PackedSize(n, steps)
	if packed == nil {
		if size > len(room.packed) {
			room.packed = alignedLines(size)
		}
		packed = room.packed
		k.Pack(packed, c)
	}
	_ = packed[size-1]
	args := tileArgs{in: &packed[0], quads: steps / tileSteps, weights: &c.Weights[0], start: &c.Start[0], requant: &requant,
		config: &room.config[0], sums: &room.sums[0], pixels: n, ahead: &c.Weights[0]}
	if len(c.Ahead) > 0 {
		lines := (n + tilePixels - 1) / tilePixels * args.quads * tileAhead
		args.ahead, args.aheadStep = &c.Ahead[0], min(tileLine, len(c.Ahead)/lines+1)
	}
	if p := (*byte)(unsafe.Pointer(&args)); k.Blocks == 2 {
		qconv32AMX(p)
	} else {
		qconv16AMX(p)
	}
	tileRooms.Put(room)
}

// PackedSize returns the bytes that Pack fills for so many pixels and steps; 0 for kernels that read inputs where they lie.
func (k QConvKernel) PackedSize(pixels, steps int) int {
	if k.level != amx {
		return 0
	}
	return (pixels + tilePixels - 1) / tilePixels * tileBytes * (steps / tileSteps)
}

// Pack lays out the inputs of a call for kernels that want them so: for every 32 pixels and quad of steps, 64 bytes of each pixel.
func (k QConvKernel) Pack(to []byte, c *QConvCall) {
	if k.level != amx {
		return
	}
	_, _ = c.In[c.reach(len(c.Pixels))+15], to[k.PackedSize(len(c.Pixels), len(c.Steps))-1]
	args := packArgs{&to[0], &c.In[0], &c.Pixels[0], len(c.Pixels), &c.Steps[0], len(c.Steps) / tileSteps}
	packTiles((*byte)(unsafe.Pointer(&args)))
}
