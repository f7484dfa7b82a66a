package products

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/quantised"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// GemmInt8 is a matrix product of M rows of bytes with a constant matrix of signed bytes, packed, and the
// epilogue of quantised layers, ready to run. It is a convolution to the inner kernel: a row is a pixel,
// 16 of K a step.
type GemmInt8 struct {
	*PackedInt8
	m      int
	cfg    GemmInt8Config
	pixels []int32
	rows   int        // rows of a unit
	packed int        // bytes of all rows as the kernels want them laid out; 0 where they read them as they lie
	groups int        // ranges of panels
	taper  work.Taper // of panels, where rows are few
	copied bool
	job    *work.Job[gemmInt8Run]
}

// GemmInt8Config chooses how a GemmInt8 runs.
type GemmInt8Config struct {
	AStride int // elements between rows of A; 0 for K
	Workers int
	// Program becomes of the sums, times their scales, and stands alone: it is computed on those of a panel while they are in the
	// L1 cache. Nil for none.
	Program *programs.Program
}

// PackedInt8 is the constant matrix of a GemmInt8, in the order in which the kernels read it, and the constants of the
// epilogue.
type PackedInt8 struct {
	n, k    int
	depth   int             // K rounded up to a step
	kernel  asm.QConvKernel // for these columns, whatever the weights
	panels  []quantised.Panel
	weights []int8
	start   []int32
	scale   []float32
	bias    []float32
}

// PackInt8Config says what is packed, and for which kernels.
type PackInt8Config struct {
	InZero     int32 // zero point of the input bytes, 0 to 255
	Transposed bool  // weights are [N][K], else [K][N]
	Features   asm.Features
}

// gemmInt8Rows is the most rows of a unit.
const gemmInt8Rows = 11 * 16

// streamedBytes of rows, laid out, do not stay in the L1 cache beside the weights of a panel.
const streamedBytes = 32 << 10

// fewPanels are those for which rows are not worth being laid out beforehand.
const fewPanels = 4

// PackInt8 packs a matrix of integer weights minus their zero point, between -255 and 255; scale [N],
// input scale times weight scale; bias [N] as real values (nil for none).
func PackInt8(n, k int, weights []int16, scale, bias []float32, cfg PackInt8Config) (*PackedInt8, error) {
	if n < 1 || k < 1 {
		return nil, fmt.Errorf("matrix of %dx%d is empty", k, n)
	}
	if err := quantised.Check(n, n*k, weights, scale, bias, cfg.InZero); err != nil {
		return nil, err
	}
	g := &PackedInt8{n: n, k: k, depth: work.RoundUp16(k)}
	g.pack(weights, scale, bias, cfg)
	return g, nil
}

// NewGemmInt8 returns the product of m rows.
func NewGemmInt8(m int, b *PackedInt8, cfg GemmInt8Config) (*GemmInt8, error) {
	if m < 1 {
		return nil, fmt.Errorf("matrix product of %dx%d by %dx%d is empty", m, b.k, b.k, b.n)
	}
	g := planGemmInt8(m, b, b.kernel, cfg)
	cfg = g.cfg
	for i := range b.panels {
		if p := &b.panels[i]; !p.Alike(&b.panels[0]) || len(p.Steps) != b.depth/16 {
			g.packed = 0 // there is room, but for the steps of all panels
		}
	}
	stride := cfg.AStride
	if g.copied {
		stride = g.depth
	}
	if stride > math.MaxInt32/gemmInt8Rows {
		return nil, fmt.Errorf("rows of %d bytes are beyond 2 GiB", stride)
	}
	for row := range g.rows {
		g.pixels = append(g.pixels, int32(row*stride))
	}
	want := 1
	if cfg.Workers > 1 {
		want = 4 * cfg.Workers
	}
	blocks := g.rowBlocks()
	g.groups = min(len(g.panels), (want+blocks-1)/blocks)
	if m <= g.kernel.Pixels {
		g.taper = work.Taper{Pieces: len(g.panels), Workers: cfg.Workers}
		g.groups = g.taper.Units()
	}
	g.job = work.NewJob((*gemmInt8Run).do)
	return g, nil
}

// planGemmInt8 returns the product of m rows by a matrix that need not be packed yet: what its workspace follows from.
func planGemmInt8(m int, b *PackedInt8, kernel asm.QConvKernel, cfg GemmInt8Config) *GemmInt8 {
	cfg.Workers = max(1, cfg.Workers)
	if cfg.AStride == 0 {
		cfg.AStride = b.k
	}
	g := &GemmInt8{PackedInt8: b, m: m, cfg: cfg, rows: min(m, gemmInt8Rows/kernel.Pixels*kernel.Pixels), copied: b.depth != b.k}
	if b.k%(kernel.Steps*work.Lanes) == 0 && b.n >= fewPanels*2*work.Lanes {
		g.packed = kernel.PackedSize(m, b.k/16)
	}
	return g
}

// gemmInt8Workspace returns the bytes that a product needs, whatever its constants.
func gemmInt8Workspace(p Product, isa asm.Features, cfg GemmInt8Config) int {
	kernel := quantised.ConvKernel(isa, min(2, work.BlocksOf(p.N)))
	return planGemmInt8(p.M, &PackedInt8{n: p.N, k: p.K, depth: work.RoundUp16(p.K)}, kernel, cfg).Workspace()
}

// pack lays out weights and the epilogue's constants.
func (g *PackedInt8) pack(weights []int16, scale, bias []float32, cfg PackInt8Config) {
	at := func(n, k int) int16 { return weights[k*g.n+n] }
	if cfg.Transposed {
		at = func(n, k int) int16 { return weights[n*g.k+k] }
	}
	columns := make([]int16, 0, len(weights))
	for n := range g.n {
		for k := range g.k {
			columns = append(columns, at(n, k))
		}
	}
	g.start, g.scale, g.bias = quantised.Constants(g.n, columns, scale, bias, cfg.InZero)
	var steps []quantised.Step
	for first := 0; first < g.k; first += 16 {
		steps = append(steps, quantised.Step{Offset: int32(first), Weight: func(n, i int) int16 {
			if first+i >= g.k {
				return 0
			}
			return columns[n*g.k+first+i]
		}})
	}
	for b, blocks := 0, work.BlocksOf(g.n); b < blocks; {
		p := quantised.Panel{Kernel: quantised.ConvKernel(cfg.Features, min(2, blocks-b)), Block: b}
		b += p.Kernel.Blocks
		g.panels = append(g.panels, p)
	}
	g.kernel = g.panels[0].Kernel
	g.weights = quantised.Room(g.panels, len(steps))
	for i := range g.panels {
		p := &g.panels[i]
		g.weights = p.Pack(g.weights, steps, g.n)
		p.ShareSteps(&g.panels[0])
	}
}

func (g *GemmInt8) rowBlocks() int { return (g.m + g.rows - 1) / g.rows }

// tailBytes is the room for one unit's part of a panel that ends beyond N: bytes or float32, and residual.
const tailBytes = gemmInt8Rows * 2 * work.Lanes

// Workspace returns the bytes that Run needs.
func (g *GemmInt8) Workspace() int { return g.packed + g.cfg.Workers*g.scratch() }

func (g *GemmInt8) scratch() int {
	n := 0
	if g.copied {
		n = g.rows * g.depth
	}
	if p := g.cfg.Program; p != nil {
		return n + g.rows*2*work.Lanes*(4+p.ElementSize())
	}
	return n + 2*tailBytes
}

// GemmInt8Call is the operands of one product.
type GemmInt8Call struct {
	A []byte // [M][K], rows AStride apart
	// Epilogue's tensors are matrices [M][N] here: Image is the elements between rows, Plane is not used.
	Epilogue quantised.Epilogue
	Result   []byte // [M][N] elements of what the program makes, if there is one, in the place of the epilogue's tensors
	// Where the zero point of A and its scale are known no earlier: what sums start from, and what they are multiplied by, of
	// every column and those that fill the last block; nil for those that were packed.
	Start []int32
	Scale []float32
	// Where each row of A has a range of its own: these, as asm.Requant has them, and what the weights of each column add up to, times
	// their scale, with those that fill the last block; nil where A has one.
	Rows      []float32
	Sums      []float32
	Workspace []byte
}

// gemmInt8Run is the state of one Run.
type gemmInt8Run struct {
	gemm *GemmInt8
	call GemmInt8Call
}

// Run computes the product. Several runs of one GemmInt8 may go on at the same time.
func (g *GemmInt8) Run(parallel work.Parallel, call *GemmInt8Call) {
	r := gemmInt8Run{g, *call}
	if r.call.Start == nil {
		r.call.Start, r.call.Scale = g.start, g.scale
	}
	if g.packed > 0 {
		gemmPackJob.Run(parallel, g.cfg.Workers, work.CeilDiv(g.m, g.panels[0].Kernel.Pixels), r)
	}
	if g.taper.Pieces > 0 {
		g.job.InOrder(parallel, g.cfg.Workers, g.groups, r)
		return
	}
	g.job.Run(parallel, g.cfg.Workers, g.rowBlocks()*g.groups, r)
}

var gemmPackJob = work.NewJob((*gemmInt8Run).layOut)

// layOut lays out the rows of a tile.
func (r *gemmInt8Run) layOut(u, _ int) {
	g, p := r.gemm, &r.gemm.panels[0]
	first := u * p.Kernel.Pixels
	call := asm.QConvCall{In: r.call.A[first*g.cfg.AStride:], Pixels: g.pixels[:min(p.Kernel.Pixels, g.m-first)], Steps: p.Steps}
	p.Kernel.Pack(r.call.Workspace[p.Kernel.PackedSize(first, len(p.Steps)):], &call)
}

func (r *gemmInt8Run) do(u, worker int) {
	g := r.gemm
	scratch := r.call.Workspace[g.packed+worker*g.scratch():][:g.scratch()]
	group, first := u%g.groups, u/g.groups*g.rows
	rows := min(g.rows, g.m-first)
	a := r.call.A[first*g.cfg.AStride:]
	if g.copied {
		for i := range rows {
			copy(scratch[i*g.depth:], a[i*g.cfg.AStride:][:g.k])
		}
		a, scratch = scratch[:rows*g.depth], scratch[g.rows*g.depth:]
	}
	from, to := group*len(g.panels)/g.groups, (group+1)*len(g.panels)/g.groups
	if g.taper.Pieces > 0 {
		from, to = g.taper.Unit(group)
		to += from
	}
	for i := from; i < to; i++ {
		p := &g.panels[i]
		if g.cfg.Program != nil {
			r.programmed(p, a, first, rows, scratch)
			continue
		}
		if (p.Block+p.Kernel.Blocks)*work.Lanes > g.n {
			r.tail(p, a, first, rows, scratch)
			continue
		}
		r.panel(p, a, first, rows, r.requant(p, first))
	}
}

// requant returns the epilogue of a panel from a row on.
func (r *gemmInt8Run) requant(p *quantised.Panel, row int) asm.Requant {
	e := &r.call.Epilogue
	q := asm.Requant{Activation: e.Activation, ClampInner: e.ClampInner, Inner: e.Inner, Between: e.Between, Outer: e.Outer, OutScale: e.OutScale, OutZero: e.OutZero, Flip: e.Flip,
		OutBlock: work.Lanes, Scale: r.call.Scale[p.Block*work.Lanes:], Bias: r.gemm.bias[p.Block*work.Lanes:]}
	column := p.Block * work.Lanes
	if e.Columns != nil {
		q.OutScale, q.OutZero = e.Columns.Range.ScaleAt(column), quantised.OffsetAt(e.Columns, column)
	}
	if r.call.Rows != nil {
		q.Rows, q.Sums = r.call.Rows[2*row:], r.call.Sums[column:]
	}
	if e.Residual.Data != nil {
		q.Residual, q.ResidualPixel, q.ResidualBlock = e.Residual.Data[row*e.Residual.Image+column:], e.Residual.Image, work.Lanes
		q.ResidualScale, q.ResidualZero = e.ResidualScale, float32(e.ResidualZero)
	}
	if e.Addend.Data != nil {
		q.Addend, q.ResidualPixel, q.ResidualBlock = e.Addend.Data[row*e.Addend.Image+column:], e.Addend.Image, work.Lanes
	}
	switch {
	case r.gemm.cfg.Program != nil:
	case e.Float.Data != nil:
		q.Float, q.OutPixel = e.Float.Data[row*e.Float.Image+column:], e.Float.Image
	default:
		q.Out, q.OutPixel = e.Out.Data[row*e.Out.Image+column:], e.Out.Image
	}
	return q
}

// programmed computes a panel as float32 in scratch, the program on that, and stores the columns that there are.
func (r *gemmInt8Run) programmed(p *quantised.Panel, a []byte, first, rows int, scratch []byte) {
	g, program := r.gemm, r.gemm.cfg.Program
	width, column, size := p.Kernel.Blocks*work.Lanes, p.Block*work.Lanes, program.ElementSize()
	floats, results := numeric.View[float32](scratch[:4*rows*width]), scratch[4*rows*width:][:rows*width*size]
	requant := r.requant(p, first)
	requant.Float, requant.OutPixel = floats, width
	r.panel(p, a, first, rows, requant)
	program.Apart(floats, results)
	to, part := r.call.Result[(first*g.n+column)*size:], min(width, g.n-column)*size
	if part == 2*work.Lanes {
		for i := range rows {
			*(*[2 * work.Lanes]byte)(to[i*g.n*size:]) = *(*[2 * work.Lanes]byte)(results[i*width*size:])
		}
		return
	}
	for i := range rows {
		copy(to[i*g.n*size:][:part], results[i*width*size:])
	}
}

// panel computes rows of a panel; first is the one that a begins with.
func (r *gemmInt8Run) panel(p *quantised.Panel, a []byte, first, rows int, requant asm.Requant) {
	g, o := r.gemm, p.Block*work.Lanes
	size := len(p.Steps) * 256 * p.Kernel.Blocks
	next := g.weights[p.Weights+size:]
	next = next[:min(size, len(next))]
	call := asm.QConvCall{In: a, Steps: p.Steps, Weights: g.weights[p.Weights:], Start: r.call.Start[o:], Ahead: next}
	if g.packed > 0 {
		call.Packed = r.call.Workspace[p.Kernel.PackedSize(first, len(p.Steps)):g.packed]
		call.Streamed = len(call.Packed) > streamedBytes
	}
	p.Strip(call, g.pixels[:rows], requant)
}

// tail computes the panel that ends beyond N a few rows at a time into scratch, since the kernel writes whole
// panels, and copies the columns that there are.
func (r *gemmInt8Run) tail(p *quantised.Panel, a []byte, first, rows int, scratch []byte) {
	g := r.gemm
	width := p.Kernel.Blocks * work.Lanes
	columns := g.n - p.Block*work.Lanes
	whole := r.requant(p, first)
	stride := g.cfg.AStride
	if g.copied {
		stride = g.depth
	}
	var floats, addend [32 * 2 * work.Lanes]float32
	most := len(floats) / width
	out, residual := scratch[:tailBytes], scratch[tailBytes:]
	for row := 0; row < rows; row += most {
		n := min(most, rows-row)
		part := whole
		part.OutPixel = width
		part.Rows = part.Rows[min(2*row, len(part.Rows)):]
		if whole.Residual != nil {
			for i := range n {
				copy(residual[i*width:][:columns], whole.Residual[(row+i)*whole.ResidualPixel:])
			}
			part.Residual, part.ResidualPixel = residual, width
		}
		if whole.Addend != nil {
			for i := range n {
				copy(addend[i*width:][:columns], whole.Addend[(row+i)*whole.ResidualPixel:])
			}
			part.Addend, part.ResidualPixel = addend[:], width
		}
		if whole.Float != nil {
			part.Float = floats[:]
		} else {
			part.Out = out
		}
		r.panel(p, a[row*stride:], first+row, n, part)
		for i := range n {
			at := (row + i) * whole.OutPixel
			if whole.Float != nil {
				copy(whole.Float[at:][:columns], floats[i*width:])
			} else {
				copy(whole.Out[at:][:columns], out[i*width:])
			}
		}
	}
}
