package products

import (
	"fmt"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// unpackedDepth is the rows of a panel that are unpacked at a time, for many rows: 64 KiB as float32.
const unpackedDepth = 512

// fewPasses is how often few rows go over a panel that is unpacked in registers before it pays to unpack it to memory.
const fewPasses = 2

// Integers are what a matrix [K][N] of real numbers stands for in integers: (Q - Zero) * Scale, with a scale and a zero point
// for so many rows of k of each column.
type Integers struct {
	K, N  int
	Bits  int                // of an integer
	Q     func(k, n int) int // below 1 << Bits
	Group int                // rows of k: a multiple of 8, or no less than K
	Scale func(group, n int) float32
	Zero  func(group, n int) int32
}

// PackedWeights is the right-hand matrix of a product in integers of 8 or 4 bits, in panels as those of PackedB.
type PackedWeights struct {
	K, N    int
	bits    int
	octets  int
	group   int // octets
	base    float32
	data    []byte
	scale   []float32
	zero    []float32 // nil for none
	panel   int
	kernel  asm.WeightsKernel
	kernels [2]*asm.GemmKernel
}

// NewPackedWeights packs a matrix for kernels that features allow, in 4 or 8 bits.
func NewPackedWeights(m Integers, features asm.Features) (*PackedWeights, error) {
	if m.K < 1 || m.N < 1 {
		return nil, fmt.Errorf("matrix of %d rows and %d columns is empty", m.K, m.N)
	}
	if m.Group < 1 || m.Group%8 != 0 && m.Group < m.K {
		return nil, fmt.Errorf("groups of %d rows are not of octets", m.Group)
	}
	w := &PackedWeights{K: m.K, N: m.N, octets: work.CeilDiv(m.K, 8), group: work.CeilDiv(min(m.Group, m.K), 8), kernels: Kernels(features)}
	for _, k := range w.kernels {
		if k != nil {
			w.panel = max(w.panel, k.Blocks*work.Lanes)
		}
	}
	if w.bits = 8; m.Bits <= 4 {
		w.bits = 4
	}
	for _, k := range asm.WeightsKernels() {
		if k.Bits == w.bits && features.Has(k.Needs) {
			w.kernel = k
			break
		}
	}
	w.packScales(m, w.shift(m))
	return w, nil
}

// oneZero returns the zero point if all are the same.
func (m *Integers) oneZero() (int32, bool) {
	zero := m.Zero(0, 0)
	for g := range work.CeilDiv(m.K, m.Group) {
		for n := range m.N {
			if m.Zero(g, n) != zero {
				return 0, false
			}
		}
	}
	return zero, true
}

// shift packs the integers less what it returns. It chooses that so that they fit, and that there are no zero points if it can.
func (w *PackedWeights) shift(m Integers) int32 {
	by, one := m.oneZero()
	switch {
	case w.bits == 8:
		by = 128
	case one:
		w.base = -float32(by)
	default:
		by = 0
	}
	room := w.octets * work.BlocksOf(m.N) * work.Lanes * w.bits
	w.data = work.Aligned[byte](room)
	for n := range m.N {
		first, width := n/w.panel*w.panel, w.width(n/w.panel*w.panel)
		panel := w.data[first*w.octets*w.bits:]
		for k := range m.K {
			if w.bits == 8 {
				panel[k*width+n-first] = byte(m.Q(k, n) - 128)
			} else {
				panel[(k/8*width+n-first)*4+k%8/2] |= byte(m.Q(k, n)) << (k % 2 * 4)
			}
		}
	}
	return by
}

// packScales packs the scales, and the zero points less by unless they are 0.
func (w *PackedWeights) packScales(m Integers, by int32) {
	groups := work.CeilDiv(w.octets, w.group)
	room := groups * work.BlocksOf(m.N) * work.Lanes
	w.scale, w.zero = work.AlignedFloats(room), work.AlignedFloats(room)
	some := false
	for n := range m.N {
		first, width := n/w.panel*w.panel, w.width(n/w.panel*w.panel)
		for g := range groups {
			at := first*groups + g*width + n - first
			w.scale[at], w.zero[at] = m.Scale(g, n), float32(m.Zero(g, n)-by)
			some = some || w.zero[at] != 0
		}
	}
	if !some {
		w.zero = nil
	}
}

// width returns the columns, padding included, of the panel that begins at column n.
func (w *PackedWeights) width(n int) int { return min(w.panel, work.BlocksOf(w.N-n)*work.Lanes) }

// chunk returns so many octets, from one on, of the panel that begins at column n. They begin with a group, or are all in one.
func (w *PackedWeights) chunk(n, octet, octets int) asm.Weights {
	width, groups := w.width(n), work.CeilDiv(w.octets, w.group)
	group := n*groups + octet/w.group*width
	part := asm.Weights{B: w.data[(n*w.octets+octet*width)*w.bits:], Octets: octets, Group: w.group, Scale: w.scale[group:], Base: w.base}
	if w.zero != nil {
		part.Zero = w.zero[group:]
	}
	return part
}

// WeightsCall is the operands of one product: Out = A*B + Bias.
type WeightsCall struct {
	M         int
	A         []float32 // [M][K], rows AStride apart
	AStride   int
	B         *PackedWeights
	Bias      []float32 // a value for each column; nil for none
	Out       []float32 // [M][N], rows OutStride apart
	OutStride int
	Workers   int
	Room      []float32 // of RoomWeights floats
}

// RoomWeights returns the floats that a product needs: a copy of its rows, or none where it reads them as they lie, and
// what each worker unpacks weights to.
func RoomWeights(m, n, k, stride, workers int) int {
	return roomRows(m, n, k, stride) + max(1, workers)*unpackedDepth*panelColumns
}

// roomRows is the part of the room for a copy of the rows.
func roomRows(m, n, k, stride int) int {
	if k%8 != 0 {
		return m * spread(k)
	}
	return RoomF32(m, n, k, stride)
}

// weightsRun is the state of one product.
type weightsRun struct {
	call     WeightsCall
	rows     int        // of a unit
	blocks   int        // of rows
	panels   int        // of a unit
	taper    work.Taper // of panels, where rows are few
	lastBias [panelColumns]float32
}

var weightsJob = work.NewJob((*weightsRun).do)

// MultiplyWeights computes a product.
func MultiplyWeights(parallel work.Parallel, call *WeightsCall) {
	r := weightsRun{call: *call}
	if n := roomRows(call.M, call.B.N, call.B.K, call.AStride); n > 0 {
		rows := gemmCopy{call.Room[:n], call.A, spread(call.B.K), call.AStride, call.M, call.B.K}
		rows.run(parallel, call.Workers)
		r.call.A, r.call.AStride, r.call.Room = rows.to, rows.toStride, call.Room[n:]
	}
	if call.Bias != nil {
		copy(r.lastBias[:], call.Bias[(call.B.N-1)/call.B.panel*call.B.panel:])
	}
	panels, workers := work.CeilDiv(call.B.N, call.B.panel), max(1, call.Workers)
	if call.M <= call.B.kernel.Rows {
		r.taper, r.rows = work.Taper{Pieces: panels, Workers: workers}, call.M
		weightsJob.InOrder(parallel, workers, r.taper.Units(), r)
		return
	}
	if r.panels = panels; workers > 1 {
		r.panels = work.CeilDiv(panels, min(panels, 4*workers))
	}
	r.rows = work.Evenly(call.M, min(call.M, gemmRows))
	r.blocks = work.CeilDiv(call.M, r.rows)
	weightsJob.Run(parallel, workers, work.CeilDiv(panels, r.panels)*r.blocks, r)
}

// do computes unit u. Units of the same panels follow each other.
func (r *weightsRun) do(u, worker int) {
	b, row, first, panels := r.call.B, 0, 0, r.panels
	if r.taper.Pieces > 0 {
		first, panels = r.taper.Unit(u)
	} else {
		row, first = u%r.blocks*r.rows, u/r.blocks*panels
	}
	rows, room := min(r.rows, r.call.M-row), r.call.Room[worker*unpackedDepth*panelColumns:][:unpackedDepth*panelColumns]
	for n := first * b.panel; n < min(b.N, (first+panels)*b.panel); n += b.panel {
		if r.call.M <= fewPasses*b.kernel.Rows {
			r.fewRows(n, row, rows)
		} else {
			r.manyRows(n, row, rows, room)
		}
	}
}

// tile returns the product of the panel that begins at column n, from a row on.
func (r *weightsRun) tile(n, row int) asm.GemmCall {
	c := &r.call
	t := asm.GemmCall{A: c.A[row*c.AStride:], AStride: c.AStride, Bias: noBias[:], Out: c.Out[row*c.OutStride+n:], OutStride: c.OutStride,
		Limits: programs.NoLimits(), Columns: min(c.B.width(n), c.B.N-n), Tiles: 1}
	switch {
	case c.Bias == nil:
	case c.B.width(n) > t.Columns:
		t.Bias = r.lastBias[:]
	default:
		t.Bias = c.Bias[n:]
	}
	return t
}

// fewRows multiplies rows by a panel as it is.
func (r *weightsRun) fewRows(n, row, rows int) {
	b := r.call.B
	most := work.Evenly(rows, min(rows, b.kernel.Rows))
	for end := row + rows; row < end; row += most {
		b.kernel.Multiply(min(most, end-row), b.width(n)/work.Lanes, b.chunk(n, 0, b.octets), r.tile(n, row))
	}
}

// manyRows unpacks a panel part by part and multiplies rows by that.
func (r *weightsRun) manyRows(n, row, rows int, room []float32) {
	b := r.call.B
	blocks := b.width(n) / work.Lanes
	most := unpackedDepth / 8
	if b.group < most {
		most = most / b.group * b.group
	}
	for octet, octets := 0, 0; octet < b.octets; octet += octets {
		octets = min(most, b.octets-octet)
		if b.group > most {
			octets = min(octets, b.group-octet%b.group)
		}
		b.kernel.Unpack(blocks, b.chunk(n, octet, octets), room)
		t := r.tile(n, row)
		t.A, t.K, t.B = t.A[8*octet:], min(8*octets, b.K-8*octet), room
		if octet > 0 {
			t.Bias, t.Residual, t.ResidualStride = noBias[:], t.Out, t.OutStride
		}
		Strip(&t, b.kernels[blocks-1], rows)
	}
}
