package asm

// DepthwiseCall is a field of tiles of a depthwise convolution in one block of 16 channels: Rows rows of
// Tiles times p output pixels. For row y, pixel x and lane l
//
//	Out[y*OutRow + x*OutPixel + l] = clamp(Bias[l] + sum over t of In[y*InRow + Taps[t].Offset + 16*x + l] * Weights[16*t + l]
//	                                 + Residual[y*ResidualRow + x*OutPixel + l])
type DepthwiseCall struct {
	In          []float32
	InRow       int
	Taps        []Tap // at least one; Quads does not matter
	Weights     []float32
	Bias        []float32
	Out         []float32
	OutRow      int
	OutPixel    int       // elements between output pixels, of the residual too: 16 where they are adjacent
	Residual    []float32 // added before the clamp; nil for none
	ResidualRow int
	Limits      [2]float32 // lowest and highest output; infinities for none
	Tiles, Rows int
}

// DepthwiseKernel is one implementation of DepthwiseCall.
type DepthwiseKernel struct {
	Name   string
	Needs  Features
	Pixels int // the most pixels of a tile
	Run    func(pixels int, c DepthwiseCall)
}

func depthwiseGeneric(pixels int, c DepthwiseCall) {
	var acc [16]float32
	for y := range c.Rows {
		for x := range pixels * c.Tiles {
			copy(acc[:], c.Bias)
			for t, tap := range c.Taps {
				in := c.In[y*c.InRow+int(tap.Offset)+16*x:][:16]
				for l, w := range c.Weights[16*t : 16*t+16] {
					acc[l] += in[l] * w
				}
			}
			out := c.Out[y*c.OutRow+x*c.OutPixel:][:16]
			for l := range out {
				v := acc[l]
				if c.Residual != nil {
					v += c.Residual[y*c.ResidualRow+x*c.OutPixel+l]
				}
				out[l] = clamp(v, c.Limits)
			}
		}
	}
}

func depthwiseGenericKernels() []DepthwiseKernel {
	return []DepthwiseKernel{{Name: "depthwise_f32_generic", Pixels: 8, Run: depthwiseGeneric}}
}
