package asm

import "math"

// GemmCall is a strip of tiles of a matrix product: Tiles times p rows by 16*B columns, B being the
// kernel's Blocks. For row i and column j < Columns
//
//	Out[i*OutStride + j] = clamp(start + sum over l < K of A[i*AStride + l] * B[l*16*B + j]
//	                       + Residual[i*ResidualStride + j])
//
// start is Bias[j], or the old content of Out when Accumulate is set. B is a packed panel, 16*B values for
// each l, and Bias has 16*B values, whatever Columns is. A panel of halves has two in each float32, the first in its lower bits.
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
	Accumulate     bool
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

// gemmRowHalfGeneric widens a row of the panel after the other.
func gemmRowHalfGeneric(c *GemmCall, i, blocks int) {
	var room [2 * 16]float32
	row := *c
	a, out := c.A[i*c.AStride:], c.Out[i*c.OutStride:][:c.Columns]
	row.K, row.A, row.B, row.Out, row.Residual, row.Limits = 1, nil, room[:16*blocks], out, nil, [2]float32{float32(math.Inf(-1)), float32(math.Inf(1))}
	for k := range c.K {
		for j := range row.B {
			row.B[j] = widen(uint16(math.Float32bits(c.B[(k*16*blocks+j)/2]) >> (16 * (j % 2))))
		}
		row.A = a[k:]
		if k == c.K-1 {
			row.Limits = c.Limits
			if c.Residual != nil {
				row.Residual = c.Residual[i*c.ResidualStride:]
			}
		}
		gemmRowGeneric(&row, 0, blocks)
		row.Accumulate = true
	}
}

func gemmRowGeneric(c *GemmCall, i, blocks int) {
	var room [2 * 16]float32
	acc := room[:16*blocks]
	out := c.Out[i*c.OutStride:][:c.Columns]
	if c.Accumulate {
		copy(acc, out)
	} else {
		copy(acc, c.Bias)
	}
	b := c.B
	for _, v := range c.A[i*c.AStride:][:c.K] {
		for j, w := range b[:len(acc)] {
			acc[j] += v * w
		}
		b = b[len(acc):]
	}
	for j := range out {
		v := acc[j]
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
