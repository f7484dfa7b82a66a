package pass

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
)

// attentionOperand is what an attention reads as queries, keys or values: [B,H,S,D], or [B,S,H*D].
type attentionOperand struct {
	x     *graph.Tensor // nil where there is none
	heads int
	apart bool           // it is [B,S,H,D], of which a reshape makes [B,S,H*D]
	path  []*graph.Layer // from what the product reads back to x
}

// The axes of an operand.
const (
	batchAxis = iota
	headAxis
	lengthAxis
	sizeAxis
)

// rowAxes are those of a tensor that has all heads of a place side by side.
var rowAxes = []int{batchAxis, lengthAxis, headAxis, sizeAxis}

// operand follows a tensor with these axes back through transposes, the split of heads and their repetition. It returns the
// furthest tensors that have heads in front of the length, and behind it.
func (m *attentionMatch) operand(t *graph.Tensor, axes []int) (split, rows attentionOperand) {
	axes = slices.Clone(axes)
	var path []*graph.Layer
	for {
		heads, known := t.Dims[slices.Index(axes, headAxis)].IsConst()
		if !known {
			return split, rows
		}
		switch {
		case slices.IsSorted(axes):
			split = attentionOperand{x: t, heads: heads, path: slices.Clone(path)}
		case slices.Equal(axes, rowAxes):
			rows = attentionOperand{x: t, heads: heads, apart: true, path: slices.Clone(path)}
		}
		l := t.Producer
		if l == nil || l.Epilogue.Args > 0 || len(path) >= maxPattern {
			return split, rows
		}
		switch l.Op {
		case graph.Transpose:
			before := make([]int, len(axes))
			for i, p := range permOf(l) {
				before[p] = axes[i]
			}
			axes, t, path = before, l.Inputs[0], append(path, l)
		case graph.Reshape:
			if x := l.Inputs[0]; splitsHeads(x, t, axes) {
				return split, attentionOperand{x: x, heads: heads, path: append(path, l)}
			}
			x, ok := repeatsHeads(l, slices.Index(axes, headAxis))
			if !ok {
				return split, rows
			}
			path = append(path, l, l.Inputs[0].Producer, l.Inputs[0].Producer.Inputs[0].Producer)
			t = x
		default:
			return split, rows
		}
	}
}

// furthest returns the operand, in either form, between which and the product most layers lie.
func (m *attentionMatch) furthest(t *graph.Tensor, axes []int) attentionOperand {
	split, rows := m.operand(t, axes)
	if rows.x != nil && (split.x == nil || len(rows.path) > len(split.path)) {
		return rows
	}
	return split
}

// joinHeads returns the operand's tensor, by a reshape where its heads are apart.
func (m *attentionMatch) joinHeads(o attentionOperand, members []string) (*graph.Tensor, bool) {
	d := o.x.Dims
	if !o.apart {
		return o.x, true
	}
	dims := []graph.Dim{d[0], d[1], d[2].Mul(d[3])}
	shape, ok := reshapeTo(o.x, dims)
	if !ok {
		return nil, false
	}
	l := m.r.reshape(o.x, o.x.Name+"_rows_shape", shape)
	l.Name, l.From = o.x.Name+"_rows", members
	if o.x.Producer != nil {
		l.From = o.x.Producer.From
	}
	l.Outputs = []*graph.Tensor{m.r.net.NewTensor(l.Name, o.x.Type, dims)}
	return m.r.net.Insert(l).Outputs[0], true
}

// splitsHeads reports whether t, which has these axes, is x [B,S,H*D] with its last axis split.
func splitsHeads(x, t *graph.Tensor, axes []int) bool {
	d := t.Dims
	return slices.Equal(axes, rowAxes) && graph.EqualDims(x.Dims, []graph.Dim{d[0], d[1], d[2].Mul(d[3])})
}

// repeatsHeads reports whether a reshape ends the repetition of each head of x, whose axis is at.
//
//	u = Reshape(x f32[2,3,4,5], [2,3,1,4,5])
//	e = Expand(u, [2,3,2,4,5])                 the heads of axis 1 two times each
//	y = Reshape(e, [2,6,4,5])
func repeatsHeads(l *graph.Layer, at int) (x *graph.Tensor, ok bool) {
	e := l.Inputs[0].Producer
	if e == nil || e.Op != graph.Expand || e.Epilogue.Args > 0 {
		return nil, false
	}
	u := e.Inputs[0].Producer
	if u == nil || u.Op != graph.Reshape {
		return nil, false
	}
	x = u.Inputs[0]
	wide, y := e.Outputs[0].Dims, l.Outputs[0].Dims
	if len(x.Dims) != 4 || len(wide) != 5 || len(y) != 4 {
		return nil, false
	}
	want := slices.Insert(slices.Clone(x.Dims), at+1, graph.Const(1))
	repeated := slices.Insert(slices.Clone(x.Dims), at+1, wide[at+1])
	joined := slices.Clone(x.Dims)
	joined[at] = joined[at].Mul(wide[at+1])
	return x, graph.EqualDims(u.Outputs[0].Dims, want) && graph.EqualDims(wide, repeated) && graph.EqualDims(y, joined)
}
