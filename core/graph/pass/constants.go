package pass

import (
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// reals returns the elements of a constant of a 16- or 32-bit floating type.
func reals(t *graph.Tensor) ([]float64, bool) {
	v, ok := t.Const()
	if !ok || !isFloat(t) {
		return nil, false
	}
	list := make([]float64, v.Len())
	for i, f := range v.Floats() {
		list[i] = float64(f)
	}
	return list, true
}

// isFloat reports whether t holds real numbers in a floating type that element-wise programs compute with.
func isFloat(t *graph.Tensor) bool {
	return t.Type == numeric.F32 || t.Type == numeric.F16 || t.Type == numeric.BF16
}

// scalar returns the value of a floating constant of one element, of any rank.
func scalar(t *graph.Tensor) (float64, bool) {
	if t == nil || !t.IsConst() || numeric.Count(symbolic.Eval(t.Dims, nil)) != 1 {
		return 0, false
	}
	list, ok := reals(t)
	if !ok {
		return 0, false
	}
	return list[0], true
}

// perChannel returns the n values that the constant t has along one axis of a tensor of the given rank to which it
// broadcasts; ok is false if it varies along another axis or is no such constant.
func perChannel(t *graph.Tensor, rank, axis, n int) ([]float64, bool) {
	list, ok := reals(t)
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

// newConst adds a constant of a floating type. A name that says already that it is folded is not extended further.
func (r *rewrite) newConst(name string, t numeric.DataType, values []float64, dims ...int) *graph.Tensor {
	x := make([]float32, len(values))
	for i, v := range values {
		x[i] = float32(v)
	}
	v := numeric.NewValue(t, dims...)
	numeric.FromReal(v, x, numeric.Range{})
	for strings.HasSuffix(name, "_folded_folded") {
		name = strings.TrimSuffix(name, "_folded")
	}
	return r.net.AddConst(name, v)
}

// newInts adds a constant vector of I64, as shapes are given.
func (r *rewrite) newInts(name string, values []int64) *graph.Tensor {
	return r.net.AddConst(name, numeric.Values(numeric.I64, values, len(values)))
}

// constDims returns the extents of a shape without symbols.
func constDims(dims []symbolic.Dim) ([]int, bool) {
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

func allZero(list []float64) bool {
	return !slices.ContainsFunc(list, func(v float64) bool { return v != 0 })
}
