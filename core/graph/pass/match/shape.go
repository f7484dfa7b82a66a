package match

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Perm returns the permutation of a Transpose, which Infer has found to be one.
func Perm(l *graph.Layer) []int {
	perm, err := l.Attrs.(graph.TransposeAttrs).Resolve(len(l.Inputs[0].Dims))
	if err != nil {
		panic("pass: " + err.Error())
	}
	return perm
}

// IsTranspose reports whether l is a Transpose and nothing else; nil is none.
func IsTranspose(l *graph.Layer) bool {
	return l != nil && l.Op == graph.Transpose && l.Epilogue.Args == 0
}

// KeepsOrder reports whether a Transpose moves axes of extent 1 alone, and no elements.
func KeepsOrder(l *graph.Layer) bool {
	wide := slices.DeleteFunc(slices.Clone(Perm(l)), func(axis int) bool { return l.Inputs[0].Dims[axis].Is(1) })
	return slices.IsSorted(wide)
}

// Composed returns the permutation that is first and then second.
func Composed(first, second []int) []int {
	perm := make([]int, len(second))
	for i, p := range second {
		perm[i] = first[p]
	}
	return perm
}

// Inverse returns the permutation that undoes another.
func Inverse(perm []int) []int {
	back := make([]int, len(perm))
	for i, p := range perm {
		back[p] = i
	}
	return back
}

// ReshapeTo returns the constant shape with which Reshape brings x to the given dims.
func ReshapeTo(x *graph.Tensor, dims []symbolic.Dim) ([]int64, bool) {
	shape := make([]int64, len(dims))
	open := false
	for i, d := range dims {
		n, ok := d.IsConst()
		switch {
		case ok && n > 0:
			shape[i] = int64(n)
		case ok: // an extent of 0 is written as 0, which stands for the input's extent
			if i >= len(x.Dims) || !x.Dims[i].Is(0) {
				return nil, false
			}
		case i < len(x.Dims) && x.Dims[i].Equal(d):
		case open:
			return nil, false
		default:
			shape[i], open = -1, true
		}
	}
	// Asking Infer makes sure that it comes to the same dims.
	s := &graph.Tensor{Name: "shape", Type: numeric.I64, Dims: symbolic.Shape(len(shape)), Weights: numeric.Bytes(shape)}
	if s.Weights == nil {
		s.Weights = []byte{}
	}
	y := &graph.Tensor{Name: "y"}
	trial := &graph.Layer{Op: graph.Reshape, Attrs: graph.ReshapeAttrs{}, Inputs: []*graph.Tensor{x, s}, Outputs: []*graph.Tensor{y}}
	return shape, trial.Infer() == nil && symbolic.Equal(y.Dims, dims)
}

// Extents are some of a shape: known ones, or that of an axis of a tensor.
type Extents struct {
	Known []symbolic.Dim // -1 for one that is left open
	Of    *graph.Tensor
	Axis  int
}

// Measured divides a shape into extents that are known and those that an input of the network has, or another tensor of it; nil where
// none does. One of them may be left open.
func Measured(n *graph.Network, dims []symbolic.Dim, open bool, others ...*graph.Tensor) []Extents {
	var list []Extents
	var known []symbolic.Dim
	settle := func() {
		if len(known) > 0 {
			list, known = append(list, Extents{Known: known}), nil
		}
	}
	for _, d := range dims {
		if _, ok := d.IsConst(); ok {
			known = append(known, d)
			continue
		}
		x, axis := withExtent(n, d, others)
		switch {
		case x != nil:
			settle()
			list = append(list, Extents{Of: x, Axis: axis})
		case open:
			known, open = append(known, symbolic.Const(-1)), false
		default:
			return nil
		}
	}
	settle()
	return list
}

// withExtent returns an input of the network with an axis of the given extent, or another tensor of it that has one; nil for none.
func withExtent(n *graph.Network, d symbolic.Dim, others []*graph.Tensor) (x *graph.Tensor, axis int) {
	for _, x := range slices.Concat(n.Inputs, others) {
		if axis := slices.IndexFunc(x.Dims, d.Equal); axis >= 0 && n.Tensor(x.Name) == x {
			return x, axis
		}
	}
	return nil, 0
}

// Value returns the known extents as a list of I64.
func (e Extents) Value() numeric.Value {
	list := make([]int64, len(e.Known))
	for i, d := range e.Known {
		n, _ := d.IsConst()
		list[i] = int64(n)
	}
	return numeric.Values(numeric.I64, list, len(list))
}
