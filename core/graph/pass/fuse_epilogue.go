package pass

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// fuseEpilogue makes the element-wise layer that follows a convolution or matrix product its epilogue: an activation,
// or an operation with a constant or a tensor that broadcasts.
//
//	t = Conv(x, w)
//	y = Relu(t)         ->   y = Conv(x, w) | relu($0)
//
//	t = Conv(x, w)
//	y = Mul(t, gate)    ->   y = Conv(x, w, gate) | mul($0, $1)
var fuseEpilogue = Pass{
	Name:  "fuse-epilogue",
	Doc:   "fuse activations and broadcast operations into the preceding layer",
	Rules: []string{"fuse-activation", "fuse-broadcast"},
	run:   func(r *rewrite) { r.each(r.fuseFollower) },
}

// fuseResidual makes an operation on two tensors of full size, such as the addition that ends a residual block, a part
// of the epilogue of the layer that computes one of them: the later of the two, so that the other is there already. An
// activation behind it follows.
//
//	t = Conv(x, w)
//	u = Add(t, shortcut)    ->   y = Conv(x, w, shortcut) | relu(add($0, $1))
//	y = Relu(u)
//
// No cycle can come of it: the tensor that is fused away has no other user, so the other operand cannot depend on it.
var fuseResidual = Pass{
	Name:  "fuse-residual",
	Doc:   "fuse residual additions and what follows them into the preceding layer",
	Rules: []string{"fuse-residual", "fuse-activation", "fuse-broadcast"},
	run: func(r *rewrite) {
		r.each(func(l *graph.Layer) bool { return r.fuseFollower(l) || r.fuseResidual(l) })
	},
}

// fuseFollower fuses the element-wise layer l into the producer of its only input of full size.
func (r *rewrite) fuseFollower(l *graph.Layer) bool {
	e, ok := pointwiseOf(l)
	if !ok {
		return false
	}
	full := e.fullSize(l)
	if len(full) != 1 || !isAnchor(e.inputs[full[0]].Producer) {
		return false
	}
	rule := "fuse-activation"
	if len(e.inputs) > 1 {
		rule = "fuse-broadcast"
	}
	return r.fuse(rule, l, e, full[0])
}

func (r *rewrite) fuseResidual(l *graph.Layer) bool {
	e, ok := pointwiseOf(l)
	if !ok {
		return false
	}
	full := e.fullSize(l)
	if len(full) < 2 {
		return false
	}
	place := func(at int) int { return r.place(e.inputs[at].Producer) }
	slices.SortStableFunc(full, func(a, b int) int { return place(b) - place(a) })
	for _, at := range full {
		if !isAnchor(e.inputs[at].Producer) {
			continue
		}
		which := whichProducer(l, e, full, at)
		if r.fuse("fuse-residual", l, e, at) {
			r.fired[len(r.fired)-1].note = which
			return true
		}
	}
	return false
}

// fullSize returns the places of the inputs that are no constants and have the shape of l's output.
func (e pointwise) fullSize(l *graph.Layer) []int {
	var list []int
	for i, t := range e.inputs {
		if !t.IsConst() && symbolic.Equal(t.Dims, l.Outputs[0].Dims) {
			list = append(list, i)
		}
	}
	return list
}

// fuse makes the element-wise layer l a part of the epilogue of the producer of its input at.
func (r *rewrite) fuse(rule string, l *graph.Layer, e pointwise, at int) bool {
	t, y := e.inputs[at], l.Outputs[0]
	p := t.Producer
	c := r.candidate(rule, p, l)
	if !c.sole(t, l) {
		return false
	}
	if t.Type != y.Type {
		return c.miss(WrongType, "%s is %s, %s is %s", t.Name, t.Type, y.Name, y.Type)
	}
	if args := len(p.EpilogueInputs()) + len(e.inputs); args > maxProgramArgs {
		return c.miss(TooLarge, "the epilogue would have %d arguments", args)
	}
	if n := len(p.Epilogue.Code) + len(e.program.Code); n > maxProgramCode {
		return c.miss(TooLarge, "the epilogue would have %d operations", n)
	}
	before := p.Epilogue
	if before.Args == 0 {
		before = elementwise.Program{Args: 1}
	}
	fused := distinctEpilogue(before.Then(e.program, at), append(slices.Clone(p.EpilogueInputs()), e.others(at)...))
	ops := p.OpInputs()
	proposal := &graph.Layer{Name: p.Name, Op: p.Op, Attrs: p.Attrs, Inputs: slices.Concat(ops, fused.inputs),
		Outputs: []*graph.Tensor{y}, Epilogue: fused.program, From: p.From}
	if !c.supported(proposal) || !c.enabled() {
		return false
	}
	p.TruncateInputs(len(ops))
	p.Epilogue = elementwise.Program{}
	p.Fuse(fused.program, 0, fused.inputs...)
	p.SetOutput(0, y)
	r.net.Remove(l)
	return c.fire(p)
}

// distinctEpilogue returns an epilogue over its inputs, arguments 1, 2, ..., with each tensor as one argument only.
func distinctEpilogue(p elementwise.Program, inputs []*graph.Tensor) pointwise {
	result := &graph.Tensor{} // stands for argument 0
	e := distinct(p, append([]*graph.Tensor{result}, inputs...))
	return pointwise{e.program, e.inputs[1:]}
}
