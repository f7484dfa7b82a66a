package attention

import (
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// chunks is into how many parts the keys are cut where rows are few.
func (a *Attention) chunks() int { return work.CeilDiv(a.Keys, a.block) }

// partials is how many parts are kept until they are combined.
func (a *Attention) partials() int {
	if a.chunks() == 1 {
		return 0
	}
	return a.Batch * a.KVHeads * a.chunks()
}

// partial is the elements of one part: the rows' sums of values, then their maxima and sums.
func (a *Attention) partial() int {
	return work.RoundUp64(a.rows.sets * a.rows.rows * (a.ValueSize + 2))
}

// part is what a chunk of keys makes of all rows of a group of heads.
type part struct{ values, high, sum []float32 }

func (r *run) part(head, chunk int) part {
	all := r.call.Workspace[r.room.parts+(head*r.chunks()+chunk)*r.partial():][:r.partial()]
	rows := r.rows.sets * r.rows.rows
	at := rows * r.ValueSize
	return part{all[:at], all[at:][:rows], all[at+rows:][:rows]}
}

// fewUnit computes the rows of one head of keys on one chunk of them, which are read once, where they lie.
func (r *run) fewUnit(u, worker int) {
	a := r.Attention
	chunks := a.chunks()
	at, chunk := u/chunks, u%chunks
	batch, head, from := at/a.KVHeads, at%a.KVHeads, chunk*a.block
	s := r.scratch(&r.call, worker)
	r.write(&r.call, batch, head, from, min(from+a.block, a.Keys))
	k, v := r.written(&r.call, batch, head)
	keys, place := r.bounds(&r.call, batch)
	for set := range a.rows.sets {
		for row := 0; row < a.rows.rows; row += a.attend.Rows {
			t := tile{set: set, row: row, rows: min(a.attend.Rows, a.rows.rows-row), place: place + row*a.rows.step}
			t.from, _ = a.seen(t.place, keys)
			_, t.to = a.seen(t.place+(t.rows-1)*a.rows.step, keys)
			t.from, t.to = max(t.from, from), min(t.to, from+a.block)
			if chunks == 1 {
				y := r.output(t, batch, head)
				r.attendFew(&s, t, batch, head, &k, &v, y, a.rows.y[1], s.high, s.sum)
				a.finish(&r.call, &s, y, a.rows.y[1], s.high, s.sum[:t.rows], r.viewOf(t, batch, head, 0), keys)
				continue
			}
			p, i := r.part(at, chunk), set*a.rows.rows+row
			r.attendFew(&s, t, batch, head, &k, &v, p.values[i*a.ValueSize:], a.ValueSize, p.high[i:], p.sum[i:])
		}
	}
}

// attendFew leaves the rows' sums of values, which are not yet divided by the sums of their shares.
func (r *run) attendFew(s *scratch, t tile, batch, head int, k, v *source, y []float32, yRow int, high, sum []float32) {
	a, n := r.Attention, t.to-t.from
	for i := range t.rows {
		high[i], sum[i] = negInf, 0
	}
	if n <= 0 {
		for i := range t.rows {
			clear(y[i*yRow:][:a.ValueSize])
		}
		return
	}
	dot := asm.RowsCall{
		In:        r.call.Q[batch*a.Q.Batch+head*a.group()*a.Q.Head+t.set*a.rows.q[0]+t.row*a.rows.q[1]:],
		OutStride: a.stride(), Rows: t.rows, InStride: a.rows.q[1], Columns: a.Size,
	}
	for j := 0; j < n; j += dot.N {
		dot.Keys, dot.KeyStride, dot.N = k.at(t.from+j, n-j)
		dot.Out = s.scores[j:]
		a.attend.Dot(dot)
	}
	a.softmax(&r.call, s, asm.AttendCall{
		Scores: s.scores, Stride: a.stride(), Rows: t.rows, Width: n, High: high, Sum: sum, Factor: s.factor,
	}, r.viewOf(t, batch, head, t.from))
	r.mixFew(s, t, v, y, yRow)
}

// mixFew sums the values that rows see, by their shares.
func (r *run) mixFew(s *scratch, t tile, v *source, y []float32, yRow int) {
	a, n, finite := r.Attention, t.to-t.from, true
	mix := asm.RowsCall{Out: y, OutStride: yRow, Rows: t.rows, InStride: a.stride(), Columns: a.ValueSize}
	for j := 0; j < n; j += mix.N {
		mix.Keys, mix.KeyStride, mix.N = v.at(t.from+j, n-j)
		mix.In = s.scores[j:]
		if j > 0 { // the present, behind some of the past
			mix.Out, mix.OutStride = s.straddle, a.ValueSize
		}
		a.attend.Mix(mix)
		for i := 0; j > 0 && i < t.rows; i++ {
			row := y[i*yRow:][:a.ValueSize]
			a.vec.Binary(asm.Add, row, row, s.straddle[i*a.ValueSize:][:a.ValueSize])
		}
	}
	if t.rows == 1 || !a.moving() {
		return
	}
	for i := range t.rows {
		finite = finite && a.finite(y[i*yRow:][:a.ValueSize])
	}
	for i := 0; !finite && i < t.rows; i++ {
		row := y[i*yRow:][:a.ValueSize]
		clear(row)
		a.mixExactly(s, v, row, s.scores[i*a.stride():], t.place+i*a.rows.step, t.from, n)
	}
}

// combine adds the parts of one head of keys, each by its share.
func (r *run) combine(u, worker int) {
	a := r.Attention
	s := r.scratch(&r.call, worker)
	chunks, batch, head := a.chunks(), u/a.KVHeads, u%a.KVHeads
	keys, place := r.bounds(&r.call, batch)
	weights := s.weights[:chunks]
	for row := range a.rows.sets * a.rows.rows {
		for i := range weights {
			weights[i] = r.part(u, i).high[row]
		}
		_, most := a.vec.Range(weights)
		if most == negInf {
			most = 0
		}
		a.vec.Unary(asm.Affine, weights, weights, 1, -most)
		a.vec.Unary(asm.Affine, weights, weights, a.gain, 0)
		a.vec.ExpSum(weights, weights, 0)
		s.high[0], s.sum[0] = most, 0
		for i, w := range weights {
			s.sum[0] += w * r.part(u, i).sum[row]
		}
		t := tile{set: row / a.rows.rows, row: row % a.rows.rows, rows: 1}
		t.place = place + t.row*a.rows.step
		y := r.output(t, batch, head)
		a.attend.Mix(asm.RowsCall{Out: y, Rows: 1, In: weights, N: chunks, Columns: a.ValueSize,
			Keys: r.call.Workspace[r.room.parts+u*chunks*a.partial()+row*a.ValueSize:], KeyStride: a.partial()})
		a.finish(&r.call, &s, y, a.rows.y[1], s.high, s.sum[:1], r.viewOf(t, batch, head, 0), keys)
	}
}
