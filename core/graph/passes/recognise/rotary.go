package recognise

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Rotary finds rotary embeddings in their parts:
//
//	a = Mul(x, cos f32[1,1,S,D])
//	h = Slice(x, first half)
//	g = Slice(x, second half)        ->   y = RotaryEmbedding(x, cos[.., :D/2], sin[.., :D/2])
//	r = Concat(Neg(g), h)
//	b = Mul(r, sin f32[1,1,S,D])
//	y = Add(a, b)
//
// whatever layers bring the two components of a pair together: it follows where they go. Pairs may follow each other, also where
// their components are in halves behind it, angles have a value for each pair or for each component, and components beside those that are turned may stay, also behind a
// RotaryEmbedding; so may places at the ends of the sequence. One whose heads have an axis of their own is moved before what cuts them, so that an attention behind it can
// cut them itself.
var Rotary = pass.Pass{
	Name:  "recognise-rotary",
	Doc:   "recognise rotary embeddings that are written as several layers",
	Rules: []string{"rotary", "rotary-rest", "rotary-rows", "rotary-scale", "rotary-heads", "norm-heads"},
	Run: func(r *pass.Rewrite) {
		r.Each(func(l *graph.Layer) bool {
			if l.Op == graph.Rotary {
				return rotaryRest(r, l) || rotaryRows(r, l) || rotaryScale(r, l) || rotaryHeads(r, l)
			}
			return recogniseRotary(r, l)
		})
	},
}

// rotary is the match of a rotary embedding.
type rotary struct {
	x, y     *graph.Tensor
	attrs    graph.RotaryAttrs
	cos, sin angles
	back     bool // by minus the angles
	fault    string
	inner    []*graph.Layer
}

// angles are what components are multiplied by: lanes of a tensor, one for each pair.
type angles struct {
	t    *graph.Tensor
	axes int
	at   []int
}

func recogniseRotary(r *pass.Rewrite, l *graph.Layer) bool {
	_, ok := graph.ProgramOf(l)
	if !ok && l.Op != graph.Concat && l.Op != graph.Reshape || len(l.Outputs) != 1 || !match.IsFloat(l.Outputs[0]) || len(l.Outputs[0].Dims) < 3 {
		return false
	}
	y := l.Outputs[0]
	if u := r.Network().Sole(y); u != nil && (u.Op == graph.Concat || u.Op == graph.Reshape) && recogniseRotary(r, u) {
		return true // components that stay are behind those that are turned
	}
	var found *rotary
	for _, x := range rotaryRoots(r, y) {
		w, m := newLaneWalk(x), rotary{x: x, y: y}
		if list := w.of(y); len(list) != len(w.known[x]) || !m.pairs(list) || found != nil && !(m.attrs.Apart && m.fault == "") {
			continue
		}
		found, m.inner = &m, w.inner // the nearest, or one that is brought into halves first
	}
	return found != nil && putRotary(r, r.Candidate("rotary", found.inner...), found)
}

// rotaryRoots returns the tensors of y's shape that y is made of by sums, products and moves.
func rotaryRoots(r *pass.Rewrite, y *graph.Tensor) []*graph.Tensor {
	var roots []*graph.Tensor
	seen, open := map[*graph.Tensor]bool{}, []*graph.Tensor{y}
	for len(open) > 0 && len(seen) < 2*maxWalk {
		t := open[0]
		open = open[1:]
		if seen[t] || t == nil || t.IsConst() {
			continue
		}
		seen[t] = true
		if t != y && symbolic.Equal(t.Dims, y.Dims) && t.Type == y.Type {
			roots = append(roots, t)
		}
		if l := t.Producer; l != nil && l.Epilogue.Args == 0 {
			if _, ok := graph.ProgramOf(l); ok {
				open = append(open, l.Inputs...)
				continue
			}
			switch l.Op {
			case graph.Concat:
				open = append(open, l.Inputs...)
			case graph.Slice, graph.Split, graph.Gather, graph.Transpose, graph.Reshape:
				open = append(open, l.Inputs[0])
			}
		}
	}
	return roots
}

// pairs takes lanes as pairs of components that are turned, and components behind them that stay. What turns pairs, but not as a
// RotaryEmbedding does, is noted as a fault.
func (m *rotary) pairs(list []lane) bool {
	if list = m.behind(list); list == nil {
		return false
	}
	n := 0
	for n < len(list) && len(list[n]) == 2 {
		n++
	}
	for i, l := range list[n:] {
		if len(l) != 1 || l[0].by != nil || l[0].minus || l[0].from != n+i {
			return false
		}
	}
	if n < 2 || n%2 != 0 {
		return false
	}
	if m.attrs.Apart = n > 2 && ofFirstPair(list[0]) && ofFirstPair(list[n/2]); m.attrs.Apart {
		halves := list
		list = slices.Clone(list)
		for i := range n / 2 {
			list[2*i], list[2*i+1] = halves[i], halves[n/2+i]
		}
	}
	for i, l := range list[:n] {
		if l[0].from != i {
			l[0], l[1] = l[1], l[0]
		}
		if l[0].from != i || l[1].from == i || l[1].from >= n || l[0].by == nil || l[1].by == nil {
			return false
		}
	}
	step, other := 1, n/2
	if m.attrs.Interleaved = list[0][1].from == 1 && n > 2; m.attrs.Interleaved {
		step, other = 2, 1
	}
	if n < len(list) || m.attrs.First > 0 {
		m.attrs.Size = n
	}
	for i := range n / 2 {
		m.pair(list, i*step, i*step+other)
	}
	return true
}

// behind returns the lanes behind those in front that stay, with the places that they have there; nil where all stay, or others than
// those turn.
func (m *rotary) behind(list []lane) []lane {
	n := 0
	for n < len(list) && len(list[n]) == 1 && list[n][0] == (laneTerm{from: n}) {
		n++
	}
	if m.attrs.First = n; n == 0 {
		return list
	}
	rest := make([]lane, 0, len(list)-n)
	for _, l := range list[n:] {
		l = slices.Clone(l)
		for i := range l {
			if l[i].from -= n; l[i].from < 0 {
				return nil
			}
		}
		rest = append(rest, l)
	}
	if len(rest) == 0 {
		return nil
	}
	return rest
}

// ofFirstPair reports whether a lane is made of the root's first two.
func ofFirstPair(l lane) bool { return l[0].from+l[1].from == 1 }

// pair takes two lanes as one pair.
func (m *rotary) pair(list []lane, i, j int) {
	a, b := list[i], list[j]
	back := b[1].minus
	switch {
	case a[1].from != j || b[1].from != i:
		m.fault = "its components are paired in another way"
	case a[0].minus || b[0].minus || a[1].minus == back:
		m.fault = "a pair is not turned by an angle"
	case m.sin.t != nil && back != m.back:
		m.fault = "its pairs are turned in both directions"
	case a[0].text() != b[0].text() || a[1].text() != b[1].text():
		m.fault = "the components of a pair are turned by angles that are not known to be equal"
	case !m.cos.add(a[0]) || !m.sin.add(a[1]):
		m.fault = "its angles are those of several tensors"
	}
	m.back = back
}

func (t laneTerm) text() string { return laneText(t.by, t.axes, t.at) }

func (a *angles) add(t laneTerm) bool {
	if a.t == nil {
		a.t, a.axes = t.by, t.axes
	}
	a.at = append(a.at, t.at)
	return a.t == t.by && a.axes == t.axes
}

// putRotary puts the embedding in the place of the match.
func putRotary(r *pass.Rewrite, c *pass.Candidate, m *rotary) bool {
	if m.fault != "" {
		return c.Miss(pass.WrongAttribute, "%s", m.fault)
	}
	if !c.Contained(m.y.Producer) {
		return false
	}
	d := &draft{r: r, from: m.y.Producer.From}
	x, dims := m.x, m.x.Dims
	split := len(dims) == 4
	cos, sin := d.angles(m.cos, dims, split), d.angles(m.sin, dims, split)
	heads, ok := dims[len(dims)-2].IsConst()
	var items *graph.Tensor                        // x with its batch in front of the sequence
	if split && ok && (cos == nil || sin == nil) { // heads behind the sequence
		m.attrs.Heads = heads
		if cos, sin = d.angles(m.cos, dims, false), d.angles(m.sin, dims, false); cos == nil || sin == nil {
			if items = batchBehind(x); items != nil {
				x = items
				cos, sin = d.angles(d.placesBehind(m.cos), x.Dims, false), d.angles(d.placesBehind(m.sin), x.Dims, false)
			}
		}
		dims = []symbolic.Dim{x.Dims[0], x.Dims[1], x.Dims[2].Mul(x.Dims[3])}
		x = d.reshape(x, dims)
	} else if !split {
		m.attrs.Heads = 1
	}
	if cos == nil || sin == nil || x == nil {
		return c.Miss(pass.WrongShape, "angles %s and %s are not those of places of %s", m.cos.t, m.sin.t, m.x)
	}
	if m.back {
		sin = d.layer(sin.Name+"_back", match.Ops().Named("Neg"), graph.Elementwise{Program: elementwise.Unary(elementwise.Neg)}, sin)
	}
	y := &graph.Tensor{Name: m.y.Name}
	by := &graph.Layer{Name: m.y.Producer.Name, Op: graph.Rotary, Attrs: m.attrs, Inputs: []*graph.Tensor{x, cos, sin}, Outputs: []*graph.Tensor{y}}
	if err := by.Infer(); err != nil || !symbolic.Equal(y.Dims, dims) || y.Type != m.y.Type {
		return c.Miss(pass.WrongShape, "%s does not become %s by %s and %s", m.x, m.y, cos, sin)
	}
	if items != nil && !(d.shaped(by, items.Dims) && d.turned()) || items == nil && !d.shaped(by, m.y.Dims) {
		return c.Miss(pass.WrongShape, "%s cannot be given the shape %s", y, symbolic.Format(m.y.Dims))
	}
	if !c.Has(by) || !c.Enabled() {
		return false
	}
	stand(c, d, m.y, by, c.Found)
	return true
}

// batchBehind returns what x [sequence, batch, heads, size] is made of by a change of its first two axes; nil for none.
func batchBehind(x *graph.Tensor) *graph.Tensor {
	l := x.Producer
	if l == nil || l.Op != graph.Transpose || l.Epilogue.Args > 0 || len(x.Dims) != 4 || !slices.Equal(match.Perm(l), batchFirst) {
		return nil
	}
	return l.Inputs[0]
}

// batchFirst changes the places of the sequence and the batch before heads.
var batchFirst = []int{1, 0, 2, 3}

// placesBehind returns angles of the places of [sequence, batch, heads, size] as those of [batch, sequence, heads, size]; as they are
// where they are of items, too.
func (d *draft) placesBehind(a angles) angles {
	dims := a.t.Dims
	if len(dims) != 3+a.axes || !dims[1].Is(1) {
		return a
	}
	dims = slices.Clone(dims)
	dims[0], dims[1] = dims[1], dims[0]
	if t := d.reshape(a.t, dims); t != nil {
		a.t = t
	}
	return a
}

// angles returns the angles of x's pairs as [batch or 1, sequence, pairs]; nil where they are not of its places. x is
// [batch, heads, sequence, size], if split, or [batch, sequence, size], with or without heads behind the sequence.
func (d *draft) angles(a angles, x []symbolic.Dim, split bool) *graph.Tensor {
	lead := len(x) - 1
	dims := slices.Concat(slices.Repeat([]symbolic.Dim{symbolic.Const(1)}, max(0, lead+a.axes-len(a.t.Dims))), a.t.Dims)
	batch, rows, others, length := dims[0], dims[1], dims[2:lead], x[1]
	if split {
		rows, others, length = dims[2], dims[1:2], x[2]
	}
	if len(dims) != lead+a.axes || !allOnes(others) || !ofPlaces(rows, length) || !batch.Is(1) && !batch.Equal(x[0]) {
		return nil
	}
	own, _ := match.ConstDims(dims[lead:])
	n, step := numeric.Count(own), 1
	if len(a.at) > 1 {
		step = a.at[1] - a.at[0]
	}
	for i, at := range a.at {
		if step < 1 || at != a.at[0]+i*step {
			return nil
		}
	}
	t := d.reshape(a.t, []symbolic.Dim{batch, rows, symbolic.Const(n)})
	if t == nil || n == len(a.at) {
		return t
	}
	end := a.at[len(a.at)-1] + 1
	return d.layer(a.t.Name+"_pairs", graph.Slice, graph.SliceAttrs{Starts: a.at[:1], Ends: []int{end}, Axes: []int{2}, Steps: []int{step}}, t)
}

// ofPlaces reports whether rows of angles that are broadcast to length places are one for each. Where a table of several rows is cut
// to min(length, rows), length is at most rows, or they would not broadcast; and no length is below 0.
func ofPlaces(rows, length symbolic.Dim) bool {
	return rows.Equal(length) || rows.Caps(length, 2) || rows.Equal(length.AtLeast0())
}

// rotaryRest makes an embedding keep the components behind those that it turns, where a Concat puts them there:
//
//	t = Slice(x, first n)
//	g = Slice(x, the rest)
//	u = RotaryEmbedding(t, cos, sin)   ->   y = RotaryEmbedding(x, cos, sin) size=n
//	y = Concat(u, g)
func rotaryRest(r *pass.Rewrite, l *graph.Layer) bool {
	part, attrs := l.Inputs[0], l.Attrs.(graph.RotaryAttrs)
	whole := r.Network().Sole(l.Outputs[0])
	if attrs.Size != 0 || attrs.Heads != 0 || part.Producer == nil || len(part.Producer.Inputs) == 0 ||
		whole == nil || whole.Op != graph.Concat || len(whole.Inputs) != 2 || whole.Epilogue.Args > 0 {
		return false
	}
	x, y := part.Producer.Inputs[0], whole.Outputs[0]
	if x == nil || !symbolic.Equal(x.Dims, y.Dims) || x.Type != y.Type || len(x.Dims) != 4 {
		return false
	}
	w := newLaneWalk(x)
	turned, rest := w.of(part), w.of(whole.Inputs[1])
	list := slices.Concat(turned, rest)
	if len(turned) == 0 || len(rest) == 0 || len(list) != len(w.known[x]) {
		return false
	}
	for i, own := range list {
		if len(own) != 1 || own[0] != (laneTerm{from: i}) {
			return false
		}
	}
	c := r.Candidate("rotary-rest", append([]*graph.Layer{l, whole}, w.inner...)...)
	attrs.Size = len(turned)
	by := &graph.Layer{Name: whole.Name, Op: l.Op, Attrs: attrs, Inputs: append([]*graph.Tensor{x}, l.Inputs[1:]...), Outputs: []*graph.Tensor{{Name: y.Name}}}
	if err := by.Infer(); err != nil || !symbolic.Equal(by.Outputs[0].Dims, y.Dims) {
		return c.Miss(pass.WrongShape, "%s cannot be turned with the components that stay", x)
	}
	if !c.Contained(whole) || !c.Has(by) || !c.Enabled() {
		return false
	}
	return c.Substitute(whole, by)
}

// rotaryScale moves a constant factor behind an embedding, where it may be that of an attention's scores, and what cuts heads is beside
// the embedding:
//
//	y = RotaryEmbedding(Mul(x, 0.5), cos, sin)   ->   y = Mul(RotaryEmbedding(x, cos, sin), 0.5)
func rotaryScale(r *pass.Rewrite, l *graph.Layer) bool {
	scale := l.Inputs[graph.RotaryX].Producer
	if scale == nil || len(l.Outputs) != 1 || l.Epilogue.Args > 0 || len(scale.Outputs[0].Dims) != 4 { // before heads are cut it is of the weights
		return false
	}
	x, factor, ok := scaling(scale)
	if !ok || factor == 0 {
		return false
	}
	c := r.Candidate("rotary-scale", scale, l)
	y := &graph.Tensor{Name: l.Outputs[0].Name + "_turned"}
	by := &graph.Layer{Name: l.Name, Op: l.Op, Attrs: l.Attrs, Inputs: append([]*graph.Tensor{x}, l.Inputs[1:]...), From: l.From, Outputs: []*graph.Tensor{y}}
	if by.Infer() != nil || !c.Sole(l.Inputs[graph.RotaryX], l) || !c.Has(by) || !c.Enabled() {
		return false
	}
	by.Outputs = []*graph.Tensor{r.Network().NewTensor(y.Name, y.Type, y.Dims)}
	by = r.Network().Insert(by)
	inputs := slices.Clone(scale.Inputs)
	inputs[slices.Index(inputs, x)] = by.Outputs[0]
	last := r.Replace(l, &graph.Layer{Op: scale.Op, Attrs: scale.Attrs, Inputs: inputs})
	last.From = scale.From
	r.Network().Remove(scale)
	return c.Fire(by, last)
}

// rotaryHeads moves an embedding before the moves that give heads an axis of their own:
//
//	x = Transpose(Reshape(t, [B, S, H, D])) perm=[0 2 1 3]        u = RotaryEmbedding(t, cos, sin) heads=H
//	y = RotaryEmbedding(x, cos, sin)                         ->   y = Transpose(Reshape(u, [B, S, H, D])) perm=[0 2 1 3]
//
// and before those that repeat heads for groups of queries, so that each is turned once:
//
//	e = Expand(t [B, S, H, 1, D], [1, 1, 1, G, 1])                u = RotaryEmbedding(Reshape(t, [B, S, H*D]), cos, sin) heads=H
//	x = Transpose(Reshape(e, [B, S, H*G, D])) perm=[0 2 1 3]      e = Expand(Reshape(u, [B, S, H, 1, D]), [1, 1, 1, G, 1])
//	y = RotaryEmbedding(x, cos, sin)                         ->   y = Transpose(Reshape(e, [B, S, H*G, D])) perm=[0 2 1 3]
func rotaryHeads(r *pass.Rewrite, l *graph.Layer) bool {
	x, y := l.Inputs[0], l.Outputs[0]
	if len(x.Dims) != 4 {
		return false
	}
	if normHeads(r, x) {
		return true
	}
	f, heads, ok := headsForm(r, x)
	if !ok {
		return false
	}
	c := r.Candidate("rotary-heads", l)
	attrs := l.Attrs.(graph.RotaryAttrs)
	attrs.Heads = heads
	d := &draft{r: r, from: l.From}
	if f.t.Producer != nil {
		d.from = f.t.Producer.From
	}
	rows := d.reshape(f.t, f.dims)
	if rows == nil {
		return c.Miss(pass.WrongShape, "%s cannot be given the shape %s", f.t, symbolic.Format(f.dims))
	}
	u := &graph.Tensor{Name: y.Name + "_rows"}
	by := &graph.Layer{Name: l.Name, Op: graph.Rotary, Attrs: attrs, From: l.From, Outputs: []*graph.Tensor{u},
		Inputs: append([]*graph.Tensor{rows}, l.Inputs[1:]...)}
	if err := by.Infer(); err != nil || !symbolic.Equal(u.Dims, f.dims) {
		return c.Miss(pass.WrongShape, "%s cannot be turned before its heads are cut", f.t)
	}
	_, ok = match.ReshapeTo(u, []symbolic.Dim{x.Dims[0], x.Dims[2], f.heads, symbolic.Const(1), x.Dims[3]})
	if !ok || !c.Has(by) || !c.Enabled() {
		return false
	}
	d.add(by)
	by.Outputs = []*graph.Tensor{r.Network().NewTensor(u.Name, u.Type, u.Dims)}
	by.Name = u.Name
	by = r.Network().Insert(by)
	apart := headsApart(r, l, by.Outputs[0], f)
	moved := r.Moved(f.layers)
	last := r.Replace(l, &graph.Layer{Op: graph.Transpose, Attrs: graph.TransposeAttrs{Perm: []int{0, 2, 1, 3}}, Inputs: apart[len(apart)-1].Outputs})
	c.Absorb(f.layers, moved)
	list := append(append([]*graph.Layer{by}, apart...), last)
	for _, l := range list[1:] {
		l.From = c.Members
	}
	return c.Fire(list...)
}

// headsForm returns the form of x [B, heads, S, D] before its heads are cut, and how many there are in it: fewer where each is repeated.
func headsForm(r *pass.Rewrite, x *graph.Tensor) (f form, heads int, ok bool) {
	for _, f := range operandForms(r, x, false, batchRole, headRole, rowRole, depthRole) {
		n, ok := f.heads.IsConst()
		if ok && len(f.dims) == 3 && !f.turned && len(f.layers) > 0 && f.batch.Equal(x.Dims[0]) && f.heads.Mul(f.repeats).Equal(x.Dims[1]) {
			return f, n, true
		}
	}
	return form{}, 0, false
}

// headsApart adds the layers that give the heads of rows u, which take the place of l's result, an axis of their own, repeated as form f
// says.
func headsApart(r *pass.Rewrite, l *graph.Layer, u *graph.Tensor, f form) (list []*graph.Layer) {
	x, y := l.Inputs[0], l.Outputs[0]
	add := func(by *graph.Layer, name string, dims ...symbolic.Dim) *graph.Tensor {
		by.Name, by.From, by.Outputs = y.Name+name, l.From, []*graph.Tensor{r.Network().NewTensor(y.Name+name, y.Type, dims)}
		list = append(list, r.Network().Insert(by))
		return by.Outputs[0]
	}
	batch, rows, depth := x.Dims[0], x.Dims[2], x.Dims[3]
	reshape := func(t *graph.Tensor, name, shapeName string, dims ...symbolic.Dim) *graph.Tensor {
		shape, _ := match.ReshapeTo(t, dims)
		return add(r.Reshape(t, y.Name+shapeName, shape), name, dims...)
	}
	if times, _ := f.repeats.IsConst(); times != 1 {
		one := reshape(u, "_groups", "_groups_shape", batch, rows, f.heads, symbolic.Const(1), depth)
		shape := r.Network().AddConst(y.Name+"_repeats", numeric.Values(numeric.I64, []int64{1, 1, 1, int64(times), 1}, 5))
		u = add(&graph.Layer{Op: graph.Expand, Inputs: []*graph.Tensor{one, shape}}, "_repeated", batch, rows, f.heads, f.repeats, depth)
	}
	reshape(u, "_heads", "_shape", batch, rows, x.Dims[1], depth)
	return list
}
