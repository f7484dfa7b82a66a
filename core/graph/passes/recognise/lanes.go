package recognise

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// lane is an element along the last axes of a tensor as a sum of elements along those of another, the root, times factors.
type lane []laneTerm

type laneTerm struct {
	minus bool
	from  int           // lane of the root
	by    *graph.Tensor // what it is multiplied by; nil: 1
	axes  int           // of by's that are lanes
	at    int           // lane of by
}

// laneWalk writes the lanes of tensors that have the leading axes of a root as what they are of its lanes.
type laneWalk struct {
	root  *graph.Tensor
	lead  int // axes that are no lanes
	known map[*graph.Tensor][]lane
	inner []*graph.Layer
}

// maxLanes bounds the lanes of a tensor: no head has as many components.
const maxLanes = 4096

// maxTerms bounds what is added up for a lane: of a pair that is turned, both components.
const maxTerms = 2

func newLaneWalk(root *graph.Tensor) *laneWalk {
	w := &laneWalk{root: root, lead: len(root.Dims) - 1, known: map[*graph.Tensor][]lane{}}
	own := make([]lane, numeric.Count(w.shape(root)))
	for i := range own {
		own[i] = lane{{from: i}}
	}
	w.known[root] = own
	return w
}

// of returns the lanes of t; nil where they do not follow from the root's.
func (w *laneWalk) of(t *graph.Tensor) []lane {
	if list, ok := w.known[t]; ok {
		return list
	}
	w.known[t] = nil
	l := t.Producer
	if l == nil || l.Unsupported() != nil || l.Epilogue.Args > 0 || len(w.inner) > maxWalk || w.shape(t) == nil {
		return nil
	}
	var list []lane
	if p, ok := graph.ProgramOf(l); ok {
		if len(p.Code) == 1 {
			list = w.combined(l, p.Code[0])
		}
	} else {
		list = w.moved(l, slices.Index(l.Outputs, t))
	}
	if list != nil && !slices.Contains(w.inner, l) {
		w.inner = append(w.inner, l)
	}
	w.known[t] = list
	return list
}

// shape returns the extents of t's lanes, nil where its other axes are not those of the root.
func (w *laneWalk) shape(t *graph.Tensor) []int {
	if len(t.Dims) < w.lead || t.Type != w.root.Type || !symbolic.Equal(t.Dims[:w.lead], w.root.Dims[:w.lead]) {
		return nil
	}
	dims, ok := match.ConstDims(t.Dims[w.lead:])
	if n := numeric.Count(dims); !ok || n < 1 || n > maxLanes || slices.Min(append(dims, 1)) < 1 {
		return nil
	}
	return dims
}

// combined returns the lanes of an element-wise layer's output.
func (w *laneWalk) combined(l *graph.Layer, in elementwise.Instr) []lane {
	y := l.Outputs[0]
	var args []*graph.Tensor
	for _, v := range in.Arg[:in.Op.Info().Arity] {
		args = append(args, l.Inputs[v])
	}
	switch in.Op {
	case elementwise.Neg:
		return signed(w.of(args[0]), true)
	case elementwise.Add, elementwise.Sub:
		a, b := w.of(args[0]), signed(w.of(args[1]), in.Op == elementwise.Sub)
		if a == nil || b == nil || !symbolic.Equal(args[0].Dims, y.Dims) || !symbolic.Equal(args[1].Dims, y.Dims) {
			return nil
		}
		list := make([]lane, len(a))
		for i := range a {
			if list[i] = slices.Concat(a[i], b[i]); len(list[i]) > maxTerms {
				return nil
			}
		}
		return list
	case elementwise.Mul:
		for i, x := range args {
			if symbolic.Equal(x.Dims, y.Dims) && !x.IsConst() {
				if list := w.multiplied(w.of(x), w.shape(x), args[1-i]); list != nil {
					return list
				}
			}
		}
	}
	return nil
}

func signed(list []lane, minus bool) []lane {
	if list == nil || !minus {
		return list
	}
	r := make([]lane, len(list))
	for i, l := range list {
		r[i] = slices.Clone(l)
		for k := range r[i] {
			r[i][k].minus = !r[i][k].minus
		}
	}
	return r
}

// multiplied returns lanes of the given extents times k, which broadcasts to them.
func (w *laneWalk) multiplied(list []lane, dims []int, k *graph.Tensor) []lane {
	if list == nil {
		return nil
	}
	own, ok := match.ConstDims(k.Dims[max(0, len(k.Dims)-len(dims)):])
	if !ok {
		return nil
	}
	own = slices.Concat(slices.Repeat([]int{1}, len(dims)-len(own)), own)
	r := make([]lane, len(list))
	for i, l := range list {
		at, step, rest := 0, 1, i
		for a := len(dims) - 1; a >= 0; a-- {
			if own[a] > 1 {
				at += rest % dims[a] * step
			}
			step, rest = step*own[a], rest/dims[a]
		}
		r[i] = slices.Clone(l)
		for j := range r[i] {
			if r[i][j].by != nil {
				return nil
			}
			r[i][j].by, r[i][j].axes, r[i][j].at = k, len(dims), at
		}
	}
	return r
}

// moved returns the lanes of an output of a layer that moves lanes alone, which it finds by moving their numbers.
func (w *laneWalk) moved(l *graph.Layer, output int) []lane {
	var from []lane
	if l.Op.Memory == graph.Viewed && l.Op != graph.Identity {
		if w.shape(l.Inputs[0]) == nil {
			return nil
		}
		return w.of(l.Inputs[0])
	}
	if !w.movesLanes(l) {
		return nil
	}
	numbers := func(dims []int, first int) numeric.Value {
		v := numeric.NewValue(numeric.F32, slices.Concat(slices.Repeat([]int{1}, w.lead), dims)...)
		for i := range v.F32() {
			v.F32()[i] = float32(first + i)
		}
		return v
	}
	in, out := make([]numeric.Value, len(l.Inputs)), make([]numeric.Value, len(l.Outputs))
	for i, t := range l.Inputs {
		if v, ok := t.Const(); ok {
			in[i] = v
			continue
		}
		list := w.of(t)
		if list == nil {
			return nil
		}
		in[i] = numbers(w.shape(t), len(from))
		from = append(from, list...)
	}
	for i, t := range l.Outputs {
		dims, ok := match.ConstDims(t.Dims[w.lead:])
		if !ok {
			return nil
		}
		out[i] = numbers(dims, 0)
	}
	if l.Op.Eval(l, in, out) != nil {
		return nil
	}
	var list []lane
	for _, x := range out[output].F32() {
		list = append(list, from[int(x)])
	}
	return list
}

// movesLanes reports whether a layer moves lanes, and nothing else.
func (w *laneWalk) movesLanes(l *graph.Layer) bool {
	rank := len(l.Inputs[0].Dims)
	among := func(axes ...int) bool {
		return !slices.ContainsFunc(axes, func(a int) bool { return (a+rank)%rank < w.lead })
	}
	switch a := l.Attrs.(type) {
	case graph.SliceAttrs:
		axes, ok := sliceAxes(l)
		return ok && among(axes...)
	case graph.SplitAttrs:
		return among(a.Axis)
	case graph.ConcatAttrs:
		return among(a.Axis) && !slices.ContainsFunc(l.Inputs, (*graph.Tensor).IsConst)
	case graph.GatherAttrs:
		return l.Op == graph.Gather && among(a.Axis) && l.Inputs[1].IsConst()
	case graph.TransposeAttrs:
		return slices.IsSorted(match.Perm(l)[:w.lead]) && (w.lead == 0 || match.Perm(l)[w.lead-1] == w.lead-1)
	}
	return false
}

// sliceAxes returns the axes of a Slice.
func sliceAxes(l *graph.Layer) ([]int, bool) {
	a := l.Attrs.(graph.SliceAttrs)
	if t := l.Input(3); t != nil {
		return t.Ints()
	}
	return a.Axes, a.Axes != nil
}

// laneText returns a text that two lanes of tensors have in common only if their elements are equal.
func laneText(t *graph.Tensor, axes, at int) string {
	steps := maxTexts
	return laneTextIn(&steps, t, axes, at)
}

// maxTexts bounds the tensors that the text of a lane looks into, one as often as it is used.
const maxTexts = 256

// laneTextIn is laneText in so many steps, behind which tensors are told apart by their names.
func laneTextIn(steps *int, t *graph.Tensor, axes, at int) string {
	l := t.Producer
	last := max(0, len(t.Dims)-axes)
	dims, ok := match.ConstDims(t.Dims[last:])
	name := fmt.Sprintf("%s@%d", t.Name, at)
	if v, constant := t.Const(); constant {
		return constantLane(v, numeric.Count(dims), at)
	}
	if *steps--; *steps < 0 || l == nil || !ok || l.Epilogue.Args > 0 || len(l.Outputs) != 1 {
		return name
	}
	x := l.Inputs[0]
	of := func(rest ...any) string {
		return fmt.Sprint(l.Op.Name, l.Attrs, t.Dims[:last], rest)
	}
	if p, ok := graph.ProgramOf(l); ok {
		var list []string
		for _, x := range l.Inputs {
			switch {
			case numeric.Count(symbolic.Eval(x.Dims, nil)) == 1 && x.IsConst():
				list = append(list, laneTextIn(steps, x, 0, 0))
			case symbolic.Equal(x.Dims[max(0, len(x.Dims)-axes):], t.Dims[last:]):
				list = append(list, laneTextIn(steps, x, axes, at))
			default:
				return name
			}
		}
		return of(p, strings.Join(list, ","))
	}
	switch a := l.Attrs.(type) {
	case graph.ConcatAttrs:
		if axis := (a.Axis + len(t.Dims)) % len(t.Dims); axis >= last {
			if x, at, ok := joinedLane(l, dims, axis-last, at); ok {
				return laneTextIn(steps, x, axes, at)
			}
			return name
		}
		var list []string
		for _, x := range l.Inputs {
			list = append(list, laneTextIn(steps, x, axes, at))
		}
		return of(strings.Join(list, ","))
	case graph.GatherAttrs:
		if l.Op == graph.Gather && a.Axis == 0 && len(x.Dims) > axes {
			return of(l.Inputs[1].Name, laneTextIn(steps, x, axes, at))
		}
	case graph.CastAttrs:
		return of(laneTextIn(steps, x, axes, at))
	case graph.TransposeAttrs:
		if axes == 1 {
			return of(laneTextAlong(steps, x, match.Perm(l)[last], at))
		}
	case graph.SliceAttrs:
		if list, ok := sliceAxes(l); ok && len(x.Dims) == len(t.Dims) && !slices.ContainsFunc(list, func(i int) bool { return (i+len(x.Dims))%len(x.Dims) >= last }) {
			rest := ""
			for _, t := range l.Inputs[1:] {
				rest += t.Name + ","
			}
			return of(rest, laneTextIn(steps, x, axes, at))
		}
	}
	if own, ok := match.ConstDims(x.Dims[min(last, len(x.Dims)):]); ok && len(x.Dims) == len(t.Dims) && (l.Op == graph.Expand || l.Op == graph.Tile) {
		return of(laneTextIn(steps, x, axes, repeatedFrom(own, dims, at)))
	}
	if l.Op.Memory != graph.Viewed {
		return name
	}
	for n := range len(x.Dims) + 1 { // the last axes that are as many lanes
		if own, ok := match.ConstDims(x.Dims[len(x.Dims)-n:]); ok && numeric.Count(own) == numeric.Count(dims) {
			return of(laneTextIn(steps, x, n, at))
		}
	}
	return name
}

// laneTextAlong is laneTextIn for lanes along one axis, which need not be the last one.
func laneTextAlong(steps *int, t *graph.Tensor, axis, at int) string {
	behind := len(t.Dims) - axis
	if behind == 1 {
		return laneTextIn(steps, t, 1, at)
	}
	l, name := t.Producer, fmt.Sprintf("%s@%d,%d", t.Name, axis, at)
	if *steps--; *steps < 0 || l == nil || l.Epilogue.Args > 0 || len(l.Outputs) != 1 {
		return name
	}
	if p, ok := graph.ProgramOf(l); ok {
		var list []string
		for _, x := range l.Inputs {
			switch {
			case numeric.Count(symbolic.Eval(x.Dims, nil)) == 1 && x.IsConst():
				list = append(list, laneTextIn(steps, x, 0, 0))
			case len(x.Dims) >= behind && x.Dims[len(x.Dims)-behind].Equal(t.Dims[axis]):
				list = append(list, laneTextAlong(steps, x, len(x.Dims)-behind, at))
			default:
				return name
			}
		}
		return fmt.Sprint(l.Op.Name, l.Attrs, t.Dims, p, list)
	}
	if a, ok := l.Attrs.(graph.ConcatAttrs); ok && (a.Axis+len(t.Dims))%len(t.Dims) == axis {
		for _, x := range l.Inputs {
			n, known := x.Dims[axis].IsConst()
			if !known {
				return name
			}
			if at < n {
				return laneTextAlong(steps, x, axis, at)
			}
			at -= n
		}
	}
	return name
}

// joinedLane returns the input of a Concat that has lane at, of extents dims, and which it is there; axis is that of the lanes.
func joinedLane(l *graph.Layer, dims []int, axis, at int) (*graph.Tensor, int, bool) {
	inner := numeric.Count(dims[axis+1:])
	outer, i, rest := at/inner/dims[axis], at/inner%dims[axis], at%inner
	for _, x := range l.Inputs {
		n, ok := x.Dims[len(x.Dims)-len(dims)+axis].IsConst()
		if !ok {
			return nil, 0, false
		}
		if i < n {
			return x, (outer*n+i)*inner + rest, true
		}
		i -= n
	}
	return nil, 0, false
}

// repeatedFrom returns the lane, of extents own, whose copy lane at is once they are repeated to the extents dims.
func repeatedFrom(own, dims []int, at int) int {
	from, step := 0, 1
	for a := len(dims) - 1; a >= 0; a-- {
		from += at % dims[a] % own[a] * step
		step, at = step*own[a], at/dims[a]
	}
	return from
}

// constantLane returns the elements of one of n lanes.
func constantLane(v numeric.Value, n, at int) string {
	var b strings.Builder
	size := v.Type.Size()
	for i := at; i < v.Len() && n > 0; i += n {
		b.Write(v.Data[i*size : (i+1)*size])
	}
	return b.String()
}
