package asm

// QPoolKernel is one implementation of the pooling of one block of 16 channels. Calls are QConvCalls of one
// block without weights, a step being one pixel.
type QPoolKernel struct {
	Name  string
	Needs Features
	level level
}

// averageGeneric computes, for pixel x and channel o, Start[o] + sum over steps t of In[Pixels[x]+Steps[t]+o],
// and the epilogue of that.
func averageGeneric(c *QConvCall) {
	for x, p := range c.Pixels {
		acc := [16]int32(c.Start)
		for _, s := range c.Steps {
			for o, v := range c.In[int(p)+int(s):][:16] {
				acc[o] += int32(v)
			}
		}
		c.Requant.store(acc[:], x, 0)
	}
}

// maxGeneric computes the maximum of In[Pixels[x]+Steps[t]+o] over steps t into Requant.Out; the rest of the
// epilogue does not apply.
func maxGeneric(c *QConvCall) {
	for x, p := range c.Pixels {
		var acc [16]byte
		for _, s := range c.Steps {
			for o, v := range c.In[int(p)+int(s):][:16] {
				acc[o] = max(acc[o], v)
			}
		}
		copy(c.Requant.Out[x*c.Requant.OutPixel:], acc[:])
	}
}

// qpoolGenericKernel is the pure Go kernel.
func qpoolGenericKernel() QPoolKernel { return QPoolKernel{Name: "qpool_u8_generic"} }
