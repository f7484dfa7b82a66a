package recognise

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// gathersInOrder makes a view of a GatherND that takes all elements in their order, as functions over places that are mapped over the
// axes of a tensor are exported, and of a Gather that takes all along an axis:
//
//	b = Range(batch), k = Range(keys)
//	i = Concat(Expand(b), Expand(k)) i64[batch,1,1,keys,2]       ->   y = Reshape(x, [batch, 1, 1, keys])
//	y = GatherND(x bool[batch,keys], i)
//
//	l = Reshape(x bool[batch,keys], [-1, 1])
//	i = Add(Mul(b, keys), k) i64[batch,1,1,keys]                  ->   y = Reshape(x, [batch, 1, 1, keys, 1])
//	y = Gather(l, i) axis=0
func gathersInOrder(r *pass.Rewrite, l *graph.Layer) bool {
	x, index := l.Inputs[0], l.Inputs[1]
	if x.IsConst() {
		return false
	}
	c := r.Candidate("gather-in-order", l)
	if a, ok := l.Attrs.(graph.GatherNDAttrs); ok {
		joined, rank := index.Producer, len(index.Dims)-1
		switch {
		case a.BatchDims != 0 || rank != len(l.Outputs[0].Dims):
			return false
		case index.IsConst():
			if !inOrder(index, x.Dims) {
				return c.Miss(pass.MovesElements, "indices %s are not those of all elements of %s in their order", index, x)
			}
		case joined == nil || joined.Op != graph.Concat || joined.Epilogue.Args > 0 || len(joined.Inputs) != len(x.Dims) ||
			(joined.Attrs.(graph.ConcatAttrs).Axis+rank+1)%(rank+1) != rank:
			return false
		case !followsPlaces(c, l, joined.Inputs):
			return false
		}
	} else if !takesAll(l) {
		return false
	}
	y := l.Outputs[0]
	shape, ok := match.ReshapeTo(x, y.Dims)
	for p := x.Producer; !ok && p != nil && p.Op.Memory == graph.Viewed && p.Epilogue.Args == 0; p = x.Producer { // of what it is a view of
		x = p.Inputs[0]
		shape, ok = match.ReshapeTo(x, y.Dims)
	}
	if !ok {
		return c.Miss(pass.WrongShape, "the shape %s has more than one unknown extent", symbolic.Format(y.Dims))
	}
	if !c.Enabled() {
		return false
	}
	return c.Fire(r.Replace(l, r.Reshape(x, y.Name+"_shape", shape)))
}

// takesAll reports whether a Gather takes all indices of its axis in their order. Those of floats that are constant are slices.
func takesAll(l *graph.Layer) bool {
	x, index := l.Inputs[0], l.Inputs[1]
	axis := l.Attrs.(graph.GatherAttrs).Axis
	if axis < 0 {
		axis += len(x.Dims)
	}
	if index.IsConst() {
		return !match.IsFloat(x) && inOrder(index, x.Dims[axis:axis+1])
	}
	return len(index.Dims) > 1 && rowMajor(index, x.Dims[axis])
}

// rowMajor reports whether the elements of a tensor are 0, 1, and so on up to n in their order: sums of coordinates times what lies
// behind them, which may be an extent that is not known.
func rowMajor(index *graph.Tensor, n symbolic.Dim) bool {
	s, rank := newSurveyor(), len(index.Dims)
	found := make([]bool, rank)
	behind := make([]symbolic.Dim, rank+1)
	behind[rank] = symbolic.Const(1)
	for i := rank - 1; i >= 0; i-- {
		found[i] = index.Dims[i].Is(1)
		behind[i] = behind[i+1].Mul(index.Dims[i])
	}
	var add func(t *graph.Tensor, factor symbolic.Dim) bool
	add = func(t *graph.Tensor, factor symbolic.Dim) bool {
		if v, ok := s.number(t); ok && !v.choice {
			axis, by := -1, 0.0
			for i, b := range v.by {
				if b != 0 && axis >= 0 {
					return false
				}
				if b != 0 {
					axis, by = i+rank-len(v.by), b
				}
			}
			if v.at != 0 || axis < 0 || found[axis] || by != float64(int(by)) || !factor.MulN(int(by)).Equal(behind[axis+1]) {
				return false
			}
			found[axis] = true
			return true
		}
		op, args := operation(t)
		switch op {
		case elementwise.Add:
			return add(args[0], factor) && add(args[1], factor)
		case elementwise.Mul:
			for i, u := range args {
				if len(u.Value) == 1 {
					return add(args[1-i], factor.Mul(u.Value[0]))
				}
			}
		}
		return false
	}
	return behind[0].Equal(n) && add(index, symbolic.Const(1)) && !slices.Contains(found, false)
}

// inOrder reports whether constant indices, tuples along their last axis where the shape that they are of has several axes, are those of
// all elements in their order.
func inOrder(index *graph.Tensor, dims []symbolic.Dim) bool {
	v, ok := index.Const()
	if !ok {
		return false
	}
	total := 1
	for _, d := range dims {
		n, ok := d.IsConst()
		if !ok || n <= 0 || total > maxSurvey/n {
			return false
		}
		total *= n
	}
	list := v.Ints()
	if len(list) != total*len(dims) || len(dims) > 1 && v.Dims[len(v.Dims)-1] != len(dims) {
		return false
	}
	for i := range total {
		rest := i
		for k := len(dims) - 1; k >= 0; k-- {
			n, _ := dims[k].IsConst()
			if list[i*len(dims)+k] != int64(rest%n) {
				return false
			}
			rest /= n
		}
	}
	return true
}

// followsPlaces reports whether the components of indices are the coordinates of all elements in their order.
func followsPlaces(c *pass.Candidate, l *graph.Layer, index []*graph.Tensor) bool {
	x, y := l.Inputs[0], l.Outputs[0]
	rank := len(y.Dims)
	s, next := newSurveyor(), 0
	for i, t := range index {
		v, ok := s.number(t)
		if !ok || v.choice || !t.Dims[rank].Is(1) {
			return c.Miss(pass.NotConstant, "indices %s do not follow from places", t)
		}
		axis, ok := v.alongOne(y.Dims, next)
		if !ok || axis < rank && !y.Dims[axis].Equal(x.Dims[i]) || axis == rank && !x.Dims[i].Is(1) {
			return c.Miss(pass.MovesElements, "indices %s are not those of all elements of %s in their order", t, x)
		}
		for ; next < axis && axis < rank; next++ {
			if !y.Dims[next].Is(1) {
				return c.Miss(pass.MovesElements, "elements of %s are repeated", x)
			}
		}
		if axis < rank {
			next = axis + 1
		}
	}
	for ; next < rank; next++ {
		if !y.Dims[next].Is(1) {
			return c.Miss(pass.MovesElements, "elements of %s are repeated", x)
		}
	}
	return true
}

// alongOne returns the axis, from one on, whose coordinate a number is; as many as there are for one that is 0 everywhere.
func (n number) alongOne(dims []symbolic.Dim, from int) (axis int, ok bool) {
	axis = len(dims)
	if n.at != 0 {
		return 0, false
	}
	for i, by := range n.by {
		switch {
		case by == 0:
		case by != 1 || i < from || axis < len(dims) || i >= len(dims):
			return 0, false
		default:
			axis = i
		}
	}
	return axis, true
}
