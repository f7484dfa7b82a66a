package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func gemmCase(r *rand.Rand, k GemmKernel, rows, tiles, depth, columns int, residual, accumulate bool) *GemmCall {
	m := rows * tiles
	c := &GemmCall{AStride: depth + 3, K: depth, OutStride: columns + 1, ResidualStride: columns + 5,
		Limits: [2]float32{-4, 5}, Columns: columns, Tiles: tiles, Accumulate: accumulate}
	c.A = normals(r, m*c.AStride)
	c.B = normals(r, depth*16*k.Blocks)
	c.Bias = normals(r, 16*k.Blocks)
	c.Out = normals(r, m*c.OutStride)
	if residual {
		c.Residual = normals(r, m*c.ResidualStride)
	}
	return c
}

func TestGemmKernels(t *testing.T) {
	for _, k := range GemmKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			r := rand.New(rand.NewPCG(1, 2))
			for rows := 1; rows <= k.Rows; rows++ {
				for i, depth := range []int{1, 3, 4, 7, 64, 101} {
					columns := 1 + (5*rows+7*i)%(16*k.Blocks)
					if i == 4 {
						columns = 16 * k.Blocks
					}
					checkGemm(t, k, rows, gemmCase(r, k, rows, 1+i%3, depth, columns, i%2 == 1, i >= 3))
				}
			}
		})
	}
}

func checkGemm(t *testing.T, k GemmKernel, rows int, c *GemmCall) {
	t.Helper()
	before := append([]float32(nil), c.Out...)
	k.Run(rows, *c)
	for at, got := range c.Out {
		i, j := at/c.OutStride, at%c.OutStride
		if j >= c.Columns {
			if got != before[at] {
				t.Fatalf("%d rows: wrote past the columns in row %d", rows, i)
			}
			continue
		}
		want := float64(c.Bias[j])
		if c.Accumulate {
			want = float64(before[at])
		}
		scale := math.Abs(want)
		for l := range c.K {
			term := float64(c.A[i*c.AStride+l]) * float64(c.B[l*16*k.Blocks+j])
			want, scale = want+term, scale+math.Abs(term)
		}
		if c.Residual != nil {
			want += float64(c.Residual[i*c.ResidualStride+j])
		}
		want = min(max(want, float64(c.Limits[0])), float64(c.Limits[1]))
		closeTo(t, fmt.Sprintf("%d rows x %d tiles, k %d: row %d column %d", rows, c.Tiles, c.K, i, j), got, want, scale)
	}
}

func BenchmarkGemmKernels(b *testing.B) {
	peak := FMAPeak()
	for _, k := range GemmKernels() {
		for _, rows := range []int{1, 4, k.Rows} {
			b.Run(fmt.Sprintf("%s/rows=%d", k.Name, rows), func(b *testing.B) {
				runnable(b, k.Needs)
				c := gemmCase(rand.New(rand.NewPCG(5, 6)), k, rows, 2, 256, 16*k.Blocks, false, false)
				flops := 2 * rows * c.Tiles * len(c.B)
				for b.Loop() {
					k.Run(rows, *c)
				}
				rate := float64(flops) * float64(b.N) / float64(b.Elapsed().Nanoseconds())
				b.ReportMetric(rate, "GFLOP/s")
				b.ReportMetric(100*rate/peak, "%peak")
			})
		}
	}
}
