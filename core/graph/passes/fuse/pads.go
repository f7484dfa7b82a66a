package fuse

import (
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/pass"
)

// Pads moves a Pad of spatial axes into the convolution or pooling behind it, where that pads with the same value:
// zero for convolutions and for averages that count padding; for maxima -infinity, or zero where no element is negative
// and every window has one.
//
//	t = Pad(x) pads=[0 0 1 1 0 0 1 1]     y = Conv(x, w) pads=[1 1 1 1]
//	y = Conv(t, w)                    ->
var Pads = pass.Pass{
	Name:  "fuse-pads",
	Doc:   "move padding into the convolution or pooling after it",
	Rules: []string{"pad-into-convolution", "pad-into-pooling"},
	Run: func(r *pass.Rewrite) {
		r.Each(func(l *graph.Layer) bool {
			if l.Op != graph.Pad || len(l.Outputs[0].Users) == 0 {
				return false
			}
			user := l.Outputs[0].Users[0]
			switch user.Op {
			case graph.Conv:
				return padIntoConv(r, l, user)
			case graph.MaxPool, graph.AveragePool:
				return padIntoPool(r, l, user)
			}
			return false
		})
	},
}

// spatialPads returns a Pad's elements on the spatial axes, as convolutions have them, for its only user.
func spatialPads(c *pass.Candidate, l, user *graph.Layer) ([]int, bool) {
	a := l.Attrs.(graph.PadAttrs)
	rank := len(a.Pads) / 2
	if !c.Sole(l.Outputs[0], user) {
		return nil, false
	}
	if a.Mode != "constant" {
		return nil, c.Miss(pass.WrongAttribute, "mode %s", a.Mode)
	}
	if l.Input(1) != nil {
		return nil, c.Miss(pass.NotConstant, "the value %s is not an attribute", l.Input(1).Name)
	}
	if l.Input(2) != nil {
		return nil, c.Miss(pass.NotConstant, "the pads %s are not constant", l.Input(2).Name)
	}
	if slices.ContainsFunc(a.Pads, func(p int) bool { return p < 0 }) {
		return nil, c.Miss(pass.WrongAttribute, "it removes elements")
	}
	if rank < 3 || a.Pads[0] != 0 || a.Pads[1] != 0 || a.Pads[rank] != 0 || a.Pads[rank+1] != 0 {
		return nil, c.Miss(pass.WrongAttribute, "it pads more than spatial axes")
	}
	return slices.Concat(a.Pads[2:rank], a.Pads[rank+2:]), true
}

// sumPads returns the pads of both, or false where the second pads by a rule that follows from the input's extent.
func sumPads(c *pass.Candidate, pads, second []int, auto graph.AutoPad) ([]int, bool) {
	if auto != graph.AutoPadNone {
		return nil, c.Miss(pass.WrongAttribute, "%s pads by itself as the extent says", c.Found[1].Name)
	}
	sum := slices.Clone(pads)
	for i, p := range second {
		sum[i] += p
	}
	return sum, true
}

func padIntoConv(r *pass.Rewrite, l, conv *graph.Layer) bool {
	c := r.Candidate("pad-into-convolution", l, conv)
	pads, ok := spatialPads(c, l, conv)
	if !ok {
		return false
	}
	if v := l.Attrs.(graph.PadAttrs).Value; v != 0 {
		return c.Miss(pass.WrongAttribute, "it pads with %g, the convolution with 0", v)
	}
	if conv.Inputs[0] != l.Outputs[0] {
		return c.Miss(pass.NotConstant, "it pads the weights")
	}
	a := conv.Attrs.(graph.ConvAttrs)
	if a.Pads, ok = sumPads(c, pads, a.Pads, a.AutoPad); !ok || !c.Enabled() {
		return false
	}
	return takeInput(c, l, conv, a)
}

// takeInput gives user the attributes and the input of l, whose work they do now.
func takeInput(c *pass.Candidate, l, user *graph.Layer, attrs any) bool {
	proposal := *user
	proposal.Attrs, proposal.Inputs = attrs, slices.Clone(user.Inputs)
	proposal.Inputs[0] = l.Inputs[0]
	if !c.Supported(&proposal) {
		return false
	}
	user.Attrs = attrs
	user.SetInput(0, l.Inputs[0])
	c.Rewrite().Network().Remove(l)
	return c.Fire(user)
}

func padIntoPool(r *pass.Rewrite, l, pool *graph.Layer) bool {
	c := r.Candidate("pad-into-pooling", l, pool)
	pads, ok := spatialPads(c, l, pool)
	if !ok {
		return false
	}
	a := pool.Attrs.(graph.PoolAttrs)
	v := float64(l.Attrs.(graph.PadAttrs).Value)
	switch {
	case a.Global:
		return c.Miss(pass.WrongAttribute, "a global pooling does not pad")
	case a.CeilMode:
		return c.Miss(pass.WrongAttribute, "ceil_mode counts from the padded extent")
	case len(pool.Outputs) > 1:
		return c.Miss(pass.WrongAttribute, "%s counts indices in the padded input", pool.Name)
	case pool.Op == graph.AveragePool && v != 0:
		return c.Miss(pass.WrongAttribute, "it pads with %g, the average with 0", v)
	case pool.Op == graph.AveragePool && !a.CountIncludePad && slices.ContainsFunc(a.Pads, func(p int) bool { return p > 0 }):
		return c.Miss(pass.WrongAttribute, "the average does not count its own padding")
	case pool.Op == graph.MaxPool && v != math.Inf(-1):
		if v != 0 || !nonNegative(l.Inputs[0], map[*graph.Tensor]bool{}) {
			return c.Miss(pass.WrongAttribute, "it pads with %g, the maximum with -infinity", v)
		}
		if slices.ContainsFunc(a.Pads, func(p int) bool { return p > 0 }) {
			return c.Miss(pass.WrongAttribute, "%s has padding of its own", pool.Name)
		}
		if !everyWindowInside(a, pads) {
			return c.Miss(pass.WrongAttribute, "a window may lie entirely in the padding")
		}
	}
	if a.Pads, ok = sumPads(c, pads, a.Pads, a.AutoPad); !ok || !c.Enabled() {
		return false
	}
	a.CountIncludePad = pool.Op == graph.AveragePool
	return takeInput(c, l, pool, a)
}

// everyWindowInside reports whether each window has an element of the input, whatever its extent.
func everyWindowInside(a graph.PoolAttrs, pads []int) bool {
	if slices.ContainsFunc(a.Dilations, func(d int) bool { return d != 1 }) {
		return false
	}
	for i, p := range pads {
		if p >= a.Kernel[i%len(a.Kernel)] {
			return false
		}
	}
	return true
}

// nonNegative reports whether no element of t can be negative, looking through layers that add no other elements. seen
// are tensors that have been asked about.
func nonNegative(t *graph.Tensor, seen map[*graph.Tensor]bool) bool {
	l := t.Producer
	if seen[t] {
		return true
	}
	seen[t] = true
	switch {
	case l == nil:
		return false
	case l.Epilogue.Args > 0:
		return endsNonNegative(l.Epilogue)
	}
	if e, ok := l.Attrs.(graph.Elementwise); ok {
		return endsNonNegative(e.Program)
	}
	if l.Op != graph.AveragePool && l.Movement() < graph.Moved {
		return false
	}
	for i, t := range l.Inputs {
		if l.Role(i) == graph.Data && !nonNegative(t, seen) {
			return false
		}
	}
	return true
}

// endsNonNegative reports whether the last operation of p gives no negative result.
func endsNonNegative(p elementwise.Program) bool {
	if len(p.Code) == 0 {
		return false
	}
	switch in := p.Code[len(p.Code)-1]; in.Op {
	case elementwise.Relu, elementwise.Abs, elementwise.Sigmoid, elementwise.Exp, elementwise.Sqrt, elementwise.HardSigmoid, elementwise.Softplus:
		return true
	case elementwise.Clamp:
		return in.Imm[0] >= 0
	}
	return false
}
