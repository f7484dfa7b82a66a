package attention

import (
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/products"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// tile is some rows of one set, and what they see.
type tile struct {
	set, row, rows int
	state          int // where its rows' state begins
	place          int // of the first row
	from, to       int // keys that any row sees, the mask aside
}

// block is keys and values that are packed, n from j on.
type block struct {
	j, n   int
	values *source
	finite bool // or of no matter
}

// tilesUnit computes some tiles of one head of keys: each block of keys and values is packed once for all of them. Units
// of many keys come first.
func (r *run) tilesUnit(u, worker int) {
	heads := r.Batch * r.KVHeads
	batch, head := u%heads/r.KVHeads, u%r.KVHeads
	first := (r.units - 1 - u/heads) * r.unit
	count := min(r.unit, r.tiles*r.rows.sets-first)
	s := r.scratch(&r.call, worker)
	for i := range s.high[:count*r.tile] {
		s.high[i], s.sum[i] = negInf, 0
	}
	keys, place := r.bounds(&r.call, batch)
	from, to := keys, 0
	for i := range count {
		t := r.tileOf(first+i, i, keys, place)
		from, to = min(from, t.from), max(to, t.to)
		if t.from >= t.to {
			r.end(&s, t, batch, head, keys, true)
		}
	}
	k, v := r.written(&r.call, batch, head)
	for j := from / r.block * r.block; j < to; j += r.block {
		b := block{j: j, n: min(r.block, to-j), values: &v}
		r.packKeys(&s, &k, j, b.n)
		r.packValues(&s, &v, j, b.n)
		b.finite = !r.moving() || r.finite(s.values[:b.n*r.padded()])
		for i := range count {
			t := r.tileOf(first+i, i, keys, place)
			if t.from >= t.to || t.from >= j+r.block || t.to <= j {
				continue
			}
			r.attendTile(&s, t, batch, head, b)
			if t.to <= j+r.block {
				r.end(&s, t, batch, head, keys, false)
			}
		}
	}
}

// tileOf returns a tile by its number, those of the sets by turns, and its place in the unit.
func (a *Attention) tileOf(number, at, keys, place int) tile {
	t := tile{set: number % a.rows.sets, row: number / a.rows.sets * a.tile, state: at * a.tile}
	t.rows = min(a.tile, a.rows.rows-t.row)
	t.place = place + t.row*a.rows.step
	t.from, _ = a.seen(t.place, keys)
	_, t.to = a.seen(t.place+(t.rows-1)*a.rows.step, keys)
	return t
}

// output returns a tile's rows of the output.
func (r *run) output(t tile, batch, head int) []float32 {
	y := &r.Y
	return r.call.Y[batch*y.Batch+head*r.group()*y.Head+t.set*r.rows.y[0]+t.row*r.rows.y[1]:]
}

// viewOf returns what a tile's scores are about.
func (r *Attention) viewOf(t tile, batch, head, from int) view {
	m := &r.Mask
	at := batch*m.Batch + head*r.group()*m.Head + t.set*r.rows.mask[0] + t.row*r.rows.mask[1]
	return view{mask: at, maskRow: r.rows.mask[1], place: t.place, from: from, head: head*r.group() + t.set + t.row*r.rows.head}
}

// attendTile lets a tile see a block.
func (r *run) attendTile(s *scratch, t tile, batch, head int, b block) {
	a, n, more := r.Attention, min(b.n, t.to-b.j), t.from < b.j
	q := r.call.Q[batch*a.Q.Batch+head*a.group()*a.Q.Head+t.set*a.rows.q[0]+t.row*a.rows.q[1]:]
	y, yRow := r.output(t, batch, head), a.rows.y[1]
	a.scores(s, q, t.rows, n, b.n)
	a.softmax(&r.call, s, asm.AttendCall{
		Scores: s.scores, Stride: a.stride(), Rows: t.rows, Width: n,
		High: s.high[t.state:], Sum: s.sum[t.state:], Factor: s.factor,
	}, r.viewOf(t, batch, head, b.j))
	if more {
		a.attend.Scale(y, yRow, a.ValueSize, s.factor[:t.rows])
	}
	if b.finite {
		a.mix(s, y, yRow, t.rows, n, b.n, more)
		return
	}
	for i := range t.rows {
		row := y[i*yRow:][:a.ValueSize]
		if !more {
			clear(row)
		}
		a.mixExactly(s, b.values, row, s.scores[i*a.stride():], t.place+i*a.rows.step, b.j, n)
	}
}

// end finishes a tile; one that sees nothing was not begun.
func (r *run) end(s *scratch, t tile, batch, head, keys int, unseen bool) {
	y, yRow := r.output(t, batch, head), r.rows.y[1]
	if unseen {
		for i := range t.rows {
			clear(y[i*yRow:][:r.ValueSize])
		}
		return
	}
	r.finish(&r.call, s, y, yRow, s.high[t.state:], s.sum[t.state:][:t.rows], r.viewOf(t, batch, head, 0), keys)
}

var zeros [2 * work.Lanes]float32

// scores multiplies rows of queries by the first n of whole keys that are packed.
func (a *Attention) scores(s *scratch, q []float32, rows, n, whole int) {
	for at := 0; at < n; at += a.panel {
		width := a.width(whole - at)
		call := asm.GemmCall{A: q, AStride: a.rows.q[1], K: a.Size, B: s.keys[at*a.Size:], Bias: zeros[:],
			Out: s.scores[at:], OutStride: a.stride(), Limits: programs.NoLimits(), Columns: min(width, n-at)}
		products.Strip(&call, a.gemm[width/work.Lanes-1], rows)
	}
}

// mix adds the first n of whole values that are packed, by their shares.
func (a *Attention) mix(s *scratch, y []float32, yRow, rows, n, whole int, more bool) {
	for at := 0; at < a.ValueSize; at += a.panel {
		width := a.width(a.ValueSize - at)
		call := asm.GemmCall{A: s.scores, AStride: a.stride(), K: n, B: s.values[at*whole:], Bias: zeros[:],
			Out: y[at:], OutStride: yRow, Limits: programs.NoLimits(), Columns: min(width, a.ValueSize-at)}
		if more {
			call.Residual, call.ResidualStride = call.Out, yRow
		}
		products.Strip(&call, a.gemm[width/work.Lanes-1], rows)
	}
}

// width returns the columns, padding included, of a panel that so many are left for.
func (a *Attention) width(left int) int {
	return min(a.panel, (left+work.Lanes-1)/work.Lanes*work.Lanes)
}

// padded returns the columns of all panels of values.
func (a *Attention) padded() int { return work.BlocksOf(a.ValueSize) * work.Lanes }
