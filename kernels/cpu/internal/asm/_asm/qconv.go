package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Byte offsets of the fields of asm.qconvArgs and asm.requantArgs; asm's tests compare them with the structs.
const (
	qIn, qPixels, qSteps, qNumSteps, qWeights, qStart, qRequant, qAhead, qAheadStep = 0, 8, 16, 24, 32, 40, 48, 56, 64
	qFetch                                                                          = 72 // for the output and the residual each where and how many
	qOrder, qRest, qRestLow, qRestHigh                                              = 104, 112, 120, 128

	rScale, rBias, rOut, rOutPixel, rOutBlock     = 0, 8, 16, 24, 32
	rRes, rResPixel, rResBlock                    = 40, 48, 56
	rInner, rOuter, rResScale, rResZero           = 64, 72, 80, 84
	rOutScale, rOutZero, rClampInner, rStoreFloat = 88, 92, 96, 100
	rResFloat, rFlip, rInverse                    = 104, 108, 112
	rBetween, rBetweenLimits, rBetweenInverse     = 120, 124, 132
	rActivation                                   = 140
	rSums, rRows                                  = 144, 152
)

// qconvShape is a family of INT8 register tiles: up to pixels x 16*blocks accumulators of 16 int32.
type qconvShape struct{ blocks, pixels int }

var qconvShapes = []qconvShape{{blocks: 2, pixels: 11}, {blocks: 1, pixels: 12}}

// qconv emits one function for each shape.
func qconv(c *build.Context) {
	math := activations(c, "qconv")
	for _, s := range qconvShapes {
		name := fmt.Sprintf("qconv%dVNNI", 16*s.blocks)
		function(c, name, "func(pixels, tiles int, args *byte)",
			fmt.Sprintf("%s computes tiles of 1 to %d pixels x %d output channels; see QConvCall.", name, s.pixels, 16*s.blocks))
		pixels := c.Load(c.Param("pixels"), c.GP64())
		for p := s.pixels; p > 1; p-- {
			c.CMPQ(pixels, operand.U32(uint32(p)))
			c.JEQ(operand.LabelRef(fmt.Sprintf("p%d", p)))
		}
		for p := 1; p <= s.pixels; p++ {
			k := qconvTile{c: c, shape: s, p: p, math: &math}
			k.emit()
		}
	}
	qconvNarrow(c)
}

// qconvTile emits the loops for one number of pixels.
type qconvTile struct {
	c     *build.Context
	shape qconvShape
	p     int
	math  *vector

	args, pix reg.GPVirtual
	ahead     reg.GPVirtual
	acc       [][]reg.VecPhysical // [pixel][block]
	weight    [][]reg.VecPhysical // [quad][block]
	spare     []reg.VecPhysical
}

func (k *qconvTile) label(s string) string { return fmt.Sprintf("p%d%s", k.p, s) }

// emit lays the tile out in registers: weights of a step first, then two for inputs, then accumulators.
func (k *qconvTile) emit() {
	c, blocks := k.c, k.shape.blocks
	next := 0
	take := func(n int) []reg.VecPhysical { next += n; return zmm[next-n : next] }
	for range 4 {
		k.weight = append(k.weight, take(blocks))
	}
	k.spare = take(2)
	for range k.p {
		k.acc = append(k.acc, take(blocks))
	}

	c.Label(k.label(""))
	tiles := c.Load(c.Param("tiles"), c.GP64()).(reg.GPVirtual)
	k.args = c.Load(c.Param("args"), c.GP64()).(reg.GPVirtual)
	k.pix, k.ahead = loadField(c, k.args, qPixels), loadField(c, k.args, qAhead)
	requant := loadField(c, k.args, qRequant)
	out := loadField(c, requant, rOut)
	res := loadField(c, requant, rRes)
	if k.lookAhead() {
		k.fetchConstants(requant)
	}

	c.Label(k.label("tile"))
	if k.lookAhead() {
		for i, at := range []reg.GPVirtual{out, res} {
			k.startFetch(&floatTensors[i], requant, at)
		}
	}
	k.reduce()
	e := requantTile{c: c, isa: avx512, args: requant, acc: k.acc, out: out, res: res, label: k.label, spare: zmm[:4*blocks+2], math: k.math, rows: true}
	e.emit()
	c.ADDQ(operand.U32(uint32(4*k.p)), k.pix)
	c.SUBQ(operand.Imm(1), tiles)
	c.JNE(operand.LabelRef(k.label("tile")))
	c.VZEROUPPER()
	c.RET()
}

// lookAhead says whether a step asks for lines ahead: not with few pixels, which wait for weights alone.
func (k *qconvTile) lookAhead() bool { return 2*k.p > k.shape.pixels }

// fetchConstants asks for what lies behind the constants of this panel: those of the next, which weights keep from staying in a cache.
func (k *qconvTile) fetchConstants(requant reg.GPVirtual) {
	c := k.c
	for _, table := range []reg.GPVirtual{loadField(c, k.args, qStart), loadField(c, requant, rScale), loadField(c, requant, rBias)} {
		for b := range k.shape.blocks {
			c.PREFETCHT1(operand.Mem{Base: table, Disp: (k.shape.blocks + b) * lane})
		}
	}
}

// floatTensor is what may be float32 of what the epilogue reads and writes: the offsets of its state in the arguments, of whether it is,
// and of the distances of pixels and blocks.
type floatTensor struct{ at, left, float, pixel, block int }

var floatTensors = [2]floatTensor{
	{qFetch, qFetch + 8, rStoreFloat, rOutPixel, rOutBlock},
	{qFetch + 16, qFetch + 24, rResFloat, rResPixel, rResBlock},
}

// startFetch begins with the pixels of a tile that fetchPixel asks for: none where the tensor is of bytes.
func (k *qconvTile) startFetch(f *floatTensor, requant, at reg.GPVirtual) {
	c, left, none := k.c, k.c.GP64(), k.c.GP64()
	c.XORQ(none, none)
	c.MOVQ(operand.U32(uint32(k.p)), left)
	c.CMPL(operand.Mem{Base: requant, Disp: f.float}, operand.Imm(0))
	c.CMOVQEQ(none, left)
	c.MOVQ(left, operand.Mem{Base: k.args, Disp: f.left})
	c.MOVQ(at, operand.Mem{Base: k.args, Disp: f.at})
}

// fetchPixel asks for the lines of a tile's next pixel in a tensor that is float32: four times what bytes are, and too much for the L1
// cache to keep. With each step one is asked for, so that the sums do not wait for room to ask; at and of are overwritten.
func (k *qconvTile) fetchPixel(f *floatTensor, at, of reg.GPVirtual) {
	c, fetched := k.c, k.label(fmt.Sprintf("fetched%d", f.at))
	left, next := operand.Mem{Base: k.args, Disp: f.left}, operand.Mem{Base: k.args, Disp: f.at}
	c.CMPQ(left, operand.Imm(0))
	c.JEQ(operand.LabelRef(fetched))
	c.MOVQ(next, at)
	c.PREFETCHT0(operand.Mem{Base: at})
	c.MOVQ(operand.Mem{Base: k.args, Disp: qRequant}, of)
	if k.shape.blocks > 1 {
		c.ADDQ(operand.Mem{Base: of, Disp: f.block}, at)
		c.PREFETCHT0(operand.Mem{Base: at})
		c.SUBQ(operand.Mem{Base: of, Disp: f.block}, at)
	}
	c.ADDQ(operand.Mem{Base: of, Disp: f.pixel}, at)
	c.MOVQ(at, next)
	c.SUBQ(operand.Imm(1), left)
	c.Label(fetched)
}

// reduce starts the accumulators and runs over the steps: the weights of a step stay in registers while
// each pixel's 16 bytes are broadcast four at a time. Pixels alternate in pairs to keep chains short.
func (k *qconvTile) reduce() {
	c, blocks := k.c, k.shape.blocks
	start := loadField(c, k.args, qStart)
	for b := range blocks {
		c.VMOVDQU32(operand.Mem{Base: start, Disp: b * lane}, k.acc[0][b])
		for p := 1; p < k.p; p++ {
			c.VMOVDQA32(k.acc[0][b], k.acc[p][b])
		}
	}
	in, step, n, w := loadField(c, k.args, qIn), loadField(c, k.args, qSteps), loadField(c, k.args, qNumSteps), loadField(c, k.args, qWeights)
	at := c.GP64().(reg.GPVirtual)
	window := [2]reg.GPVirtual{c.GP64().(reg.GPVirtual), c.GP64().(reg.GPVirtual)}
	aheadStep := loadField(c, k.args, qAheadStep)

	c.Label(k.label("step"))
	if k.lookAhead() {
		for i := range floatTensors {
			k.fetchPixel(&floatTensors[i], at, window[0])
		}
	}
	c.MOVLQSX(operand.Mem{Base: step}, at)
	c.ADDQ(in, at)
	for q := range 4 {
		for b := range blocks {
			c.VMOVDQU32(operand.Mem{Base: w, Disp: (q*blocks + b) * lane}, k.weight[q][b])
		}
	}
	for first := 0; first < k.p; first += 2 {
		last := min(first+2, k.p)
		for i := first; i < last && k.lookAhead() && i < 4*blocks; i++ {
			c.PREFETCHT1(operand.Mem{Base: k.ahead})
			c.ADDQ(aheadStep, k.ahead)
		}
		for p := first; p < last; p++ {
			c.MOVLQSX(operand.Mem{Base: k.pix, Disp: 4 * p}, window[p-first])
		}
		for q := range 4 {
			for p := first; p < last; p++ {
				x := k.spare[p-first]
				c.VPBROADCASTD(operand.Mem{Base: at, Index: window[p-first], Scale: 1, Disp: 4 * q}, x)
				for b := range blocks {
					c.VPDPBUSD(k.weight[q][b], x, k.acc[p][b])
				}
			}
		}
	}
	c.ADDQ(operand.U32(uint32(4*blocks*lane)), w)
	c.ADDQ(operand.Imm(4), step)
	c.SUBQ(operand.Imm(1), n)
	c.JNE(operand.LabelRef(k.label("step")))
}
