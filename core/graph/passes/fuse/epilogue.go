package fuse

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
)

// Epilogue makes the element-wise layer that follows a convolution or matrix product its epilogue: an activation,
// or an operation with a constant or a tensor that broadcasts.
//
//	t = Conv(x, w)
//	y = Relu(t)         ->   y = Conv(x, w) | relu($0)
//
//	t = Conv(x, w)
//	y = Mul(t, gate)    ->   y = Conv(x, w, gate) | mul($0, $1)
var Epilogue = pass.Pass{
	Name:  "fuse-epilogue",
	Doc:   "fuse activations and broadcast operations into the preceding layer",
	Rules: []string{"fuse-activation", "fuse-broadcast"},
	Run:   func(r *pass.Rewrite) { r.Each(func(l *graph.Layer) bool { return fuseFollower(r, l) }) },
}

// Residual makes an operation on two tensors of full size, such as the addition that ends a residual block, a part
// of the epilogue of the layer that computes one of them: the later of the two, so that the other is there already. An
// activation behind it follows.
//
//	t = Conv(x, w)
//	u = Add(t, shortcut)    ->   y = Conv(x, w, shortcut) | relu(add($0, $1))
//	y = Relu(u)
//
// No cycle can come of it: the tensor that is fused away has no other user, so the other operand cannot depend on it.
var Residual = pass.Pass{
	Name:  "fuse-residual",
	Doc:   "fuse residual additions and what follows them into the preceding layer",
	Rules: []string{"fuse-residual", "fuse-activation", "fuse-broadcast"},
	Run: func(r *pass.Rewrite) {
		r.Each(func(l *graph.Layer) bool { return fuseFollower(r, l) || fuseResidual(r, l) })
	},
}

// fuseFollower fuses the element-wise layer l into the producer of its only input of full size.
func fuseFollower(r *pass.Rewrite, l *graph.Layer) bool {
	e, ok := match.PointwiseOf(l)
	if !ok {
		return false
	}
	full := e.FullSize(l)
	if len(full) != 1 || !match.IsAnchor(e.Inputs[full[0]].Producer) {
		return false
	}
	rule := "fuse-activation"
	if len(e.Inputs) > 1 {
		rule = "fuse-broadcast"
	}
	return fuse(r, rule, l, e, full[0], "")
}

func fuseResidual(r *pass.Rewrite, l *graph.Layer) bool {
	e, ok := match.PointwiseOf(l)
	if !ok {
		return false
	}
	full := e.FullSize(l)
	if len(full) < 2 {
		return false
	}
	place := func(at int) int { return r.Place(e.Inputs[at].Producer) }
	slices.SortStableFunc(full, func(a, b int) int { return place(b) - place(a) })
	for _, at := range full {
		if !match.IsAnchor(e.Inputs[at].Producer) {
			continue
		}
		which := whichProducer(l, e, full, at)
		if fuse(r, "fuse-residual", l, e, at, which) {
			return true
		}
	}
	return false
}

// fuse makes the element-wise layer l a part of the epilogue of the producer of its input at, and notes why of that one.
func fuse(r *pass.Rewrite, rule string, l *graph.Layer, e match.Pointwise, at int, note string) bool {
	t, y := e.Inputs[at], l.Outputs[0]
	p := t.Producer
	c := r.Candidate(rule, p, l)
	if !c.Sole(t, l) {
		return false
	}
	if t.Type != y.Type {
		return c.Miss(pass.WrongType, "%s is %s, %s is %s", t.Name, t.Type, y.Name, y.Type)
	}
	if args := len(p.EpilogueInputs()) + len(e.Inputs); args > match.MaxProgramArgs {
		return c.Miss(pass.TooLarge, "the epilogue would have %d arguments", args)
	}
	if n := len(p.Epilogue.Code) + len(e.Program.Code); n > match.MaxProgramCode {
		return c.Miss(pass.TooLarge, "the epilogue would have %d operations", n)
	}
	before := p.Epilogue
	if before.Args == 0 {
		before = elementwise.Program{Args: 1}
	}
	fused := distinctEpilogue(before.Then(e.Program, at), append(slices.Clone(p.EpilogueInputs()), e.Others(at)...))
	ops := p.OpInputs()
	proposal := &graph.Layer{Name: p.Name, Op: p.Op, Attrs: p.Attrs, Inputs: slices.Concat(ops, fused.Inputs),
		Outputs: []*graph.Tensor{y}, Epilogue: fused.Program, From: p.From}
	if !c.Supported(proposal) || !c.Enabled() {
		return false
	}
	p.TruncateInputs(len(ops))
	p.Epilogue = elementwise.Program{}
	p.Fuse(fused.Program, 0, fused.Inputs...)
	p.SetOutput(0, y)
	r.Network().Remove(l)
	c.Note("%s", note)
	return c.Fire(p)
}

// distinctEpilogue returns an epilogue over its inputs, arguments 1, 2, ..., with each tensor as one argument only.
func distinctEpilogue(p elementwise.Program, inputs []*graph.Tensor) match.Pointwise {
	result := &graph.Tensor{} // stands for argument 0
	e := match.Distinct(p, append([]*graph.Tensor{result}, inputs...))
	return match.Pointwise{Program: e.Program, Inputs: e.Inputs[1:]}
}
