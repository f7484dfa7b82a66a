package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// weightsCase returns a panel of random integers, with zeros or a base.
func weightsCase(r *rand.Rand, bits, blocks, octets, group int, zeros bool) Weights {
	n := 16 * blocks
	groups := (octets + group - 1) / group
	w := Weights{B: qbytes(r, n*octets*bits), Octets: octets, Group: group, Scale: normals(r, groups*n)}
	if zeros {
		w.Zero = make([]float32, groups*n)
		for i := range w.Zero {
			w.Zero[i] = float32(r.IntN(16))
		}
	}
	if bits == 4 && !zeros {
		w.Base = -8
	}
	return w
}

// TestWeightsKernels compares unpacked panels with the definition bit by bit, and products with a loop.
func TestWeightsKernels(t *testing.T) {
	for _, k := range WeightsKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			r := rand.New(rand.NewPCG(1, 2))
			for i, size := range [][2]int{{1, 1}, {2, 1}, {3, 2}, {9, 4}, {16, 16}, {5, 100}} {
				for _, blocks := range []int{1, 2} {
					for _, zeros := range []bool{false, true} {
						w := weightsCase(r, k.Bits, blocks, size[0], size[1], zeros)
						checkUnpacked(t, k, blocks, w)
						for rows := 1; rows <= k.Rows; rows++ {
							checkWeights(t, r, k, rows, blocks, 1+(7*rows+5*i)%(16*blocks), w)
							checkWeights(t, r, k, rows, blocks, 16*blocks, w)
						}
					}
				}
			}
		})
	}
}

func checkUnpacked(t *testing.T, k WeightsKernel, blocks int, w Weights) {
	t.Helper()
	n := 16 * blocks
	out := make([]float32, 8*w.Octets*n)
	k.Unpack(blocks, w, out)
	for i, got := range out {
		if want := w.at(k.Bits, blocks, i/n, i%n); got != want {
			t.Fatalf("%d blocks, %d octets in groups of %d: row %d column %d is %v, want %v", blocks, w.Octets, w.Group, i/n, i%n, got, want)
		}
	}
}

func checkWeights(t *testing.T, r *rand.Rand, k WeightsKernel, rows, blocks, columns int, w Weights) {
	t.Helper()
	depth := 8 * w.Octets
	c := GemmCall{A: normals(r, rows*(depth+3)), AStride: depth + 3, K: depth, Bias: normals(r, 16*blocks), Out: make([]float32, rows*(columns+1)),
		OutStride: columns + 1, Columns: columns, Tiles: 1}
	k.Multiply(rows, blocks, w, c)
	for at, got := range c.Out {
		i, j := at/c.OutStride, at%c.OutStride
		if j == columns {
			if got != 0 {
				t.Fatalf("wrote past the columns in row %d", i)
			}
			continue
		}
		want := float64(c.Bias[j])
		scale := math.Abs(want)
		for l := range depth {
			term := float64(c.A[i*c.AStride+l]) * float64(w.at(k.Bits, blocks, l, j))
			want, scale = want+term, scale+math.Abs(term)
		}
		closeTo(t, fmt.Sprintf("%d rows, %d blocks, %d octets: row %d column %d", rows, blocks, w.Octets, i, j), got, want, scale)
	}
}
