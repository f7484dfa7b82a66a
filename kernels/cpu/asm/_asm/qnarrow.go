package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A dot is how registers of 32 bytes multiply unsigned by signed bytes and add groups of four products to int32: by
// VPDPBUSD in VEX encoding, or exactly as that does by what every processor with AVX2 has. The bytes at even and at odd
// places, widened to 16 bits, are multiplied and added in pairs by VPMADDWD; VPMADDUBSW would need half of that, and
// saturate.
type dot struct {
	c    *build.Context
	vnni bool
	low  operand.Mem // 0x00ff in each 16 bits
}

// dots are the two ways, by the end of function names, with the registers of a vector of 16 weights.
func dots(c *build.Context, family string) []struct {
	dot
	name    string
	weights int
} {
	low := dwords(c, family+"Low", func(int) uint32 { return 0x00ff00ff })
	return []struct {
		dot
		name    string
		weights int
	}{{dot{c, true, low}, "AVXVNNI", 2}, {dot{c, false, low}, "AVX2", 4}}
}

// load reads the weights of 16 channels, four bytes each: into two registers, or, widened, the even bytes into the
// first two and the odd ones into the others.
func (d dot) load(from operand.Mem, w []reg.VecPhysical) {
	c := d.c
	for i := range 2 {
		c.VMOVDQU(from.Offset(32*i), w[i])
	}
	if d.vnni {
		return
	}
	for i := range 2 {
		c.VPSRAW(operand.Imm(8), w[i], w[2+i])
		c.VPSLLW(operand.Imm(8), w[i], w[i])
		c.VPSRAW(operand.Imm(8), w[i], w[i])
	}
}

// multiply adds to the two accumulators the products of the bytes of x with the weights; x, odd and t are overwritten.
func (d dot) multiply(x, odd, t reg.VecPhysical, w, acc []reg.VecPhysical) {
	if d.vnni {
		vpdpbusd(d.c, w[0], x, acc[0])
		vpdpbusd(d.c, w[1], x, acc[1])
		return
	}
	d.split(x, odd)
	d.addPairs(x, t, w[0], acc[0])
	d.addPairs(x, x, w[1], acc[1])
	d.addPairs(odd, t, w[2], acc[0])
	d.addPairs(odd, odd, w[3], acc[1])
}

// split widens the bytes at odd places into odd, and those at even ones in place.
func (d dot) split(x, odd reg.VecPhysical) {
	d.c.VPSRLW(operand.Imm(8), x, odd)
	d.c.VPAND(d.low, x, x)
}

// addPairs adds sums of two products to acc, by way of t.
func (d dot) addPairs(x, t, w, acc reg.VecPhysical) {
	d.c.VPMADDWD(w, x, t)
	d.c.VPADDD(t, acc, acc)
}

// vpdpbusd emits VPDPBUSD on registers of 32 bytes in VEX encoding, which the assembler does not know: a prefix of three
// bytes, the opcode and the operands' byte.
func vpdpbusd(c *build.Context, signed, unsigned, acc reg.VecPhysical) {
	s, u, a := uint32(signed.PhysicalIndex()), uint32(unsigned.PhysicalIndex()), uint32(acc.PhysicalIndex())
	const map0F38, wide66, opcode, registers = 2, 1<<2 | 1, 0x50, 3 << 6
	second := (^a>>3&1)<<7 | 1<<6 | (^s>>3&1)<<5 | map0F38
	third := (^u&15)<<3 | wide66
	c.Commentf("VPDPBUSD %s, %s, %s", signed.Asm(), unsigned.Asm(), acc.Asm())
	c.Instruction(&ir.Instruction{Opcode: "LONG", Operands: []operand.Op{operand.U32(0xc4 | second<<8 | third<<16 | opcode<<24)}})
	c.Instruction(&ir.Instruction{Opcode: "BYTE", Operands: []operand.Op{operand.U8(registers | a&7<<3 | s&7)}, ISA: []string{"AVXVNNI"}})
}

// qconvNarrow emits the convolution of bytes in tiles of 16 channels by up to six pixels, or four where the weights
// take more registers.
func qconvNarrow(c *build.Context) {
	for _, d := range dots(c, "qconv") {
		name, most := "qconv16"+d.name, 8-d.weights
		function(c, name, "func(pixels, tiles int, args *byte)",
			fmt.Sprintf("%s computes tiles of 1 to %d pixels x 16 output channels; see QConvCall.", name, most))
		pixels := c.Load(c.Param("pixels"), c.GP64())
		for p := most; p > 1; p-- {
			c.CMPQ(pixels, operand.U32(uint32(p)))
			c.JEQ(operand.LabelRef(fmt.Sprintf("p%d", p)))
		}
		for p := 1; p <= most; p++ {
			k := qconvNarrowTile{c: c, dot: d.dot, p: p, weight: ymm[2*p : 2*p+d.weights], spare: ymm[2*p+d.weights:]}
			k.emit()
		}
	}
}

// qconvNarrowTile emits the loops for one number of pixels.
type qconvNarrowTile struct {
	c      *build.Context
	dot    dot
	p      int
	acc    [][]reg.VecPhysical // [pixel][half]
	weight []reg.VecPhysical
	spare  []reg.VecPhysical
}

func (k *qconvNarrowTile) label(s string) string { return fmt.Sprintf("p%d%s", k.p, s) }

// field loads a field of the arguments, whose address is loaded for it: registers are few.
func (k *qconvNarrowTile) field(offset int) reg.GPVirtual {
	return loadField(k.c, k.c.Load(k.c.Param("args"), k.c.GP64()).(reg.GPVirtual), offset)
}

func (k *qconvNarrowTile) emit() {
	c := k.c
	for p := range k.p {
		k.acc = append(k.acc, ymm[2*p:2*p+2])
	}
	tiles, err := c.Param("tiles").Resolve()
	if err != nil {
		panic(err)
	}
	c.Label(k.label(""))
	pix, requant := k.field(qPixels), k.field(qRequant)
	out, res := loadField(c, requant, rOut), loadField(c, requant, rRes)
	c.Label(k.label("tile"))
	k.reduce(pix)
	e := requantTile{c: c, isa: avx2, args: k.field(qRequant), acc: k.acc, out: out, res: res, label: k.label, spare: ymm[2*k.p:]}
	e.emit()
	c.ADDQ(operand.U32(uint32(4*k.p)), pix)
	c.SUBQ(operand.Imm(1), tiles.Addr)
	c.JNE(operand.LabelRef(k.label("tile")))
	c.VZEROUPPER()
	c.RET()
}

// reduce starts the accumulators and runs over the steps, four bytes of every pixel at a time.
func (k *qconvNarrowTile) reduce(pix reg.GPVirtual) {
	c, start, in := k.c, k.field(qStart), k.field(qIn)
	windows := make([]reg.GPVirtual, k.p)
	for p := range windows {
		for half, a := range k.acc[p] {
			c.VMOVDQU(operand.Mem{Base: start, Disp: 32 * half}, a)
		}
		windows[p] = c.GP64().(reg.GPVirtual)
		c.MOVLQSX(operand.Mem{Base: pix, Disp: 4 * p}, windows[p])
		c.ADDQ(in, windows[p])
	}
	step, n, w, at := k.field(qSteps), k.field(qNumSteps), k.field(qWeights), c.GP64().(reg.GPVirtual)
	c.Label(k.label("step"))
	c.MOVLQSX(operand.Mem{Base: step}, at)
	for q := range 4 {
		k.dot.load(operand.Mem{Base: w, Disp: q * lane}, k.weight)
		for p, window := range windows {
			x, others := k.spare[p%2], k.spare[1:]
			if !k.dot.vnni {
				x = k.spare[0]
			}
			c.VPBROADCASTD(operand.Mem{Base: window, Index: at, Scale: 1, Disp: 4 * q}, x)
			k.dot.multiply(x, others[0], others[len(others)-1], k.weight, k.acc[p])
		}
	}
	c.ADDQ(operand.U32(4*lane), w)
	c.ADDQ(operand.Imm(4), step)
	c.SUBQ(operand.Imm(1), n)
	c.JNE(operand.LabelRef(k.label("step")))
}

// qdepthwiseNarrow emits the depthwise convolution of bytes: the 64 bytes of a step, four pixels of 16 channels, become
// 8 channels of four pixels twice.
func qdepthwiseNarrow(c *build.Context) {
	order := dwords(c, "qdepthwiseOrder8", orderBytes)
	// The same four channels of two pixels side by side: channels 0, 8 in one half, 4, 12 in the other.
	pairs := dwords(c, "qdepthwisePairs", func(i int) uint32 { return uint32(i%2*4 + i/2%2*2 + i/4%2) })
	for _, d := range dots(c, "qdepthwise") {
		qwindow(c, avx2, "qdepthwise"+d.name, "QDepthwiseKernel", func(k *qwindowTile) {
			w, gather, t := ymm[8:8+d.weights], ymm[12], ymm[13:]
			c.VMOVDQU(pairs, gather)
			k.step = func(weights reg.GPVirtual) {
				d.load(operand.Mem{Base: weights}, w)
				c.ADDQ(operand.U32(lane), weights)
			}
			k.accumulate = func(p int, in operand.Mem) {
				c.VPERMD(in, gather, t[0])
				c.VPERMD(in.Offset(32), gather, t[1])
				c.VPUNPCKLQDQ(t[1], t[0], t[2])
				c.VPUNPCKHQDQ(t[1], t[0], t[1])
				c.VPSHUFB(order, t[2], t[2])
				c.VPSHUFB(order, t[1], t[1])
				for half, x := range []reg.VecPhysical{t[2], t[1]} {
					acc := k.acc[p][half]
					if d.vnni {
						vpdpbusd(c, w[half], x, acc)
						continue
					}
					c.VPSRLW(operand.Imm(8), x, t[0])
					c.VPAND(d.low, x, x)
					d.addPairs(t[0], t[0], w[2+half], acc)
					d.addPairs(x, x, w[half], acc)
				}
			}
		})
	}
}
