package asm

import "math"

// GemmCall is a strip of tiles of a matrix product: Tiles times p rows by 16*B columns, B being the
// kernel's Blocks. For row i and column j < Columns
//
//	Out[i*OutStride + j] = clamp(Bias[j] + sum over l < K of A[i*AStride + l] * B[l*16*B + j]
//	                       + Residual[i*ResidualStride + j])
//
// B is a packed panel, 16*B values for each l, and Bias has 16*B values, whatever Columns is. A panel of halves has two in each
// float32, the first in its lower bits. Residual may be Out itself: a product goes on so from what it has of its first l. The sum is one
// of the sums of 256 terms or fewer, which are rounded less often than a running one.
type GemmCall struct {
	A              []float32
	AStride        int
	K              int
	B              []float32
	Bias           []float32
	Out            []float32
	OutStride      int
	Residual       []float32 // added before the clamp; nil for none
	ResidualStride int
	Limits         [2]float32 // lowest and highest output; infinities for none
	Columns        int        // 1 to 16*B: what is read of Residual and written
	Tiles          int
	Ahead          []float32 // read soon after the call: kernels may fetch it, evenly over the tiles; nil for none
}

// inTurn says that few rows take b from several places in turn: see readsInTurn.
var inTurn = readsInTurn()

// GemmKernel is one implementation of GemmCall.
type GemmKernel struct {
	Name   string
	Needs  Features
	Blocks int  // panel width in units of 16 columns
	Rows   int  // the most rows of a tile
	Half   bool // the panel is of halves
	Run    func(rows int, c GemmCall)
}

// gemmGeneric makes the pure Go kernel of a panel width.
func gemmGeneric(name string, blocks, rows int, half bool) GemmKernel {
	row := gemmRowGeneric
	if half {
		row = gemmRowHalfGeneric
	}
	return GemmKernel{Name: name, Blocks: blocks, Rows: rows, Half: half,
		Run: func(rows int, c GemmCall) {
			for i := range rows * c.Tiles {
				row(&c, i, blocks)
			}
		}}
}

// gemmRowHalfGeneric widens the panel part by part.
func gemmRowHalfGeneric(c *GemmCall, i, blocks int) {
	step := 16 * blocks
	gemmRow(c, i, step, func(l, n int) []float32 {
		wide := make([]float32, n*step)
		for at := range wide {
			from := l*step + at
			wide[at] = widen(uint16(math.Float32bits(c.B[from/2]) >> (16 * (from % 2))))
		}
		return wide
	})
}

func gemmRowGeneric(c *GemmCall, i, blocks int) {
	step := 16 * blocks
	gemmRow(c, i, step, func(l, n int) []float32 { return c.B[l*step:][:n*step] })
}

// partSteps is how many terms are summed up before they are added to the others.
const partSteps = 256

// gemmRow computes row i, of panels of so many columns: panel returns n steps from l on.
func gemmRow(c *GemmCall, i, columns int, panel func(l, n int) []float32) {
	var sumRoom, partRoom [2 * 16]float32
	sum, part := sumRoom[:columns], partRoom[:columns]
	copy(part, c.Bias)
	a := c.A[i*c.AStride:][:c.K]
	for l := 0; l < c.K; l += partSteps {
		n := min(partSteps, c.K-l)
		b := panel(l, n)
		for k, v := range a[l : l+n] {
			for j, w := range b[k*columns:][:columns] {
				part[j] += v * w
			}
		}
		for j, v := range part {
			sum[j] += v
		}
		clear(part)
	}
	out := c.Out[i*c.OutStride:][:c.Columns]
	for j := range out {
		v := sum[j]
		if c.Residual != nil {
			v += c.Residual[i*c.ResidualStride+j]
		}
		out[j] = clamp(v, c.Limits)
	}
}

// gemmGenericKernels lists the pure Go kernels.
func gemmGenericKernels() []GemmKernel {
	return []GemmKernel{
		gemmGeneric("gemm_f32_generic_1x32", 2, 8, false), gemmGeneric("gemm_f32_generic_1x16", 1, 8, false),
		gemmGeneric("gemm_half_generic_1x32", 2, 8, true), gemmGeneric("gemm_half_generic_1x16", 1, 8, true),
	}
}
