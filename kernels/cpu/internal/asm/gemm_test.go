package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// gemmCase makes a call on random numbers; whose residual is another matrix, or with inPlace the output itself.
func gemmCase(r *rand.Rand, k GemmKernel, rows, tiles, depth, columns int, residual, inPlace bool) *GemmCall {
	m := rows * tiles
	c := &GemmCall{AStride: depth + 3, K: depth, OutStride: columns + 1, ResidualStride: columns + 5,
		Limits: [2]float32{-4, 5}, Columns: columns, Tiles: tiles}
	c.A = normals(r, m*c.AStride)
	c.B = normals(r, depth*16*k.Blocks)
	if k.Half {
		c.B = halvesOf(c.B)
	}
	c.Bias = normals(r, 16*k.Blocks)
	c.Out = normals(r, m*c.OutStride)
	switch {
	case inPlace:
		c.Residual, c.ResidualStride = c.Out, c.OutStride
	case residual:
		c.Residual = normals(r, m*c.ResidualStride)
	}
	return c
}

// halvesOf packs numbers in half precision.
func halvesOf(x []float32) []float32 {
	y := make([]float32, len(x)/2)
	for i := range y {
		y[i] = math.Float32frombits(uint32(narrow(x[2*i])) | uint32(narrow(x[2*i+1]))<<16)
	}
	return y
}

// panelOf returns the numbers of a panel.
func panelOf(k GemmKernel, b []float32) []float32 {
	if !k.Half {
		return b
	}
	var x []float32
	for _, v := range b {
		bits := math.Float32bits(v)
		x = append(x, widen(uint16(bits)), widen(uint16(bits>>16)))
	}
	return x
}

// bothOrders runs a test on kernels that take few rows in turn, and on those that do not, whatever this processor likes better.
func bothOrders(t *testing.T, test func(t *testing.T)) {
	likes := inTurn
	defer func() { inTurn = likes }()
	for _, inTurn = range []bool{false, true} {
		t.Run(fmt.Sprintf("in turn %v", inTurn), test)
	}
}

// Kernels on halves give the same bits as those on float32.
func TestGemmHalves(t *testing.T) { bothOrders(t, testGemmHalves) }

func testGemmHalves(t *testing.T) {
	kernels := GemmKernels()
	for _, k := range kernels {
		if !k.Half {
			continue
		}
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			same := kernels[slices.IndexFunc(kernels, func(o GemmKernel) bool { return !o.Half && o.Needs == k.Needs && o.Blocks == k.Blocks })]
			r := rand.New(rand.NewPCG(3, 2))
			for rows := 1; rows <= k.Rows; rows++ {
				c := gemmCase(r, k, rows, 2, 13, 16*k.Blocks-3, rows%2 == 0, rows%3 == 0)
				c.B[1] = math.Float32frombits(0x83ff_7c00) // an infinity, and a number that is not normal
				wide := *c
				wide.B, wide.Out = panelOf(k, c.B), slices.Clone(c.Out)
				if rows%3 == 0 {
					wide.Residual = wide.Out
				}
				k.Run(rows, *c)
				same.Run(rows, wide)
				for i, v := range c.Out {
					if math.Float32bits(v) != math.Float32bits(wide.Out[i]) {
						t.Fatalf("%d rows: element %d = %g, on float32 %g", rows, i, v, wide.Out[i])
					}
				}
			}
		})
	}
}

func TestGemmKernels(t *testing.T) { bothOrders(t, testGemmKernels) }

func testGemmKernels(t *testing.T) {
	for _, k := range GemmKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			r := rand.New(rand.NewPCG(1, 2))
			for rows := 1; rows <= k.Rows; rows++ {
				for i, depth := range []int{1, 3, 4, 7, 64, 101, 256, 257, 511, 771} {
					columns := 1 + (5*rows+7*i)%(16*k.Blocks)
					if i == 4 {
						columns = 16 * k.Blocks
					}
					checkGemm(t, k, rows, gemmCase(r, k, rows, 1+i%3, depth, columns, i%2 == 1, i >= 3 && i != 7))
				}
			}
		})
	}
}

func checkGemm(t *testing.T, k GemmKernel, rows int, c *GemmCall) {
	t.Helper()
	before, residual, b := slices.Clone(c.Out), slices.Clone(c.Residual), panelOf(k, c.B)
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
		scale := math.Abs(want)
		for l := range c.K {
			term := float64(c.A[i*c.AStride+l]) * float64(b[l*16*k.Blocks+j])
			want, scale = want+term, scale+math.Abs(term)
		}
		if residual != nil {
			want += float64(residual[i*c.ResidualStride+j])
		}
		want = min(max(want, float64(c.Limits[0])), float64(c.Limits[1]))
		closeTo(t, fmt.Sprintf("%d rows x %d tiles, k %d: row %d column %d", rows, c.Tiles, c.K, i, j), got, want, scale)
	}
}

// A sum of many terms is one of sums of fewer: what rounding takes from it does not grow with their number.
func TestGemmLongSums(t *testing.T) {
	defer func(likes bool) { inTurn = likes }(inTurn)
	inTurn = false
	for _, k := range GemmKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			const depth = 4096
			c := gemmCase(rand.New(rand.NewPCG(7, 8)), k, k.Rows, 1, depth, 16*k.Blocks, false, false)
			c.Limits = [2]float32{float32(math.Inf(-1)), float32(math.Inf(1))}
			b := panelOf(k, c.B)
			k.Run(k.Rows, *c)
			var signal, noise float64
			for i := range k.Rows {
				for j := range c.Columns {
					want := float64(c.Bias[j])
					for l := range depth {
						want += float64(c.A[i*c.AStride+l]) * float64(b[l*16*k.Blocks+j])
					}
					signal += want * want
					noise += (want - float64(c.Out[i*c.OutStride+j])) * (want - float64(c.Out[i*c.OutStride+j]))
				}
			}
			if sqnr := 10 * math.Log10(signal/noise); sqnr < 130 {
				t.Errorf("%d terms: %.1f dB", depth, sqnr)
			}
		})
	}
}

func BenchmarkGemmKernels(b *testing.B) {
	peak := FMAPeak()
	for _, k := range GemmKernels() {
		for _, rows := range []int{1, 4, k.Rows} {
			b.Run(fmt.Sprintf("%s/rows=%d", k.Name, rows), func(b *testing.B) {
				runnable(b, k.Needs)
				c := gemmCase(rand.New(rand.NewPCG(5, 6)), k, rows, 2, 256, 16*k.Blocks, false, false)
				flops := 2 * rows * c.Tiles * c.K * 16 * k.Blocks
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
