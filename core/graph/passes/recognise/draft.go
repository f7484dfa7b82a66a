package recognise

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// draft is layers that a rewrite would add. They read tensors of the network, and its tensors read them, only once they are
// added, so that the target can be asked before.
type draft struct {
	r      *pass.Rewrite
	from   []string // what the layers stand for that read inputs and constants alone; others stand for what they read
	layers []*graph.Layer
	view   *graph.Layer // that gives the result of the last layer, behind these, another shape; nil for none
}

// layer returns the output of a layer: of one that the network or the draft has, or of a new one; nil if it has no shape.
func (d *draft) layer(name string, op *graph.Op, attrs any, inputs ...*graph.Tensor) *graph.Tensor {
	y, from := &graph.Tensor{Name: name}, d.from
	if p := inputs[0].Producer; p != nil {
		from = p.From
	}
	l := &graph.Layer{Name: name, Op: op, Attrs: attrs, Inputs: inputs, Outputs: []*graph.Tensor{y}, From: from}
	if l.Infer() != nil {
		return nil
	}
	key := match.Expression(l)
	for _, u := range slices.Concat(inputs[0].Users, d.layers) {
		if len(u.Outputs) == 1 && u.Op == op && match.Expression(u) == key {
			return u.Outputs[0]
		}
	}
	y.Producer = l
	d.layers = append(d.layers, l)
	return y
}

// constant returns a constant that only the draft has; of one element, the network's where that has the same, so that what is made of
// it for several layers is one.
func (d *draft) constant(name string, v numeric.Value) *graph.Tensor {
	data := v.Data
	if data == nil {
		data = []byte{}
	}
	t := &graph.Tensor{Name: name, Type: v.Type, Dims: symbolic.Shape(v.Dims...), Weights: data}
	if v.Len() != 1 {
		return t
	}
	for _, c := range d.r.Network().Consts() {
		if c.Type == t.Type && symbolic.Equal(c.Dims, t.Dims) && bytes.Equal(c.Weights, data) && !c.Range.IsSet() {
			return c
		}
	}
	return t
}

// reshape returns x in the given shape, x itself where it has it; nil where the shape is not known well enough.
func (d *draft) reshape(x *graph.Tensor, dims []symbolic.Dim) *graph.Tensor {
	for t := x; t != nil; t = viewOf(t) {
		if symbolic.Equal(t.Dims, dims) {
			return t
		}
	}
	shape, ok := match.ReshapeTo(x, dims)
	if axes := axesOver(x.Dims, dims); !ok && axes != nil {
		return d.layer(x.Name+"_view", graph.Squeeze, graph.SqueezeAttrs{Axes: axes}, x)
	}
	if wide := widened(x.Dims, dims); !ok && wide != nil {
		if y := d.layer(x.Name+"_wide", graph.Unsqueeze, graph.UnsqueezeAttrs{Axes: wide}, x); y != nil {
			x = y
			shape, ok = match.ReshapeTo(x, dims)
		}
	}
	if !ok {
		return d.reshapeBy(x, dims)
	}
	s := d.constant(x.Name+"_shape", numeric.Values(numeric.I64, shape, len(shape)))
	for _, u := range x.Users { // one that is there has a shape of another name
		if u.Op == graph.Reshape && symbolic.Equal(u.Outputs[0].Dims, dims) {
			return u.Outputs[0]
		}
	}
	return d.layer(x.Name+"_view", graph.Reshape, graph.ReshapeAttrs{}, x, s)
}

// viewOf returns what t is the elements of in another shape, nil for nothing.
func viewOf(t *graph.Tensor) *graph.Tensor {
	l := t.Producer
	switch {
	case l == nil || len(l.Outputs) != 1 || l.Epilogue.Args > 0 || l.Inputs[0] == nil || l.Inputs[0].Type != t.Type:
	case l.Op.Memory == graph.Viewed, l.Op == graph.Transpose && match.KeepsOrder(l):
		return l.Inputs[0]
	}
	return nil
}

// reshapeBy returns x in the given shape, of which the inputs of the network, or x itself, have what a constant cannot say; nil where
// they do not.
func (d *draft) reshapeBy(x *graph.Tensor, dims []symbolic.Dim) *graph.Tensor {
	s := d.extents(x.Name+"_shape", dims, true, x)
	if s == nil {
		return nil
	}
	y := d.layer(x.Name+"_view", graph.Reshape, graph.ReshapeAttrs{AllowZero: !slices.ContainsFunc(s.Value, func(n symbolic.Dim) bool { return n.Is(-1) })}, x, s)
	if y == nil || !symbolic.Equal(y.Dims, dims) {
		return nil
	}
	return y
}

// extents returns the list of dims, as match.Measured finds them; nil where it does not.
func (d *draft) extents(name string, dims []symbolic.Dim, open bool, others ...*graph.Tensor) *graph.Tensor {
	var parts []*graph.Tensor
	for _, e := range match.Measured(d.r.Network(), dims, open, others...) {
		if e.Of != nil {
			parts = append(parts, d.layer(fmt.Sprintf("%s_extent_%d", e.Of.Name, e.Axis), graph.ShapeOf, graph.ShapeAttrs{Start: e.Axis, End: e.Axis + 1}, e.Of))
			continue
		}
		t := d.constant(name, e.Value())
		t.Value, parts = e.Known, append(parts, t)
	}
	switch len(parts) {
	case 0:
		return nil
	case 1:
		return parts[0]
	}
	return d.layer(name, graph.Concat, graph.ConcatAttrs{}, parts...)
}

// widened returns the axes of extent 1 with which the last axes of from, that are those of to, are where they are in to: a Reshape takes
// extents over from the axes of the same place alone. Nil where to has no more axes, or none of them is the same.
func widened(from, to []symbolic.Dim) []int {
	more, same := len(to)-len(from), 0
	for same < min(len(from), len(to)) && from[len(from)-1-same].Equal(to[len(to)-1-same]) {
		same++
	}
	if more < 1 || same == 0 {
		return nil
	}
	var axes []int
	for i := range more {
		axes = append(axes, len(from)-same+i)
	}
	return axes
}

// axesOver returns the axes of extent 1 without which from is to; nil where there are none.
func axesOver(from, to []symbolic.Dim) []int {
	var axes []int
	at := 0
	for i, d := range from {
		switch {
		case at < len(to) && d.Equal(to[at]):
			at++
		case d.Is(1):
			axes = append(axes, i)
		default:
			return nil
		}
	}
	if at < len(to) {
		return nil
	}
	return axes
}

// add adds the layers to the network, and gives last, which is no part of it yet, the tensors that are there now as inputs.
func (d *draft) add(last *graph.Layer) {
	n := d.r.Network()
	now := map[*graph.Tensor]*graph.Tensor{}
	for _, l := range append(slices.Clone(d.layers), last) {
		inputs := slices.Clone(l.Inputs)
		for i, t := range inputs {
			if t == nil {
				continue
			}
			if x := now[t]; x != nil {
				inputs[i] = x
			} else if v, ok := t.Const(); ok && n.Tensor(t.Name) != t {
				now[t] = n.AddConst(t.Name, v)
				inputs[i] = now[t]
			}
		}
		l.Inputs = inputs
		if l == last {
			return
		}
		y := l.Outputs[0]
		now[y] = n.NewTensor(y.Name, y.Type, y.Dims)
		now[y].Value = y.Value
		l.Outputs = []*graph.Tensor{now[y]}
		n.Insert(l)
	}
}

// shaped makes the draft end with a layer, by, that what follows brings to a shape; false where it cannot.
func (d *draft) shaped(by *graph.Layer, dims []symbolic.Dim) bool {
	y := by.Outputs[0]
	if symbolic.Equal(y.Dims, dims) {
		return true
	}
	y.Producer = by
	z := d.reshape(y, dims)
	if z == nil {
		return false
	}
	y.Name += "_heads"
	d.layers = slices.Insert(d.layers, len(d.layers)-1, by)
	d.settle()
	return true
}

// turned makes the draft change the places of batch and sequence behind what shaped has made.
func (d *draft) turned() bool {
	d.layers = append(d.layers, d.view)
	z := d.view.Outputs[0]
	if d.layer(z.Name+"_turned", graph.Transpose, graph.TransposeAttrs{Perm: batchFirst}, z) == nil {
		return false
	}
	d.settle()
	return true
}

// settle takes the last layer of the draft for that which gives the result.
func (d *draft) settle() {
	n := len(d.layers) - 1
	d.view, d.layers = d.layers[n], d.layers[:n]
}

// stand makes the draft and a layer compute z, whose shape the layer's result has or is given by shaped; of the layers that are gone
// then, those go that nothing else needs.
func stand(c *pass.Candidate, d *draft, z *graph.Tensor, by *graph.Layer, gone []*graph.Layer) {
	r := c.Rewrite()
	root, moved := z.Producer, r.Moved(gone)
	last := by
	if d.view != nil {
		last = d.view
		for _, l := range d.layers[slices.Index(d.layers, by):] {
			l.From = c.Members
		}
	}
	d.add(last)
	r.Replace(root, last)
	c.Absorb(gone, moved)
	c.Fire(by)
}
