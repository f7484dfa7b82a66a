package quantise

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Join makes one layer of two element-wise ones that compute bytes of the same bytes. What lies between them is rounded as before:
//
//	s u8 = Sigmoid(x u8)
//	y u8 = Mul(x, s)            ->   y u8 = Pointwise(x u8) mul($0, mul(clamp(round(div(sigmoid($0), scale))), scale))
//
// Their result is a function of one byte, which kernels look up.
var Join = pass.Pass{
	Name:  "join-bytes",
	Doc:   "element-wise layers on the same 8-bit integers become one",
	Rules: []string{"join-bytes"},
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
			return false
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
	for _, t := range l.Inputs {
		if t == nil {
			return match.Pointwise{}, false
		}
		_, single := match.Scalar(t)
		if !(single && match.IsFloat(t)) && (t.IsConst() || !isBytes(t) || !symbolic.Equal(t.Dims, l.Outputs[0].Dims)) {
			return match.Pointwise{}, false
		}
	}
	return match.Distinct(p, l.Inputs), true
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
