package asm

// Tap is one step of a convolution's reduction: where its input lies and how much of it counts.
type Tap struct {
	Offset int32 // elements from the input of a tile's first pixel
	Quads  int32 // groups of four input channels, 1 to 4 (blocked input only)
}

// ConvCall is a strip of tiles of a direct convolution: Tiles times p consecutive output pixels by
// 16*B output channels, B being the kernel's Blocks. For output pixel x and output channel o = 16*b + l
//
//	Out[b*OutBlock + x*OutPixel + l] = clamp(start + sum over taps t and channels c of
//	        In[t.Offset + 16*x + c] * Weights[...][16*b + l]  + Residual[b*ResidualBlock + x*OutPixel + l])
//
// with 4*t.Quads channels in each tap of a blocked input, and one in a planar input, whose pixels are
// adjacent: In[t.Offset + x]. Weights holds 16*B values for each channel of each tap, in that order. start
// is Bias[o], or the old content of Out when Accumulate is set.
//
// Input that is not finite makes NaN of outputs whose weights for it are zero; see [ConvKernel.Within].
type ConvCall struct {
	In            []float32
	Taps          []Tap // at least one
	Weights       []float32
	Ahead         []float32 // what a later call reads first: brought into the cache meanwhile; never empty
	AheadStep     int       // elements of Ahead to pass for each quad of each tile, at most 32
	Bias          []float32
	Out           []float32
	OutBlock      int       // elements between output channel blocks
	OutPixel      int       // elements between output pixels, of the residual too: 16 where they are adjacent
	Residual      []float32 // added before the clamp; nil for none
	ResidualBlock int
	Limits        [2]float32 // lowest and highest output; infinities for none
	Tiles         int
	Accumulate    bool
}

// ConvKernel is one implementation of ConvCall.
type ConvKernel struct {
	Name   string
	Needs  Features
	Blocks int  // output channel blocks of a tile
	Pixels int  // the most pixels of a tile
	Planar bool // input as planes of single channels rather than blocks of 16
	Run    func(pixels int, c ConvCall)
}

// convGeneric makes the pure Go kernel of a shape.
func convGeneric(name string, blocks, pixels int, planar bool) ConvKernel {
	return ConvKernel{Name: name, Blocks: blocks, Pixels: pixels, Planar: planar,
		Run: func(p int, c ConvCall) {
			for x := range p * c.Tiles {
				convPixelGeneric(&c, x, blocks, planar, nil)
			}
		}}
}

// Within returns a kernel of the shape of k, in plain Go, that leaves out products: channel c of tap t counts for the output
// channels [low, high) of lanes(t, c) alone.
func (k ConvKernel) Within(lanes func(tap, channel int) (low, high int)) ConvKernel {
	within := convGeneric(k.Name, k.Blocks, k.Pixels, k.Planar)
	within.Run = func(p int, c ConvCall) {
		for x := range p * c.Tiles {
			convPixelGeneric(&c, x, k.Blocks, k.Planar, lanes)
		}
	}
	return within
}

// convPixelGeneric computes all channels of output pixel x, of the products that lanes leaves; nil for all.
func convPixelGeneric(c *ConvCall, x, blocks int, planar bool, lanes func(tap, channel int) (low, high int)) {
	var room [4 * 16]float32
	acc := room[:16*blocks]
	copy(acc, c.Bias)
	if c.Accumulate {
		for b := range blocks {
			copy(acc[16*b:16*b+16], c.Out[b*c.OutBlock+x*c.OutPixel:])
		}
	}
	w := c.Weights
	low, high := 0, len(acc)
	for i, t := range c.Taps {
		at, channels := int(t.Offset)+16*x, 4*int(t.Quads)
		if planar {
			at, channels = int(t.Offset)+x, 1
		}
		for ch, v := range c.In[at : at+channels] {
			if lanes != nil {
				low, high = lanes(i, ch)
			}
			sums := acc[low:high]
			for i, wi := range w[low:high] {
				sums[i] += v * wi
			}
			w = w[len(acc):]
		}
	}
	for b := range blocks {
		out := c.Out[b*c.OutBlock+x*c.OutPixel:][:16]
		for l := range out {
			v := acc[16*b+l]
			if c.Residual != nil {
				v += c.Residual[b*c.ResidualBlock+x*c.OutPixel+l]
			}
			out[l] = clamp(v, c.Limits)
		}
	}
}

// clamp limits v, letting NaN pass.
func clamp(v float32, limits [2]float32) float32 {
	if v < limits[0] {
		v = limits[0]
	}
	if v > limits[1] {
		v = limits[1]
	}
	return v
}

// convGenericKernels lists the pure Go kernels, of both input layouts.
func convGenericKernels() []ConvKernel {
	return []ConvKernel{
		convGeneric("conv_f32_generic_1x32", 2, 8, false),
		convGeneric("conv_f32_generic_1x16", 1, 8, false),
		convGeneric("conv_f32_generic_planar_1x32", 2, 8, true),
		convGeneric("conv_f32_generic_planar_1x16", 1, 8, true),
	}
}
