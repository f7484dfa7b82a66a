package attention

import (
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// emit returns the launches on a tile: what joins keys and values with those of the past, if there are any; the products; and
// what adds their parts up.
func (p *problem) emit(t Tile) (*emit.Work, error) {
	w := emit.NewWork()
	out, err := emit.PlainOutput(p.binding, w)
	if err != nil {
		return nil, err
	}
	p.join(w, t)
	k := w.Module.Kernel("attention", t.threads())
	k.Resident(t.resident(p))
	l := &emit.Launch{Kernel: "attention", Block: [3]int{t.threads(), 1, 1}, Shared: t.shared(p)}
	for _, m := range []*matrix{&p.q, &p.k, &p.v} {
		m.parameter(k, w, l)
	}
	if p.mask != nil {
		p.mask.parameter(k, w, l)
	}
	c := &block{K: k, problem: p, t: t, counted: ptx.U(p.keys), queryTile: k.Dynamic()}
	c.ring = c.queryTile.At(t.queryBytes(p))
	var counts ptx.GlobalPtr
	if p.counts >= 0 {
		counts = l.Operand(k, w, p.binding, p.counts)
	}
	var sums, tops ptx.GlobalPtr
	if t.Split > 1 {
		size, _ := p.partBytes(t)
		sums, tops = l.Scratch(k, "sums", 0), l.Scratch(k, "tops", size)
	} else {
		out.Parameters(k, l)
		if p.sinks != nil {
			p.sinks.parameter(k, w, l)
		}
	}
	l.Grid = c.place()
	c.offset = ptx.I(p.past)
	if p.counts >= 0 {
		n := k.Load(k.Offset(counts, c.batchAt, 8), 1)[0].Int() // of an i64 the low word
		c.counted = k.Min(k.MaxS(n, ptx.I(0)).Uint(), ptx.U(p.keys))
		c.offset = k.SubS(c.counted.Int(), ptx.I(p.queries))
	}
	c.bounds()
	e := c.engine()
	c.start()
	if c.bounded() {
		c.limits()
	}
	c.maskRows()
	c.multiply(e)
	if t.Split > 1 {
		c.keepParts(sums, tops, e.pieces)
	} else {
		c.finish(out, e.pieces)
	}
	w.End(k, l)
	if t.Split > 1 {
		p.combine(w, t, out)
	}
	return w, nil
}

// parameter declares where the matrix lies as the kernel's next parameter.
func (m *matrix) parameter(k *ptx.K, w *emit.Work, l *emit.Launch) {
	m.Base = k.Pointer(m.name)
	arg := m.source
	if m.fixed != nil {
		arg = emit.ConstArg(w.Append(m.fixed))
	}
	l.Args = append(l.Args, arg)
}

// engine returns the unit's.
func (c *block) engine() engine {
	if c.t.Unit == emit.TensorF16 {
		return newTensor(c)
	}
	return newSimt(c)
}

// multiply goes through the keys.
func (c *block) multiply(e engine) {
	keys, values := c.t.widths(c.problem)
	of := func(m *matrix, rows, width int, limit ptx.Uint) *copier {
		return &copier{block: c, matrix: m, rows: rows, width: width, pitch: c.t.pitch(width), limit: limit}
	}
	q := of(&c.q, c.t.BM, keys, ptx.U(c.rows()))
	q.query = true
	c.run(e, q, of(&c.k, c.t.BN, keys, c.counted), of(&c.v, c.t.BN, values, c.counted))
}
