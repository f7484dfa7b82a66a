package asm

import (
	"math/rand/v2"
	"testing"
)

// windowCase builds a call on one channel block; the weights are those of a depthwise convolution, whose kernels know no rows.
func windowCase(r *rand.Rand, pixels, steps, variant int) *QConvCall {
	c := qconvCase(r, 1, pixels, steps, variant&^128)
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

func TestQColumnKernels(t *testing.T) {
	for _, k := range QColumnKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			r := rand.New(rand.NewPCG(1, 2))
			for rows := 1; rows <= k.Rows; rows++ {
				for variant := range 32 {
					checkColumns(t, k, r, rows, 1+variant%3, variant&^8)
				}
			}
		})
	}
}

// checkColumns compares a band of random data with the definition.
func checkColumns(t *testing.T, k QColumnKernel, r *rand.Rand, rows, columns, variant int) {
	t.Helper()
	c := QColumnCall{InRow: 16 * (2*columns + 8), InColumn: 32, Rows: rows, Columns: columns,
		Weights: qweights(r, 64*k.KernelRows*k.Chunks), Start: make([]int32, 16)}
	c.In = qbytes(r, c.InRow*((rows-1)*k.StrideRows+k.KernelRows))
	// The epilogue sees the band as so many pixels in a row, then as rows.
	c.Requant = requantCase(r, rows*columns, 1, variant)
	c.Requant.OutPixel, c.Requant.ResidualPixel = 16*columns, 16*columns
	k.Run(&c)
	for y := range rows {
		for x := range columns {
			var sums [16]int32
			for o := range sums {
				for i := range 4 * k.KernelRows * k.Chunks {
					at := (y*k.StrideRows+i/(4*k.Chunks))*c.InRow + x*c.InColumn + 16*(i%(4*k.Chunks)) + o
					sums[o] += int32(c.In[at]) * int32(c.Weights[i/4*64+4*o+i%4])
				}
			}
			want := *c.Requant
			want.OutPixel, want.ResidualPixel = 16, 16
			pixel := y*columns + x
			if want.Float != nil {
				want.Float = make([]float32, len(want.Float))
			} else {
				want.Out = make([]byte, len(want.Out))
			}
			want.store(sums[:], pixel, 0)
			for o := range 16 {
				if want.Float != nil && want.Float[16*pixel+o] != c.Requant.Float[16*pixel+o] ||
					want.Float == nil && want.Out[16*pixel+o] != c.Requant.Out[16*pixel+o] {
					t.Fatalf("%d x %d pixels, variant %d: pixel %d,%d channel %d differs", rows, columns, variant, y, x, o)
				}
			}
		}
	}
}
