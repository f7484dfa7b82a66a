package attention

import (
	"crypto/subtle"
	"fmt"
	"math"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/quantised"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// Bytes is an attention of bytes for one shape, instruction set and number of workers. Both products are sums of integers, exact:
// queries are the unsigned side of the first, keys its weights; shares of a row are bytes, 255 that of the key with the
// highest score, and values the weights of the second. A share is so wrong by 1/510 of the highest at most, and what all shares
// lose does not matter, since the sum that results are divided by is that of the bytes.
//
// The zero point of keys adds the same to all scores of a row, which softmax does not see: it does not matter.
type Bytes struct {
	*Attention
	q, v asm.Quantization
	out  asm.Quantization // its scale is 0 where results are float32
	keys byte             // what makes signed bytes of keys

	depth  int // bytes of a row of queries, whole steps
	shares int // bytes between rows of shares
	sums   int // elements between rows of results
	steps  []int32
	pixels [2][]int32 // where rows of queries begin, and rows of shares
	conv   [2]asm.QConvKernel
	quant  asm.QuantKernel
	room   bytesRoom
}

// BytesConfig says what the bytes of an attention stand for.
type BytesConfig struct {
	Q, K, V asm.Quantization
	Out     asm.Quantization // no scale: results are float32
}

// most bytes of a head, so that sums of integers are exact in float32 and in int32.
const bytesSize = 256

// NewBytes returns the attention of a shape whose operands are bytes.
func NewBytes(s Shape, c BytesConfig, isa asm.Features, workers int) (*Bytes, error) {
	switch {
	case s.Softcap != 0:
		return nil, fmt.Errorf("scores are bounded, which the kernel for bytes does not do")
	case s.Past > 0 || s.WriteK || s.WriteV:
		return nil, fmt.Errorf("earlier keys are float32")
	case s.Size > bytesSize:
		return nil, fmt.Errorf("heads of %d elements are more than %d", s.Size, bytesSize)
	}
	s.Scale *= c.Q.Scale * c.K.Scale
	a, err := New(s, isa, workers)
	if err != nil {
		return nil, err
	}
	b := &Bytes{Attention: a, q: c.Q, v: c.V, out: c.Out, quant: work.QuantKernel(isa), depth: work.RoundUp16(s.Size)}
	if !c.K.Signed {
		b.keys = 0x80
	}
	a.few = false
	for blocks := range b.conv {
		b.conv[blocks] = quantised.InPlaceKernel(isa, blocks+1) // keys are packed at every run, and one step at a time
	}
	a.panel = b.conv[1].Blocks * work.Lanes
	a.cut(b.conv[1].Pixels)
	b.shares, b.sums = work.RoundUp16(a.block)+64, a.padded()+work.Lanes
	for at := 0; at < max(b.depth, a.block); at += 16 {
		b.steps = append(b.steps, int32(at))
	}
	for row := range a.tile {
		b.pixels[0], b.pixels[1] = append(b.pixels[0], int32(row*b.depth)), append(b.pixels[1], int32(row*b.shares))
	}
	b.room = b.plan()
	return b, nil
}

// bytesRoom is how a worker's part of the workspace is divided, in bytes.
type bytesRoom struct {
	keys, bias, values, row, queries, scores, shares, sums, mask, high, sum, factor int // where they begin
	worker                                                                          int
}

func (b *Bytes) plan() bytesRoom {
	var r bytesRoom
	place := func(n int) int {
		at := r.worker
		r.worker += work.RoundUp64(n)
		return at
	}
	block, state := work.RoundUp16(b.block), b.unit*b.tile
	r.keys, r.bias, r.values = place(block*b.depth), place(4*block), place(block*b.padded())
	r.row = place(work.Lanes * b.depth)
	r.queries, r.scores, r.shares = place(b.tile*b.depth), place(4*b.tile*b.stride()), place(b.tile*b.shares)
	rows := b.tile
	if b.block < b.Keys { // results of all tiles, since they come by and by
		rows = state
	}
	r.sums = place(4 * rows * b.sums)
	if b.Masked && (b.Mask.Bool || b.Mask.Column == 0) {
		r.mask = place(4 * b.tile * b.stride())
	}
	r.high, r.sum, r.factor = place(4*state), place(4*state), place(4*b.tile)
	return r
}

// Workspace returns the bytes that Run needs.
func (b *Bytes) Workspace() int { return b.workers * b.room.worker }

// BytesCall is the operands of one attention of bytes: of a Call it has what is no query, key or value, and Y where results are
// float32.
type BytesCall struct {
	Call
	Q, K, V, Out []byte
	Workspace    []byte // as many as Bytes.Workspace says
}

// bytesScratch is what one worker works in.
type bytesScratch struct {
	scratch
	bias, acc               []float32
	keys, values            []int8
	row, queries, shareRows []byte
}

func (b *Bytes) scratch(c *BytesCall, worker int) bytesScratch {
	all, r := c.Workspace[worker*b.room.worker:][:b.room.worker], &b.room
	floats := func(at int) []float32 { return numeric.View[float32](all[at:]) }
	return bytesScratch{
		scratch: scratch{scores: floats(r.scores), mask: floats(r.mask), high: floats(r.high), sum: floats(r.sum), factor: floats(r.factor)},
		bias:    floats(r.bias), acc: floats(r.sums), keys: numeric.View[int8](all[r.keys:]), values: numeric.View[int8](all[r.values:]),
		row: all[r.row:], queries: all[r.queries:], shareRows: all[r.shares:],
	}
}

// bytesRun is the state of one run.
type bytesRun struct {
	*Bytes
	call BytesCall
}

var bytesJob = work.NewJob((*bytesRun).unit)

// Run computes the attention.
func (b *Bytes) Run(parallel work.Parallel, call *BytesCall) {
	bytesJob.Run(parallel, b.workers, b.Batch*b.KVHeads*b.units, bytesRun{b, *call})
}

// unit computes some tiles of one head of keys, as run.tilesUnit does.
func (r *bytesRun) unit(u, worker int) {
	heads := r.Batch * r.KVHeads
	batch, head := u%heads/r.KVHeads, u%r.KVHeads
	first := (r.units - 1 - u/heads) * r.Attention.unit
	count := min(r.Attention.unit, r.tiles*r.rows.sets-first)
	s := r.scratch(&r.call, worker)
	for i := range s.high[:count*r.tile] {
		s.high[i], s.sum[i] = negInf, 0
	}
	keys, place := r.bounds(&r.call.Call, batch)
	from, to := keys, 0
	for i := range count {
		t := r.tileOf(first+i, i, keys, place)
		from, to = min(from, t.from), max(to, t.to)
		if t.from >= t.to {
			r.unseen(t, batch, head, 0, t.rows)
		}
	}
	for j := from / r.block * r.block; j < to; j += r.block {
		n := min(r.block, to-j)
		r.packKeys(&s, batch, head, j, n)
		r.packValues(&s, batch, head, j, n)
		for i := range count {
			t := r.tileOf(first+i, i, keys, place)
			if t.from >= t.to || t.from >= j+r.block || t.to <= j {
				continue
			}
			r.attendTile(&s, t, batch, head, j, n)
			if t.to <= j+r.block {
				r.end(&s, t, batch, head, keys)
			}
		}
	}
}

// packKeys stores n keys from j on as the weights of a product, and what the zero point of queries takes from each score: the
// product of a query of zero points.
func (r *bytesRun) packKeys(s *bytesScratch, batch, head, j, n int) {
	at, stride := batch*r.K.Batch+head*r.K.Head+j*r.K.Row, r.K.Row
	whole := r.Size == r.depth && stride%4 == 0 && r.keys == 0
	for from := 0; from < n; from += r.panel {
		panel, width := numeric.View[float32](bytesOf(s.keys[from*r.depth:])), r.width(n-from)
		for lane := 0; lane < width; lane += work.Lanes {
			rows := min(work.Lanes, n-from-lane)
			data, step := r.call.K[at+(from+lane)*stride:], stride
			if !whole {
				r.copyRows(s.row, data, stride, rows, r.keys)
				data, step = s.row, r.depth
			}
			r.layout.Interleave(panel[lane:], width, numeric.View[float32](data), step/4, rows, r.depth/4)
		}
	}
	for i := range s.queries[:r.depth] {
		s.queries[i] = byte(r.q.Zero)
		if r.q.Signed {
			s.queries[i] ^= 0x80
		}
	}
	r.product(s, productCall{in: s.queries, pixels: r.pixels[0][:1], depth: r.depth, weights: s.keys, packed: r.depth, scale: minus[:], bias: noBias[:],
		out: s.bias, columns: n, whole: n})
}

// bytesOf returns integers as bytes.
func bytesOf(x []int8) []byte { return numeric.View[byte](numeric.Bytes(x)) }

// copyRows copies rows of a head, their bits flipped, one behind the other; behind each zeros fill whole steps.
func (r *bytesRun) copyRows(dst, src []byte, stride, rows int, flip byte) {
	for i := range rows {
		to, from := dst[i*r.depth:][:r.Size], src[i*stride:][:r.Size]
		if flip != 0 {
			subtle.XORBytes(to, from, flips[:])
		} else {
			copy(to, from)
		}
		clear(dst[i*r.depth:][r.Size:r.depth])
	}
}

// flips turn two's complement into offset binary and back.
var flips = func() (x [bytesSize]byte) {
	for i := range x {
		x[i] = 0x80
	}
	return x
}()

// packValues stores n values from j on as the weights of a product whose steps are four keys.
func (r *bytesRun) packValues(s *bytesScratch, batch, head, j, n int) {
	data, stride := r.call.V[batch*r.V.Batch+head*r.V.Head+j*r.V.Row:], r.V.Row
	whole, flip, values := work.RoundUp16(n), byte(0), bytesOf(s.values)
	if !r.v.Signed {
		flip = 0x80
	}
	for at := 0; at < r.ValueSize; at += r.panel {
		width, columns := r.width(r.ValueSize-at), min(r.panel, r.ValueSize-at)
		panel := values[at*whole:]
		for i := 0; i < n; i += 4 {
			r.quant.Pixels(panel[i*width:][:4*columns], data[i*stride+at:], stride, min(4, n-i), flip)
		}
	}
}

// productCall is rows of unsigned bytes by weights that are packed in panels, of which a column has packed bytes.
type productCall struct {
	in          []byte
	pixels      []int32
	depth       int // bytes of a row that are multiplied
	weights     []int8
	packed      int
	scale, bias []float32 // of a panel; the bias is that of the first where there is one for each column
	each        bool
	out         []float32
	stride      int
	columns     int
	whole       int // columns that are packed
	more        bool
}

// What sums start from, and are multiplied by.
var (
	noStart [2 * work.Lanes]int32
	noBias  [2 * work.Lanes]float32
	ones    = filled(1)
	minus   = filled(-1)
)

func filled(x float32) (f [2 * work.Lanes]float32) {
	for i := range f {
		f[i] = x
	}
	return f
}

// product computes whole panels: what is behind the last column is anything.
func (r *bytesRun) product(s *bytesScratch, p productCall) {
	requant := asm.Requant{Scale: p.scale, Bias: p.bias, Outer: programs.NoLimits(), OutScale: 1, OutPixel: p.stride, OutBlock: work.Lanes}
	call := asm.QConvCall{In: p.in, Pixels: p.pixels, Steps: r.steps[:p.depth/16], Start: noStart[:], Requant: &requant}
	for at := 0; at < p.columns; at += r.panel {
		width := r.width(p.whole - at)
		call.Weights, requant.Float = p.weights[at*p.packed:], p.out[at:]
		if p.each {
			requant.Bias = p.bias[at:]
		}
		if p.more {
			requant.Addend, requant.ResidualPixel, requant.ResidualBlock = requant.Float, p.stride, work.Lanes
		}
		r.conv[width/work.Lanes-1].Run(&call)
	}
}

// attendTile lets a tile see n keys from j on.
func (r *bytesRun) attendTile(s *bytesScratch, t tile, batch, head, j, whole int) {
	n, more := min(whole, t.to-j), t.from < j
	flip := byte(0)
	if r.q.Signed {
		flip = 0x80
	}
	q := r.call.Q[batch*r.Q.Batch+head*r.group()*r.Q.Head+t.set*r.rows.q[0]+t.row*r.rows.q[1]:]
	r.copyRows(s.queries, q, r.rows.q[1], t.rows, flip)
	r.product(s, productCall{in: s.queries, pixels: r.pixels[0][:t.rows], depth: r.depth, weights: s.keys, packed: r.depth, scale: ones[:],
		bias: s.bias, each: true, out: s.scores, stride: r.stride(), columns: n, whole: whole})
	r.softmax(&r.call.Call, &s.scratch, asm.AttendCall{
		Scores: s.scores, Stride: r.stride(), Bytes: s.shareRows, BytesStride: r.Bytes.shares, Rows: t.rows, Width: n,
		High: s.high[t.state:], Sum: s.sum[t.state:], Factor: s.factor,
	}, r.viewOf(t, batch, head, j))
	acc := r.results(s, t)
	if more {
		r.attend.Scale(acc, r.sums, r.ValueSize, s.factor[:t.rows])
	}
	r.product(s, productCall{in: s.shareRows, pixels: r.pixels[1][:t.rows], depth: work.RoundUp16(n), weights: s.values,
		packed: work.RoundUp16(whole), scale: ones[:], bias: noBias[:], out: acc, stride: r.sums, columns: r.ValueSize, whole: r.ValueSize, more: more})
}

// results returns where those of a tile are.
func (r *bytesRun) results(s *bytesScratch, t tile) []float32 {
	if r.block < r.Keys {
		return s.acc[t.state*r.sums:]
	}
	return s.acc
}

// end divides the results of a tile by the sums of their shares.
func (r *bytesRun) end(s *bytesScratch, t tile, batch, head, keys int) {
	for i, total := range s.sum[t.state:][:t.rows] {
		s.factor[i] = r.v.Scale / total
	}
	at, row := batch*r.Y.Batch+head*r.group()*r.Y.Head+t.set*r.rows.y[0]+t.row*r.rows.y[1], r.rows.y[1]
	zero := float32(r.v.Zero)
	if !r.v.Signed {
		zero -= 128
	}
	call := asm.FinishCall{X: r.results(s, t), Stride: r.sums, Rows: t.rows, Columns: r.ValueSize, Factors: s.factor,
		Bias: -zero * r.v.Scale, OutStride: row}
	if r.out.Scale == 0 {
		call.Out = r.call.Y[at:]
	} else {
		call.Bytes, call.Low, call.High = r.call.Out[at:], 0, 255
		if r.out.Signed {
			call.Low, call.High = -128, 127
		}
		call.Bias = call.Bias/r.out.Scale + float32(r.out.Zero)
		for i := range t.rows {
			s.factor[i] /= r.out.Scale
		}
	}
	r.attend.Finish(call)
	v := r.viewOf(t, batch, head, 0)
	for i, total := range s.sum[t.state:][:t.rows] {
		switch {
		case total > 0:
		case total != 0: // NaN
			r.fill(t, batch, head, i, float32(math.NaN()))
		default:
			from, to := r.seen(v.place+i*r.rows.step, keys)
			if r.anySeen(&r.call.Call, v.mask+i*v.maskRow, from, to) {
				r.fill(t, batch, head, i, float32(math.NaN()))
			} else {
				r.fill(t, batch, head, i, 0)
			}
		}
	}
}

// unseen gives rows of a tile that see nothing their zeros.
func (r *bytesRun) unseen(t tile, batch, head, from, to int) {
	for i := from; i < to; i++ {
		r.fill(t, batch, head, i, 0)
	}
}

// fill gives a row zeros, or NaN, which as a byte is zero as well.
func (r *bytesRun) fill(t tile, batch, head, i int, x float32) {
	at := batch*r.Y.Batch + head*r.group()*r.Y.Head + t.set*r.rows.y[0] + (t.row+i)*r.rows.y[1]
	if r.out.Scale == 0 {
		for c := range r.ValueSize {
			r.call.Y[at+c] = x
		}
		return
	}
	for c := range r.ValueSize {
		r.call.Out[at+c] = byte(r.out.Zero)
	}
}
