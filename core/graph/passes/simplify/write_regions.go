package simplify

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// WriteRegions finds what a model assigns to a part of a tensor, which exporters write as a scatter by constant indices, between
// transpositions that bring the axis to the front. The tensor is joined of what stays and what is new, and where the new is a sum with
// what was there, it is a sum with zeros beside the part.
//
//	x[:, 1:] += r                                a = Slice(x, 0, 1) axis=1
//	s = Slice(x, 1, 9) axis=1               ->   b = Slice(x, 1, 9) axis=1       ->   p = Pad(r)
//	u = Add(s, r)                                u = Add(b, r)                        y = Add(x, p)
//	y = ScatterND(x, every [i, 1 to 9], u)       y = Concat(a, u) axis=1
var WriteRegions = pass.Pass{
	Name:  "write-regions",
	Doc:   "assignments to a part of a tensor become concatenations, and sums there sums of the whole",
	Rules: []string{"scatter-to-concat", "slice-of-concat", "concat-of-slices", "sum-of-part"},
	Run: func(r *pass.Rewrite) {
		r.Each(func(l *graph.Layer) bool {
			if !r.Used(l) { // a part that was written twice has two readers while the first is there
				r.Eliminate(l, nil)
				r.Network().Remove(l)
				return true
			}
			if l.Epilogue.Args > 0 || len(l.Outputs) != 1 || l.Outputs[0].Range.IsSet() {
				return false
			}
			switch l.Op {
			case graph.ScatterND:
				return scatterToConcat(r, l)
			case graph.Slice:
				return sliceOfConcat(r, l)
			case graph.Concat:
				return concatOfSlices(r, l) || sumOfPart(r, l)
			}
			return false
		})
	},
}

// part is the elements from first up to end on an axis of a tensor.
type part struct {
	t                *graph.Tensor
	axis, first, end int
}

// partOf returns what t is a part of, along one axis; t itself, on that axis, where it is a part of nothing.
func partOf(t *graph.Tensor, axis int) (part, bool) {
	if l := t.Producer; l != nil && l.Op == graph.Slice && l.Epilogue.Args == 0 {
		if p, ok := sliced(l); ok && p.axis == axis {
			return p, true
		}
	}
	n, ok := t.Dims[axis].IsConst()
	return part{t, axis, 0, n}, ok
}

// sliced returns the part that a Slice is, where it is one along a single axis and in steps of one.
func sliced(l *graph.Layer) (part, bool) {
	x, y := l.Inputs[0], l.Outputs[0]
	a := l.Attrs.(graph.SliceAttrs)
	lists := []*[]int{&a.Starts, &a.Ends, &a.Axes, &a.Steps}
	for i, t := range l.OpInputs()[1:] {
		if t == nil {
			continue
		}
		v, ok := t.Ints()
		if !ok {
			return part{}, false
		}
		*lists[i] = v
	}
	found, some := part{}, false
	for i, start := range a.Starts {
		axis := i
		if a.Axes != nil {
			if axis = a.Axes[i]; axis < 0 {
				axis += len(x.Dims)
			}
		}
		if a.Steps != nil && a.Steps[i] != 1 {
			return part{}, false
		}
		if symbolic.Equal(x.Dims[axis:axis+1], y.Dims[axis:axis+1]) {
			continue
		}
		n, ok := x.Dims[axis].IsConst()
		length, ok2 := y.Dims[axis].IsConst()
		if !ok || !ok2 || some {
			return part{}, false
		}
		if start < 0 {
			start = max(0, start+n)
		}
		found, some = part{x, axis, min(start, n), min(start, n) + length}, true
	}
	return found, some
}

// writer makes layers in the place of one.
type writer struct {
	r    *pass.Rewrite
	l    *graph.Layer
	made []*graph.Layer // and added
}

// layer adds a layer and returns its output.
func (w *writer) layer(op *graph.Op, attrs any, inputs ...*graph.Tensor) *graph.Tensor {
	y := w.l.Outputs[0]
	t := w.r.Network().NewTensor(y.Name+"_part", y.Type, nil)
	l := &graph.Layer{Name: w.l.Name + "_part", Op: op, Attrs: attrs, From: w.l.From, Inputs: inputs, Outputs: []*graph.Tensor{t}}
	if err := l.Infer(); err != nil {
		w.r.Fail(err)
	}
	w.made = append(w.made, w.r.Network().Insert(l))
	return t
}

// slice returns a part, of which the network may have the Slice; the tensor itself, where it is all of it.
func (w *writer) slice(p part) *graph.Tensor {
	if n, ok := p.t.Dims[p.axis].IsConst(); ok && p.first == 0 && p.end == n {
		return p.t
	}
	for _, l := range p.t.Users {
		if l.Op == graph.Slice && l.Inputs[0] == p.t && l.Epilogue.Args == 0 {
			if found, ok := sliced(l); ok && found == p {
				return l.Outputs[0]
			}
		}
	}
	return w.layer(graph.Slice, graph.SliceAttrs{Starts: []int{p.first}, Ends: []int{p.end}, Axes: []int{p.axis}}, p.t)
}

// turned returns t with its axes in another order, of what t itself is a transposition of.
func (w *writer) turned(t *graph.Tensor, perm []int) *graph.Tensor {
	if l := t.Producer; match.IsTranspose(l) {
		t, perm = l.Inputs[0], match.Composed(match.Perm(l), perm)
	}
	if slices.IsSorted(perm) {
		return t
	}
	return w.layer(graph.Transpose, graph.TransposeAttrs{Perm: perm}, t)
}

// scatterToConcat joins what a ScatterND writes to a part of its input with the rest of that. Where the input is transposed for it, the
// axes stay as they were before.
func scatterToConcat(r *pass.Rewrite, l *graph.Layer) bool {
	x, u, y := l.Inputs[0], l.Inputs[2], l.Outputs[0]
	if l.Attrs.(graph.ScatterAttrs).Reduction != "none" || !l.Inputs[1].IsConst() || u.Type != x.Type || x.Range.IsSet() || u.Range.IsSet() {
		return false
	}
	var turns []*graph.Layer // of the result
	before := x.Producer
	if match.IsTranspose(before) {
		for _, u := range y.Users {
			if match.IsTranspose(u) {
				turns = append(turns, u)
			}
		}
	}
	c := r.Candidate("scatter-to-concat", append(turns, l)...)
	region, ok := box(l.Inputs[1], x.Dims)
	if !ok {
		return c.Miss(pass.NotConstant, "the indices %s are not those of a part of %s", l.Inputs[1], x)
	}
	written, whole := 1, 1
	for _, p := range region {
		n, _ := x.Dims[p.axis].IsConst()
		written, whole = written*(p.end-p.first), whole*n
	}
	if len(turns) == 0 && 2*written < whole && !x.IsConst() {
		return c.Miss(pass.NoGain, "it writes %d places of %d: less than a copy of the rest", written, whole)
	}
	if !c.Enabled() {
		return false
	}
	w := &writer{r: r, l: l}
	switch {
	case len(turns) == 0 && written == whole:
		return c.Bypass(l, u)
	case len(turns) == 0:
		return c.Substitute(l, w.joined(x, u, region), w.made...)
	}
	perm := match.Perm(before)
	for i := range region {
		region[i].axis = perm[i]
	}
	by := w.joined(before.Inputs[0], w.turned(u, match.Inverse(perm)), region)
	t := w.layer(by.Op, by.Attrs, by.Inputs...)
	for _, a := range turns {
		switch p := match.Composed(perm, match.Perm(a)); {
		case !slices.IsSorted(p):
			r.Replace(a, &graph.Layer{Op: graph.Transpose, Attrs: graph.TransposeAttrs{Perm: p}, Inputs: []*graph.Tensor{t}})
		case !r.Bypass(a, t):
			r.Replace(a, &graph.Layer{Op: graph.Identity, Inputs: []*graph.Tensor{t}})
		}
	}
	return c.Substitute(l, &graph.Layer{Op: graph.Transpose, Attrs: graph.TransposeAttrs{Perm: perm}, Inputs: []*graph.Tensor{t}}, w.made...)
}

// joined returns a layer, not added yet, that is x with u in the place of a region, whose parts are given by axis; the layer is an
// Identity of u where that is all of x.
func (w *writer) joined(x, u *graph.Tensor, region []part) *graph.Layer {
	region = slices.DeleteFunc(region, func(p part) bool { n, _ := x.Dims[p.axis].IsConst(); return p.end-p.first == n })
	for i := range region { // each is within what is written along those before it
		if region[i].t = x; i > 0 {
			region[i].t = w.slice(region[i-1])
		}
	}
	by := &graph.Layer{Op: graph.Identity, Inputs: []*graph.Tensor{u}}
	for i := len(region) - 1; i >= 0; i-- {
		if i < len(region)-1 {
			u = w.layer(by.Op, by.Attrs, by.Inputs...)
		}
		by = &graph.Layer{Op: graph.Concat, Attrs: graph.ConcatAttrs{Axis: region[i].axis}, Inputs: w.around(region[i], u)}
	}
	return by
}

// around returns u between what lies before and behind a part.
func (w *writer) around(p part, u *graph.Tensor) []*graph.Tensor {
	n, _ := p.t.Dims[p.axis].IsConst()
	list := []*graph.Tensor{u}
	if p.first > 0 {
		list = []*graph.Tensor{w.slice(part{p.t, p.axis, 0, p.first}), u}
	}
	if p.end < n {
		list = append(list, w.slice(part{p.t, p.axis, p.end, n}))
	}
	return list
}

// box returns the part that indices of a ScatterND are of its first axes, where they are all of it in their order.
func box(indices *graph.Tensor, dims []symbolic.Dim) ([]part, bool) {
	v, ok := indices.Ints()
	if !ok || len(v) == 0 {
		return nil, false
	}
	lengths := symbolic.Eval(indices.Dims, nil)
	depth := len(lengths) - 1
	if lengths[depth] != depth {
		return nil, false
	}
	region := make([]part, depth)
	for i := range region {
		n, ok := dims[i].IsConst()
		if !ok {
			return nil, false
		}
		first := v[i]
		if first < 0 {
			first += n
		}
		if region[i] = (part{axis: i, first: first, end: first + lengths[i]}); first < 0 || region[i].end > n {
			return nil, false
		}
	}
	place := make([]int, depth)
	for at := 0; at < len(v); at += depth {
		for i, p := range place {
			if n, _ := dims[i].IsConst(); v[at+i] != region[i].first+p && v[at+i]+n != region[i].first+p {
				return nil, false
			}
		}
		for i := depth - 1; i >= 0; i-- {
			if place[i]++; place[i] < lengths[i] {
				break
			}
			place[i] = 0
		}
	}
	return region, true
}

// sliceOfConcat takes a part of what is joined from the operands that it is of.
//
//	y = Slice(Concat(a f32[3,2], b f32[3,5]) axis=1, 2, 7) axis=1   ->   b
func sliceOfConcat(r *pass.Rewrite, l *graph.Layer) bool {
	join := l.Inputs[0].Producer
	if join == nil || join.Op != graph.Concat || join.Epilogue.Args > 0 {
		return false
	}
	p, ok := sliced(l)
	if !ok || p.axis != axisOf(join) {
		return false
	}
	c := r.Candidate("slice-of-concat", join, l)
	at := 0
	var parts []part
	for _, t := range join.Inputs {
		n, ok := t.Dims[p.axis].IsConst()
		if !ok {
			return c.Miss(pass.WrongShape, "how long %s is on axis %d is not known", t, p.axis)
		}
		if first, end := max(p.first, at), min(p.end, at+n); first < end {
			parts = append(parts, part{t, p.axis, first - at, end - at})
		}
		at += n
	}
	if len(parts) != 1 { // joined again, which is not less
		return false
	}
	if !c.Enabled() {
		return false
	}
	t := parts[0].t
	if n, _ := t.Dims[p.axis].IsConst(); parts[0].end-parts[0].first == n {
		return c.Bypass(l, t)
	}
	attrs := graph.SliceAttrs{Starts: []int{parts[0].first}, Ends: []int{parts[0].end}, Axes: []int{p.axis}}
	return c.Substitute(l, &graph.Layer{Op: graph.Slice, Attrs: attrs, Inputs: []*graph.Tensor{t}})
}

// concatOfSlices leaves out what joins the parts of a tensor in their order.
func concatOfSlices(r *pass.Rewrite, l *graph.Layer) bool {
	axis := axisOf(l)
	var whole part
	for i, t := range l.Inputs {
		p, ok := partOf(t, axis)
		switch {
		case !ok || i > 0 && (p.t != whole.t || p.first != whole.end):
			return false
		case i == 0:
			whole = p
		}
		whole.end = p.end
	}
	n, ok := whole.t.Dims[axis].IsConst()
	if !ok || whole.first > 0 || whole.end < n {
		return false
	}
	found := []*graph.Layer{l}
	for _, t := range l.Inputs {
		if t != whole.t {
			found = append(found, t.Producer)
		}
	}
	c := r.Candidate("concat-of-slices", found...)
	return c.Enabled() && c.Bypass(l, whole.t)
}

// sumOfPart adds zeros to what a sum leaves as it is, of which -0 becomes 0:
//
//	s = Slice(x f32[3,9], 1, 9) axis=1
//	y = Concat(Slice(x, 0, 1) axis=1, Add(s, r)) axis=1    ->   y = Add(x, Pad(r, one before))
func sumOfPart(r *pass.Rewrite, l *graph.Layer) bool {
	axis := axisOf(l)
	for i, t := range l.Inputs {
		add := t.Producer
		if add == nil || add.Epilogue.Args > 0 {
			continue
		}
		p, ok := graph.ProgramOf(add)
		if !ok || len(p.Code) != 1 || p.Code[0].Op != elementwise.Add || len(add.Inputs) != 2 {
			continue
		}
		for k, s := range add.Inputs {
			if symbolic.Equal(s.Dims, t.Dims) && sumOfPartAt(r, l, i, add, s, add.Inputs[1-k], axis) {
				return true
			}
		}
	}
	return false
}

// sumOfPartAt is sumOfPart where operand i of l is the sum of s, a part, and b.
func sumOfPartAt(r *pass.Rewrite, l *graph.Layer, i int, add *graph.Layer, s, b *graph.Tensor, axis int) bool {
	mid, ok := partOf(s, axis)
	if !ok || mid.t == s {
		return false
	}
	x, at, found := mid.t, 0, []*graph.Layer{s.Producer, add, l}
	for k, t := range l.Inputs {
		p := mid
		if k != i {
			if p, ok = partOf(t, axis); !ok || p.t != x || t == x {
				return false
			}
			found = append(found, t.Producer)
		}
		if p.first != at {
			return false
		}
		at = p.end
	}
	n, _ := x.Dims[axis].IsConst()
	if at != n {
		return false
	}
	c := r.Candidate("sum-of-part", found...)
	own := axis - len(l.Outputs[0].Dims) + len(b.Dims)
	if own < 0 || !symbolic.Equal(b.Dims[own:own+1], s.Dims[axis:axis+1]) || b.Type != x.Type {
		return c.Miss(pass.WrongShape, "%s, which is added, is repeated along the axis", b)
	}
	if !c.Sole(add.Outputs[0], l) || !c.Enabled() {
		return false
	}
	pads := make([]int, 2*len(b.Dims))
	pads[own], pads[len(b.Dims)+own] = mid.first, n-mid.end
	w := &writer{r: r, l: l}
	b = w.layer(graph.Pad, graph.PadAttrs{Mode: "constant", Pads: pads}, b)
	return c.Substitute(l, &graph.Layer{Op: add.Op, Attrs: graph.Elementwise{Program: elementwise.Binary(elementwise.Add)}, Inputs: []*graph.Tensor{x, b}}, w.made...)
}
