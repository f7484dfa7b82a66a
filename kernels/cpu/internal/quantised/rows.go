package quantised

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// Rows quantises the rows of a matrix to unsigned bytes, each by its own range, as [graph.RoundRows] does.
type Rows struct {
	by      graph.RowRange
	rows, n int
	unit    int // rows of a piece
	vec     asm.VecKernel
	quant   asm.QuantKernel
	job     *work.Job[rowsRun]
}

// rowsRun is the state of one run.
type rowsRun struct {
	r    *Rows
	x    []float32
	q    []byte
	to   []float32
	back []float32 // in the place of to
}

// NewRows prepares the quantisation of so many rows of n elements.
func NewRows(rows, n int, by graph.RowRange, isa asm.Features) *Rows {
	r := &Rows{by: by, rows: rows, n: n, unit: max(1, dynamicPart/max(1, n)), vec: work.VecKernel(isa), quant: work.QuantKernel(isa)}
	r.job = work.NewJob((*rowsRun).do)
	return r
}

// Middle is the zero point that sums of rows with ranges of their own start from, whatever theirs are: what they differ by from it is
// small where a row reaches as far to either side.
const Middle = 128

// Run quantises x into q, and writes to of each row by how much its zero point is less than Middle, and its scale. Several runs may go
// on at the same time; none allocates.
func (r *Rows) Run(parallel work.Parallel, q []byte, x []float32, to []float32) {
	r.job.Each(parallel, work.CeilDiv(r.rows, r.unit), rowsRun{r: r, x: x, q: q, to: to})
}

// Round writes to y, by way of q, what the bytes of x stand for.
func (r *Rows) Round(parallel work.Parallel, y, x []float32, q []byte) {
	r.job.Each(parallel, work.CeilDiv(r.rows, r.unit), rowsRun{r: r, x: x, q: q, back: y})
}

func (run *rowsRun) do(u, _ int) {
	r := run.r
	for row := u * r.unit; row < min((u+1)*r.unit, r.rows); row++ {
		x, q := run.x[row*r.n:][:r.n], run.q[row*r.n:][:r.n]
		low, high := extremes(&r.vec, x)
		var to asm.Quantization
		to.Scale, to.Zero = r.by.Of(min(low, 0), max(high, 0))
		toBytes(&r.quant, q, x, to)
		if run.back != nil {
			r.quant.Dequantize(run.back[row*r.n:][:r.n], q, to)
			continue
		}
		run.to[2*row], run.to[2*row+1] = float32(Middle-to.Zero), to.Scale
	}
}
