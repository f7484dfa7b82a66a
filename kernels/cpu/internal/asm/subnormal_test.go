package asm

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Subnormal numbers are zeros to the sums of vector kernels, and to nothing that runs after them.
func TestSubnormals(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	subnormal := func(x []float32) {
		for i := range x {
			x[i] = 0x1p-130
		}
	}
	after := func(t *testing.T, out []float32, bias []float32, columns int) {
		t.Helper()
		for i := range columns {
			if out[i] != bias[i] {
				t.Fatalf("a sum of subnormal numbers times 2^40 is %g, want the bias %g", out[i], bias[i])
			}
		}
		if n := 1 + r.Uint32N(2); math.Float32frombits(n)*4 != math.Float32frombits(4*n) {
			t.Fatal("subnormal numbers are zeros after the kernel as well")
		}
	}
	for _, k := range ConvKernels() {
		if k.Needs == 0 {
			continue
		}
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			c := convCase(r, k, 1, 1, 3, false, false)
			c.Limits = [2]float32{-inf32, inf32}
			subnormal(c.In)
			for i := range c.Weights {
				c.Weights[i] = 0x1p40
			}
			k.Run(1, *c)
			after(t, c.Out, c.Bias, 16)
		})
	}
	for _, k := range GemmKernels() {
		if k.Needs == 0 || k.Half {
			continue
		}
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			c := gemmCase(r, k, 1, 1, 9, 16, false, false)
			c.Limits = [2]float32{-inf32, inf32}
			subnormal(c.A)
			for i := range c.B {
				c.B[i] = 0x1p40
			}
			k.Run(1, *c)
			after(t, c.Out, c.Bias, 16)
		})
	}
}
