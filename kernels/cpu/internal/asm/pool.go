package asm

// PoolCall is a field of tiles of a pooling in one block of 16 channels: Rows rows of Tiles times p output
// pixels. For row y, pixel x and lane l, over the taps t of In[y*InRow + Taps[t].Offset + 16*x + l],
// Out[y*OutRow + 16*x + l] is the maximum, NaN being the greatest, or the sum times Factors[y*FactorRow + x].
type PoolCall struct {
	In          []float32
	InRow       int
	Taps        []Tap // at least one; Quads does not matter
	Out         []float32
	OutRow      int
	Factors     []float32
	FactorRow   int
	Tiles, Rows int
}

// PoolKernel is one implementation of PoolCall, and of the average over whole planes.
type PoolKernel struct {
	Name    string
	Needs   Features
	Pixels  int // the most pixels of a tile
	Max     func(pixels int, c PoolCall)
	Average func(pixels int, c PoolCall)
	// Sum adds to out factor times the sum of the vectors of 16 in in.
	Sum func(out *[16]float32, in []float32, factor float32)
}

func poolMaxGeneric(pixels int, c PoolCall) {
	poolGeneric(pixels, c, func(acc, v float32) float32 {
		if v > acc || v != v {
			return v
		}
		return acc
	})
}

func poolAverageGeneric(pixels int, c PoolCall) {
	poolGeneric(pixels, c, func(acc, v float32) float32 { return acc + v })
	for y := range c.Rows {
		for x := range pixels * c.Tiles {
			out := c.Out[y*c.OutRow+16*x:][:16]
			for l := range out {
				out[l] *= c.Factors[y*c.FactorRow+x]
			}
		}
	}
}

// poolGeneric folds f over the taps of every window.
func poolGeneric(pixels int, c PoolCall, f func(acc, v float32) float32) {
	for y := range c.Rows {
		for x := range pixels * c.Tiles {
			out := c.Out[y*c.OutRow+16*x:][:16]
			for t, tap := range c.Taps {
				in := c.In[y*c.InRow+int(tap.Offset)+16*x:][:16]
				if t == 0 {
					copy(out, in)
					continue
				}
				for l, v := range in {
					out[l] = f(out[l], v)
				}
			}
		}
	}
}

func poolSumGeneric(out *[16]float32, in []float32, factor float32) {
	var sum [16]float32
	for ; len(in) >= 16; in = in[16:] {
		for l, v := range in[:16] {
			sum[l] += v
		}
	}
	for l := range out {
		out[l] += sum[l] * factor
	}
}

func poolGenericKernels() []PoolKernel {
	return []PoolKernel{{Name: "pool_f32_generic", Pixels: 8, Max: poolMaxGeneric, Average: poolAverageGeneric, Sum: poolSumGeneric}}
}
