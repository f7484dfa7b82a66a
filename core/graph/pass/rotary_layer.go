package pass

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
)

// turnedRows is what a match becomes: a rotary embedding of x, which is viewed with its heads side by side where they are behind
// its places.
type turnedRows struct {
	m          *rotation
	x          *graph.Tensor
	transposed bool         // m.x is x with heads before places
	view       *graph.Layer // makes x of a tensor whose heads lie side by side; nil for none
	flat       []graph.Dim  // the shape that is turned
	angles     [2]angle
	layer      *graph.Layer // the rotary embedding, outside the network

	to, back, after []int64 // shapes: of what is turned, of x again, and of the result
}

// recogniseRotary puts one layer in the place of a match, between changes of shape where heads lie side by side.
func (r *rewrite) recogniseRotary(m *rotation) bool {
	c := r.candidate("rotary", m.inner...)
	if m.moved {
		return c.miss(WrongShape, "components of %s and of %s are in different places", m.x, m.root.Outputs[0])
	}
	t := &turnedRows{m: m, x: m.x}
	c, ok := t.find(c)
	if !ok || !c.closed(m.root) || !t.build(c) || !c.supported(t.layer) || !c.enabled() {
		return false
	}
	return t.put(c)
}

// heads is the transposition that attention wants.
var heads = []int{0, 2, 1, 3}

// find looks for what is turned, and returns the candidate with all layers that go.
func (t *turnedRows) find(c *candidate) (*candidate, bool) {
	x := t.x
	if len(x.Dims) != 4 {
		return c, c.miss(WrongShape, "%s has not the axes of items, places, heads and components", x)
	}
	places, ok := t.m.placesAxis()
	if !ok {
		return c, c.miss(WrongShape, "angles %s and %s are not one for each place of %s", t.m.cos, t.m.sin, x)
	}
	if t.angles, ok = t.m.angles(c, places); !ok {
		return c, false
	}
	if p := x.Producer; places == 2 && p != nil && p.Op == graph.Transpose && slices.Equal(permOf(p), heads) {
		c = c.r.candidate("rotary", append(slices.Clone(c.layers), p)...)
		t.x, t.transposed, x, places = p.Inputs[0], true, p.Inputs[0], 1
	}
	attrs := graph.RotaryAttrs{Interleaved: t.m.interleaved}
	t.flat = x.Dims
	if places == 1 {
		count, ok := x.Dims[2].IsConst()
		size, ok2 := x.Dims[3].IsConst()
		if !ok || !ok2 {
			return c, c.miss(WrongShape, "the number of heads of %s is not known", x)
		}
		attrs.Heads, t.flat = count, []graph.Dim{x.Dims[0], x.Dims[1], graph.Const(count * size)}
	}
	if l := x.Producer; places == 1 && l != nil && l.Op == graph.Reshape && graph.EqualDims(l.Inputs[0].Dims, t.flat) {
		t.view = l
		if !c.r.net.IsOutput(x) && !slices.ContainsFunc(x.Users, func(u *graph.Layer) bool { return !slices.Contains(c.layers, u) }) {
			c = c.r.candidate("rotary", append(slices.Clone(c.layers), l)...)
		}
	}
	t.layer = &graph.Layer{Name: t.m.root.Name, Op: graph.Rotary, Attrs: attrs}
	return c, true
}

// build makes a layer with what is like its tensors, or records why it cannot be.
func (t *turnedRows) build(c *candidate) bool {
	l, y := t.layer, t.m.root.Outputs[0]
	l.From, l.Outputs = c.members, []*graph.Tensor{{Name: "y"}}
	l.Inputs = []*graph.Tensor{{Name: "x", Type: t.x.Type, Dims: t.flat}, t.angles[0].tensor(), t.angles[1].tensor()}
	if err := l.Infer(); err != nil {
		return c.miss(WrongShape, "%v", err)
	}
	for _, s := range []struct {
		from *graph.Tensor
		dims []graph.Dim
		to   *[]int64
	}{{t.x, t.flat, &t.to}, {l.Outputs[0], t.x.Dims, &t.back}, {&graph.Tensor{Name: "x", Type: t.x.Type, Dims: t.m.x.Dims}, y.Dims, &t.after}} {
		var ok bool
		if *s.to, ok = reshapeTo(s.from, s.dims); !ok {
			return c.miss(WrongShape, "%s has more than one unknown extent", s.from)
		}
	}
	return true
}

// put replaces the candidate's layers by those that are wanted from x to the result: reshape, rotation, reshape, transposition,
// reshape.
func (t *turnedRows) put(c *candidate) bool {
	r, y := c.r, t.m.root.Outputs[0]
	made := &chain{r: r, t: t.x, from: t.m.root.From}
	viewed := !graph.EqualDims(t.flat, t.x.Dims)
	if t.view != nil {
		made.t = t.view.Inputs[0]
	} else if viewed {
		made.add(r.reshape(t.x, y.Name+"_flat", t.to), t.flat)
	}
	rotary := t.layer
	rotary.Inputs = []*graph.Tensor{made.t, t.angles[0].make(r, c.members), t.angles[1].make(r, c.members)}
	made.add(rotary, t.flat)
	rotary.From = c.members
	if viewed {
		made.add(r.reshape(made.t, y.Name+"_heads", t.back), t.x.Dims)
	}
	if t.transposed {
		made.add(&graph.Layer{Op: graph.Transpose, Attrs: graph.TransposeAttrs{Perm: heads}, Inputs: []*graph.Tensor{made.t}}, t.m.x.Dims)
	}
	if !graph.EqualDims(t.m.x.Dims, y.Dims) {
		made.add(r.reshape(made.t, y.Name+"_shape", t.after), y.Dims)
	}
	made.end(t.m.root, c.layers)
	r.net.Rename(rotary, r.name(rotary))
	return c.fire(append([]*graph.Layer{rotary}, slices.DeleteFunc(made.layers, func(l *graph.Layer) bool { return l == rotary })...)...)
}

// chain is layers one behind the other that are to replace others.
type chain struct {
	r      *rewrite
	t      *graph.Tensor // what the last one computes
	from   []string
	layers []*graph.Layer
}

// add adds a layer, which reads t, to the network.
func (c *chain) add(l *graph.Layer, dims []graph.Dim) {
	name := c.t.Name + "_" + l.Op.Name
	l.Name, l.From = name, c.from
	c.t = c.r.net.NewTensor(name, c.t.Type, dims)
	l.Outputs = []*graph.Tensor{c.t}
	c.layers = append(c.layers, c.r.net.Insert(l))
}

// end makes the last layer compute the result of root, and removes the layers that nothing needs then, and a view of what is
// read before its change of shape.
func (c *chain) end(root *graph.Layer, replaced []*graph.Layer) {
	y := root.Outputs[0]
	y.Producer = nil // so that it stays when root goes
	c.r.net.Remove(root)
	c.layers[len(c.layers)-1].SetOutput(0, y)
	c.t = y
	for range replaced {
		for _, l := range replaced {
			if c.r.net.Layer(l.Name) == l && l != root && !c.r.used(l) {
				c.r.net.Remove(l)
			}
		}
	}
}

// placesAxis returns the axis of places of x [b,places,heads,d] or [b,heads,places,d], by the angles that broadcast to it.
func (m *rotation) placesAxis() (int, bool) {
	x := m.x.Dims
	for _, axis := range []int{1, 2} {
		fits := true
		for _, t := range []*graph.Tensor{m.cos, m.sin} {
			d := slices.Concat(slices.Repeat([]graph.Dim{graph.Const(1)}, max(0, 4-len(t.Dims))), t.Dims)
			fits = fits && len(d) == 4 && d[3-axis].Is(1) && graph.SameShape(d[axis:axis+1], x[axis:axis+1]) && (d[axis].Equal(x[axis]) || !d[axis].Is(1)) &&
				(d[0].Is(1) || d[0].Equal(x[0]))
		}
		if fits {
			return axis, true
		}
	}
	return 0, false
}

// angle is cosines or sines as a rotary embedding takes them, to be made.
type angle struct {
	of    *graph.Tensor
	dims  []graph.Dim // [items, places, n]
	shape []int64
	data  []float64 // of a constant
	half  bool      // the first half of the last axis is taken
}

// angles returns cosines and sines, or records why they are not known to be there for each pair.
func (m *rotation) angles(c *candidate, places int) (list [2]angle, ok bool) {
	d, _ := m.x.Dims[3].IsConst()
	for i, t := range []*graph.Tensor{m.cos, m.sin} {
		if t.Type != m.x.Type {
			return list, c.miss(WrongType, "%s turns %s", t, m.x)
		}
		wide := slices.Concat(slices.Repeat([]graph.Dim{graph.Const(1)}, 4-len(t.Dims)), t.Dims)
		a := angle{of: t, dims: []graph.Dim{wide[0], wide[places], graph.Const(d / 2)}}
		last, _ := wide[3].IsConst()
		if n := d / 2; !m.twice && last != n || m.twice && last != 2*n {
			return list, c.miss(WrongShape, "%s are not angles of %d pairs", t, n)
		}
		a.data, ok = reals(t)
		switch {
		case ok && m.twice:
			if a.data, ok = m.once(a.data, d); !ok {
				return list, c.miss(NotConstant, "%s turns the components of a pair by different angles", t)
			}
		case m.twice && (m.interleaved || !repeats(t, maxPattern)):
			return list, c.miss(NotConstant, "%s is not known to turn both components of a pair by the same angle", t)
		case !ok:
			a.half = m.twice
			if a.shape, ok = reshapeTo(a.halved(), a.dims); !ok {
				return list, c.miss(WrongShape, "%s has more than one unknown extent", t)
			}
		}
		list[i] = a
	}
	return list, true
}

// once returns the angles of pairs from those of d components.
func (m *rotation) once(all []float64, d int) ([]float64, bool) {
	var list []float64
	for at := 0; at < len(all); at += d {
		for i := range d / 2 {
			first, second := at+i, at+i+d/2
			if m.interleaved {
				first, second = at+2*i, at+2*i+1
			}
			if all[first] != all[second] {
				return nil, false
			}
			list = append(list, all[first])
		}
	}
	return list, true
}

// repeats reports whether the halves of t's last axis are known to be equal: it is made, element by element, of a tensor that is
// joined to itself.
func repeats(t *graph.Tensor, depth int) bool {
	l := t.Producer
	if list, ok := reals(t); ok && len(t.Dims) > 0 {
		d, _ := t.Dims[len(t.Dims)-1].IsConst()
		_, equal := (&rotation{}).once(list, d)
		return d%2 == 0 && equal
	}
	if l == nil || depth == 0 || l.Epilogue.Args > 0 {
		return false
	}
	x, last := l.Inputs[0], len(t.Dims)-1
	switch l.Op {
	case graph.Concat:
		axis := l.Attrs.(graph.ConcatAttrs).Axis
		return len(l.Inputs) == 2 && l.Inputs[0] == l.Inputs[1] && (axis == last || axis == -1)
	case graph.Reshape:
		return len(x.Dims) > 0 && last >= 0 && x.Dims[len(x.Dims)-1].Equal(t.Dims[last]) && repeats(x, depth-1)
	case graph.Cast, graph.Identity:
		return repeats(x, depth-1)
	case graph.Gather:
		return l.Attrs.(graph.GatherAttrs).Axis == 0 && len(x.Dims) > 1 && repeats(x, depth-1)
	case graph.Slice:
		return x.Dims[last].Equal(t.Dims[last]) && repeats(x, depth-1)
	}
	if _, ok := graph.ProgramOf(l); !ok {
		return false
	}
	for _, in := range l.Inputs {
		if _, ok := scalar(in); !ok && !(graph.EqualDims(in.Dims, t.Dims) && repeats(in, depth-1)) {
			return false
		}
	}
	return true
}

// halved returns a tensor with the dims of the half that is taken.
func (a angle) halved() *graph.Tensor {
	t := &graph.Tensor{Name: "angles", Type: a.of.Type, Dims: slices.Clone(a.of.Dims)}
	if a.half {
		t.Dims[len(t.Dims)-1] = a.dims[2]
	}
	return t
}

// tensor returns a tensor like the one to be made.
func (a angle) tensor() *graph.Tensor {
	t := &graph.Tensor{Name: a.of.Name, Type: a.of.Type, Dims: a.dims}
	if a.data != nil {
		t.Weights = []byte{}
	}
	return t
}

// make returns the angles, by layers that other rotations may have made of them already; they stand for what computes the angles, or
// for the given source layers.
func (a angle) make(r *rewrite, from []string) *graph.Tensor {
	if a.data != nil {
		name := a.of.Name + "_angles"
		if t := r.net.Tensor(name); t != nil && t.IsConst() && graph.EqualDims(t.Dims, a.dims) {
			return t
		}
		dims, _ := constDims(a.dims)
		return r.newConst(name, a.of.Type, a.data, dims...)
	}
	t := a.of
	if t.Producer != nil {
		from = t.Producer.From
	}
	if a.half {
		n, _ := a.dims[2].IsConst()
		attrs := graph.SliceAttrs{Starts: []int{0}, Ends: []int{n}, Axes: []int{len(t.Dims) - 1}}
		t = a.layer(r, t, &graph.Layer{Op: graph.Slice, Attrs: attrs, Inputs: []*graph.Tensor{t}, From: from}, a.halved().Dims)
	}
	if graph.EqualDims(t.Dims, a.dims) {
		return t
	}
	l := r.reshape(t, t.Name+"_angles_shape", a.shape)
	l.From = from
	return a.layer(r, t, l, a.dims)
}

// layer returns what l computes of t, or a layer like it that is there.
func (a angle) layer(r *rewrite, t *graph.Tensor, l *graph.Layer, dims []graph.Dim) *graph.Tensor {
	name := a.of.Name + "_" + l.Op.Name + "_angles"
	for _, u := range t.Users {
		if u.Op == l.Op && u.Name == name && graph.EqualDims(u.Outputs[0].Dims, dims) {
			return u.Outputs[0]
		}
	}
	l.Name, l.Outputs = name, []*graph.Tensor{r.net.NewTensor(name, t.Type, dims)}
	return r.net.Insert(l).Outputs[0]
}
