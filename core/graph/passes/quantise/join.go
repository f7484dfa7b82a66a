package quantise

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Join makes one layer of two element-wise ones that compute bytes of the same bytes. What lies between them is rounded as before:
//
//	s u8 = Sigmoid(x u8)
//	y u8 = Mul(x, s)            ->   y u8 = Pointwise(x u8) mul($0, mul(clamp(round(div(sigmoid($0), scale))), scale))
//
// Their result is a function of one byte, which kernels look up. And an addition that ends a residual block goes into the layer that
// computes one of its operands, the later of the two:
//
//	t u8 = Conv(x u8, w)
//	y u8 = Add(t, shortcut u8) | relu($0)     ->   y u8 = Conv(x, w, shortcut) | relu(add(mul(clamp(round(div($0, scale))), scale), $1))
var Join = pass.Pass{
	Name:  "join-bytes",
	Doc:   "element-wise layers on 8-bit integers join those that they follow",
	Rules: []string{"join-bytes", "join-residual"},
	Lower: true,
	Run: func(r *pass.Rewrite) {
		r.Each(func(l *graph.Layer) bool {
			outer, ok := bytewise(l)
			if !ok {
				return false
			}
			for at, t := range outer.Inputs {
				if p := t.Producer; p != nil {
					if inner, ok := bytewise(p); ok && join(r, p, l, inner, outer, at) {
						return true
					}
				}
			}
			return joinResidual(r, l, outer)
		})
	},
}

// bytewise returns the program of an element-wise layer from 8-bit integers of its result's shape to such, with single constants.
func bytewise(l *graph.Layer) (match.Pointwise, bool) {
	p, ok := graph.ProgramOf(l)
	if !ok || len(l.Outputs) != 1 || !isBytes(l.Outputs[0]) {
		return match.Pointwise{}, false
	}
	if l.Epilogue.Args > 0 {
		p = p.Then(l.Epilogue, 0)
	}
	tensors := 0
	for _, t := range l.Inputs {
		if t == nil {
			return match.Pointwise{}, false
		}
		_, single := match.Scalar(t)
		switch {
		case single && match.IsFloat(t):
		case t.IsConst() || !isBytes(t) || !symbolic.Equal(t.Dims, l.Outputs[0].Dims):
			return match.Pointwise{}, false
		default:
			tensors++
		}
	}
	return match.Distinct(p, l.Inputs), tensors > 0 // what is computed of constants alone is for folding
}

// isBytes reports whether t has integers of 8 bits and one scale.
func isBytes(t *graph.Tensor) bool {
	return t.Quantized() && isByte(t.Type) && !t.Range.PerChannel() && increases(t.Range)
}

// join makes one layer of p and l, which reads its result as input at.
func join(r *pass.Rewrite, p, l *graph.Layer, inner, outer match.Pointwise, at int) bool {
	t, y := p.Outputs[0], l.Outputs[0]
	c := r.Candidate("join-bytes", p, l)
	if !c.Sole(t, l) {
		return false
	}
	between := inner.Program.Then(match.Rounding(t.Range, t.Type), 0)
	joined := match.Distinct(between.Then(outer.Program, at), slices.Concat(inner.Inputs, outer.Others(at)))
	tensors := 0
	for _, in := range joined.Inputs {
		if !in.IsConst() {
			tensors++
		}
	}
	switch {
	case tensors > 1:
		return c.Miss(pass.WrongShape, "the result is no function of one tensor, but of %d", tensors)
	case !isNumber(inner):
		return c.Miss(pass.WrongAttribute, "%s may become NaN, which integers are not", inner.Program)
	case len(joined.Inputs) > match.MaxProgramArgs:
		return c.Miss(pass.TooLarge, "the layer would read %d tensors", len(joined.Inputs))
	case len(joined.Program.Code) > match.MaxProgramCode:
		return c.Miss(pass.TooLarge, "the layer would have %d operations", len(joined.Program.Code))
	}
	by := &graph.Layer{Op: graph.Pointwise, Attrs: graph.Elementwise{Program: joined.Program}, Inputs: joined.Inputs, Outputs: []*graph.Tensor{y}}
	if !c.Supported(by) || !c.Enabled() {
		return false
	}
	by = r.Replace(l, by)
	r.Network().Remove(p)
	return c.Fire(by)
}

// isNumber reports whether a program over one tensor of bytes makes numbers of all of them.
func isNumber(p match.Pointwise) bool {
	values := make([]float32, p.Program.Args+len(p.Program.Code))
	at := 0
	for i, t := range p.Inputs {
		if v, ok := match.Scalar(t); ok {
			values[i] = float32(v)
		} else {
			at = i
		}
	}
	x := p.Inputs[at]
	least, most := x.Type.Limits()
	for q := least; q <= most; q++ {
		values[at] = (float32(q) - float32(x.Range.ZeroAt(0))) * x.Range.ScaleAt(0)
		if y := p.Program.Eval(values); y != y {
			return false
		}
	}
	return true
}

// joinResidual makes the addition l a part of the epilogue of the product that computes the later one of its operands, if that has no
// second tensor yet.
func joinResidual(r *pass.Rewrite, l *graph.Layer, e match.Pointwise) bool {
	if len(e.Inputs) != 2 || !addsAndClamps(e.Program) {
		return false
	}
	at := 0
	if r.Place(e.Inputs[1].Producer) > r.Place(e.Inputs[0].Producer) {
		at = 1
	}
	t, other, y := e.Inputs[at], e.Inputs[1-at], l.Outputs[0]
	p := t.Producer
	if other.IsConst() || p == nil || !p.Op.IsProduct() || len(p.Outputs) != 1 || p.Epilogue.Args > 1 {
		return false
	}
	c := r.Candidate("join-residual", p, l)
	if !c.Sole(t, l) {
		return false
	}
	before := p.Epilogue
	if before.Args == 0 {
		before = elementwise.Program{Args: 1}
	}
	epilogue := before.Then(match.Rounding(t.Range, t.Type), 0).Then(e.Program, at)
	ops := p.OpInputs()
	proposal := &graph.Layer{Name: p.Name, Op: p.Op, Attrs: p.Attrs, Inputs: slices.Concat(ops, []*graph.Tensor{other}), Outputs: []*graph.Tensor{y},
		Epilogue: epilogue, From: p.From}
	if !c.Supported(proposal) || !c.Enabled() {
		return false
	}
	p.TruncateInputs(len(ops))
	p.Epilogue = elementwise.Program{}
	p.Fuse(epilogue, 0, other)
	p.SetOutput(0, y)
	r.Network().Remove(l)
	return c.Fire(p)
}

// addsAndClamps reports whether a program adds its two arguments and clamps the sum.
func addsAndClamps(p elementwise.Program) bool {
	for i, in := range p.Code {
		switch {
		case i == 0 && in.Op == elementwise.Add && in.Arg[0] != in.Arg[1]:
		case i > 0 && (in.Op == elementwise.Relu || in.Op == elementwise.Clamp):
		default:
			return false
		}
	}
	return p.Args == 2 && len(p.Code) > 0
}
