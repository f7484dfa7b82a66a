package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// convCase builds a call with every feature in play on random data.
func convCase(r *rand.Rand, k ConvKernel, pixels, tiles, taps int, residual, accumulate bool) *ConvCall {
	n := pixels * tiles
	step := 16 * (1 + (pixels+tiles)%3)
	c := &ConvCall{OutBlock: step*n + 16, OutPixel: step, ResidualBlock: step*n + 32, Tiles: tiles, Accumulate: accumulate,
		Limits: [2]float32{-3, 4}}
	stride, channels := 16, 0
	if k.Planar {
		stride = 1
	}
	for i := range taps {
		t := Tap{Offset: int32(stride * (7 * i % 5)), Quads: int32(1 + i%4)}
		c.Taps = append(c.Taps, t)
		if k.Planar {
			channels++
		} else {
			channels += 4 * int(t.Quads)
		}
	}
	c.In = normals(r, stride*(n+5))
	c.Weights = normals(r, channels*16*k.Blocks)
	c.Ahead = c.Weights
	c.Bias = normals(r, 16*k.Blocks)
	c.Out = normals(r, c.OutBlock*k.Blocks)
	if residual {
		c.Residual = normals(r, c.ResidualBlock*k.Blocks)
	}
	return c
}

// convNaive computes output channel o of pixel x in float64, and the sum of the magnitudes of its terms.
func convNaive(c *ConvCall, k ConvKernel, x, o int) (value, scale float64) {
	value = float64(c.Bias[o])
	if c.Accumulate {
		value = float64(c.Out[o/16*c.OutBlock+x*c.OutPixel+o%16])
	}
	scale, row := math.Abs(value), 0
	for _, t := range c.Taps {
		at, channels := int(t.Offset)+16*x, 4*int(t.Quads)
		if k.Planar {
			at, channels = int(t.Offset)+x, 1
		}
		for ch := range channels {
			term := float64(c.In[at+ch]) * float64(c.Weights[row*16*k.Blocks+o])
			value, scale, row = value+term, scale+math.Abs(term), row+1
		}
	}
	if c.Residual != nil {
		value += float64(c.Residual[o/16*c.ResidualBlock+x*c.OutPixel+o%16])
	}
	return min(max(value, float64(c.Limits[0])), float64(c.Limits[1])), scale
}

func TestConvKernels(t *testing.T) {
	for _, k := range ConvKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			r := rand.New(rand.NewPCG(1, 2))
			for p := 1; p <= k.Pixels; p++ {
				for variant := range 4 {
					c := convCase(r, k, p, 1+variant%3, 1+3*variant, variant%2 == 1, variant >= 2)
					checkConv(t, k, p, c)
				}
			}
		})
	}
}

func checkConv(t *testing.T, k ConvKernel, pixels int, c *ConvCall) {
	t.Helper()
	before := append([]float32(nil), c.Out...)
	want := *c
	want.Out = before
	k.Run(pixels, *c)
	n := pixels * c.Tiles
	for b := range k.Blocks {
		for i := range c.OutBlock {
			got := c.Out[b*c.OutBlock+i]
			x, lane := i/c.OutPixel, i%c.OutPixel
			if x >= n || lane >= 16 {
				if got != before[b*c.OutBlock+i] {
					t.Fatalf("%d pixels: wrote beside the strip at block %d, %d", pixels, b, i)
				}
				continue
			}
			v, scale := convNaive(&want, k, x, 16*b+lane)
			closeTo(t, fmt.Sprintf("%d pixels x %d tiles: pixel %d channel %d", pixels, c.Tiles, x, 16*b+lane), got, v, scale)
		}
	}
}

// TestConvNaN checks that a clamp does not hide NaN.
func TestConvNaN(t *testing.T) {
	for _, k := range ConvKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			c := convCase(rand.New(rand.NewPCG(3, 4)), k, 1, 1, 2, false, false)
			c.Bias[3] = float32(math.NaN())
			k.Run(1, *c)
			if v := c.Out[3]; v == v {
				t.Fatalf("NaN became %g", v)
			}
		})
	}
}

func BenchmarkConvKernels(b *testing.B) {
	peak := FMAPeak()
	for _, k := range ConvKernels() {
		b.Run(k.Name, func(b *testing.B) {
			runnable(b, k.Needs)
			c := convCase(rand.New(rand.NewPCG(5, 6)), k, k.Pixels, 4, 16, false, false)
			flops := 2 * k.Pixels * c.Tiles * len(c.Weights)
			for b.Loop() {
				k.Run(k.Pixels, *c)
			}
			rate := float64(flops) * float64(b.N) / float64(b.Elapsed().Nanoseconds())
			b.ReportMetric(rate, "GFLOP/s")
			b.ReportMetric(100*rate/peak, "%peak")
		})
	}
}
