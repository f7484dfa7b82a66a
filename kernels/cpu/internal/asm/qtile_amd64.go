//go:build amd64 && !noasm

package asm

import (
	"sync"
	"unsafe"
)

// qtileArgs is QConvCall as the assembly for tile registers reads it; the offsets are known to the generator. The last fields are
// the assembly's own.
type qtileArgs struct {
	in            *byte
	pixels, steps *int32
	quads         int // of steps
	weights       *int8
	start         *int32
	requant       *requantArgs
	config        *byte
	sums, rows    *byte
	count         int
	distance      int
	next          *int32
	left, slot    int
}

// tileRoom is the memory through which tile registers exchange data with others: lines of 64 bytes.
type tileRoom struct {
	config [tileLine]byte
	sums   [2 * tileLines * 2 * tileLine]byte        // of 32 pixels and two blocks
	rows   [tileRing * 2 * tileLines * tileLine]byte // inputs of some quads of 32 pixels
}

const (
	tileLine  = 64
	tileLines = 16
	tileRing  = 4
)

// tileRooms are those that no call is using.
var tileRooms = sync.Pool{New: func() any {
	const size = int(unsafe.Sizeof(tileRoom{}))
	memory := make([]byte, size+tileLine)
	at := -int(uintptr(unsafe.Pointer(&memory[0]))) & (tileLine - 1)
	room := (*tileRoom)(unsafe.Pointer(&memory[at]))
	// Palette 1: eight registers of 16 rows of 64 bytes.
	room.config[0] = 1
	for i := range 8 {
		room.config[16+2*i], room.config[48+i] = tileLine, tileLines
	}
	return room
}}

// runTiles computes a strip by tile registers.
func (k QConvKernel) runTiles(c *QConvCall) {
	n := len(c.Pixels)
	_ = c.In[c.reach(n)+15]
	requant := c.Requant.args(n, k.Blocks)
	_, _ = c.Start[16*k.Blocks-1], c.Weights[len(c.Steps)*256*k.Blocks-1]
	room := tileRooms.Get().(*tileRoom)
	args := qtileArgs{in: &c.In[0], pixels: &c.Pixels[0], steps: &c.Steps[0], quads: len(c.Steps) / 4, weights: &c.Weights[0], start: &c.Start[0], requant: &requant,
		config: &room.config[0], sums: &room.sums[0], rows: &room.rows[0], count: n, distance: c.Distance}
	if p := (*byte)(unsafe.Pointer(&args)); k.Blocks == 2 {
		qconv32AMX(p)
	} else {
		qconv16AMX(p)
	}
	tileRooms.Put(room)
}
