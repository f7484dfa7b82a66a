package products

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/quantised"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// rowRanges is what a dynamic product has besides for rows with ranges of their own: what quantises these, and what the weights of each
// column add up to, by which the zero points of rows are taken back (asm.Requant).
type rowRanges struct {
	quantise *quantised.Rows
	sums     []float32 // as GemmInt8Call has them
}

func newRowRanges(k *dynamicKernel, isa asm.Features) *rowRanges {
	r := &rowRanges{quantised.NewRows(k.M, k.K, k.by, isa), make([]float32, len(k.gemm.scale))}
	if k.by == graph.RowsWithZero { // or else no zero point differs
		for n := range r.sums {
			r.sums[n] = float32(-k.gemm.start[n]/quantised.Middle) * k.gemm.scale[n]
		}
	}
	return r
}

// rowBytes is the room that the range of a row takes.
const rowBytes = 2 * 4

// run quantises the rows of a call.
func (r *rowRanges) run(loop work.Parallel, call *GemmInt8Call, x []float32, ranges []byte) {
	call.Rows, call.Sums = numeric.View[float32](ranges), r.sums
	r.quantise.Run(loop, call.A, x, call.Rows)
}
