package onnx

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// A value that a loop carries may do nothing but grow: each iteration joins to its end what it has computed, as PyTorch's exporter writes
// a list that is appended to. A loop that gathers these parts gives the same, and all that it carries keeps its shape.

// growing is a carried value that grows.
type growing struct {
	carried int // which
	axis    int
	part    *graph.Tensor // of the body: what an iteration joins
}

// growingValues returns the carried values of a loop that grow; net is its body.
func growingValues(net *graph.Network, carried int) (list []growing) {
	for k := range carried {
		before, after := net.Inputs[2+k], net.Outputs[1+k]
		last := soleProducer(net, after, 0)
		if last == nil || last.Op != graph.Concat || last.Epilogue.Args > 0 || len(last.Inputs) != 2 {
			continue
		}
		from := last.Inputs[0]
		if from != before {
			if l := soleProducer(net, from, 1); l == nil || !hands(l) || l.Inputs[0] != before {
				continue
			}
		}
		if len(before.Users) == 1 && !net.IsOutput(before) {
			axis := last.Attrs.(graph.ConcatAttrs).Axis
			list = append(list, growing{k, (axis + len(before.Dims)) % len(before.Dims), last.Inputs[1]})
		}
	}
	return list
}

// soleProducer returns the layer that computes t, behind those that hand it on, where nobody reads any of it but the next one, and of t
// so many layers; nil otherwise.
func soleProducer(net *graph.Network, t *graph.Tensor, users int) *graph.Layer {
	outputs := 1 - users // the body's own, of which t is one
	for {
		count := 0
		for _, o := range net.Outputs {
			if o == t {
				count++
			}
		}
		if len(t.Users) != users || count != outputs {
			return nil
		}
		if t.Producer == nil || !hands(t.Producer) || t.Producer.Inputs[0].Producer == nil {
			return t.Producer
		}
		t, users, outputs = t.Producer.Inputs[0], 1, 0
	}
}

// hands reports whether a layer hands on what it is given.
func hands(l *graph.Layer) bool {
	return (l.Op == graph.Identity || l.Op == graph.Cast) && l.Epilogue.Args == 0 && l.Inputs[0].Type == l.Outputs[0].Type
}

// growingLoop imports a loop of which some carried values grow. sub is its body; errs are why it is no layer as it is.
func (im *importer) growingLoop(n *node, name string, inputs []*graph.Tensor, sub *importer, errs []error) []error {
	carried := len(n.inputs) - 2
	list := growingValues(sub.net, carried)
	if len(list) == 0 {
		return errs
	}
	gathers := *n
	gathers.inputs, gathers.outputs = slices.Clone(n.inputs), slices.Clone(n.outputs)
	for len(gathers.outputs) < len(sub.net.Outputs)-1 {
		gathers.outputs = append(gathers.outputs, "")
	}
	grown := slices.Clone(gathers.outputs[:carried])
	rest := slices.Clone(inputs)
	for _, g := range slices.Backward(list) {
		part, err := sub.joined(g, inputs[2+g.carried])
		if err != nil {
			return []error{err}
		}
		grows := sub.net.Outputs[1+g.carried]
		sub.net.Outputs = append(slices.Delete(sub.net.Outputs, 1+g.carried, 2+g.carried), part)
		for l := grows.Producer; l != nil; { // what joins
			from := l.Inputs[0].Producer
			sub.net.Remove(l)
			l = from
		}
		sub.net.Inputs = slices.Delete(sub.net.Inputs, 2+g.carried, 3+g.carried)
		gathers.inputs = slices.Delete(gathers.inputs, 2+g.carried, 3+g.carried)
		rest = slices.Delete(rest, 2+g.carried, 3+g.carried)
		gathers.outputs = append(slices.Delete(gathers.outputs, g.carried, g.carried+1), im.unused(grown[g.carried]+"/parts"))
	}
	sub.net.Prune()
	if errs := im.loopLayer(&gathers, name, rest, sub); len(errs) > 0 {
		return errs
	}
	for i, g := range slices.Backward(list) {
		out := grown[g.carried]
		parts := gathers.outputs[len(gathers.outputs)-1-i]
		t := im.values[parts]
		delete(im.values, parts)
		if out == "" {
			continue
		}
		c := &graph.Composite{Import: func(d *graph.Definition, _ *graph.Node) ([]*graph.Tensor, error) {
			return []*graph.Tensor{d.Concat(g.axis, inputs[2+g.carried], merged(d, t, g.axis))}, nil
		}}
		results, errs := c.Add(im.net, im.Ops, &graph.Node{Name: name, OpType: "Loop", Outputs: 1}, im.prefixed([]string{out}), im.isReserved)
		if len(errs) > 0 {
			return errs
		}
		im.values[out] = results[0]
	}
	return nil
}

// unused returns a name that no value has.
func (im *importer) unused(name string) string {
	for im.visible(name) || im.isReserved(im.scope.prefix+name) {
		name += "_"
	}
	return name
}

// joined returns what an iteration joins to a value, as an output of the body: with the extents of what it is joined to.
func (im *importer) joined(g growing, first *graph.Tensor) (t *graph.Tensor, err error) {
	same := len(g.part.Dims) == len(first.Dims)
	for axis := 0; same && axis < len(first.Dims); axis++ {
		same = axis == g.axis || symbolic.Equal(g.part.Dims[axis:axis+1], first.Dims[axis:axis+1])
	}
	around := im.capture(first)
	c := &graph.Composite{Import: func(d *graph.Definition, _ *graph.Node) ([]*graph.Tensor, error) {
		if t = g.part; !same {
			extents := []*graph.Tensor{extentsOf(d, around, 0, g.axis), extentsOf(d, t, g.axis, g.axis+1), extentsOf(d, around, g.axis+1, len(around.Dims))}
			t = d.ReshapeTo(t, d.Concat(0, extents...))
		}
		t = d.Identity(t)
		return nil, nil
	}}
	if _, errs := c.Add(im.net, im.Ops, &graph.Node{Name: im.scope.prefix + "joined", OpType: "Loop"}, nil, im.isReserved); len(errs) > 0 {
		return nil, errs[0]
	}
	return t, nil
}

// extentsOf adds the list of some of x's extents.
func extentsOf(d *graph.Definition, x *graph.Tensor, from, to int) *graph.Tensor {
	return d.Layer(graph.ShapeOf, graph.ShapeAttrs{Start: from, End: to}, x)
}

// merged joins parts [N, ...], of so many iterations, along one of their own axes.
func merged(d *graph.Definition, parts *graph.Tensor, axis int) *graph.Tensor {
	perm := make([]int, len(parts.Dims))
	for i := range perm {
		perm[i] = i
	}
	copy(perm, perm[1:axis+1])
	perm[axis] = 0
	if axis > 0 {
		parts = d.Transpose(parts, perm...)
	}
	if parts.Dims[axis+1].Is(1) {
		return d.Squeeze(parts, axis+1)
	}
	left := d.Constant(fmt.Sprintf("%s/left", parts.Name), numeric.Values(numeric.I64, []int64{-1}, 1))
	return d.ReshapeTo(parts, d.Concat(0, extentsOf(d, parts, 0, axis), left, extentsOf(d, parts, axis+2, len(parts.Dims))))
}
