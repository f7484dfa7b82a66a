package graph

import (
	"errors"
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
)

// inside is what the definition of a body has beside one of a network of its own.
type inside struct {
	outer    *definition
	prefix   string    // of the names of layers and constants
	captured []*Tensor // of the outer network: what inputs of the body stand for, behind those that it is given
	seen     map[*Tensor]*Tensor
}

// path returns what the names of layers and constants begin with.
func (d *definition) path() string {
	if d.inside == nil {
		return ""
	}
	return d.inside.prefix
}

// captureAll returns what stands in this network for tensors of the networks around it.
func (d *definition) captureAll(list []*Tensor) []*Tensor {
	if d.inside == nil {
		return list
	}
	list = slices.Clone(list)
	for i, t := range list {
		list[i] = d.capture(t)
	}
	return list
}

// capture returns what stands for t; t itself where that is nothing of the networks around.
func (d *definition) capture(t *Tensor) *Tensor {
	if t == nil || d.inside == nil || d.net.Tensor(t.Name) == t {
		return t
	}
	in := d.inside
	outer := in.outer.capture(t)
	if in.outer.net.Tensor(outer.Name) != outer {
		return t
	}
	x := in.seen[outer]
	if x != nil {
		return x
	}
	if v, ok := outer.Const(); ok {
		x = d.net.AddConst(in.prefix+outer.Name, v)
	} else {
		x = d.net.AddInput(in.prefix+outer.Name, outer.Type, outer.Dims...)
		x.Value, x.Range = outer.Value, outer.Range
		in.captured = append(in.captured, outer)
	}
	in.seen[outer] = x
	return x
}

// body returns the definition of a network inside a layer, which is given such tensors.
func (d *Definition) body(layer, part string, given ...*Tensor) (b *Definition, inputs []*Tensor) {
	prefix := layer + "/" + part + "/"
	b = &Definition{definition: &definition{net: NewNetwork(layer + "/" + part), ops: d.ops, broken: d.broken,
		inside: &inside{d.definition, prefix, nil, map[*Tensor]*Tensor{}}}}
	for _, t := range given {
		inputs = append(inputs, b.net.AddInput(prefix+t.Name, t.Type, t.Dims...))
	}
	return b, inputs
}

// end makes the results of a body its outputs, each with a layer of its own, and takes over what is wrong with it.
func (d *Definition) end(b *Definition, results []*Tensor) bool {
	broken := false
	for i, t := range results {
		if broken = broken || d.broken[t]; broken {
			break
		}
		t = b.capture(t)
		switch {
		case t == nil:
			b.fail(fmt.Errorf("%s: result %d is no tensor", b.net.Name, i))
			continue
		case b.net.Tensor(t.Name) != t:
			b.fail(fmt.Errorf("%s: result %d, %s, is not a tensor of this network", b.net.Name, i, t.Name))
			continue
		case t.Producer == nil || b.net.IsOutput(t):
			if t = b.Named(fmt.Sprintf("output%d", i)).Identity(t); d.broken[t] {
				continue
			}
		}
		b.net.MarkOutput(t)
	}
	d.errs = append(d.errs, b.errs...)
	return !broken && len(b.errs) == 0
}

// failed returns the tensors of a method that failed.
func (d *Definition) failed(n int) []*Tensor {
	list := make([]*Tensor, max(1, min(n, maxOutputs)))
	for i := range list {
		list[i] = d.none()
	}
	return list
}

// ShareInputs gives two networks the same inputs, which stand for captured tensors: those of the first, and then those of the
// second alone. The inputs of each are what it has captured, in order.
func ShareInputs(a, b *Network, ofA, ofB []*Tensor) (captured []*Tensor) {
	captured = slices.Clone(ofA)
	for _, t := range ofB {
		if !slices.Contains(captured, t) {
			captured = append(captured, t)
		}
	}
	for _, n := range []struct {
		*Network
		of []*Tensor
	}{{a, ofA}, {b, ofB}} {
		inputs := n.Inputs
		n.Inputs = nil
		for _, t := range captured {
			if i := slices.Index(n.of, t); i >= 0 {
				n.Inputs = append(n.Inputs, inputs[i])
			} else {
				n.AddInput(n.Name+"/"+t.Name, t.Type, t.Dims...).Value = t.Value
			}
		}
	}
	return captured
}

// If adds what one of two networks gives, by a condition of one Bool: then or otherwise, which return equally many tensors of
// the same types and shapes. They may read all tensors that there are.
func (d *Definition) If(cond *Tensor, then, otherwise func(b *Definition) []*Tensor) []*Tensor {
	if then == nil || otherwise == nil {
		d.fail(errors.New("If: a branch is missing"))
		return d.failed(1)
	}
	name := d.layerName(If)
	t, _ := d.body(name, "then")
	f, _ := d.body(name, "else")
	results, others := then(t), otherwise(f)
	if ok := d.end(t, results); !d.end(f, others) || !ok {
		return d.failed(max(len(results), len(others)))
	}
	captured := ShareInputs(t.net, f.net, t.inside.captured, f.inside.captured)
	return d.Layers(If, IfAttrs{t.net, f.net}, len(results), append([]*Tensor{cond}, captured...)...)
}

// Loop adds a loop of at most so many trips, an I64 of one element that may be nil, which goes on as long as the condition
// holds, a Bool that is nil where it holds at first. body is given the number of the iteration, the condition and the carried
// values, and returns the next condition, nil for the one it was given, the next carried values and what is gathered, an
// element at each iteration. The results are the last carried values and what was gathered. Where data end a loop that gathers, trips must
// be known, and what is gathered last an Identity of the iteration's number.
func (d *Definition) Loop(trips, cond *Tensor, carried []*Tensor, body func(b *Definition, i, cond *Tensor, carried []*Tensor) (next *Tensor, values []*Tensor)) []*Tensor {
	if body == nil || slices.Contains(carried, nil) {
		d.fail(errors.New("Loop: the body or a carried value is missing"))
		return d.failed(len(carried))
	}
	if slices.ContainsFunc(carried, func(t *Tensor) bool { return d.broken[t] }) {
		return d.failed(len(carried))
	}
	name := d.layerName(Loop)
	given := append([]*Tensor{{Name: "iteration", Type: numeric.I64}, {Name: "condition", Type: numeric.Bool}}, carried...)
	b, in := d.body(name, "body", given...)
	next, values := body(b, in[0], in[1], in[2:])
	if next == nil {
		next = in[1]
	}
	if !d.end(b, append([]*Tensor{next}, values...)) {
		return d.failed(len(values))
	}
	inputs := append([]*Tensor{trips, cond}, carried...)
	return d.Layers(Loop, loopAttrs(b.net, len(carried), name), len(values), append(inputs, b.inside.captured...)...)
}

// Scan adds a loop over the elements of the scanned tensors, as the attributes say, whose Body, States and Scanned are set here.
// body is given the states and an element of each scanned tensor, and returns the next states and what is gathered. The results
// are the last states and what was gathered.
func (d *Definition) Scan(states, scanned []*Tensor, a ScanAttrs, body func(b *Definition, states, elements []*Tensor) []*Tensor) []*Tensor {
	inputs := append(slices.Clone(states), scanned...)
	if body == nil || len(scanned) == 0 || slices.Contains(inputs, nil) {
		d.fail(errors.New("Scan: the body, a state or what is scanned is missing"))
		return d.failed(len(states))
	}
	if slices.ContainsFunc(inputs, func(t *Tensor) bool { return d.broken[t] }) {
		return d.failed(len(states))
	}
	a.States, a.Scanned = len(states), len(scanned)
	given, err := a.given(inputs)
	if err != nil {
		d.fail(fmt.Errorf("Scan: %w", err))
		return d.failed(len(states))
	}
	name := d.layerName(Scan)
	b, in := d.body(name, "body", given...)
	results := body(b, in[:len(states)], in[len(states):])
	if !d.end(b, results) {
		return d.failed(len(results))
	}
	a.Body = b.net
	return d.Layers(Scan, a, len(results), append(inputs, b.inside.captured...)...)
}
