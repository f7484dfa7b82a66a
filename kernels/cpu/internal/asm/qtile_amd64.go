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
	streamed     int // not 0: inputs leave the L1 cache to the weights
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

// runTiles computes a strip by tile registers, of inputs that are laid out.
func (k QConvKernel) runTiles(c *QConvCall) {
	n, steps := len(c.Pixels), len(c.Steps)
	requant := c.Requant.args(n, k.Blocks)
	room := tileRooms.Get().(*tileRoom)
	args := tileArgs{in: &c.Packed[0], quads: steps / tileSteps, weights: &c.Weights[0], start: &c.Start[0], requant: &requant,
		config: &room.config[0], sums: &room.sums[0], pixels: n, ahead: &c.Weights[0]}
	if len(c.Ahead) > 0 {
		lines := (n + tilePixels - 1) / tilePixels * args.quads * tileAhead
		args.ahead, args.aheadStep = &c.Ahead[0], min(tileLine, len(c.Ahead)/lines+1)
	}
	if c.Streamed {
		args.streamed = 1
	}
	if p := (*byte)(unsafe.Pointer(&args)); k.Blocks == 2 {
		qconv32AMX(p)
	} else {
		qconv16AMX(p)
	}
	tileRooms.Put(room)
}
