package attention

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/products"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// Sizes of what is in the caches at a time.
const (
	blockKeys   = 256     // keys of a block, of heads that are not large
	blockFloats = 1 << 16 // most elements of a block's keys and values
	tileStrips  = 5       // strips of the product's rows in a tile
	unitRows    = 512     // most rows that a unit's keys are packed for
	fewRows     = 8       // most rows of a group of heads that are computed without packing
)

// Attention is an attention for one shape, instruction set and number of workers.
type Attention struct {
	Shape
	rows    rows
	workers int
	few     bool

	block  int // keys of a block
	tile   int // rows of a tile
	tiles  int // of a set
	unit   int // tiles of a unit, those of the sets by turns
	units  int // of the heads of keys of one batch
	panel  int // columns of a panel
	gemm   [2]*asm.GemmKernel
	attend asm.AttendKernel
	vec    asm.VecKernel
	layout asm.LayoutKernel
	room   room

	after float32 // the factor of a score, its softcap aside, that a mask is added to
	gain  float32 // that of the differences of what is kept as maxima
}

// New returns the attention of a shape. What it computes does not depend on the number of workers.
func New(s Shape, isa asm.Features, workers int) (*Attention, error) {
	if s.Batch < 1 || s.Queries < 1 || s.Keys < 1 || s.Size < 1 || s.ValueSize < 1 || s.Heads < 1 || s.KVHeads < 1 {
		return nil, fmt.Errorf("an operand is empty")
	}
	if !(s.Scale > 0) || !(s.Softcap >= 0) {
		return nil, fmt.Errorf("scale %g and softcap %g: one is negative", s.Scale, s.Softcap)
	}
	if s.Heads%s.KVHeads != 0 {
		return nil, fmt.Errorf("%d heads of queries do not share %d of keys evenly", s.Heads, s.KVHeads)
	}
	if s.Reach > s.Keys+s.Queries {
		s.Reach = 0 // sees all of them; its sums with places would overflow
	}
	a := &Attention{Shape: s, rows: s.rowsOf(), workers: max(1, workers), gemm: products.Kernels(isa),
		attend: work.AttendKernel(isa), vec: work.VecKernel(isa), layout: work.LayoutKernel(isa)}
	a.few = a.rows.sets*a.rows.rows <= fewRows
	strip := 0
	for _, k := range a.gemm {
		if k != nil {
			a.panel, strip = max(a.panel, k.Blocks*work.Lanes), k.Rows
		}
	}
	a.cut(strip)
	a.room = a.plan()
	if a.after = s.Scale; s.Softcap != 0 {
		a.after = s.Softcap
	}
	if a.gain = a.after; s.Masked {
		a.gain = 1
	}
	return a, nil
}

// cut chooses blocks, tiles and units. Tiles are whole strips of nearly equal size, fewer of them where each row sees
// keys of its own.
func (a *Attention) cut(strip int) {
	a.block = max(work.Lanes, min(blockKeys, blockFloats/(a.Size+a.ValueSize)/work.Lanes*work.Lanes))
	a.block = min(a.block, (a.Keys+work.Lanes-1)/work.Lanes*work.Lanes)
	strips := tileStrips
	if s := &a.Shape; a.rows.step > 0 && s.moving() {
		strips /= 2
	}
	a.tile = min(a.rows.rows, strips*work.Evenly(a.rows.rows, min(strip, a.rows.rows)))
	a.tiles = work.CeilDiv(a.rows.rows, a.tile)
	all := a.tiles * a.rows.sets
	heads := a.Batch * a.KVHeads
	a.unit = max(1, min(all, unitRows/a.tile))
	if heads*work.CeilDiv(all, a.unit) < 4*a.workers && a.workers > 1 {
		a.unit = max(1, min(a.unit, heads*all/(4*a.workers)))
	}
	a.units = work.CeilDiv(all, a.unit)
}

// room is how the workspace is divided, in elements. Each worker has scratch; parts are what workers make of few rows.
type room struct {
	keys, values, scores, mask, straddle, high, sum, factor, weights int // where they begin in a worker's scratch
	worker                                                           int
	parts                                                            int // where they begin
	all                                                              int
}

// plan divides the workspace.
func (a *Attention) plan() room {
	var r room
	place := func(n int) int {
		at := r.worker
		r.worker += work.RoundUp64(n)
		return at
	}
	tile, state := a.tile, a.unit*a.tile
	if a.few {
		tile, state = a.attend.Rows, a.attend.Rows
		r.straddle, r.weights = place(a.attend.Rows*a.ValueSize), place(a.chunks())
	} else {
		r.keys, r.values = place(a.block*a.Size), place(a.block*work.BlocksOf(a.ValueSize)*work.Lanes)
		r.straddle = place(max(work.Lanes*a.Size, a.ValueSize))
	}
	r.scores = place(tile * a.stride())
	if a.Masked && (a.Mask.Bool || a.Mask.Column == 0) {
		r.mask = place(tile * a.stride())
	}
	r.high, r.sum, r.factor = place(state), place(state), place(tile)
	r.parts = r.worker * a.workers
	r.all = r.parts
	if a.few {
		r.all += a.partials() * a.partial()
	}
	return r
}

// stride is the elements between two rows of scores: not a power of two.
func (a *Attention) stride() int { return a.block + work.Lanes }

// Workspace returns the elements that Run needs.
func (a *Attention) Workspace() int { return a.room.all }

// scratch is what one worker works in.
type scratch struct {
	keys, values, scores, mask, straddle, high, sum, factor, weights []float32
}

func (a *Attention) scratch(c *Call, worker int) scratch {
	all := c.Workspace[worker*a.room.worker:][:a.room.worker]
	return scratch{all[a.room.keys:], all[a.room.values:], all[a.room.scores:], all[a.room.mask:], all[a.room.straddle:],
		all[a.room.high:], all[a.room.sum:], all[a.room.factor:], all[a.room.weights:]}
}

// run is the state of one run.
type run struct {
	*Attention
	call Call
}

var (
	tilesJob   = work.NewJob((*run).tilesUnit)
	writeJob   = work.NewJob((*run).writeUnit)
	fewJob     = work.NewJob((*run).fewUnit)
	combineJob = work.NewJob((*run).combine)
)

// Run computes the attention.
func (a *Attention) Run(parallel work.Parallel, call *Call) {
	r := run{a, *call}
	heads := a.Batch * a.KVHeads
	if a.few {
		fewJob.Run(parallel, a.workers, heads*a.chunks(), r)
		if a.chunks() > 1 {
			combineJob.Run(parallel, a.workers, heads, r)
		}
		return
	}
	if a.WriteK || a.WriteV {
		writeJob.Run(parallel, a.workers, heads*work.CeilDiv(a.Keys, a.block), r)
	}
	tilesJob.Run(parallel, a.workers, heads*a.units, r)
}

// writeUnit writes a block of keys and values of one head to the outputs.
func (r *run) writeUnit(u, _ int) {
	heads := r.Batch * r.KVHeads
	from := u / heads * r.block
	r.write(&r.call, u%heads/r.KVHeads, u%r.KVHeads, from, min(from+r.block, r.Keys))
}

var negInf = float32(math.Inf(-1))

// lowest is as long as a block.
var lowest = func() (x [blockKeys]float32) {
	for i := range x {
		x[i] = negInf
	}
	return x
}()

// maskOf returns the rows of a mask for the first of them and keys from j on, and their stride; what is not a matrix of
// floats is made one.
func (a *Attention) maskOf(c *Call, s *scratch, at, row, rows, j, n int) ([]float32, int) {
	m := &a.Mask
	if !m.Bool && m.Column == 1 {
		return c.Mask[at+j:], row
	}
	count, stride := rows, a.stride()
	if row == 0 {
		count, stride = 1, 0
	}
	for i := range count {
		dst, from := s.mask[i*stride:][:n], at+i*row
		switch {
		case m.Bool && m.Column == 1:
			a.attend.Mask(dst, c.Bools[from+j:][:n])
			continue
		case m.Bool:
			a.attend.Mask(dst[:1], c.Bools[from:][:1])
		default:
			dst[0] = c.Mask[from]
		}
		for i := range dst[1:] {
			dst[1+i] = dst[0]
		}
	}
	return s.mask, stride
}

// view is what some rows of scores are about.
type view struct {
	mask, maskRow int // where the mask of the first row begins, and the elements between rows
	place         int // of the first row
	from          int // the key of the first column
	head          int // of the queries of the first row
}

// softmax turns rows of scores into shares of what was seen up to now; see asm.AttendCall.
func (a *Attention) softmax(c *Call, s *scratch, call asm.AttendCall, at view) {
	for i := range call.Rows {
		row := call.Scores[i*call.Stride:][:call.Width]
		if a.Softcap != 0 {
			a.vec.Unary(asm.Affine, row, row, a.Scale/a.Softcap, 0)
			a.vec.Unary(asm.Tanh, row, row, 0, 0)
		}
		if a.Back > 0 {
			if hidden := at.place + i*a.rows.step - a.Back + 1 - at.from; hidden > 0 {
				copy(row[:min(hidden, len(row))], lowest[:])
			}
		}
	}
	call.Visible, call.Grow = call.Width, a.rows.grow
	if a.Reach > 0 {
		call.Visible = at.place + a.Reach - at.from
	}
	call.Scale, call.Gain = a.after, a.gain
	if a.Masked {
		call.Mask, call.MaskStride = a.maskOf(c, s, at.mask, at.maskRow, call.Rows, at.from, call.Width)
	}
	a.attend.Softmax(call)
}

// finish divides rows of sums by those of their shares, of which high are the maxima. A row whose place and mask leave it no key
// becomes zeros.
func (a *Attention) finish(c *Call, s *scratch, y []float32, yRow int, high, sum []float32, at view, keys int) {
	for i, total := range sum {
		if total != 0 {
			if a.Sunk {
				total += a.sunk(c.Sinks[at.head+i*a.rows.head], high[i])
			}
			s.factor[i] = 1 / total
			continue
		}
		from, to := a.seen(at.place+i*a.rows.step, keys)
		switch {
		case !a.anySeen(c, at.mask+i*at.maskRow, from, to):
			s.factor[i] = 0
			clear(y[i*yRow:][:a.ValueSize])
		case a.Sunk: // which has all
			s.factor[i] = 0
		default:
			s.factor[i] = float32(math.NaN())
		}
	}
	a.attend.Scale(y, yRow, a.ValueSize, s.factor[:len(sum)])
}

// sunk returns the share of a sink beside those of scores whose maximum is high.
func (a *Attention) sunk(sink, high float32) float32 {
	return float32(math.Exp(float64(sink) - float64(a.gain)*float64(high)))
}

// finite reports whether elements have a sum: what is not seen counts for nothing only where it is a number.
func (a *Attention) finite(x []float32) bool {
	sum := a.vec.Sum(x)
	return sum-sum == 0
}

// mixExactly adds to a row of sums the values that it sees of the n that begin at key from, by their shares.
func (a *Attention) mixExactly(s *scratch, v *source, y, shares []float32, place, from, n int) {
	first, last := a.seen(place, from+n)
	for j := max(first, from); j < last; {
		data, stride, count := v.at(j, last-j)
		a.attend.Mix(asm.RowsCall{Out: s.straddle, Rows: 1, In: shares[j-from:], N: count, Keys: data, KeyStride: stride, Columns: a.ValueSize})
		a.vec.Binary(asm.Add, y, y, s.straddle[:a.ValueSize])
		j += count
	}
}
