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
// places, widened to 16 bits, are multiplied and added in pairs by VPMADDWD; VPMADDUBSW needs less than that, and saturates:
// qconvPairs has it for weights that are prepared.
type dot struct {
	c    *build.Context
	vnni bool
	low  operand.Mem // 0x00ff in each 16 bits
}

// dots returns the two ways; low is a table of the family.
func dots(c *build.Context, family string) []dot {
	low := dwords(c, family+"Low", func(int) uint32 { return 0x00ff00ff })
	return []dot{{c, true, low}, {c, false, low}}
}

// name ends the names of functions.
func (d dot) name() string {
	if d.vnni {
		return "AVXVNNI"
	}
	return avx2.name
}

// weights is the number of registers that hold the weights of 8 channels.
func (d dot) weights() int {
	if d.vnni {
		return 1
	}
	return 2
}

// load reads the weights of 8 channels, four bytes each: into one register or, widened, the even bytes into the first
// and the odd ones into the second.
func (d dot) load(from operand.Mem, w []reg.VecPhysical) {
	c := d.c
	c.VMOVDQU(from, w[0])
	if !d.vnni {
		c.VPSRAW(operand.Imm(8), w[0], w[1])
		c.VPSLLW(operand.Imm(8), w[0], w[0])
		c.VPSRAW(operand.Imm(8), w[0], w[0])
	}
}

// split prepares x: it widens the bytes at odd places into odd, and those at even ones in place. VPDPBUSD takes x as it
// is, and odd is not used.
func (d dot) split(x, odd reg.VecPhysical) {
	if !d.vnni {
		d.c.VPSRLW(operand.Imm(8), x, odd)
		d.c.VPAND(d.low, x, x)
	}
}

// add adds to acc the products of x, prepared, with weights. Products of the even bytes pass through t, of the odd ones
// through u: these may be x and odd where they are not needed again.
func (d dot) add(x, odd, t, u reg.VecPhysical, w []reg.VecPhysical, acc reg.VecPhysical) {
	if d.vnni {
		vpdpbusd(d.c, w[0], x, acc)
		return
	}
	d.addPairs(odd, u, w[1], acc)
	d.addPairs(x, t, w[0], acc)
}

// addPairs adds sums of two products to acc, by way of t.
func (d dot) addPairs(x, t, w, acc reg.VecPhysical) {
	d.c.VPMADDWD(w, x, t)
	d.c.VPADDD(t, acc, acc)
}

// addFours adds sums of four products to acc, by way of t, where none of two saturates; one is 1 in each 16 bits.
func addFours(c *build.Context, x, w, one, t, acc reg.VecPhysical) {
	c.VPMADDUBSW(w, x, t)
	c.VPMADDWD(one, t, t)
	c.VPADDD(t, acc, acc)
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
		qconvRows(c, "qconv16"+d.name(), 8-2*d.weights(), func(k *qconvNarrowTile, at reg.GPVirtual) { k.reduce(d, at) })
	}
	qconvPairs(c)
}

// qconvRows emits a function of tiles of 16 channels by up to so many pixels. Reduce sums up a tile; at is the table of its pixels,
// and it leaves it at the next tile's.
func qconvRows(c *build.Context, name string, most int, reduce func(k *qconvNarrowTile, at reg.GPVirtual)) {
	function(c, name, "func(pixels, tiles int, args *byte)",
		fmt.Sprintf("%s computes tiles of 1 to %d pixels x 16 output channels; see QConvCall.", name, most))
	pixels := c.Load(c.Param("pixels"), c.GP64())
	for p := most; p > 1; p-- {
		c.CMPQ(pixels, operand.U32(uint32(p)))
		c.JEQ(operand.LabelRef(fmt.Sprintf("p%d", p)))
	}
	for p := 1; p <= most; p++ {
		k := qconvNarrowTile{c: c, p: p, spare: ymm[2*p:]}
		for p := range k.p {
			k.acc = append(k.acc, ymm[2*p:2*p+2])
		}
		k.emit(reduce)
	}
}

// qconvNarrowTile emits the loops for one number of pixels.
type qconvNarrowTile struct {
	c     *build.Context
	p     int
	acc   [][]reg.VecPhysical // [pixel][half]
	spare []reg.VecPhysical
}

func (k *qconvNarrowTile) label(s string) string { return fmt.Sprintf("p%d%s", k.p, s) }

// field loads a field of the arguments, whose address is loaded for it: registers are few.
func (k *qconvNarrowTile) field(offset int) reg.GPVirtual {
	return loadField(k.c, k.c.Load(k.c.Param("args"), k.c.GP64()).(reg.GPVirtual), offset)
}

func (k *qconvNarrowTile) emit(reduce func(*qconvNarrowTile, reg.GPVirtual)) {
	c := k.c
	tiles, err := c.Param("tiles").Resolve()
	if err != nil {
		panic(err)
	}
	c.Label(k.label(""))
	at, requant := k.field(qPixels), k.field(qRequant)
	out, res := loadField(c, requant, rOut), loadField(c, requant, rRes)
	c.Label(k.label("tile"))
	start := k.field(qStart)
	for p := range k.p {
		for half, a := range k.acc[p] {
			c.VMOVDQU(operand.Mem{Base: start, Disp: 32 * half}, a)
		}
	}
	reduce(k, at)
	e := requantTile{c: c, isa: avx2, args: k.field(qRequant), acc: k.acc, out: out, res: res, label: k.label, spare: k.spare, rows: true}
	e.emit()
	c.SUBQ(operand.Imm(1), tiles.Addr)
	c.JNE(operand.LabelRef(k.label("tile")))
	c.VZEROUPPER()
	c.RET()
}

// windows returns where the pixels of a tile begin.
func (k *qconvNarrowTile) windows(at reg.GPVirtual) []reg.GPVirtual {
	c, in := k.c, k.field(qIn)
	windows := make([]reg.GPVirtual, k.p)
	for p := range windows {
		windows[p] = c.GP64().(reg.GPVirtual)
		c.MOVLQSX(operand.Mem{Base: at, Disp: 4 * p}, windows[p])
		c.ADDQ(in, windows[p])
	}
	return windows
}

// reduce runs over the steps, four bytes of every pixel at a time, which are read where they lie: at is the table of pixels.
func (k *qconvNarrowTile) reduce(d dot, at reg.GPVirtual) {
	c := k.c
	weights, spare := k.spare[:2*d.weights()], k.spare[2*d.weights():]
	windows := k.windows(at)
	step, n, w, offset := k.field(qSteps), k.field(qNumSteps), k.field(qWeights), c.GP64().(reg.GPVirtual)
	c.Label(k.label("step"))
	c.MOVLQSX(operand.Mem{Base: step}, offset)
	for q := range 4 {
		n := d.weights()
		for half := range 2 {
			d.load(operand.Mem{Base: w, Disp: q*lane + 32*half}, weights[half*n:])
		}
		for p, window := range windows {
			x, odd, t := spare[p%2], spare[1], spare[len(spare)-1]
			if !d.vnni {
				x = spare[0]
			}
			c.VPBROADCASTD(operand.Mem{Base: window, Index: offset, Scale: 1, Disp: 4 * q}, x)
			d.split(x, odd)
			for half, acc := range k.acc[p] {
				d.add(x, odd, t, t, weights[half*n:], acc)
			}
		}
	}
	c.ADDQ(operand.U32(4*lane), w)
	c.ADDQ(operand.Imm(4), step)
	c.SUBQ(operand.Imm(1), n)
	c.JNE(operand.LabelRef(k.label("step")))
	c.ADDQ(operand.U32(uint32(4*k.p)), at)
}

// qconvPairs emits the convolution by weights in an order in which products fit in 16 bits when two of them are added, as VPMADDUBSW
// adds them: inputs are brought into that order. What is left of weights follows, 8 channels at a time.
func qconvPairs(c *build.Context) {
	qconvRows(c, "qconv16PairsAVX2", 5, (*qconvNarrowTile).reducePairs)
}

// reducePairs is reduce for such weights.
func (k *qconvNarrowTile) reducePairs(at reg.GPVirtual) {
	c := k.c
	weights, order, x, t, one := k.spare[:2], k.spare[2], k.spare[3], k.spare[4], k.spare[5]
	c.VPCMPEQD(one, one, one)
	c.VPSRLW(operand.Imm(15), one, one)
	windows := k.windows(at)
	step, n, w, offset := k.field(qSteps), k.field(qNumSteps), k.field(qWeights), c.GP64().(reg.GPVirtual)
	places := k.field(qOrder)
	c.Label(k.label("step"))
	c.MOVLQSX(operand.Mem{Base: step}, offset)
	for q := range 4 {
		for half := range 2 {
			c.VMOVDQU(operand.Mem{Base: w, Disp: q*lane + 32*half}, weights[half])
		}
		c.VPBROADCASTD(operand.Mem{Base: places, Disp: 4 * q}, order)
		for p, window := range windows {
			c.VBROADCASTI128(operand.Mem{Base: window, Index: offset, Scale: 1}, x)
			c.VPSHUFB(order, x, x)
			for half, acc := range k.acc[p] {
				addFours(c, x, weights[half], one, t, acc)
			}
		}
	}
	c.ADDQ(operand.U32(4*lane), w)
	c.ADDQ(operand.Imm(16), places)
	c.ADDQ(operand.Imm(4), step)
	c.SUBQ(operand.Imm(1), n)
	c.JNE(operand.LabelRef(k.label("step")))

	c.MOVQ(k.field(qRest), step)
	for half, count := range []int{qRestLow, qRestHigh} {
		again, none := k.label(fmt.Sprintf("rest%d", half)), k.label(fmt.Sprintf("none%d", half))
		c.MOVQ(k.field(count), n)
		c.TESTQ(n, n)
		c.JEQ(operand.LabelRef(none))
		c.Label(again)
		c.MOVLQSX(operand.Mem{Base: step}, offset)
		c.VMOVDQU(operand.Mem{Base: w}, weights[0])
		for p, window := range windows {
			c.VPBROADCASTD(operand.Mem{Base: window, Index: offset, Scale: 1}, x)
			addFours(c, x, weights[0], one, t, k.acc[p][half])
		}
		c.ADDQ(operand.Imm(32), w)
		c.ADDQ(operand.Imm(4), step)
		c.SUBQ(operand.Imm(1), n)
		c.JNE(operand.LabelRef(again))
		c.Label(none)
	}
	c.ADDQ(operand.U32(uint32(4*k.p)), at)
}

// qdepthwiseNarrow emits the depthwise convolution of bytes: the 64 bytes of a step, four pixels of 16 channels, become
// 8 channels of four pixels twice.
func qdepthwiseNarrow(c *build.Context) {
	order := dwords(c, "qdepthwiseOrder8", orderBytes)
	// The same four channels of two pixels side by side: channels 0 and 8 in one half, 4 and 12 in the other.
	pairs := dwords(c, "qdepthwisePairs", func(i int) uint32 { return uint32(i%2*4 + i/2%2*2 + i/4%2) })
	for _, d := range dots(c, "qdepthwise") {
		qwindow(c, avx2, "qdepthwise"+d.name(), "QDepthwiseKernel", func(k *qwindowTile) {
			n := d.weights()
			w, gather, t := ymm[8:8+2*n], ymm[12], ymm[13:]
			c.VMOVDQU(pairs, gather)
			k.step = func(weights reg.GPVirtual) {
				d.load(operand.Mem{Base: weights}, w)
				d.load(operand.Mem{Base: weights, Disp: 32}, w[n:])
				c.ADDQ(operand.U32(lane), weights)
			}
			k.accumulate = func(p int, in operand.Mem) {
				c.VPERMD(in, gather, t[0])
				c.VPERMD(in.Offset(32), gather, t[1])
				c.VPUNPCKLQDQ(t[1], t[0], t[2])
				c.VPUNPCKHQDQ(t[1], t[0], t[1])
				for half, x := range []reg.VecPhysical{t[2], t[1]} {
					c.VPSHUFB(order, x, x)
					d.split(x, t[0])
					d.add(x, t[0], x, t[0], w[half*n:], k.acc[p][half])
				}
			}
		})
	}
}
