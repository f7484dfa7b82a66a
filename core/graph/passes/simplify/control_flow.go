package simplify

import (
	"slices"
	"strconv"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// ControlFlow puts the layers of a body in the place of a layer that needs no decision while it runs: the branch that an If takes
// where its condition is known, and the iterations of a Loop or a Scan where they are few.
//
//	y = If(true, x)              y = Neg(x)
//	  then  p = Neg(x)      ->
//	  else  p = Exp(x)
//
//	y, s = Loop(2, x)            a = Tanh(x)
//	  body  v' = Tanh(v)    ->   y = Tanh(a)
//	        s' = Neg(v)          s = Concat(Unsqueeze(Neg(x)), Unsqueeze(Neg(a)))
var ControlFlow = pass.Pass{
	Name:  "control-flow",
	Doc:   "replace branches that are known and loops that are short by their layers",
	Rules: []string{"known-condition", "short-loop"},
	Run: func(r *pass.Rewrite) {
		r.Each(func(l *graph.Layer) bool {
			switch l.Op {
			case graph.If:
				return takeBranch(r, l)
			case graph.Loop, graph.Scan:
				return unroll(r, l)
			}
			return false
		})
	},
}

// A loop is unrolled if it has at most so many iterations, and these so many layers together.
const (
	maxUnrolledTrips  = 64
	maxUnrolledLayers = 256
)

func takeBranch(r *pass.Rewrite, l *graph.Layer) bool {
	c := r.Candidate("known-condition", l)
	taken, known := l.Inputs[0].Truth()
	if !known {
		return c.Miss(pass.NotConstant, "the condition %s depends on data", l.Inputs[0].Name)
	}
	if !c.Enabled() {
		return false
	}
	a := l.Attrs.(graph.IfAttrs)
	body := a.Else
	if taken {
		body = a.Then
	}
	args := slices.Clone(l.Inputs[1:])
	r.Eliminate(l, nil)
	r.Network().Inline(body, args, r.Network().Release(l), "")
	return c.Fire()
}

func unroll(r *pass.Rewrite, l *graph.Layer) bool {
	c := r.Candidate("short-loop", l)
	n, certain, known := l.Trips()
	trips, fixed := n.IsConst()
	body := l.Bodies()[0].Network
	switch layers := len(body.AllLayers()); {
	case !known || !certain:
		return c.Miss(pass.NotConstant, "how many iterations there are depends on data")
	case !fixed:
		return c.Miss(pass.WrongShape, "how many iterations there are depends on the shapes: %s", n)
	case trips > maxUnrolledTrips || trips*layers > maxUnrolledLayers:
		return c.Miss(pass.TooLarge, "%d iterations of %d layers", trips, layers)
	case l.CountsInside():
		return c.Miss(pass.WrongShape, "a layer inside counts an extent, of which each iteration has its own")
	case trips == 0 && len(l.Outputs) > carriedOf(l):
		return c.Miss(pass.WrongShape, "no iteration gives what is gathered")
	}
	if !c.Enabled() {
		return false
	}
	r.Eliminate(l, nil)
	u := &unrolling{r: r, l: l, inputs: slices.Clone(l.Inputs), carried: carriedOf(l)}
	u.outputs = r.Network().Release(l)
	u.gathered = make([][]*graph.Tensor, len(u.outputs)-u.carried)
	u.run(body, trips)
	return c.Fire()
}

// carriedOf returns how many values a loop hands from an iteration to the next.
func carriedOf(l *graph.Layer) int {
	switch a := l.Attrs.(type) {
	case graph.LoopAttrs:
		return a.Carried
	case graph.ScanAttrs:
		return a.States
	}
	return 0
}

// unrolling is a loop that is being replaced, and is gone from the network.
type unrolling struct {
	r        *pass.Rewrite
	l        *graph.Layer
	inputs   []*graph.Tensor
	outputs  []*graph.Tensor
	carried  int
	gathered [][]*graph.Tensor // by output, of each iteration
}

func (u *unrolling) run(body *graph.Network, trips int) {
	first := 0
	if u.l.Op == graph.Loop {
		first = 2
	}
	carried := slices.Clone(u.inputs[first : first+u.carried])
	for k := range trips {
		suffix := ""
		if k > 0 {
			suffix = "_" + strconv.Itoa(k)
		}
		given := u.given(body, carried, k, trips)
		outputs := make([]*graph.Tensor, len(body.Outputs))
		skip := len(body.Outputs) - len(u.outputs) // the condition
		if k == trips-1 {
			copy(outputs[skip:], u.outputs[:u.carried])
		}
		results := u.r.Network().Inline(body, given, outputs, suffix)[skip:]
		carried = results[:u.carried]
		for i, t := range results[u.carried:] {
			u.gathered[i] = append(u.gathered[i], t)
		}
	}
	if trips == 0 {
		for i, t := range carried {
			u.insert(graph.Identity, nil, u.outputs[i], t)
		}
	}
	for i, list := range u.gathered {
		u.gather(i, list)
	}
}

// given returns the inputs of the body at iteration k.
func (u *unrolling) given(body *graph.Network, carried []*graph.Tensor, k, trips int) []*graph.Tensor {
	constant := func(i int, v numeric.Value) *graph.Tensor {
		v.Dims = symbolic.Eval(body.Inputs[i].Dims, nil)
		return u.r.Network().AddConst(body.Inputs[i].Name, v)
	}
	if u.l.Op == graph.Loop {
		given := []*graph.Tensor{constant(0, numeric.Values(numeric.I64, []int64{int64(k)})), constant(1, numeric.Values(numeric.Bool, []uint8{1}))}
		return append(append(given, carried...), u.inputs[2+u.carried:]...)
	}
	a := u.l.Attrs.(graph.ScanAttrs)
	given := slices.Clone(carried)
	for i, x := range u.inputs[a.States : a.States+a.Scanned] {
		place := u.r.Network().AddConst(x.Name+"_place", numeric.Values(numeric.I64, []int64{int64(a.InPlace(i, k, trips))}))
		e := u.r.Network().NewTensor(body.Inputs[a.States+i].Name, x.Type, body.Inputs[a.States+i].Dims)
		given = append(given, u.insert(graph.Gather, graph.GatherAttrs{Axis: a.InAxis(i, len(x.Dims))}, e, x, place))
	}
	return append(given, u.inputs[a.States+a.Scanned:]...)
}

// gather puts what the iterations give along a new axis, as a gathered output.
func (u *unrolling) gather(i int, list []*graph.Tensor) {
	y := u.outputs[u.carried+i]
	axis := 0
	if a, ok := u.l.Attrs.(graph.ScanAttrs); ok {
		axis = a.OutAxis(i, len(y.Dims))
		if a.OutPlace(i, 0, len(list)) > 0 {
			slices.Reverse(list)
		}
	}
	var parts []*graph.Tensor
	for _, t := range list {
		part := u.r.Network().NewTensor(t.Name+"_part", t.Type, slices.Insert(slices.Clone(t.Dims), axis, symbolic.Const(1)))
		parts = append(parts, u.insert(graph.Unsqueeze, graph.UnsqueezeAttrs{Axes: []int{axis}}, part, t))
	}
	u.insert(graph.Concat, graph.ConcatAttrs{Axis: axis}, y, parts...)
}

// insert adds a layer that stands for the loop.
func (u *unrolling) insert(op *graph.Op, attrs any, y *graph.Tensor, inputs ...*graph.Tensor) *graph.Tensor {
	u.r.Network().Insert(&graph.Layer{Name: u.l.Name, Op: op, Attrs: attrs, Inputs: inputs, Outputs: []*graph.Tensor{y}, From: u.l.From})
	return y
}
