package asm

// QConvCall is a strip of an INT8 convolution or matrix product: len(Pixels) output pixels (or rows) by
// 16*Blocks output channels. For output pixel x and output channel o the exact sum is
//
//	Start[o] + sum over steps t and c < 16 of In[Pixels[x]+Steps[t]+c] * weight(t, c, o)
//
// and Requant says what becomes of it. In holds unsigned bytes. weight(t, c, o), signed, lies at
// Weights[((t*4 + c/4)*16*Blocks + o)*4 + c%4], as VPDPBUSD reads it. Start carries minus the input's zero
// point times the sum of the channel's weights. Sums wrap around in int32, as they do everywhere.
//
// Input lanes beyond a tensor's channels may hold anything: their weights are zero.
type QConvCall struct {
	In      []byte
	Pixels  []int32 // byte offset of each output pixel's window; at least one
	Steps   []int32 // byte offset of each 16 inputs within a window; at least one
	Weights []int8
	Start   []int32
	Requant *Requant
	Packed  []byte // the inputs as QConvKernel.Pack lays them out, in the place of In; nil if it has not
	Ahead   []int8 // weights of a call that follows: kernels may fetch them, evenly over the tiles; nil for none
	Pairs   QConvPairs

	// Streamed says that Packed is more than the L1 cache holds, and that later calls go through it again: what stays is better the
	// weights, which the next tile reads.
	Streamed bool
}

// QConvPairs is what a kernel needs that adds products in pairs of 16 bits, and takes weights of which MostPair holds: an order of the
// inputs of each step, and what is left of weights where no order does. That lies behind the steps' weights, of four inputs and 8 output
// channels each: the weight of input c < 4 and output channel o < 8 of part r lies at 32*r + 4*o + c.
type QConvPairs struct {
	Order []byte  // 16 for each step: weight(t, c, o) is that of input Order[16*t+c]
	Rest  []int32 // byte offset of each four inputs within a window, inside of a step: for the first 8 output channels, then for the last
	Low   int     // how many are for the first
}

// RestBytes is the weights of a part of the rest.
const RestBytes = 32

// MostPair bounds the sum of the positive weights among two of the same output channel that lie at 2i and 2i+1 of a step, and, without
// its sign, that of the negative ones. Times the largest byte it has 16 bits.
const MostPair = 128

// reach returns the offset of the last step of pixel n-1: where tables ascend, as those of all drivers do, the
// farthest one.
func (c *QConvCall) reach(n int) int { return int(c.Pixels[n-1]) + int(c.Steps[len(c.Steps)-1]) }

// QConvKernel is one implementation of QConvCall: a row of a table. Its method Run is a switch rather than
// a function value, so that calls stay on the stack.
type QConvKernel struct {
	Name   string
	Needs  Features
	Blocks int  // output channel blocks of a tile
	Pixels int  // the most pixels of a tile
	Steps  int  // what the steps are a multiple of
	Pairs  bool // takes weights as QConvPairs says, and no others
	level  level
	packs  packing
}

// packing is how a kernel wants inputs laid out; see QConvKernel.Pack.
type packing uint8

const (
	inPlace packing = iota // reads them where they lie
	tiled
)

// InPlace reports whether the kernel reads inputs where they lie, and has no use for QConvCall.Packed.
func (k QConvKernel) InPlace() bool { return k.packs == inPlace }

// Activates reports whether the kernel has Requant's activations: with AVX2 no registers are left for them.
func (k QConvKernel) Activates() bool { return k.level != avx2 && k.level != avxVNNI }

// qconvGeneric computes a strip of any number of blocks in plain Go.
func qconvGeneric(c *QConvCall, blocks int) {
	var room [2 * 16]int32
	acc := room[:16*blocks]
	for x, p := range c.Pixels {
		copy(acc, c.Start[:16*blocks])
		w := c.Weights
		for _, t := range c.Steps {
			in := c.In[int(p)+int(t):][:16]
			for q := 0; q < 16; q += 4 {
				x0, x1, x2, x3 := int32(in[q]), int32(in[q+1]), int32(in[q+2]), int32(in[q+3])
				row := w[:64*blocks]
				for o := range acc {
					v := row[4*o : 4*o+4 : 4*o+4]
					acc[o] += x0*int32(v[0]) + x1*int32(v[1]) + x2*int32(v[2]) + x3*int32(v[3])
				}
				w = w[len(row):]
			}
		}
		for b := range blocks {
			c.Requant.store(acc[16*b:], x, b)
		}
	}
}

// qconvGenericKernels lists the pure Go kernels.
func qconvGenericKernels() []QConvKernel {
	return []QConvKernel{
		{Name: "qconv_u8s8_generic_1x32", Blocks: 2, Pixels: 1, Steps: 1},
		{Name: "qconv_u8s8_generic_1x16", Blocks: 1, Pixels: 1, Steps: 1},
	}
}
