package simplify

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// RemoveNoOps removes layers whose output is their input: Identity (and Dropout, which imports as it), casts to the
// same type, moves that move nothing, and arithmetic with neutral constants. Where the output is one of the network,
// the layer before produces it.
//
//	t = Conv(x, w)        y = Conv(x, w)
//	y = Identity(t)   ->
//	output y              output y
//
// Operands of a Concat that have no elements go, too, and so do casts around a sum of integers that change nothing of what is left of it, and
// transpositions that bring an axis to the front to gather along it, and back.
var RemoveNoOps = pass.Pass{
	Name:  "remove-no-ops",
	Doc:   "remove layers that change nothing",
	Rules: []string{"no-op", "empty-operand", "casts-of-sum", "transposes-of-gather"},
	Run: func(r *pass.Rewrite) {
		r.Each(func(l *graph.Layer) bool {
			if l.Op == graph.Concat && withoutEmpty(r, l) || l.Op == graph.Cast && withoutWidening(r, l) ||
				l.Op == graph.Transpose && alongItsAxis(r, l) {
				return true
			}
			x := unchanged(l)
			if x == nil || usesFurther(r, l) {
				return false
			}
			c := r.Candidate("no-op", l)
			if !c.Enabled() {
				return false
			}
			into := x.Producer
			if !r.Bypass(l, x) {
				return c.Miss(pass.NetworkOutput, "it alone connects %s to %s", l.Outputs[0].Name, x.Name)
			}
			r.Eliminate(l, into)
			c.Instead = into
			return c.Fire()
		})
		moving(r, "no-op")
	},
}

// withoutEmpty leaves out the operands of a Concat that have no elements.
//
//	y = Concat(x f32[2,8], t f32[2,0]) axis=1   ->   y = Concat(x f32[2,8]) axis=1
func withoutEmpty(r *pass.Rewrite, l *graph.Layer) bool {
	axis := axisOf(l)
	full := slices.DeleteFunc(slices.Clone(l.Inputs), func(t *graph.Tensor) bool { return t.Dims[axis].Is(0) })
	if len(full) == len(l.Inputs) || len(full) == 0 || l.Epilogue.Args > 0 {
		return false
	}
	c := r.Candidate("empty-operand", l)
	y := l.Outputs[0]
	proposal := &graph.Layer{Name: l.Name, Op: l.Op, Attrs: l.Attrs, Inputs: full, Outputs: []*graph.Tensor{{Name: y.Name}}}
	if proposal.Infer() != nil || !symbolic.Equal(proposal.Outputs[0].Dims, y.Dims) {
		return c.Miss(pass.WrongShape, "an operand without elements says how long the axes of %s are", y.Name)
	}
	if !c.Enabled() {
		return false
	}
	return c.Fire(r.Replace(l, &graph.Layer{Op: l.Op, Attrs: l.Attrs, Inputs: full}))
}

// withoutWidening sums integers in the type that the sum is cast to, where that is what they were in before they were cast for it: of
// sums of integers, which wrap around, the low bits depend on low bits alone.
//
//	a = Cast(x i32) to=i64
//	s = CumSum(a)            ->   y = CumSum(x)
//	y = Cast(s) to=i32
func withoutWidening(r *pass.Rewrite, l *graph.Layer) bool {
	sum := l.Inputs[0].Producer
	if sum == nil || sum.Op != graph.CumSum && sum.Op != graph.ReduceSum || l.Epilogue.Args+sum.Epilogue.Args > 0 {
		return false
	}
	wide := sum.Inputs[0].Producer
	if wide == nil || wide.Op != graph.Cast || wide.Epilogue.Args > 0 {
		return false
	}
	x, y := wide.Inputs[0], l.Outputs[0]
	if !isWhole(x) || !isWhole(sum.Inputs[0]) || x.Type != y.Type || x.Type.Size() > sum.Inputs[0].Type.Size() {
		return false
	}
	members := []*graph.Layer{sum, l}
	alone := len(sum.Inputs[0].Users) == 1 && !r.Network().IsOutput(sum.Inputs[0])
	if alone {
		members = append(members, wide)
	}
	c := r.Candidate("casts-of-sum", members...)
	by := &graph.Layer{Name: sum.Name, Op: sum.Op, Attrs: sum.Attrs, Inputs: append([]*graph.Tensor{x}, sum.Inputs[1:]...), Outputs: []*graph.Tensor{{Name: y.Name}}}
	if err := by.Infer(); err != nil || by.Outputs[0].Type != y.Type {
		return c.Miss(pass.WrongType, "%s does not sum %s", sum.Name, x.Type)
	}
	if !c.Sole(sum.Outputs[0], l) || !c.Has(by) || !c.Enabled() {
		return false
	}
	by = r.Replace(l, by)
	r.Network().Remove(sum)
	if alone {
		r.Network().Remove(wide)
	}
	return c.Fire(by)
}

// alongItsAxis gathers constant places of an axis where it lies, not in front, as PyTorch's newer exporter writes x[:, :, :, [1]].
//
//	t = Transpose(x f32[2,5,4,8]) perm=[2 0 1 3]
//	g = GatherND(t, [[1]])                         ->   y = Gather(x, [1]) axis=2
//	y = Transpose(g) perm=[1 2 0 3]
func alongItsAxis(r *pass.Rewrite, l *graph.Layer) bool {
	g := l.Inputs[0].Producer
	if g == nil || g.Op != graph.Gather && g.Op != graph.GatherND || g.Epilogue.Args > 0 || !g.Inputs[1].IsConst() {
		return false
	}
	t, index := g.Inputs[0].Producer, g.Inputs[1]
	if !match.IsTranspose(t) || !match.IsTranspose(l) {
		return false
	}
	axis, places := 0, index.Dims // of the tuples that a GatherND takes those of one number are places along the first axis
	switch a := g.Attrs.(type) {
	case graph.GatherAttrs:
		axis = a.Axis
		if axis < 0 {
			axis += len(g.Inputs[0].Dims)
		}
	case graph.GatherNDAttrs:
		if last := len(places) - 1; a.BatchDims == 0 && last > 0 && places[last].Is(1) {
			places = places[:last]
		} else {
			return false
		}
	}
	perm := match.Perm(t)
	if len(places) != 1 || len(match.Perm(l)) != len(perm) || !slices.IsSorted(match.Composed(perm, match.Perm(l))) {
		return false
	}
	members := []*graph.Layer{g, l}
	alone := len(t.Outputs[0].Users) == 1 && !r.Network().IsOutput(t.Outputs[0])
	if alone {
		members = append(members, t)
	}
	c := r.Candidate("transposes-of-gather", members...)
	if !c.Sole(g.Outputs[0], l) || !c.Enabled() {
		return false
	}
	if len(index.Dims) > 1 {
		v, _ := index.Const()
		v.Dims = v.Dims[:1]
		index = r.Network().AddConst(index.Name+"_places", v)
	}
	by := r.Replace(l, &graph.Layer{Op: graph.Gather, Attrs: graph.GatherAttrs{Axis: perm[axis]}, Inputs: []*graph.Tensor{t.Inputs[0], index}})
	r.Network().Remove(g)
	if alone {
		r.Network().Remove(t)
	}
	return c.Fire(by)
}

// isWhole reports whether t is of integers that stand for themselves.
func isWhole(t *graph.Tensor) bool { return t.Type.IsInteger() && !t.Quantized() }

// axisOf returns the axis along which a Concat joins, from 0.
func axisOf(l *graph.Layer) int {
	axis := l.Attrs.(graph.ConcatAttrs).Axis
	if axis < 0 {
		axis += len(l.Outputs[0].Dims)
	}
	return axis
}

// usesFurther reports whether anything needs an output of l other than the first, such as Dropout's mask.
func usesFurther(r *pass.Rewrite, l *graph.Layer) bool {
	return slices.ContainsFunc(l.Outputs[1:], func(t *graph.Tensor) bool { return len(t.Users) > 0 || r.Network().IsOutput(t) })
}

// unchanged returns the input that l's first output equals, or nil.
func unchanged(l *graph.Layer) *graph.Tensor {
	if len(l.Outputs) == 0 || len(l.Inputs) == 0 || l.Inputs[0] == nil || l.Epilogue.Args > 0 {
		return nil
	}
	if e, ok := l.Attrs.(graph.Elementwise); ok {
		return neutral(l, e.Program)
	}
	x, y := l.Inputs[0], l.Outputs[0]
	if x.Type != y.Type || !x.Range.Equal(y.Range) || !symbolic.Equal(x.Dims, y.Dims) {
		return nil
	}
	if l.Op.Moves(l) != graph.Kept {
		return nil
	}
	return x
}

// neutral returns the input that a binary operation with a neutral constant leaves as it is.
func neutral(l *graph.Layer, p elementwise.Program) *graph.Tensor {
	if p.IsIdentity() && len(l.Inputs) == 1 {
		return l.Inputs[0]
	}
	if len(p.Code) != 1 || len(l.Inputs) != 2 || slices.Contains(l.Inputs, nil) {
		return nil
	}
	in := p.Code[0]
	for i := range 2 {
		x, k := l.Inputs[in.Arg[i]], l.Inputs[in.Arg[1-i]]
		v, ok := match.Uniform(k)
		if !ok || x == k || x.Type != l.Outputs[0].Type || !symbolic.Equal(x.Dims, l.Outputs[0].Dims) {
			continue
		}
		switch {
		case in.Op == elementwise.Add && v == 0, in.Op == elementwise.Mul && v == 1,
			i == 0 && in.Op == elementwise.Sub && v == 0,
			i == 0 && (in.Op == elementwise.Div || in.Op == elementwise.Pow) && v == 1:
			return x
		}
	}
	return nil
}

// moving says of transpositions that they are no views: which axes change places.
func moving(r *pass.Rewrite, rule string) {
	for _, l := range r.Network().Layers {
		a, ok := l.Attrs.(graph.TransposeAttrs)
		if !ok || l.Op != graph.Transpose || len(l.Inputs) == 0 {
			continue
		}
		dims, perm := l.Inputs[0].Dims, a.Perm
		if perm == nil {
			for i := range dims {
				perm = append(perm, len(dims)-1-i)
			}
		}
		perm = slices.DeleteFunc(slices.Clone(perm), func(axis int) bool { return dims[axis].Is(1) })
		for i := 1; i < len(perm); i++ {
			if x, y := perm[i], perm[i-1]; x < y {
				r.Candidate(rule, l).Miss(pass.MovesElements, "axis %d, of %v, comes behind axis %d, of %v: the elements lie in another order than in its input, so it is no view of that",
					x, dims[x], y, dims[y])
				break
			}
		}
	}
}
