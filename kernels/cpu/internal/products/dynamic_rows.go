package products

import (
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/quantised"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// middle is the zero point that sums of rows with ranges of their own start from, whatever theirs are: what they differ by from it is
// small where a row reaches as far to either side, and is taken back with the row's scale.
const middle = 128

// rowRanges is what a dynamic product has besides for rows with ranges of their own. The kernels of products have constants for
// columns alone, so that they give the sums times the scales of columns, which then become, row by row while they are in the L1 cache,
//
//	y = (y + (128 - zero of the row) * sums of columns) * scale of the row
type rowRanges struct {
	k        *dynamicKernel
	quantise *quantised.Rows
	sums     []float32 // of each column's weights, times its scale
	vec      asm.VecKernel
	unit     int // rows of a piece
	job      *work.Job[rowRangesRun]
}

// rowRangesRun is the state of one run.
type rowRangesRun struct {
	r           *rowRanges
	y           []float32
	scale, less []float32
	scratch     []byte // a row of each worker
}

// rowPart is how many elements of a product are scaled in one piece.
const rowPart = 1 << 14

func newRowRanges(k *dynamicKernel, isa asm.Features) *rowRanges {
	r := &rowRanges{k: k, quantise: quantised.NewRows(k.M, k.K, k.by, isa), sums: make([]float32, k.N), vec: work.VecKernel(isa), unit: max(1, rowPart/k.N)}
	for n := range r.sums {
		r.sums[n] = float32(-k.gemm.start[n]/middle) * k.gemm.scale[n]
	}
	r.job = work.NewJob((*rowRangesRun).do)
	return r
}

// launch computes the product of x in y, by way of the call's bytes.
func (r *rowRanges) launch(loop work.Parallel, call *GemmInt8Call, x, y []float32, constants []byte) {
	k := r.k
	size := work.RoundUp64(4 * k.M)
	scale, less := numeric.View[float32](constants[:size])[:k.M], numeric.View[float32](constants[size:])[:k.M]
	r.quantise.Run(loop, call.A, x, scale, less)
	call.Epilogue.Float = work.Tensor4{Data: y, Image: k.N}
	k.gemm.Run(loop, call)
	r.job.Run(loop, max(1, k.workers), work.CeilDiv(k.M, r.unit), rowRangesRun{r, y, scale, less, constants[2*size:]})
}

func (run *rowRangesRun) do(u, worker int) {
	r, n := run.r, run.r.k.N
	more := numeric.View[float32](run.scratch[worker*work.RoundUp64(4*n):])[:n]
	for row := u * r.unit; row < min((u+1)*r.unit, r.k.M); row++ {
		y := run.y[row*n:][:n]
		if less := run.less[row : row+1]; less[0] != 0 {
			r.vec.Binary(asm.Mul, more, r.sums, less)
			r.vec.Binary(asm.Add, y, y, more)
		}
		r.vec.Binary(asm.Mul, y, y, run.scale[row:row+1])
	}
}
