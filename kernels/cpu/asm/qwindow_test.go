package asm

import (
	"math/rand/v2"
	"testing"
)

// windowCase builds a call on one channel block; the weights are those of a depthwise convolution.
func windowCase(r *rand.Rand, pixels, steps, variant int) *QConvCall {
	c := qconvCase(r, 1, pixels, steps, variant)
	c.In = append(c.In, qbytes(r, 48)...)
	c.Weights = c.Weights[:64*steps]
	return c
}

// windowNaive sums term over the steps of each pixel and channel.
func windowNaive(c *QConvCall, term func(at, step, channel int) int64) {
	for x, p := range c.Pixels {
		var sums [16]int32
		for o := range sums {
			sum := int64(c.Start[o])
			for t, s := range c.Steps {
				sum += term(int(p+s), t, o)
			}
			sums[o] = int32(sum)
		}
		c.Requant.store(sums[:], x, 0)
	}
}

func TestQDepthwiseKernels(t *testing.T) {
	for _, k := range QDepthwiseKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			testStrips(t, k.Run, func(c *QConvCall) {
				windowNaive(c, func(at, step, o int) (sum int64) {
					for j := range 4 {
						sum += int64(c.In[at+16*j+o]) * int64(c.Weights[64*step+4*o+j])
					}
					return sum
				})
			}, windowCase)
		})
	}
}

func TestQPoolKernels(t *testing.T) {
	for _, k := range QPoolKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			testStrips(t, k.Average, func(c *QConvCall) {
				windowNaive(c, func(at, _, o int) int64 { return int64(c.In[at+o]) })
			}, windowCase)
			testStrips(t, k.Max, func(c *QConvCall) {
				for x, p := range c.Pixels {
					for o := range 16 {
						m := byte(0)
						for _, s := range c.Steps {
							m = max(m, c.In[int(p+s)+o])
						}
						c.Requant.Out[x*c.Requant.OutPixel+o] = m
					}
				}
			}, func(r *rand.Rand, pixels, steps, variant int) *QConvCall {
				return windowCase(r, pixels, steps, variant&^16)
			})
		})
	}
}
