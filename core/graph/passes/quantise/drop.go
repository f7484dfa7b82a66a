package quantise

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
)

// Drop takes back the quantisation that a model brings, so that it can be quantised anew: activations are not rounded, and weights are
// the real numbers that their integers stand for. Where a pair clamps as an activation would, the activation is left in its place; see
// [clampOf]. It is in no table, since it changes what the network computes.
//
//	p = QuantizeLinear(x), t = DequantizeLinear(p)      w = DequantizeLinear(w_integers)
//	y = Conv(t, w)                                  ->  y = Conv(x, w_real)
//
//	p = QuantizeLinear(Conv(x, w)) u8*0.02
//	y = DequantizeLinear(p)                         ->  y = Relu(Conv(x, w))
//
// Where integers are moved between the two, as they are in files of operators on integers, real numbers are moved in their place:
//
//	s = Flatten(p)                                      t = DequantizeLinear(p)
//	y = DequantizeLinear(s)                         ->  y = Flatten(t)
var Drop = pass.Pass{
	Name:  "drop-quantization",
	Doc:   "take back the quantisation that a model brings",
	Rules: []string{"drop-pair", "drop-integers", "dequantize-earlier"},
	Run:   func(r *pass.Rewrite) { r.Each(func(l *graph.Layer) bool { return drop(r, l) }) },
}

func drop(r *pass.Rewrite, d *graph.Layer) bool {
	if d.Op != graph.Dequantize {
		return false
	}
	if d.Inputs[0].IsConst() {
		return dropIntegers(r, d)
	}
	q := d.Inputs[0].Producer
	if q != nil && q.Op != graph.Quantize {
		return dequantizeEarlier(r, q, d)
	}
	if q == nil {
		return false
	}
	c := r.Candidate("drop-pair", q, d)
	x, y := q.Inputs[0], d.Outputs[0]
	switch {
	case x.Type != y.Type:
		return c.Miss(pass.WrongType, "%s is %s and %s %s", x.Name, x.Type, y.Name, y.Type)
	case !sameQuantisation(q, d):
		return c.Miss(pass.WrongAttribute, "%s is not dequantised as it was quantised", x.Name)
	case !c.Enabled():
		return false
	}
	if clamp, ok := clampOf(q); ok {
		c.Note("it clamps as an activation, which stays: %s", clamp)
		by := r.Replace(d, &graph.Layer{Op: graph.Pointwise, Attrs: graph.Elementwise{Program: clamp}, Inputs: []*graph.Tensor{x}})
		return c.Fire(append([]*graph.Layer{by}, dropUnused(r, c, q)...)...)
	}
	if !r.Bypass(d, x) {
		return c.Miss(pass.NetworkOutput, "it alone connects %s to %s", y.Name, x.Name)
	}
	r.Eliminate(d, x.Producer)
	return c.Fire(dropUnused(r, c, q)...)
}

// sameQuantisation reports whether a Dequantize takes back a Quantize but for what rounding and clipping lose.
func sameQuantisation(q, d *graph.Layer) bool {
	a, b := q.Attrs.(graph.QuantAttrs), d.Attrs.(graph.QuantAttrs)
	return a.Range.Equal(b.Range) && a.Range.Axis == b.Range.Axis && a.Block == b.Block && slices.Equal(q.Inputs[1:], d.Inputs[1:])
}

// dequantizeEarlier moves real numbers in the place of the integers that d dequantises and that layer l moves.
func dequantizeEarlier(r *pass.Rewrite, l, d *graph.Layer) bool {
	a := d.Attrs.(graph.QuantAttrs)
	if _, pads := l.Attrs.(graph.PadAttrs); pads || !moves(l) || len(l.Outputs) != 1 || !isByte(l.Outputs[0].Type) || len(d.Inputs) != 1 {
		return false
	}
	c := r.Candidate("dequantize-earlier", l, d)
	switch {
	case !a.Range.IsSet() || a.Range.PerChannel():
		return c.Miss(pass.WrongAttribute, "%s has a scale per channel", d.Inputs[0].Name)
	case r.Network().IsOutput(l.Outputs[0]):
		return c.Miss(pass.NetworkOutput, "%s is an output of the network", l.Outputs[0].Name)
	case slices.Contains(l.Inputs[:l.DataInputs()], nil) || !c.Enabled():
		return false
	}
	moved := &graph.Layer{Op: l.Op, Attrs: l.Attrs, Inputs: slices.Clone(l.Inputs)}
	into := []*graph.Layer{moved}
	for i, q := range l.Inputs[:l.DataInputs()] {
		real := r.Network().NewTensor(q.Name+"_dequantized", a.Type, q.Dims)
		into = append(into, r.Network().Insert(&graph.Layer{Name: real.Name, Op: graph.Dequantize, Attrs: a, Inputs: []*graph.Tensor{q}, Outputs: []*graph.Tensor{real}, From: d.From}))
		moved.Inputs[i] = real
	}
	name, from := l.Name, l.From
	into[0] = r.Replace(d, moved)
	left := dropUnused(r, c, l)
	if left == nil {
		r.Network().Rename(moved, name)
		moved.From = from
	}
	return c.Fire(append(into, left...)...)
}

// dropIntegers makes constants of integers the real numbers that they stand for.
func dropIntegers(r *pass.Rewrite, d *graph.Layer) bool {
	c := r.Candidate("drop-integers", d)
	if i := slices.IndexFunc(d.Inputs, func(t *graph.Tensor) bool { return t != nil && !t.IsConst() }); i >= 0 {
		return c.Miss(pass.NotConstant, "%s is computed", d.Inputs[i].Name)
	}
	if !c.Enabled() {
		return false
	}
	real, err := match.ConstantOutputs(d, false)
	if err != nil {
		return c.Miss(pass.EvalFailed, "%v", err)
	}
	y := d.Outputs[0]
	if r.Network().IsOutput(y) {
		return c.Miss(pass.NetworkOutput, "%s is an output of the network", y.Name)
	}
	w := r.Network().AddConst(y.Name+"_real", real[0])
	r.Network().Redirect(y, w)
	r.Fold(d)
	r.Network().Remove(d)
	return c.Fire()
}
