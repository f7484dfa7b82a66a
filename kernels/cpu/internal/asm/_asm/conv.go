package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// convShape is a family of register tiles: up to pixels x 16*blocks accumulators.
type convShape struct {
	isa    *isa
	blocks int
	pixels int
	planar bool // input channels are separate planes: pixels 4 bytes apart, one channel a tap
}

var convShapes = []convShape{
	{isa: avx512, blocks: 1, pixels: 14},
	{isa: avx512, blocks: 2, pixels: 14},
	{isa: avx512, blocks: 3, pixels: 9},
	{isa: avx512, blocks: 1, pixels: 14, planar: true},
	{isa: avx512, blocks: 2, pixels: 14, planar: true},
	{isa: avx512, blocks: 3, pixels: 9, planar: true},
	{isa: avx2, blocks: 1, pixels: 6},
	{isa: avx2, blocks: 1, pixels: 6, planar: true},
}

// vectors is the number of registers that hold the channels of a pixel.
func (s convShape) vectors() int { return s.blocks * s.isa.parts() }

func (s convShape) name() string {
	kind := "Blocked"
	if s.planar {
		kind = "Planar"
	}
	return fmt.Sprintf("conv%s%d%s", kind, 16*s.blocks, s.isa.name)
}

// conv emits one function for each shape.
func conv(c *build.Context) {
	for _, s := range convShapes {
		function(c, s.name(),
			"func(pixels, tiles int, in *float32, taps *int32, ntaps int, w, ahead *float32, aheadStep int, bias, out *float32, outBlock, outPixel int, res *float32, resBlock int, lo, hi float32, accumulate bool)",
			fmt.Sprintf("%s computes tiles of 1 to %d pixels x %d output channels; see ConvCall.", s.name(), s.pixels, 16*s.blocks))
		pixels := c.Load(c.Param("pixels"), c.GP64())
		for p := s.pixels; p > 1; p-- {
			c.CMPQ(pixels, operand.U32(uint32(p)))
			c.JEQ(operand.LabelRef(fmt.Sprintf("p%d", p)))
		}
		for p := 1; p <= s.pixels; p++ {
			k := convTile{c: c, shape: s, p: p}
			k.emit()
		}
	}
}

// convTile emits the loops for one number of pixels. With few of them the channels of a blocked input take
// turns on several sets of accumulators, so that the latency of the multiply-add does not bound them.
type convTile struct {
	c     *build.Context
	shape convShape
	p     int

	tiles, in, out, outBlock reg.GPVirtual
	ahead, aheadStep         reg.GPVirtual
	acc                      [][][]reg.VecPhysical // [set][pixel][vector]
	weight                   []reg.VecPhysical
	spare                    []reg.VecPhysical
}

func (k *convTile) label(s string) string { return fmt.Sprintf("p%d%s", k.p, s) }

func (k *convTile) emit() {
	c, vectors := k.c, k.shape.vectors()
	next := 0
	take := func(n int) []reg.VecPhysical { next += n; return k.shape.isa.regs[next-n : next] }
	sets := 1
	if !k.shape.planar {
		sets = max(1, min(4, 12/(k.p*vectors)))
	}
	for s := range sets {
		k.acc = append(k.acc, nil)
		for range k.p {
			k.acc[s] = append(k.acc[s], take(vectors))
		}
	}
	k.weight = take(vectors)
	k.spare = k.shape.isa.regs[next:]

	c.Label(k.label(""))
	k.tiles = c.Load(c.Param("tiles"), c.GP64()).(reg.GPVirtual)
	k.in = c.Load(c.Param("in"), c.GP64()).(reg.GPVirtual)
	k.out = c.Load(c.Param("out"), c.GP64()).(reg.GPVirtual)
	k.outBlock = c.Load(c.Param("outBlock"), c.GP64()).(reg.GPVirtual)
	c.SHLQ(operand.Imm(2), k.outBlock)
	res := c.Load(c.Param("res"), c.GP64()).(reg.GPVirtual)
	if !k.shape.planar {
		k.ahead = c.Load(c.Param("ahead"), c.GP64()).(reg.GPVirtual)
		k.aheadStep = c.Load(c.Param("aheadStep"), c.GP64()).(reg.GPVirtual)
		c.SHLQ(operand.Imm(2), k.aheadStep)
	}

	c.Label(k.label("tile"))
	k.start()
	k.taps()
	k.finish(res)
	c.ADDQ(operand.U32(uint32(k.p*k.pixelStride())), k.in)
	c.SUBQ(operand.Imm(1), k.tiles)
	c.JNE(operand.LabelRef(k.label("tile")))
	c.VZEROUPPER()
	c.RET()
}

func (k *convTile) pixelStride() int {
	if k.shape.planar {
		return 4
	}
	return lane
}

// outputs calls f with the address of each vector of each pixel of a tile of the output's shape, and leaves base at the
// next tile.
func (k *convTile) outputs(base, block reg.GPVirtual, f func(pixel, vector int, at operand.Mem)) {
	parts := k.shape.isa.parts()
	step := k.c.Load(k.c.Param("outPixel"), k.c.GP64()).(reg.GPVirtual)
	for p := range k.p {
		for v := range k.shape.vectors() {
			at := operand.Mem{Base: base, Disp: v % parts * k.shape.isa.width}
			if b := v / parts; b > 0 {
				at.Index, at.Scale = block, uint8(b)
			}
			f(p, v, at)
		}
		k.c.LEAQ(operand.Mem{Base: base, Index: step, Scale: 4}, base)
	}
}

// start fills the first set of accumulators with the bias, or with what out holds, the others with zeros.
func (k *convTile) start() {
	c, acc := k.c, k.acc[0]
	clearSets(c, k.shape.isa, k.acc[1:])
	flag := c.Load(c.Param("accumulate"), c.GP8())
	c.TESTB(flag, flag)
	c.JNE(operand.LabelRef(k.label("more")))
	bias := c.Load(c.Param("bias"), c.GP64()).(reg.GPVirtual)
	for v := range k.shape.vectors() {
		c.VMOVUPS(operand.Mem{Base: bias, Disp: v * k.shape.isa.width}, acc[0][v])
		for p := 1; p < k.p; p++ {
			c.VMOVAPS(acc[0][v], acc[p][v])
		}
	}
	c.JMP(operand.LabelRef(k.label("started")))
	c.Label(k.label("more"))
	old := c.GP64().(reg.GPVirtual)
	c.MOVQ(k.out, old)
	k.outputs(old, k.outBlock, func(p, v int, at operand.Mem) { c.VMOVUPS(at, acc[p][v]) })
	c.Label(k.label("started"))
}

// taps runs over the reduction: the table of taps, and four input channels at a time within each.
func (k *convTile) taps() {
	c := k.c
	tap := c.Load(c.Param("taps"), c.GP64()).(reg.GPVirtual)
	n := c.Load(c.Param("ntaps"), c.GP64()).(reg.GPVirtual)
	w := c.Load(c.Param("w"), c.GP64()).(reg.GPVirtual)
	at := c.GP64().(reg.GPVirtual)
	c.Label(k.label("tap"))
	c.MOVLQSX(operand.Mem{Base: tap}, at)
	c.LEAQ(operand.Mem{Base: k.in, Index: at, Scale: 4}, at)
	if k.shape.planar {
		k.channel(w, at, 0)
		c.ADDQ(operand.U32(uint32(k.shape.blocks*lane)), w)
	} else {
		quads := c.GP32()
		c.MOVL(operand.Mem{Base: tap, Disp: 4}, quads)
		c.Label(k.label("quad"))
		c.PREFETCHT1(operand.Mem{Base: k.ahead})
		c.PREFETCHT1(operand.Mem{Base: k.ahead, Disp: lane})
		c.ADDQ(k.aheadStep, k.ahead)
		for ch := range 4 {
			k.channel(w, at, ch)
		}
		c.ADDQ(operand.U32(uint32(4*k.shape.blocks*lane)), w)
		c.ADDQ(operand.Imm(16), at)
		c.SUBL(operand.Imm(1), quads)
		c.JNE(operand.LabelRef(k.label("quad")))
	}
	c.ADDQ(operand.Imm(8), tap)
	c.SUBQ(operand.Imm(1), n)
	c.JNE(operand.LabelRef(k.label("tap")))
	addSets(c, k.acc)
}

// channel is the outer product of one input channel: its weight vectors, one broadcast a pixel.
func (k *convTile) channel(w, at reg.GPVirtual, ch int) {
	c, vectors := k.c, k.shape.vectors()
	acc := k.acc[ch%len(k.acc)]
	for v := range vectors {
		c.VMOVUPS(operand.Mem{Base: w, Disp: (ch*vectors + v) * k.shape.isa.width}, k.weight[v])
	}
	for p := range k.p {
		x := operand.Mem{Base: at, Disp: p*k.pixelStride() + 4*ch}
		if vectors == 1 {
			c.VFMADD231PS_BCST(x, k.weight[0], acc[p][0])
			continue
		}
		pixel := k.spare[p%min(2, len(k.spare))]
		c.VBROADCASTSS(x, pixel)
		for v := range vectors {
			c.VFMADD231PS(pixel, k.weight[v], acc[p][v])
		}
	}
}

// finish adds the residual, clamps and stores, and leaves out and res at the next tile. NaN passes through: it is the second source of VMAXPS and
// VMINPS, which they return when the operands do not compare.
func (k *convTile) finish(res reg.GPVirtual) {
	c := k.c
	c.TESTQ(res, res)
	c.JEQ(operand.LabelRef(k.label("clamp")))
	resBlock := c.Load(c.Param("resBlock"), c.GP64()).(reg.GPVirtual)
	c.SHLQ(operand.Imm(2), resBlock)
	k.outputs(res, resBlock, func(p, v int, at operand.Mem) { c.VADDPS(at, k.acc[0][p][v], k.acc[0][p][v]) })
	c.Label(k.label("clamp"))
	lo, hi := k.weight[0], k.spare[0]
	broadcastParam(c, "lo", lo)
	broadcastParam(c, "hi", hi)
	k.outputs(k.out, k.outBlock, func(p, v int, at operand.Mem) {
		a := k.acc[0][p][v]
		c.VMAXPS(a, lo, a)
		c.VMINPS(a, hi, a)
		c.VMOVUPS(a, at)
	})
}

// broadcastParam sets all lanes of v to a float32 parameter.
func broadcastParam(c *build.Context, name string, v reg.VecPhysical) {
	param, err := c.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	c.VBROADCASTSS(param.Addr, v)
}

// clearSets zeroes further sets of accumulators.
func clearSets(c *build.Context, set *isa, sets [][][]reg.VecPhysical) {
	for _, accumulators := range sets {
		for _, row := range accumulators {
			for _, v := range row {
				set.zero(c, v)
			}
		}
	}
}

// addSets adds the further sets of accumulators to the first.
func addSets(c *build.Context, sets [][][]reg.VecPhysical) {
	for _, set := range sets[1:] {
		for p := range set {
			for b, v := range set[p] {
				c.VADDPS(v, sets[0][p][b], sets[0][p][b])
			}
		}
	}
}
