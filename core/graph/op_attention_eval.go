package graph

import (
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
)

// attendedOperand gives the elements of q, k, v or the past by batch, head, place and component.
type attendedOperand struct {
	data                []float32
	batch, head, length int // steps in data
	places              int // along the length
}

func attended(v numeric.Value, heads int) attendedOperand {
	d := v.Dims
	if len(d) == 4 {
		return attendedOperand{v.F32(), d[1] * d[2] * d[3], d[2] * d[3], d[3], d[2]}
	}
	return attendedOperand{v.F32(), d[1] * d[2], d[2] / max(1, heads), d[2], d[1]}
}

func (o attendedOperand) row(b, h, i, size int) []float32 {
	at := b*o.batch + h*o.head + i*o.length
	return o.data[at : at+size]
}

// attendedRows gives the rows of keys or values with those of the past in front.
type attendedRows struct {
	past, now attendedOperand
	size      int
}

func (r attendedRows) count() int { return r.past.places + r.now.places }

func (r attendedRows) at(b, h, j int) []float32 {
	if j < r.past.places {
		return r.past.row(b, h, j, r.size)
	}
	return r.now.row(b, h, j-r.past.places, r.size)
}

// attendedMask gives what is added to scores: 0 and -inf of booleans.
type attendedMask struct {
	value numeric.Value
	real  []float32
}

func (m attendedMask) at(place []int) float64 {
	at, dims := 0, m.value.Dims
	for i, n := range dims {
		p := place[len(place)-len(dims)+i]
		switch {
		case n == 1 && i < len(dims)-1:
			p = 0
		case p >= n && n == 1:
			p = 0 // it broadcasts
		case p >= n:
			return math.Inf(-1)
		}
		at = at*n + p
	}
	switch {
	case m.real != nil:
		return float64(m.real[at])
	case m.value.Data[at] == 0:
		return math.Inf(-1)
	}
	return 0
}

func evalAttention(l *Layer, in, out []numeric.Value) error {
	a := l.Attrs.(AttentionAttrs)
	given := func(i int) bool { return i < len(in) && in[i].Dims != nil }
	if given(AttentionCos) {
		var err error
		if in, err = turnedOperands(a, in); err != nil {
			return err
		}
	}
	q := attended(in[AttentionQ], a.Heads)
	heads, kvHeads := a.Heads, a.KVHeads
	batch, size := in[AttentionQ].Dims[0], q.length
	if d := in[AttentionQ].Dims; len(d) == 4 {
		heads = d[1]
	} else {
		size = q.head
	}
	if d := in[AttentionK].Dims; len(d) == 4 {
		kvHeads = d[1]
	} else if d := in[AttentionV].Dims; len(d) == 4 {
		kvHeads = d[1]
	}
	k := attendedRows{now: attended(in[AttentionK], kvHeads), size: size}
	v := attendedRows{now: attended(in[AttentionV], kvHeads)}
	if v.size = v.now.length; len(in[AttentionV].Dims) == 3 {
		v.size = v.now.head
	}
	if given(AttentionPastK) {
		k.past, v.past = attended(in[AttentionPastK], kvHeads), attended(in[AttentionPastV], kvHeads)
	}
	e := &attentionEval{AttentionAttrs: a, q: q, k: k, v: v, y: attended(out[0], heads), share: heads / max(1, kvHeads), scores: make([]float64, k.count())}
	if e.Scale == 0 {
		e.Scale = float32(1 / math.Sqrt(float64(size)))
	}
	if given(AttentionMask) {
		e.mask = &attendedMask{value: in[AttentionMask]}
		if in[AttentionMask].Type != numeric.Bool {
			e.mask.real = in[AttentionMask].F32()
		}
	}
	if given(AttentionSinks) {
		e.sinks = in[AttentionSinks].F32()
	}
	for i := 1; i < len(out) && i < 3; i++ {
		presentRows([]attendedRows{k, v}[i-1], out[i], batch, kvHeads)
	}
	for b := range batch {
		e.keys, e.offset = k.count(), k.past.places
		if given(AttentionKVLengths) {
			e.keys = int(max(0, min(in[AttentionKVLengths].I64()[b], int64(k.count()))))
			e.offset = e.keys - q.places
		}
		for h := range heads {
			for i := range q.places {
				e.query(b, h, i)
				if len(out) > 3 {
					e.keep(out[3].F32()[((b*heads+h)*q.places+i)*k.count():])
				}
			}
		}
	}
	return nil
}

// turnedOperands returns the operands with queries and keys turned.
func turnedOperands(a AttentionAttrs, in []numeric.Value) ([]numeric.Value, error) {
	in = slices.Clone(in)
	for i, heads := range []int{a.Heads, a.KVHeads} {
		turned := numeric.NewValue(numeric.F32, in[i].Dims...)
		turn := &Layer{Op: Rotary, Attrs: RotaryAttrs{Heads: heads, Interleaved: a.Interleaved}}
		if err := evalRotary(turn, []numeric.Value{in[i], in[AttentionCos], in[AttentionSin]}, []numeric.Value{turned}); err != nil {
			return nil, err
		}
		in[i] = turned
	}
	return in, nil
}

// presentRows writes the past and what follows it.
func presentRows(r attendedRows, out numeric.Value, batch, heads int) {
	y := out.F32()
	for b := range batch {
		for h := range heads {
			for j := range r.count() {
				copy(y[((b*heads+h)*r.count()+j)*r.size:], r.at(b, h, j))
			}
		}
	}
}

// attentionEval computes one query after the other.
type attentionEval struct {
	AttentionAttrs
	q, y         attendedOperand
	k, v         attendedRows
	mask         *attendedMask
	sinks        []float32 // by head; nil for none
	share        int       // heads of queries that share one of keys
	keys, offset int       // that are there in this item, and in front of its first query

	scores []float64 // of the stage that is kept
}

func (e *attentionEval) query(b, h, i int) {
	row, head := e.q.row(b, h, i, e.k.size), h/e.share
	all := make([]float64, e.k.count())
	top, seen := math.Inf(-1), false
	for j := range all {
		s := 0.0
		for c, x := range e.k.at(b, head, j) {
			s += float64(row[c]) * float64(x)
		}
		s *= float64(e.Scale)
		e.stage(ScoresRaw, j, s)
		if e.Softcap > 0 {
			s = float64(e.Softcap) * math.Tanh(s/float64(e.Softcap))
		}
		e.stage(ScoresCapped, j, s)
		bias := e.bias(b, h, i, j)
		seen = seen || !math.IsInf(bias, -1)
		if all[j] = s + bias; !e.visible(i, j) {
			all[j] = bias // whatever the key holds
		}
		e.stage(ScoresMasked, j, all[j])
		top = max(top, all[j])
	}
	sum := 0.0
	if e.sinks != nil {
		top = max(top, float64(e.sinks[h]))
		sum = math.Exp(float64(e.sinks[h]) - top)
	}
	for j := range all {
		all[j] = math.Exp(all[j] - top)
		sum += all[j]
	}
	y, to := make([]float64, e.v.size), e.y.row(b, h, i, e.v.size)
	for j := range all {
		if all[j] /= sum; !seen {
			all[j] = 0
		}
		e.stage(ScoresSoftmax, j, all[j])
		if !seen || !e.visible(i, j) {
			continue // what is not looked at may be anything
		}
		for c, x := range e.v.at(b, head, j) {
			y[c] += all[j] * float64(x)
		}
	}
	for c := range to {
		to[c] = float32(y[c])
	}
}

// bias returns what is added to a score; -inf where the key is not seen.
func (e *attentionEval) bias(b, h, i, j int) float64 {
	switch {
	case !e.visible(i, j):
		return math.Inf(-1)
	case e.mask != nil:
		return e.mask.at([]int{b, h, i, j})
	}
	return 0
}

// visible reports whether query i looks at key j, whatever the mask says.
func (e *attentionEval) visible(i, j int) bool {
	at := i + e.offset
	return j < e.keys && !(e.Causal && j > at || e.Left > 0 && at-j >= e.Left || e.Right > 0 && j-at >= e.Right)
}

func (e *attentionEval) stage(s ScoreStage, j int, score float64) {
	if s == e.Scores {
		e.scores[j] = score
	}
}

func (e *attentionEval) keep(dst []float32) {
	for j, s := range slices.All(e.scores) {
		dst[j] = float32(s)
	}
}
