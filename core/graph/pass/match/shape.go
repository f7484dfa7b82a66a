package match

import (
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
