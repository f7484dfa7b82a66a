package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Byte offsets of the fields of asm.tileArgs and asm.packArgs; asm's tests compare them with the structs.
const (
	tIn, tQuads, tWeights, tStart, tRequant     = 0, 8, 16, 24, 32
	tConfig, tSums, tPixels, tAhead, tAheadStep = 40, 48, 56, 64, 72
	tStreamed                                   = 80

	pTo, pIn, pPixels, pCount, pSteps, pQuads = 0, 8, 16, 24, 32, 40
)

// A tile register holds 16 rows of 64 bytes. Of the eight, four are sums of two times 16 pixels by two blocks of 16 channels, two
// inputs and two weights.
const (
	tileRows  = 16
	tileBytes = tileRows * lane
	tileSums  = 0 // 2*block + half
	tileIn    = 4 // and the second half of the pixels
	tileOf    = 6 // weights of either block

	tileRegisters = 8
	tileAhead     = 8 // lines of what follows that a quad asks for
)

// qtile emits the convolution of bytes by tile registers, for one block of channels and two, and what lays inputs out for it.
func qtile(c *build.Context) {
	math := activations(c, "qtile")
	for _, blocks := range []int{2, 1} {
		name := fmt.Sprintf("qconv%dAMX", 16*blocks)
		function(c, name, "func(args *byte)", fmt.Sprintf("%s computes tiles of up to 32 pixels x %d output channels; see QConvCall.", name, 16*blocks))
		k := qtileKernel{c: c, blocks: blocks, math: &math}
		k.emit()
	}
	qtilePack(c)
}

// qtilePack emits the function that lays out inputs as tiles: of 32 pixels each, for every quad of steps in turn, the 64 bytes of
// each pixel.
func qtilePack(c *build.Context) {
	function(c, "packTiles", "func(args *byte)", "packTiles lays out inputs for tile registers; see QConvKernel.Pack.")
	args := c.Load(c.Param("args"), c.GP64()).(reg.GPVirtual)
	field := func(offset int) reg.GPVirtual { return loadField(c, args, offset) }
	to, tile := field(pTo), c.GP64().(reg.GPVirtual)
	c.Label("tile")
	c.MOVQ(operand.U32(2*tileRows), tile)
	c.CMPQ(tile, operand.Mem{Base: args, Disp: pCount})
	c.CMOVQGT(operand.Mem{Base: args, Disp: pCount}, tile)
	step, quads := field(pSteps), field(pQuads)
	c.Label("quad")
	var at [4]reg.GPVirtual
	for i := range at {
		at[i] = c.GP64().(reg.GPVirtual)
		c.MOVLQSX(operand.Mem{Base: step, Disp: 4 * i}, at[i])
		c.ADDQ(operand.Mem{Base: args, Disp: pIn}, at[i])
	}
	pixels, n, row := field(pPixels), c.GP64().(reg.GPVirtual), c.GP64().(reg.GPVirtual)
	c.MOVQ(tile, n)
	c.MOVQ(to, row)
	c.Label("pixel")
	pixel, v := c.GP64(), c.ZMM()
	c.MOVLQSX(operand.Mem{Base: pixels}, pixel)
	c.VMOVDQU(operand.Mem{Base: at[0], Index: pixel, Scale: 1}, v.AsX())
	for i := 1; i < len(at); i++ {
		c.VINSERTI32X4(operand.Imm(uint64(i)), operand.Mem{Base: at[i], Index: pixel, Scale: 1}, v, v)
	}
	c.VMOVDQU32(v, operand.Mem{Base: row})
	c.ADDQ(operand.Imm(4), pixels)
	c.ADDQ(operand.Imm(lane), row)
	c.SUBQ(operand.Imm(1), n)
	c.JNE(operand.LabelRef("pixel"))
	c.ADDQ(operand.Imm(16), step)
	c.ADDQ(operand.U32(2*tileBytes), to)
	c.SUBQ(operand.Imm(1), quads)
	c.JNE(operand.LabelRef("quad"))
	c.ADDQ(operand.U32(4*2*tileRows), operand.Mem{Base: args, Disp: pPixels})
	c.SUBQ(operand.Imm(2*tileRows), operand.Mem{Base: args, Disp: pCount})
	c.JG(operand.LabelRef("tile"))
	c.VZEROUPPER()
	c.RET()
}

// qtileKernel emits the loop over the tiles of a strip. What instructions of tile registers address lies in registers of the first
// eight, by hand: the assembler does not know these instructions.
type qtileKernel struct {
	c      *build.Context
	blocks int
	math   *vector

	args reg.GPVirtual
}

// Registers of the first eight: the number of pixels of a tile, weights and inputs of a quad, and how far apart the rows of inputs,
// and of weights or sums, are. Inputs lie one quad behind the other, and one tile behind the other.
var (
	tileCount    = reg.RDX
	tileWeights  = reg.RSI
	tileInputs   = reg.RDI
	tileDistance = reg.RBX
	tileWidth    = reg.RAX
)

func (k *qtileKernel) field(offset int) reg.GPVirtual { return loadField(k.c, k.args, offset) }

// memory is a field of the arguments in its place.
func (k *qtileKernel) memory(offset int) operand.Mem { return operand.Mem{Base: k.args, Disp: offset} }

// load loads a field of the arguments into a register that was chosen by hand.
func (k *qtileKernel) load(offset int, to reg.Register) { k.c.MOVQ(k.memory(offset), to) }

func (k *qtileKernel) emit() {
	c := k.c
	k.args = c.Load(c.Param("args"), c.GP64()).(reg.GPVirtual)
	k.load(tConfig, tileInputs)
	tile(c, "LDTILECFG (DI)", tilePrefix, 0x49, 7, nil, tileInputs)
	c.MOVQ(operand.U32(lane), tileDistance)
	c.MOVQ(operand.U32(uint32(lane*k.blocks)), tileWidth)

	c.Label("tile")
	for t := range 2 * k.blocks {
		tileZero(c, k.sums(t%2, t/2))
	}
	k.reduce()
	k.epilogue()
	c.SUBQ(operand.Imm(2*tileRows), k.memory(tPixels))
	c.JG(operand.LabelRef("tile"))
	tileRelease(c)
	c.VZEROUPPER()
	c.RET()
}

// sums is the register of the sums of a half of the pixels and a block.
func (k *qtileKernel) sums(half, block int) int { return tileSums + 2*block + half }

// reduce adds up the quads. A second half without pixels is left out.
func (k *qtileKernel) reduce() {
	c := k.c
	left, ahead := k.field(tQuads), k.field(tAhead)
	k.load(tWeights, tileWeights)
	k.load(tIn, tileInputs)
	c.CMPQ(k.memory(tPixels), operand.Imm(tileRows))
	c.JLE(operand.LabelRef("one"))
	c.CMPQ(k.memory(tStreamed), operand.Imm(0))
	c.JNE(operand.LabelRef("streamed"))
	k.quads("two", 2, false, left, ahead)
	k.quads("streamed", 2, true, left, ahead)
	k.quads("one", 1, false, left, ahead)
	c.Label("sums")
	c.MOVQ(ahead, k.memory(tAhead))
	c.MOVQ(tileInputs, k.memory(tIn))
}

// quads emits the loop over quads of one half of the pixels, or of both.
func (k *qtileKernel) quads(label string, halves int, streamed bool, left, ahead reg.GPVirtual) {
	c := k.c
	c.Label(label)
	k.weights()
	for half := range halves {
		k.inputs(half, streamed)
		k.multiply(half)
	}
	k.next(ahead)
	c.SUBQ(operand.Imm(1), left)
	c.JNE(operand.LabelRef(label))
	c.JMP(operand.LabelRef("sums"))
}

// weights loads those of a quad.
func (k *qtileKernel) weights() {
	for b := range k.blocks {
		k.tileAt("TILELOADD", tileF2, tileOf+b, tileWeights, tileWidth, b*lane)
	}
}

// inputs loads those of a half of the pixels. What is streamed leaves the L1 cache to the weights, which the next tile reads again.
func (k *qtileKernel) inputs(half int, streamed bool) {
	name, prefix := "TILELOADD", uint8(tileF2)
	if streamed {
		name, prefix = "TILELOADDT1", tile66
	}
	k.tileAt(name, prefix, tileIn+half, tileInputs, tileDistance, half*tileBytes)
}

// next goes on to the next quad, and asks for the weights of the one behind that and for some of what follows.
func (k *qtileKernel) next(ahead reg.GPVirtual) {
	for range tileAhead {
		k.c.PREFETCHT1(operand.Mem{Base: ahead})
		k.c.ADDQ(k.memory(tAheadStep), ahead)
	}
	for i := range tileRows * k.blocks {
		k.c.PREFETCHT0(operand.Mem{Base: tileWeights, Disp: 2*k.blocks*tileBytes + i*lane})
	}
	k.c.ADDQ(operand.U32(2*tileBytes), tileInputs)
	k.c.ADDQ(operand.U32(uint32(k.blocks*tileBytes)), tileWeights)
}

// multiply adds a quad of a half of the pixels to its sums: unsigned inputs by signed weights.
func (k *qtileKernel) multiply(half int) {
	for b := range k.blocks {
		tileMultiply(k.c, k.sums(half, b), tileIn+half, tileOf+b)
	}
}

// epilogue stores the sums pixel by pixel and turns them into what the layer returns.
func (k *qtileKernel) epilogue() {
	c := k.c
	k.load(tSums, tileInputs)
	for half := range 2 {
		for b := range k.blocks {
			k.tileAt("TILESTORED", tileF3, k.sums(half, b), tileInputs, tileWidth, half*tileRows*lane*k.blocks+b*lane)
		}
	}
	from, start, requant := k.field(tSums), k.field(tStart), k.field(tRequant)
	out, res := loadField(c, requant, rOut), loadField(c, requant, rRes)
	begin := zmm[30 : 30+k.blocks]
	k.load(tPixels, tileCount)
	most := c.GP64()
	c.MOVQ(operand.U32(2*tileRows), most)
	c.CMPQ(tileCount, most)
	c.CMOVQGT(most, tileCount)
	for _, pixels := range []int{8, 1} {
		label := func(s string) string { return fmt.Sprintf("e%d%s", pixels, s) }
		c.Label(label("pixels"))
		c.CMPQ(tileCount, operand.Imm(uint64(pixels)))
		c.JLT(operand.LabelRef(label("rest")))
		for b := range begin {
			c.VMOVDQU32(operand.Mem{Base: start, Disp: b * lane}, begin[b])
		}
		e := requantTile{c: c, isa: avx512, args: requant, out: out, res: res, label: label, spare: zmm[16:30], math: k.math, rows: true}
		for p := range pixels {
			e.acc = append(e.acc, zmm[p*k.blocks:][:k.blocks])
			for b, acc := range e.acc[p] {
				c.VPADDD(operand.Mem{Base: from, Disp: (p*k.blocks + b) * lane}, begin[b], acc)
			}
		}
		e.emit()
		c.ADDQ(operand.U32(uint32(pixels*k.blocks*lane)), from)
		c.SUBQ(operand.Imm(uint64(pixels)), tileCount)
		c.JMP(operand.LabelRef(label("pixels")))
		c.Label(label("rest"))
	}
	c.MOVQ(out, operand.Mem{Base: requant, Disp: rOut})
	c.MOVQ(res, operand.Mem{Base: requant, Disp: rRes})
}

// tileAt emits a load or store of a tile register whose rows are so far apart.
func (k *qtileKernel) tileAt(name string, prefix uint8, register int, base, distance reg.GPPhysical, disp int) {
	sib := uint8(distance.PhysicalIndex())<<3 | uint8(base.PhysicalIndex())
	text := fmt.Sprintf("%s TMM%d, %d(%s)(%s*1)", name, register, disp, base.Asm(), distance.Asm())
	tile(k.c, text, prefix, 0x4b, 2<<6|uint8(register)<<3|4, []uint8{sib, uint8(disp), uint8(disp >> 8), uint8(disp >> 16), uint8(disp >> 24)}, base, distance)
}

// The third byte of a VEX prefix of 128 bits without a third operand, by the prefix that it stands for.
const (
	tilePrefix = 0x78
	tile66     = 0x79
	tileF3     = 0x7a
	tileF2     = 0x7b
)

// tileZero clears a tile register.
func tileZero(c *build.Context, register int) {
	tile(c, fmt.Sprintf("TILEZERO TMM%d", register), tileF2, 0x49, 3<<6|uint8(register)<<3, nil)
}

// tileMultiply adds the products of unsigned bytes by signed ones to sums, all in tile registers.
func tileMultiply(c *build.Context, acc, unsigned, signed int) {
	third := tile66&^(0xf<<3) | (^uint8(signed)&0xf)<<3
	tile(c, fmt.Sprintf("TDPBUSD TMM%d, TMM%d, TMM%d", signed, unsigned, acc), third, 0x5e, 3<<6|uint8(acc)<<3|uint8(unsigned), nil)
}

// tileRelease gives the tile registers back, so that they need not be saved.
func tileRelease(c *build.Context) { tile(c, "TILERELEASE", tilePrefix, 0x49, 3<<6, nil) }

// tile emits an instruction on tile registers, of opcode map 0F38, byte by byte: the assembler does not know them. It reads the
// given general registers, which are of the first eight.
func tile(c *build.Context, text string, prefix, opcode, operands uint8, address []uint8, reads ...reg.GPPhysical) {
	const vex, map0F38 = 0xc4, 0xe2
	c.Comment(text)
	code := append([]uint8{vex, map0F38, prefix, opcode, operands}, address...)
	for i, b := range code {
		in := &ir.Instruction{Opcode: "BYTE", Operands: []operand.Op{operand.U8(b)}}
		if i == 0 {
			in.ISA = []string{"AMX"}
			for _, r := range reads {
				in.Inputs = append(in.Inputs, r)
			}
		}
		c.Instruction(in)
	}
}
