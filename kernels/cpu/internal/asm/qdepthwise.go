package asm

// QDepthwiseKernel is one implementation of the depthwise convolution of one block of 16 channels. Its call
// is a QConvCall of one block, but for the sum, a step being four pixels in a row:
//
//	Start[o] + sum over steps t and j < 4 of In[Pixels[x]+Steps[t]+16*j+o] * Weights[64*t+4*o+j]
//
// It reads all 64 bytes of a step even where weights are zero.
type QDepthwiseKernel struct {
	Name   string
	Needs  Features
	Pixels int // the most pixels of a tile
	level  level
}

func qdepthwiseGeneric(c *QConvCall) {
	for x, p := range c.Pixels {
		acc := [16]int32(c.Start)
		for t, s := range c.Steps {
			in, w := c.In[int(p)+int(s):][:64], c.Weights[64*t:][:64]
			for o := range acc {
				acc[o] += int32(in[o])*int32(w[4*o]) + int32(in[16+o])*int32(w[4*o+1]) +
					int32(in[32+o])*int32(w[4*o+2]) + int32(in[48+o])*int32(w[4*o+3])
			}
		}
		c.Requant.store(acc[:], x, 0)
	}
}

// qdepthwiseGenericKernel is the pure Go kernel.
func qdepthwiseGenericKernel() QDepthwiseKernel {
	return QDepthwiseKernel{Name: "qdepthwise_u8s8_generic", Pixels: 1}
}
