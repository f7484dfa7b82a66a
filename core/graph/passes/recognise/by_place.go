package recognise

import (
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// sum is a number plus a multiple of each coordinate of a place in a tensor.
type sum struct {
	at float64
	by []float64
}

func (s sum) constant() bool { return match.AllZero(s.by) }

// plus returns s + factor*o; both are of tensors of one rank.
func (s sum) plus(o sum, factor float64) sum {
	r := sum{s.at + factor*o.at, slices.Clone(s.by)}
	for i := range r.by {
		r.by[i] += factor * o.by[i]
	}
	return r
}

// number is what the elements of a tensor are, whose values follow from their places: a sum, or, if it is a choice, yes where the sum
// is at most 0 and no elsewhere.
type number struct {
	sum
	choice  bool
	yes, no float64
}

// surveyor finds what tensors are that follow from extents alone, such as a causal mask, whatever a model makes it of.
type surveyor struct {
	known map[*graph.Tensor]number
	open  map[*graph.Tensor]bool // looked at before, and not known
}

func newSurveyor() *surveyor {
	return &surveyor{map[*graph.Tensor]number{}, map[*graph.Tensor]bool{}}
}

// number returns what t is. Coordinates of axes of extent 1 do not count.
func (s *surveyor) number(t *graph.Tensor) (number, bool) {
	if v, ok := s.known[t]; ok || t == nil || s.open[t] || t.Type == numeric.U64 {
		return v, ok
	}
	s.open[t] = true
	v, ok := s.find(t)
	if !ok || len(v.by) != len(t.Dims) {
		return number{}, false
	}
	for i, d := range t.Dims {
		if d.Is(1) {
			v.by[i] = 0
		}
	}
	v = v.settled()
	s.known[t] = v
	return v, true
}

// settled returns a choice that is the same everywhere as that number.
func (n number) settled() number {
	if !n.choice {
		return n
	}
	least, most := n.at, n.at
	for _, by := range n.by {
		if by < 0 {
			least = math.Inf(-1)
		}
		if by > 0 {
			most = math.Inf(1)
		}
	}
	zero := make([]float64, len(n.by))
	switch {
	case most <= 0:
		return number{sum: sum{n.yes, zero}}
	case least > 0:
		return number{sum: sum{n.no, zero}}
	}
	return n
}

func (s *surveyor) find(t *graph.Tensor) (number, bool) {
	l := t.Producer
	if l == nil {
		return constantNumber(t)
	}
	if l.Epilogue.Args > 0 || len(l.Outputs) != 1 || l.Unsupported() != nil {
		return number{}, false
	}
	switch a := l.Attrs.(type) {
	case graph.Elementwise:
		if v, ok := s.coordinate(l, a.Program); ok {
			return v, true
		}
		return s.program(l, a.Program)
	case graph.FillAttrs:
		v := sum{by: make([]float64, len(t.Dims))}
		if a.Value != nil {
			v.at = numeric.Value{Type: a.Type, Data: a.Value}.Float64s()[0]
		}
		return number{sum: v}, l.Op == graph.ConstantOfShape
	case graph.TriluAttrs:
		return s.triangle(l, a)
	case graph.ConcatAttrs:
		return s.joined(l, a.Axis)
	case graph.GatherNDAttrs:
		return s.gathered(l, a)
	}
	if l.Op == graph.Sequence {
		start, ok := match.Uniform(l.Inputs[0])
		delta, ok2 := match.Uniform(l.Inputs[2])
		return number{sum: sum{start, []float64{delta}}}, ok && ok2
	}
	switch l.Op {
	case graph.Cast, graph.Transpose, graph.Expand, graph.CumSum, graph.Slice:
	default:
		if l.Op.Memory != graph.Viewed {
			return number{}, false
		}
	}
	x, ok := s.number(l.Inputs[0])
	if !ok {
		return x, false
	}
	return moved(l, x)
}

// maxSurvey bounds the elements of a constant that is looked through.
const maxSurvey = 1 << 24

// constantNumber returns what a constant is.
func constantNumber(t *graph.Tensor) (number, bool) {
	v, ok := t.Const()
	if !ok || v.Len() == 0 || v.Len() > maxSurvey {
		return number{}, false
	}
	list := v.Float64s()
	n := number{sum: sum{list[0], make([]float64, len(v.Dims))}}
	step := 1
	for i := len(v.Dims) - 1; i >= 0; i-- {
		if v.Dims[i] > 1 {
			n.by[i] = list[step] - list[0]
		}
		step *= v.Dims[i]
	}
	for i, x := range list {
		want, rest := n.at, i
		for k := len(v.Dims) - 1; k >= 0; k-- {
			if n.by[k] != 0 {
				want += n.by[k] * float64(rest%v.Dims[k])
			}
			rest /= v.Dims[k]
		}
		if x != want {
			return number{}, false
		}
	}
	return n, true
}

// moved returns what the output of a layer is that moves elements of its first input.
func moved(l *graph.Layer, x number) (number, bool) {
	from, to := l.Inputs[0].Dims, l.Outputs[0].Dims
	by := make([]float64, len(to))
	switch {
	case l.Op == graph.Cast:
		plain := x.choice || x.constant() || l.Outputs[0].Type.IsInteger() && l.Inputs[0].Type.IsInteger() || l.Outputs[0].Type.IsFloat()
		return x, plain && (l.Outputs[0].Type != numeric.Bool || x.isTruth())
	case l.Op == graph.Transpose:
		for i, p := range match.Perm(l) {
			by[i] = x.by[p]
		}
	case l.Op == graph.Expand:
		copy(by[len(to)-len(from):], x.by)
	case l.Op == graph.CumSum:
		return counted(l, x)
	case l.Op == graph.Slice:
		return sliced(l, x)
	case !x.constant() || x.choice:
		wide := func(dims []symbolic.Dim) (list []int) {
			for i, d := range dims {
				if !d.Is(1) {
					list = append(list, i)
				}
			}
			return list
		}
		a, b := wide(from), wide(to)
		if len(a) != len(b) {
			return x, false
		}
		for i := range a {
			if !from[a[i]].Equal(to[b[i]]) {
				return x, false
			}
			by[b[i]] = x.by[a[i]]
		}
	}
	x.by = by
	return x, true
}

// counted returns what a CumSum of one number is, along an axis that is known.
func counted(l *graph.Layer, x number) (number, bool) {
	a, n := l.Attrs.(graph.CumAttrs), len(x.by)
	if x.choice || !x.constant() || x.at != 0 && (a.Reverse || l.Input(1) != nil) || n == 0 {
		return x, false
	}
	x.by = make([]float64, n)
	if x.by[(a.Axis+n)%n] = x.at; a.Exclusive {
		x.at = 0
	}
	return x, true
}

// isTruth reports whether n is 0 or 1 everywhere.
func (n number) isTruth() bool {
	if n.choice {
		return (n.yes == 0 || n.yes == 1) && (n.no == 0 || n.no == 1)
	}
	return n.constant() && (n.at == 0 || n.at == 1)
}

// sliced returns what a Slice of steps of 1 from known starts is.
func sliced(l *graph.Layer, x number) (number, bool) {
	a := l.Attrs.(graph.SliceAttrs)
	for i, list := range []*[]int{&a.Starts, nil, &a.Axes, &a.Steps} {
		if t := l.Input(i + 1); t != nil && list != nil {
			var ok bool
			if *list, ok = t.Ints(); !ok {
				return x, false
			}
		}
	}
	x.by = slices.Clone(x.by)
	for i, start := range a.Starts {
		axis := i
		if a.Axes != nil {
			axis = (a.Axes[i] + len(x.by)) % len(x.by)
		}
		if start < 0 || a.Steps != nil && a.Steps[i] != 1 || start > 0 && !fitsBehind(l, axis, start) {
			return x, false
		}
		x.at += x.by[axis] * float64(start)
	}
	return x, true
}

// fitsBehind reports whether a Slice from start on has elements, or nothing depends on what it has; start is clamped where the axis
// is shorter, which leaves none.
func fitsBehind(l *graph.Layer, axis, start int) bool {
	n, ok := l.Inputs[0].Dims[axis].IsConst()
	return !ok || start < n
}

// triangle returns what a Trilu of one number is.
func (s *surveyor) triangle(l *graph.Layer, a graph.TriluAttrs) (number, bool) {
	x, ok := s.number(l.Inputs[0])
	if k := l.Input(1); ok && k != nil {
		list, known := k.Ints()
		if ok = known && len(list) == 1; ok {
			a.K = list[0]
		}
	}
	if !ok || x.choice || !x.constant() {
		return x, false
	}
	n := len(x.by)
	r := number{sum: sum{float64(-a.K), make([]float64, n)}, choice: true, yes: x.at} // of the lower one, column - row <= k
	r.by[n-2], r.by[n-1] = -1, 1
	if a.Upper {
		r.sum = sum{by: make([]float64, n)}.plus(r.sum, -1)
	}
	return r, true
}

// joined returns what a Concat is whose parts, all but the last of one element, go on from each other.
func (s *surveyor) joined(l *graph.Layer, axis int) (number, bool) {
	last := len(l.Inputs) - 1
	r, ok := s.number(l.Inputs[last])
	if !ok || r.choice || len(r.by) == 0 {
		return r, false
	}
	axis = (axis + len(r.by)) % len(r.by)
	r.sum = sum{r.at - r.by[axis]*float64(last), slices.Clone(r.by)}
	for i, t := range l.Inputs[:last] {
		x, ok := s.number(t)
		if !ok || x.choice || !isFirst(t.Dims[axis], l.Inputs[last].Dims[axis]) {
			return r, false
		}
		want := sum{r.at + r.by[axis]*float64(i), slices.Clone(r.by)}
		want.by[axis] = x.by[axis]
		if d := x.plus(want, -1); d.at != 0 || !d.constant() {
			return r, false
		}
	}
	return r, true
}

// isFirst reports whether d is 1, or the extent of the first element of n: 0 if there is none.
func isFirst(d, n symbolic.Dim) bool {
	one := symbolic.Const(1)
	return d.Is(1) || d.Equal(one.Min(n)) || d.Equal(n.Min(one))
}

// gathered returns what a GatherND is of data that is a sum, at indices whose components are.
func (s *surveyor) gathered(l *graph.Layer, a graph.GatherNDAttrs) (number, bool) {
	data, ok := s.number(l.Inputs[0])
	rank := len(l.Inputs[1].Dims) - 1
	if !ok || data.choice || a.BatchDims != 0 {
		return data, false
	}
	r := number{sum: sum{data.at, make([]float64, rank)}}
	if data.constant() {
		r.by = make([]float64, len(l.Outputs[0].Dims))
		return r, true
	}
	c := l.Inputs[1].Producer
	if c == nil || c.Op != graph.Concat || c.Epilogue.Args > 0 || len(c.Inputs) != len(data.by) || (c.Attrs.(graph.ConcatAttrs).Axis+rank+1)%(rank+1) != rank {
		return r, false
	}
	for i, t := range c.Inputs {
		x, ok := s.number(t)
		if !ok || x.choice || !t.Dims[rank].Is(1) || x.at < 0 {
			return r, false
		}
		for _, b := range x.by {
			if b < 0 { // a negative index counts from the end
				return r, false
			}
		}
		r.sum = r.plus(sum{x.at, x.by[:rank]}, data.by[i])
	}
	return r, true
}
