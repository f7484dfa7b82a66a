package products

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// Sizes of a unit of a matrix product.
const (
	panelColumns = 32        // most columns of a full panel
	MaxDepth     = 2048      // most of k in one chunk, if several tiles read it: 256 KiB of a panel
	gemmRows     = 140       // most rows of a unit when there are several
	minDepth     = 256       // least of k in one chunk, if there is as much
	gemmBlock    = 128 << 10 // most floats of A in a chunk of a unit: half of an L2 cache of 1 MiB, with panels of B in the rest
	gemmGroup    = 1 << 20   // floats of B that the blocks of rows take turns with: they stay in the L3 cache
)

// PackedB is the right-hand matrix of a product, [K][N], in panels of 32 columns (the last one of 16, if that is
// enough) or, where the kernels have so many registers only, of 16, each panel's values of one k adjacent: float32, or halves,
// two in the place of one.
type PackedB struct {
	K, N    int
	data    []float32
	packed  int                // numbers in the place of a float32
	panel   int                // columns of a full panel
	kernels [2]*asm.GemmKernel // by the number of blocks less one: those of one instruction set
	layout  asm.LayoutKernel
	narrow  asm.HalfKernel
}

// NewPackedB returns room for a matrix of k rows and n columns, for kernels that features allow.
func NewPackedB(k, n int, features asm.Features) (*PackedB, error) {
	return newPackedB(k, n, features, false)
}

// NewHalfB returns room for a matrix whose numbers half precision has.
func NewHalfB(k, n int, features asm.Features) (*PackedB, error) {
	return newPackedB(k, n, features, true)
}

func newPackedB(k, n int, features asm.Features, half bool) (*PackedB, error) {
	if k < 1 || n < 1 {
		return nil, fmt.Errorf("matrix of %d rows and %d columns is empty", k, n)
	}
	b := &PackedB{K: k, N: n, packed: 1, layout: work.LayoutKernel(features), narrow: work.HalfKernel(features), kernels: kernelsOf(features, half)}
	if half {
		b.packed = 2
	}
	b.data = work.AlignedFloats(k * work.BlocksOf(n) * work.Lanes / b.packed)
	for _, kernel := range b.kernels {
		if kernel != nil {
			b.panel = max(b.panel, kernel.Blocks*work.Lanes)
		}
	}
	return b, nil
}

// Kernels returns the kernels that features allow, by their number of blocks less one: those of the best instruction
// set alone, one block always among them.
func Kernels(features asm.Features) [2]*asm.GemmKernel { return kernelsOf(features, false) }

func kernelsOf(features asm.Features, half bool) [2]*asm.GemmKernel {
	var found [2]*asm.GemmKernel
	kernels := asm.GemmKernels()
	var best *asm.GemmKernel
	for i := range kernels {
		kernel := &kernels[i]
		if kernel.Half != half || !features.Has(kernel.Needs) {
			continue
		}
		if best == nil {
			best = kernel
		}
		if kernel.Needs == best.Needs {
			found[kernel.Blocks-1] = kernel
		}
	}
	return found
}

// Pack stores the matrix whose element (k, n) is src[k*stride+n], or src[n*stride+k] when it is transposed.
func (b *PackedB) Pack(src []float32, stride int, transposed bool) {
	var wide []float32 // a panel before it is narrowed
	if b.packed > 1 {
		wide = make([]float32, b.K*b.panel)
	}
	for n := 0; n < b.N; n += b.panel {
		panel := b.chunk(n, 0, b.K)
		if b.packed == 1 {
			b.packPanel(panel, n, src, stride, transposed)
			continue
		}
		b.packPanel(wide, n, src, stride, transposed)
		b.narrow.Narrow(numeric.View[uint16](numeric.Bytes(panel)), wide[:b.packed*len(panel)])
	}
}

// packPanel stores the panel that begins at column n as float32.
func (b *PackedB) packPanel(panel []float32, n int, src []float32, stride int, transposed bool) {
	width := b.width(n)
	columns := min(b.N-n, width)
	if !transposed {
		for k := range b.K {
			row := panel[k*width : (k+1)*width]
			copy(row, src[k*stride+n:][:columns])
			clear(row[columns:])
		}
		return
	}
	for at := 0; at < width; at += work.Lanes {
		rows := min(max(columns-at, 0), work.Lanes)
		from := src
		if rows > 0 {
			from = src[(n+at)*stride:]
		}
		b.layout.Interleave(panel[at:], width, from, stride, rows, b.K)
	}
}

// width returns the columns, padding included, of the panel that begins at column n.
func (b *PackedB) width(n int) int { return min(b.panel, (b.N-n+work.Lanes-1)/work.Lanes*work.Lanes) }

// chunk returns what of the panel that begins at column n has so many k from k on, or fewer at its end.
func (b *PackedB) chunk(n, k, depth int) []float32 {
	width := b.width(n)
	return b.data[(n*b.K+k*width)/b.packed:][:min(depth, b.K-k)*width/b.packed]
}

// GemmF32Call is the operands of one product: Out = clamp(A*B + Bias + Residual).
type GemmF32Call struct {
	M              int
	A              []float32 // [M][K], rows AStride apart
	AStride        int
	B              *PackedB
	Bias           []float32 // a value for each column; nil for none
	Out            []float32 // [M][N], rows OutStride apart
	OutStride      int
	Residual       []float32 // [M][N], rows ResidualStride apart; nil for none
	ResidualStride int
	Limits         [2]float32 // the clamp of the result; see NoLimits
	Workers        int        // goroutines to use, at least 1
	Room           []float32  // for a copy of A, of as many floats as RoomF32 says; nil for none
	// After, if set, is called with the first row and column of each finished piece and its size, for activations
	// that the kernel does not know. Pieces do not overlap.
	After func(row, column, rows, columns int)
}

// gemmRun is the state of one product.
type gemmRun struct {
	call        GemmF32Call
	rows        int // rows of a unit
	panels      int // panels of a unit
	rowBlocks   int
	panelBlocks int
	taper       work.Taper            // of panels, where all rows are in one tile
	lastBias    [panelColumns]float32 // bias of the last panel, padded
}

var gemmJob = work.NewJob((*gemmRun).do)

// Gemm computes a product.
func Gemm(parallel work.Parallel, call *GemmF32Call) {
	if call.M == 0 {
		return
	}
	r := gemmRun{call: *call}
	if len(call.Room) > 0 {
		rows := gemmCopy{call.Room, call.A, spread(call.B.K), call.AStride, call.M, call.B.K}
		rows.run(parallel, call.Workers)
		r.call.A, r.call.AStride = rows.to, rows.toStride
	}
	if call.Bias != nil {
		copy(r.lastBias[:], call.Bias[(call.B.N-1)/call.B.panel*call.B.panel:])
	}
	if call.M <= call.B.kernels[0].Rows {
		r.taper = work.Taper{Pieces: work.CeilDiv(call.B.N, call.B.panel), Workers: call.Workers}
		gemmJob.InOrder(parallel, max(1, call.Workers), r.taper.Units(), r)
		return
	}
	r.cut()
	gemmJob.Run(parallel, max(1, call.Workers), r.rowBlocks*r.panelBlocks, r)
}

// cut chooses the rows and panels of a unit: rows that keep A in the L2 cache while the panels pass, panels that stay in the
// L3 cache while the rows do, and, for several workers, about four units for each. Panels are divided before rows: dividing
// rows makes every worker read all of B.
func (r *gemmRun) cut() {
	c := &r.call
	panels := (c.B.N + c.B.panel - 1) / c.B.panel
	r.rows = work.Evenly(c.M, min(c.M, gemmRows))
	r.rowBlocks = (c.M + r.rows - 1) / r.rows
	r.panels = panels
	if r.rowBlocks > 1 {
		r.panels = min(panels, max(4, gemmGroup/(c.B.K*c.B.panel)))
	}
	if c.Workers > 1 {
		parts := min(panels, max(1, (4*c.Workers+r.rowBlocks-1)/r.rowBlocks))
		r.panels = min(r.panels, (panels+parts-1)/parts)
		if units := r.rowBlocks * ((panels + r.panels - 1) / r.panels); units < 2*c.Workers && c.M >= 2*work.Lanes {
			r.rows = max(work.Lanes, work.Evenly(c.M, r.rows/2))
			r.rowBlocks = (c.M + r.rows - 1) / r.rows
		}
	}
	r.panelBlocks = (panels + r.panels - 1) / r.panels
}

// do computes unit u. Units of the same panels follow each other.
func (r *gemmRun) do(u, _ int) {
	width := r.panels * r.call.B.panel
	row, rows, column := 0, r.call.M, 0
	if r.taper.Pieces > 0 {
		column, width = r.taper.Unit(u)
		column, width = column*r.call.B.panel, width*r.call.B.panel
	} else {
		row, column = u%r.rowBlocks*r.rows, u/r.rowBlocks*width
		rows = min(r.rows, r.call.M-row)
	}
	columns := min(width, r.call.B.N-column)
	r.unit(row, column, rows, columns)
	if r.call.After != nil {
		r.call.After(row, column, rows, columns)
	}
}

// noBias is the bias of a panel without one.
var noBias [panelColumns]float32

// unit computes rows x columns of the result from (row, column) on.
func (r *gemmRun) unit(row, column, rows, columns int) {
	r.call.part(row, column, rows, columns, r.lastBias[:])
}

// Columns computes all rows of some columns of a product without a bias, by the caller alone: of steps that are too short to be
// shared, or shared otherwise. The first column is a multiple of the panels' [PackedB.Panel].
func (c *GemmF32Call) Columns(column, columns int) {
	if c.M > 0 {
		c.part(0, column, c.M, columns, nil)
	}
}

// Panel returns the columns of a full panel.
func (b *PackedB) Panel() int { return b.panel }

// part computes rows x columns of the result from (row, column) on; lastBias is the bias of the last panel, padded.
func (c *GemmF32Call) part(row, column, rows, columns int, lastBias []float32) {
	depth := max(minDepth, gemmBlock/rows)
	if rows > c.B.kernels[0].Rows {
		depth = min(depth, MaxDepth)
	}
	depth = work.Evenly(c.B.K, min(c.B.K, depth))
	for k := 0; k < c.B.K; k += depth {
		for n := column; n < column+columns; n += c.B.panel {
			width := c.B.width(n)
			call := asm.GemmCall{
				A: c.A[row*c.AStride+k:], AStride: c.AStride, K: min(depth, c.B.K-k),
				B:    c.B.chunk(n, k, depth),
				Bias: noBias[:],
				Out:  c.Out[row*c.OutStride+n:], OutStride: c.OutStride,
				Limits:  programs.NoLimits(),
				Columns: min(width, c.B.N-n),
			}
			if next := n + c.B.panel; next < column+columns {
				call.Ahead = c.B.chunk(next, k, depth)
			} else if k+depth < c.B.K {
				call.Ahead = c.B.chunk(column, k+depth, depth)
			}
			switch {
			case k > 0:
				call.Residual, call.ResidualStride = call.Out, c.OutStride
			case c.Residual != nil:
				call.Residual, call.ResidualStride = c.Residual[row*c.ResidualStride+n:], c.ResidualStride
			}
			switch {
			case c.Bias == nil || k > 0:
			case width > call.Columns:
				call.Bias = lastBias
			default:
				call.Bias = c.Bias[n:]
			}
			if k+depth >= c.B.K {
				call.Limits = c.Limits
			}
			Strip(&call, c.B.kernels[width/work.Lanes-1], rows)
		}
	}
}

// Strip computes rows consecutive rows of one panel in tiles of nearly equal size.
func Strip(call *asm.GemmCall, k *asm.GemmKernel, rows int) {
	tiles := (rows + k.Rows - 1) / k.Rows
	small := rows / tiles
	big := rows - small*tiles // tiles of one row more
	ahead := call.Ahead
	for tiles > 0 {
		p, n := small, tiles
		if big > 0 {
			p, n = small+1, big
		}
		n = min(n, max(1, work.CallSteps/(call.K*p*k.Blocks)))
		call.Tiles, call.Ahead = n, ahead[:len(ahead)*n/tiles]
		k.Run(p, *call)
		ahead = ahead[len(call.Ahead):]
		tiles -= n
		big = max(0, big-n)
		if tiles == 0 {
			return
		}
		call.A = call.A[n*p*call.AStride:]
		call.Out = call.Out[n*p*call.OutStride:]
		if call.Residual != nil {
			call.Residual = call.Residual[n*p*call.ResidualStride:]
		}
	}
}
