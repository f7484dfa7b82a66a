package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// qwindowPixels is the most pixels of a tile of AVX-512: enough chains to hide the latency of VPDPBUSD. Of AVX2 it is
// half of that.
const qwindowPixels = 8

// qdepthwise emits the depthwise convolution of bytes.
func qdepthwise(c *build.Context) {
	qwindow(c, avx512, "qdepthwiseVNNI", "QDepthwiseKernel", func(k *qwindowTile) {
		gather, order := zmm[30], zmm[31]
		c.VMOVDQU32(dwords(c, "qdepthwiseGather", gatherPixels), gather)
		c.VMOVDQU32(dwords(c, "qdepthwiseOrder", orderBytes), order)
		weights := zmm[29]
		k.step = func(w reg.GPVirtual) {
			c.VMOVDQU32(operand.Mem{Base: w}, weights)
			c.ADDQ(operand.U32(lane), w)
		}
		// Four pixels of 16 channels become 16 channels of four pixels: first each 128-bit lane collects
		// the pixels of four channels, then these are transposed within it.
		k.accumulate = func(p int, in operand.Mem) {
			x := zmm[20+p%4]
			c.VPERMD(in, gather, x)
			c.VPSHUFB(order, x, x)
			c.VPDPBUSD(weights, x, k.acc[p][0])
		}
	})
	qdepthwiseNarrow(c)
}

// qpool emits the sum of windows with the epilogue that makes it an average, and their maximum.
func qpool(c *build.Context) {
	for _, set := range []*isa{avx512, avx2} {
		qwindow(c, set, "qaverage"+set.name, "QPoolKernel.Average", func(k *qwindowTile) {
			k.step = func(reg.GPVirtual) {}
			k.accumulate = func(p int, in operand.Mem) {
				x := set.regs[len(set.regs)*5/8+p%4]
				for v, a := range k.acc[p] {
					c.VPMOVZXBD(in.Offset(v*set.width/4), x)
					c.VPADDD(x, a, a)
				}
			}
		})
	}
	qmax(c)
}

// dwords defines a table of 16 constants.
func dwords(c *build.Context, name string, f func(i int) uint32) operand.Mem {
	m := c.StaticGlobal(name)
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 16 {
		c.AddDatum(4*i, operand.U32(f(i)))
	}
	return m
}

// qwindowTile emits the loops of a kernel over windows of one channel block, for one number of pixels.
type qwindowTile struct {
	c          *build.Context
	isa        *isa
	p          int
	acc        [][]reg.VecPhysical // [pixel][vector]
	step       func(weights reg.GPVirtual)
	accumulate func(pixel int, in operand.Mem)
}

// qwindow emits a function of asm.qconvArgs; prepare loads constants and sets what a step does.
func qwindow(c *build.Context, set *isa, name, contract string, prepare func(*qwindowTile)) {
	most := qwindowPixels / set.parts()
	function(c, name, "func(pixels, tiles int, args *byte)",
		fmt.Sprintf("%s computes tiles of 1 to %d pixels x 16 channels; see %s.", name, most, contract))
	k := &qwindowTile{c: c, isa: set}
	prepare(k)
	pixels := c.Load(c.Param("pixels"), c.GP64())
	for p := most; p > 1; p-- {
		c.CMPQ(pixels, operand.U32(uint32(p)))
		c.JEQ(operand.LabelRef(fmt.Sprintf("p%d", p)))
	}
	for p := 1; p <= most; p++ {
		k.p, k.acc = p, nil
		k.emit()
	}
}

func (k *qwindowTile) label(s string) string { return fmt.Sprintf("p%d%s", k.p, s) }

func (k *qwindowTile) emit() {
	c := k.c
	for p := range k.p {
		n := k.isa.parts()
		k.acc = append(k.acc, k.isa.regs[p*n:(p+1)*n])
	}
	c.Label(k.label(""))
	tiles := c.Load(c.Param("tiles"), c.GP64()).(reg.GPVirtual)
	args := c.Load(c.Param("args"), c.GP64()).(reg.GPVirtual)
	pix, requant := loadField(c, args, qPixels), loadField(c, args, qRequant)
	out, res := loadField(c, requant, rOut), loadField(c, requant, rRes)

	c.Label(k.label("tile"))
	k.reduce(args, pix)
	spare := k.isa.regs[qwindowPixels:]
	e := requantTile{c: c, isa: k.isa, args: requant, acc: k.acc, out: out, res: res, label: k.label, spare: spare}
	e.emit()
	c.ADDQ(operand.U32(uint32(4*k.p)), pix)
	c.SUBQ(operand.Imm(1), tiles)
	c.JNE(operand.LabelRef(k.label("tile")))
	c.VZEROUPPER()
	c.RET()
}

// reduce runs over the steps.
func (k *qwindowTile) reduce(args, pix reg.GPVirtual) {
	c := k.c
	start := loadField(c, args, qStart)
	for p := range k.p {
		for v, a := range k.acc[p] {
			c.VMOVUPS(operand.Mem{Base: start, Disp: v * k.isa.width}, a)
		}
	}
	in, step, n, w := loadField(c, args, qIn), loadField(c, args, qSteps), loadField(c, args, qNumSteps), loadField(c, args, qWeights)
	at, window := c.GP64().(reg.GPVirtual), c.GP64().(reg.GPVirtual)
	c.Label(k.label("step"))
	c.MOVLQSX(operand.Mem{Base: step}, at)
	c.ADDQ(in, at)
	k.step(w)
	for p := range k.p {
		c.MOVLQSX(operand.Mem{Base: pix, Disp: 4 * p}, window)
		k.accumulate(p, operand.Mem{Base: at, Index: window, Scale: 1})
	}
	c.ADDQ(operand.Imm(4), step)
	c.SUBQ(operand.Imm(1), n)
	c.JNE(operand.LabelRef(k.label("step")))
}

// loadField loads a 64-bit field of a struct.
func loadField(c *build.Context, base reg.GPVirtual, offset int) reg.GPVirtual {
	r := c.GP64().(reg.GPVirtual)
	c.MOVQ(operand.Mem{Base: base, Disp: offset}, r)
	return r
}

// qmax emits the maximum of windows, eight pixels at a time, then one.
func qmax(c *build.Context) {
	function(c, "qmaxAVX", "func(pixels int, args *byte, out *byte, outPixel int)",
		"qmaxAVX computes any number of pixels x 16 channels; see QPoolKernel.Max.")
	pixels := c.Load(c.Param("pixels"), c.GP64()).(reg.GPVirtual)
	args := c.Load(c.Param("args"), c.GP64()).(reg.GPVirtual)
	out := c.Load(c.Param("out"), c.GP64()).(reg.GPVirtual)
	outPixel := c.Load(c.Param("outPixel"), c.GP64()).(reg.GPVirtual)
	pix, in := loadField(c, args, qPixels), loadField(c, args, qIn)
	for _, p := range []int{qwindowPixels, 1} {
		loop, stepLabel, end := fmt.Sprintf("tile%d", p), fmt.Sprintf("step%d", p), fmt.Sprintf("end%d", p)
		c.Label(loop)
		c.CMPQ(pixels, operand.Imm(uint64(p)))
		c.JLT(operand.LabelRef(end))
		for i := range p {
			c.VPXOR(zmm[i].AsX(), zmm[i].AsX(), zmm[i].AsX())
		}
		step, n := loadField(c, args, qSteps), loadField(c, args, qNumSteps)
		at, window := c.GP64().(reg.GPVirtual), c.GP64().(reg.GPVirtual)
		c.Label(stepLabel)
		c.MOVLQSX(operand.Mem{Base: step}, at)
		c.ADDQ(in, at)
		for i := range p {
			c.MOVLQSX(operand.Mem{Base: pix, Disp: 4 * i}, window)
			c.VPMAXUB(operand.Mem{Base: at, Index: window, Scale: 1}, zmm[i].AsX(), zmm[i].AsX())
		}
		c.ADDQ(operand.Imm(4), step)
		c.SUBQ(operand.Imm(1), n)
		c.JNE(operand.LabelRef(stepLabel))
		for i := range p {
			c.VMOVDQU(zmm[i].AsX(), operand.Mem{Base: out})
			c.ADDQ(outPixel, out)
		}
		c.ADDQ(operand.Imm(uint64(4*p)), pix)
		c.SUBQ(operand.Imm(uint64(p)), pixels)
		c.JMP(operand.LabelRef(loop))
		c.Label(end)
	}
	c.RET()
}
