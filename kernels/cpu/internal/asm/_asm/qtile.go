package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Byte offsets of the fields of asm.qtileArgs; asm's tests compare them with the struct.
const (
	tIn, tPixels, tSteps, tQuads, tWeights, tStart, tRequant = 0, 8, 16, 24, 32, 40, 48
	tConfig, tSums, tRows, tCount, tDistance                 = 56, 64, 72, 80, 88
	tNext, tLeft, tSlot                                      = 96, 104, 112
)

// A tile register holds 16 rows of 64 bytes. Of the eight, four are sums of two times 16 pixels by two blocks of 16 channels, two
// inputs and two weights.
const (
	tileRows  = 16
	tileBytes = tileRows * lane
	tileSums  = 0 // 2*block + half
	tileIn    = 4 // and the second half of the pixels
	tileOf    = 6 // weights of either block
	ring      = 4 // places in memory for the inputs of a quad, so that none is read while it is written
)

// qtile emits the convolution of bytes by tile registers, for one block of channels and two.
func qtile(c *build.Context) {
	for _, blocks := range []int{2, 1} {
		name := fmt.Sprintf("qconv%dAMX", 16*blocks)
		function(c, name, "func(args *byte)", fmt.Sprintf("%s computes tiles of up to 32 pixels x %d output channels; see QConvCall.", name, 16*blocks))
		k := qtileKernel{c: c, blocks: blocks}
		k.emit()
	}
}

// qtileKernel emits the loop over the tiles of a strip. What instructions of tile registers address lies in registers of the first
// eight, by hand: the assembler does not know these instructions.
type qtileKernel struct {
	c      *build.Context
	blocks int

	args reg.GPVirtual
}

// Registers of the first eight: the number of pixels of a tile, weights and inputs of a quad and their distances.
var (
	tileCount    = reg.RDX
	tileWeights  = reg.RSI
	tileInputs   = reg.RDI
	tileStride   = reg.RBX // of inputs
	tileDistance = reg.RAX // of weights; of sums
)

func (k *qtileKernel) field(offset int) reg.GPVirtual { return loadField(k.c, k.args, offset) }

func (k *qtileKernel) emit() {
	c := k.c
	k.args = c.Load(c.Param("args"), c.GP64()).(reg.GPVirtual)
	k.load(tConfig, tileInputs)
	tile(c, "LDTILECFG (DI)", tilePrefix, 0x49, 0<<6|0<<3|7, nil, tileInputs)

	c.Label("tile")
	k.load(tCount, tileCount)
	k.atMost(2*tileRows, tileCount)
	for t := range 2 * k.blocks {
		tile(c, fmt.Sprintf("TILEZERO TMM%d", k.sums(t%2, t/2)), tileF2, 0x49, 3<<6|uint8(k.sums(t%2, t/2))<<3, nil)
	}
	k.reduce()
	k.epilogue()
	c.ADDQ(operand.U32(4*2*tileRows), k.memory(tPixels))
	c.SUBQ(operand.Imm(2*tileRows), k.memory(tCount))
	c.JG(operand.LabelRef("tile"))
	tile(c, "TILERELEASE", tilePrefix, 0x49, 3<<6, nil)
	c.VZEROUPPER()
	c.RET()
}

// load loads a field of the arguments into a register that was chosen by hand.
func (k *qtileKernel) load(offset int, to reg.Register) {
	k.c.MOVQ(k.memory(offset), to)
}

// memory is a field of the arguments in its place.
func (k *qtileKernel) memory(offset int) operand.Mem { return operand.Mem{Base: k.args, Disp: offset} }

// atMost limits a register.
func (k *qtileKernel) atMost(n int, r reg.Register) {
	most := k.c.GP64()
	k.c.MOVQ(operand.U32(uint32(n)), most)
	k.c.CMPQ(r, most)
	k.c.CMOVQGT(most, r)
}

// sums is the register of the sums of a half of the pixels and a block.
func (k *qtileKernel) sums(half, block int) int { return tileSums + 2*block + half }

// reduce adds up the quads: of full tiles whose pixels lie at equal distances as they lie, of others by way of the ring.
func (k *qtileKernel) reduce() {
	c := k.c
	k.load(tWeights, tileWeights)
	k.copyField(tQuads, tLeft)
	k.load(tDistance, tileStride)
	c.CMPQ(tileCount, operand.Imm(2*tileRows))
	c.JNE(operand.LabelRef("gathered"))
	c.TESTQ(tileStride, tileStride)
	c.JEQ(operand.LabelRef("gathered"))
	k.even()
	c.JMP(operand.LabelRef("sums"))
	c.Label("gathered")
	k.gathered()
	c.Label("sums")
}

// copyField copies a field of the arguments to another.
func (k *qtileKernel) copyField(from, to int) { k.c.MOVQ(k.field(from), k.memory(to)) }

// even reads the inputs of a quad where they lie.
func (k *qtileKernel) even() {
	c := k.c
	left, first, half := k.field(tLeft), c.GP64(), c.GP64()
	c.MOVLQSX(operand.Mem{Base: k.field(tPixels)}, tileInputs)
	c.ADDQ(k.memory(tIn), tileInputs)
	c.MOVLQSX(operand.Mem{Base: k.field(tSteps)}, first)
	c.ADDQ(first, tileInputs)
	c.MOVQ(tileStride, half)
	c.SHLQ(operand.Imm(4), half)
	c.MOVQ(operand.U32(uint32(lane*k.blocks)), tileDistance)
	c.Label("even")
	k.weights()
	k.inputs(0, 0)
	k.multiply(0)
	c.ADDQ(half, tileInputs)
	k.inputs(1, 0)
	c.SUBQ(half, tileInputs)
	k.multiply(1)
	c.ADDQ(operand.Imm(lane), tileInputs)
	k.nextWeights()
	c.SUBQ(operand.Imm(1), left)
	c.JNE(operand.LabelRef("even"))
}

// gathered copies the inputs of each quad side by side while the one before is multiplied.
func (k *qtileKernel) gathered() {
	c := k.c
	k.copyField(tSteps, tNext)
	c.MOVQ(operand.U32(0), k.memory(tSlot))
	k.gather("first")
	c.Label("quad")
	slot := k.field(tSlot)
	k.load(tRows, tileInputs)
	c.ADDQ(slot, tileInputs)
	c.ADDQ(operand.U32(2*tileBytes), slot)
	c.ANDQ(operand.U32(ring*2*tileBytes-1), slot)
	c.MOVQ(slot, k.memory(tSlot))
	c.CMPQ(k.memory(tLeft), operand.Imm(1))
	c.JEQ(operand.LabelRef("last"))
	k.gather("next")
	c.Label("last")
	c.MOVQ(operand.U32(lane), tileStride)
	c.MOVQ(operand.U32(uint32(lane*k.blocks)), tileDistance)
	k.weights()
	k.inputs(0, 0)
	k.multiply(0)
	c.CMPQ(tileCount, operand.Imm(tileRows))
	c.JLE(operand.LabelRef("half"))
	k.inputs(1, tileBytes)
	k.multiply(1)
	c.Label("half")
	k.nextWeights()
	c.SUBQ(operand.Imm(1), k.memory(tLeft))
	c.JNE(operand.LabelRef("quad"))
}

// gather copies four steps of each pixel to the place in the ring, a row of a tile each, and goes on to the next steps.
func (k *qtileKernel) gather(name string) {
	c := k.c
	var at [4]reg.GPVirtual
	in, steps := k.field(tIn), k.field(tNext)
	for i := range at {
		at[i] = c.GP64().(reg.GPVirtual)
		c.MOVLQSX(operand.Mem{Base: steps, Disp: 4 * i}, at[i])
		c.ADDQ(in, at[i])
	}
	c.ADDQ(operand.Imm(16), k.memory(tNext))
	to, pixel, n, p := k.field(tRows), c.GP64(), c.GP64(), k.field(tPixels)
	c.ADDQ(k.memory(tSlot), to)
	c.MOVQ(tileCount, n)
	c.Label(name)
	c.MOVLQSX(operand.Mem{Base: p}, pixel)
	row := zmm[0]
	c.VMOVDQU(operand.Mem{Base: at[0], Index: pixel, Scale: 1}, row.AsX())
	for i := 1; i < len(at); i++ {
		c.VINSERTI32X4(operand.Imm(uint64(i)), operand.Mem{Base: at[i], Index: pixel, Scale: 1}, row, row)
	}
	c.VMOVDQA32(row, operand.Mem{Base: to})
	c.ADDQ(operand.Imm(4), p)
	c.ADDQ(operand.Imm(lane), to)
	c.SUBQ(operand.Imm(1), n)
	c.JNE(operand.LabelRef(name))
}

// weights loads those of a quad.
func (k *qtileKernel) weights() {
	for b := range k.blocks {
		k.tileAt("TILELOADD", tileF2, tileOf+b, tileWeights, tileDistance, b*lane)
	}
}

// nextWeights goes on to the next quad.
func (k *qtileKernel) nextWeights() {
	k.c.ADDQ(operand.U32(uint32(k.blocks*tileBytes)), tileWeights)
}

// inputs loads those of a half of the pixels.
func (k *qtileKernel) inputs(half, disp int) {
	k.tileAt("TILELOADD", tileF2, tileIn+half, tileInputs, tileStride, disp)
}

// multiply adds a quad of a half of the pixels to its sums: unsigned inputs by signed weights.
func (k *qtileKernel) multiply(half int) {
	for b := range k.blocks {
		acc, in, of := k.sums(half, b), tileIn+half, tileOf+b
		tile(k.c, fmt.Sprintf("TDPBUSD TMM%d, TMM%d, TMM%d", of, in, acc), tile66&^(0xf<<3)|(^uint8(of)&0xf)<<3, 0x5e, 3<<6|uint8(acc)<<3|uint8(in), nil)
	}
}

// epilogue stores the sums pixel by pixel and turns them into what the layer returns.
func (k *qtileKernel) epilogue() {
	c := k.c
	k.load(tSums, tileInputs)
	c.MOVQ(operand.U32(uint32(lane*k.blocks)), tileDistance)
	for half := range 2 {
		for b := range k.blocks {
			k.tileAt("TILESTORED", tileF3, k.sums(half, b), tileInputs, tileDistance, half*tileRows*lane*k.blocks+b*lane)
		}
	}
	from, start, requant := k.field(tSums), k.field(tStart), k.field(tRequant)
	out, res := loadField(c, requant, rOut), loadField(c, requant, rRes)
	begin := zmm[30 : 30+k.blocks]
	for _, pixels := range []int{8, 1} {
		label := func(s string) string { return fmt.Sprintf("e%d%s", pixels, s) }
		c.Label(label("pixels"))
		c.CMPQ(tileCount, operand.Imm(uint64(pixels)))
		c.JLT(operand.LabelRef(label("rest")))
		for b := range begin {
			c.VMOVDQU32(operand.Mem{Base: start, Disp: b * lane}, begin[b])
		}
		e := requantTile{c: c, isa: avx512, args: requant, out: out, res: res, label: label, spare: zmm[16:30]}
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
