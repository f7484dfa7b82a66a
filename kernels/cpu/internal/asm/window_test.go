package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// windowTaps returns n taps within 16*(n+1) elements.
func windowTaps(n int) []Tap {
	var taps []Tap
	for i := range n {
		taps = append(taps, Tap{Offset: int32(16 * (5 * i % (n + 1)))})
	}
	return taps
}

func TestDepthwiseKernels(t *testing.T) {
	for _, k := range DepthwiseKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			r := rand.New(rand.NewPCG(1, 2))
			for p := 1; p <= k.Pixels; p++ {
				for _, n := range []int{1, 2, 9, 25} {
					c := &DepthwiseCall{Taps: windowTaps(n), Tiles: 1 + n%3, Rows: 1 + p%3, Limits: [2]float32{-2, 3}}
					width := p * c.Tiles * 16
					c.OutPixel = 16 * (1 + (p+n)%3)
					field := p * c.Tiles * c.OutPixel
					c.InRow, c.OutRow, c.ResidualRow = width+16*n+16, field+32, field+48
					c.In, c.Weights, c.Bias = normals(r, c.Rows*c.InRow), normals(r, 16*n), normals(r, 16)
					c.Out = normals(r, c.Rows*c.OutRow)
					if n%2 == 1 {
						c.Residual = normals(r, c.Rows*c.ResidualRow)
					}
					checkDepthwise(t, k, p, c)
				}
			}
		})
	}
}

func checkDepthwise(t *testing.T, k DepthwiseKernel, p int, c *DepthwiseCall) {
	t.Helper()
	before := append([]float32(nil), c.Out...)
	k.Run(p, *c)
	for at, got := range c.Out {
		y, place := at/c.OutRow, at%c.OutRow
		pixel, lane := place/c.OutPixel, place%c.OutPixel
		if pixel >= p*c.Tiles || lane >= 16 {
			if got != before[at] {
				t.Fatalf("%d pixels: wrote beside the tiles of row %d", p, y)
			}
			continue
		}
		x := 16*pixel + lane
		want := float64(c.Bias[x%16])
		scale := math.Abs(want)
		for i, tap := range c.Taps {
			term := float64(c.In[y*c.InRow+int(tap.Offset)+x]) * float64(c.Weights[16*i+x%16])
			want, scale = want+term, scale+math.Abs(term)
		}
		if c.Residual != nil {
			want += float64(c.Residual[y*c.ResidualRow+place])
		}
		want = min(max(want, float64(c.Limits[0])), float64(c.Limits[1]))
		closeTo(t, fmt.Sprintf("%d pixels, %d taps: row %d element %d", p, len(c.Taps), y, x), got, want, scale)
	}
}

func TestPoolKernels(t *testing.T) {
	for _, k := range PoolKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			r := rand.New(rand.NewPCG(1, 2))
			for p := 1; p <= k.Pixels; p++ {
				for _, n := range []int{1, 2, 9} {
					c := &PoolCall{Taps: windowTaps(n), Tiles: 1 + n%3, Rows: 1 + p%3}
					width := p * c.Tiles
					c.InRow, c.OutRow, c.FactorRow = 16*(width+n+1), 16*(width+2), width+1
					c.In, c.Factors = normals(r, c.Rows*c.InRow), normals(r, c.Rows*c.FactorRow)
					c.Out = normals(r, c.Rows*c.OutRow)
					checkPool(t, c, p, func() { k.Max(p, *c) }, true)
					checkPool(t, c, p, func() { k.Average(p, *c) }, false)
				}
			}
		})
	}
}

func checkPool(t *testing.T, c *PoolCall, p int, run func(), maximum bool) {
	t.Helper()
	before := append([]float32(nil), c.Out...)
	run()
	for at, got := range c.Out {
		y, x := at/c.OutRow, at%c.OutRow
		if x >= 16*p*c.Tiles {
			if got != before[at] {
				t.Fatalf("%d pixels: wrote past the tiles of row %d", p, y)
			}
			continue
		}
		most, sum, scale := math.Inf(-1), 0.0, 0.0
		for _, tap := range c.Taps {
			v := float64(c.In[y*c.InRow+int(tap.Offset)+x])
			most, sum, scale = max(most, v), sum+v, scale+math.Abs(v)
		}
		want := most
		if !maximum {
			f := float64(c.Factors[y*c.FactorRow+x/16])
			want, scale = sum*f, scale*math.Abs(f)
		}
		closeTo(t, fmt.Sprintf("%d pixels, %d taps, max %v: row %d element %d", p, len(c.Taps), maximum, y, x), got, want, scale)
	}
}

func TestPoolSum(t *testing.T) {
	for _, k := range PoolKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			for _, n := range []int{0, 1, 7, 8, 9, 49, 5000} {
				in := normals(rand.New(rand.NewPCG(1, 2)), 16*n)
				out := [16]float32{3: 5}
				k.Sum(&out, in, 0.25)
				for l, got := range out {
					want, scale := 0.0, 5.0
					if l == 3 {
						want = 5
					}
					for i := range n {
						want, scale = want+float64(in[16*i+l])/4, scale+math.Abs(float64(in[16*i+l]))
					}
					closeTo(t, fmt.Sprintf("%d vectors, lane %d", n, l), got, want, scale)
				}
			}
		})
	}
}
