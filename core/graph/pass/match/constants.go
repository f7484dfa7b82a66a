package match

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Reals returns the elements of a constant of a 16- or 32-bit floating type.
func Reals(t *graph.Tensor) ([]float64, bool) {
	v, ok := t.Const()
	if !ok || !IsFloat(t) {
		return nil, false
	}
	list := make([]float64, v.Len())
	for i, f := range v.Floats() {
		list[i] = float64(f)
	}
	return list, true
}

// IsFloat reports whether t holds real numbers in a floating type that element-wise programs compute with.
func IsFloat(t *graph.Tensor) bool {
	return t.Type == numeric.F32 || t.Type == numeric.F16 || t.Type == numeric.BF16
}

// Scalar returns the value of a floating constant of one element, of any rank.
func Scalar(t *graph.Tensor) (float64, bool) {
	if t == nil || !t.IsConst() || numeric.Count(symbolic.Eval(t.Dims, nil)) != 1 {
		return 0, false
	}
	list, ok := Reals(t)
	if !ok {
		return 0, false
	}
	return list[0], true
}

// PerChannel returns the n values that the constant t has along one axis of a tensor of the given rank to which it
// broadcasts; ok is false if it varies along another axis or is no such constant.
func PerChannel(t *graph.Tensor, rank, axis, n int) ([]float64, bool) {
	list, ok := Reals(t)
	if !ok || len(t.Dims) > rank {
		return nil, false
	}
	switch len(list) {
	case 1:
		return slices.Repeat(list, n), true
	case n:
		at := axis - (rank - len(t.Dims))
		return list, at >= 0 && t.Dims[at].Is(n)
	}
	return nil, false
}

// ConstDims returns the extents of a shape without symbols.
func ConstDims(dims []symbolic.Dim) ([]int, bool) {
	list := make([]int, len(dims))
	for i, d := range dims {
		n, ok := d.IsConst()
		if !ok {
			return nil, false
		}
		list[i] = n
	}
	return list, true
}

// AllZero reports whether no number differs from 0.
func AllZero(list []float64) bool {
	return !slices.ContainsFunc(list, func(v float64) bool { return v != 0 })
}

// Uniform returns the value that all elements of a constant have, or of what is filled with one.
func Uniform(t *graph.Tensor) (float64, bool) {
	v, ok := t.Const()
	if t != nil && t.Producer != nil && t.Producer.Op == graph.ConstantOfShape && t.Producer.Epilogue.Args == 0 {
		a := t.Producer.Attrs.(graph.FillAttrs)
		if v = numeric.NewValue(a.Type, 1); a.Value != nil {
			v.Data = a.Value
		}
		ok = true
	}
	if !ok || v.Len() == 0 || t.Quantized() {
		return 0, false
	}
	list := v.Floats()
	if slices.ContainsFunc(list, func(f float32) bool { return f != list[0] }) {
		return 0, false
	}
	return float64(list[0]), true
}

// PerBias reports whether a product's own bias is a constant vector.
func PerBias(t *graph.Tensor, n int) bool { return t.IsConst() && len(t.Dims) == 1 && t.Dims[0].Is(n) }
