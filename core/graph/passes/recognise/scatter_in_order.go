package recognise

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// scattersInOrder joins what a ScatterND writes to a part of its input with the rest of that, where the indices are computed, as PyTorch's
// exporter writes an assignment where extents are open: they follow from places.
//
//	b = Range(batch), s = Range(sequence), d = Range(8, 24)
//	i = Concat(Expand(b), Expand(s), Expand(d)) i64[batch,sequence,16,3]       ->   y = Concat(Slice(x, 0, 8), u) axis=2
//	y = ScatterND(x f32[batch,sequence,24], i, u f32[batch,sequence,16])
func scattersInOrder(r *pass.Rewrite, l *graph.Layer) bool {
	x, index, u, y := l.Inputs[0], l.Inputs[1], l.Inputs[2], l.Outputs[0]
	joined, rank := index.Producer, len(index.Dims)-1
	if index.IsConst() || joined == nil || joined.Op != graph.Concat || joined.Epilogue.Args > 0 || l.Epilogue.Args > 0 ||
		l.Attrs.(graph.ScatterAttrs).Reduction != "none" || u.Type != x.Type || x.Range.IsSet() || u.Range.IsSet() {
		return false
	}
	if axis := joined.Attrs.(graph.ConcatAttrs).Axis; axis != rank && axis != -1 || len(joined.Inputs) != rank {
		return false
	}
	c := r.Candidate("scatter-in-order", l)
	s, part, first := newSurveyor(), -1, 0
	for i, t := range joined.Inputs {
		n, ok := s.number(t)
		if !ok || n.choice || !t.Dims[rank].Is(1) {
			return c.Miss(pass.NotConstant, "indices %s do not follow from places", t)
		}
		if !n.along(i, index.Dims[i]) {
			return c.Miss(pass.MovesElements, "indices %s are not those of a part of %s in its order", t, x)
		}
		if n.at == 0 && index.Dims[i].Equal(x.Dims[i]) {
			continue
		}
		length, ok := index.Dims[i].IsConst()
		if whole, ok2 := x.Dims[i].IsConst(); !ok || !ok2 || part >= 0 || n.at < 0 || int(n.at)+length > whole {
			return c.Miss(pass.WrongShape, "%s is a part of %s on several axes, or of one whose extents are not known", u, x)
		}
		part, first = i, int(n.at)
	}
	if part < 0 {
		return symbolic.Equal(u.Dims, y.Dims) && c.Enabled() && c.Bypass(l, u)
	}
	d := &draft{r: r, from: l.From}
	length, _ := u.Dims[part].IsConst()
	whole, _ := x.Dims[part].IsConst()
	parts := slices.Concat(d.rest(x, part, 0, first), []*graph.Tensor{u}, d.rest(x, part, first+length, whole))
	by := &graph.Layer{Name: l.Name, Op: graph.Concat, Attrs: graph.ConcatAttrs{Axis: part}, Inputs: parts, Outputs: []*graph.Tensor{{Name: y.Name}}}
	if err := by.Infer(); err != nil || !symbolic.Equal(by.Outputs[0].Dims, y.Dims) {
		return c.Miss(pass.WrongShape, "%s and what is left of %s do not make %s", u, x, y)
	}
	if !c.Has(by) || !c.Enabled() {
		return false
	}
	stand(c, d, y, by, c.Found)
	return true
}

// rest returns what makes the elements of x from first up to end on an axis: of what is joined along it, the parts that are within.
func (d *draft) rest(x *graph.Tensor, axis, first, end int) (parts []*graph.Tensor) {
	list := []*graph.Tensor{x}
	if l := x.Producer; l != nil && l.Op == graph.Concat && l.Epilogue.Args == 0 && l.Attrs.(graph.ConcatAttrs).Axis == axis {
		list = l.Inputs
	}
	at := 0
	for _, t := range list {
		n, ok := t.Dims[axis].IsConst()
		if !ok && len(list) > 1 {
			return d.cut(x, axis, first, end)
		}
		from, to := max(first, at)-at, min(end, at+n)-at
		switch at += n; {
		case from >= to:
		case to-from == n:
			parts = append(parts, t)
		default:
			parts = append(parts, d.cut(t, axis, from, to)...)
		}
	}
	return parts
}

// cut returns the part of x from first up to end on an axis.
func (d *draft) cut(x *graph.Tensor, axis, first, end int) []*graph.Tensor {
	a := graph.SliceAttrs{Starts: []int{first}, Ends: []int{end}, Axes: []int{axis}}
	return []*graph.Tensor{d.layer(x.Name+"_rest", graph.Slice, a, x)}
}

// along reports whether a number goes up by one with the coordinate of one axis, of the given extent, from an integer on, and with no
// other.
func (n number) along(axis int, extent symbolic.Dim) bool {
	for i, by := range n.by {
		if by != 0 && (i != axis || by != 1) {
			return false
		}
	}
	return n.at == float64(int(n.at)) && (n.by[axis] == 1 || extent.Is(1))
}
