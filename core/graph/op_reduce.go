package graph

import (
	"fmt"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// ReduceAttrs are the attributes of the reductions.
type ReduceAttrs struct {
	Axes      []int // Import counts them from 0; empty: every axis, or none with NoopEmpty
	KeepDims  bool  // reduced axes stay, with extent 1
	NoopEmpty bool
}

// The reductions. Real numbers are summed in float64; integers wrap around, and their means and roots truncate.
var (
	ReduceMean = reduction("ReduceMean", ClassPooling, func(n int) int { return n }, func(x []float64) float64 { return sum(x) / float64(len(x)) })
	ReduceSum  = reduction("ReduceSum", ClassPooling, func(n int) int { return n - 1 }, sum)
	ReduceProd = reduction("ReduceProd", ClassReduction, func(n int) int { return n - 1 }, func(x []float64) float64 {
		p := 1.0
		for _, v := range x {
			p *= v
		}
		return p
	})
	// ReduceMax and ReduceMin of nothing are -infinity and infinity, or an integer type's limit; of Bool: or, and.
	ReduceMax = reduction("ReduceMax", ClassPooling, func(n int) int { return n - 1 }, func(x []float64) float64 {
		m := math.Inf(-1)
		for _, v := range x {
			m = max(m, v)
		}
		return m
	})
	ReduceMin = reduction("ReduceMin", ClassPooling, func(n int) int { return n - 1 }, func(x []float64) float64 {
		m := math.Inf(1)
		for _, v := range x {
			m = min(m, v)
		}
		return m
	})
	ReduceL1 = reduction("ReduceL1", ClassReduction, func(n int) int { return 2*n - 1 }, func(x []float64) float64 {
		s := 0.0
		for _, v := range x {
			s += math.Abs(v)
		}
		return s
	})
	ReduceL2        = reduction("ReduceL2", ClassReduction, func(n int) int { return 2 * n }, func(x []float64) float64 { return math.Sqrt(sumSquares(x)) })
	ReduceLogSum    = reduction("ReduceLogSum", ClassReduction, func(n int) int { return n }, func(x []float64) float64 { return math.Log(sum(x)) })
	ReduceSumSquare = reduction("ReduceSumSquare", ClassReduction, func(n int) int { return 2*n - 1 }, sumSquares)
	// ReduceLogSumExp is log(sum(exp(x))), computed as m + log(sum(exp(x-m))) with m the maximum.
	ReduceLogSumExp = reduction("ReduceLogSumExp", ClassReduction, func(n int) int { return 4 * n }, func(x []float64) float64 {
		m, s := math.Inf(-1), 0.0
		for _, v := range x {
			m = max(m, v)
		}
		if math.IsInf(m, 0) {
			return m
		}
		for _, v := range x {
			s += math.Exp(v - m)
		}
		return m + math.Log(s)
	})
)

// reductions lists the ops above.
var reductions = []*Op{
	ReduceL1, ReduceL2, ReduceLogSum, ReduceLogSumExp, ReduceMax, ReduceMean, ReduceMin, ReduceProd, ReduceSum, ReduceSumSquare,
}

func sum(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}

func sumSquares(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v * v
	}
	return s
}

// reduction returns the op that reduces the elements along its axes by f, which takes flops(n) operations of n elements.
func reduction(name string, class Class, flops func(n int) int, f func(x []float64) float64) *Op {
	return &Op{
		Name:  name,
		Attrs: ReduceAttrs{},
		Onnx:  []string{name},
		Class: class, Inputs: []Role{Data, Parameter}, Memory: Written,
		Moves: computed,
		FLOPs: reduceFLOPs(flops),
		Infer: inferReduce,
		Eval: func(l *Layer, in, out []numeric.Value) error {
			axes, err := l.Attrs.(ReduceAttrs).Resolve(len(in[0].Dims))
			if err != nil {
				return err
			}
			if x := in[0]; x.Type.IsInteger() || x.Type == numeric.Bool {
				return reduceInts(name, x, out[0], axes)
			}
			src, dst := in[0].Float64s(), make([]float64, out[0].Len())
			var x []float64
			eachReduced(in[0].Dims, axes, func(i int, places []int) {
				x = x[:0]
				for _, p := range places {
					x = append(x, src[p])
				}
				dst[i] = f(x)
			})
			out[0].SetFloats(dst)
			return nil
		},
		Import: importReduce,
		Export: func(e *Exporter) error {
			a, axes := e.Layer.Attrs.(ReduceAttrs), ""
			if len(a.Axes) > 0 {
				axes = e.list("axes", a.Axes)
			}
			return e.Node(name, Attributes{"keepdims": a.KeepDims, "noop_with_empty_axes": a.NoopEmpty}, e.Input(0), axes)
		},
	}
}

// Resolve returns the axes that are reduced, counted from 0 and sorted, for an input of so many axes.
func (a ReduceAttrs) Resolve(rank int) ([]int, error) {
	axes, err := axesIn(a.Axes, rank)
	if err != nil {
		return nil, err
	}
	if len(axes) == 0 && !a.NoopEmpty {
		for i := range rank {
			axes = append(axes, i)
		}
	}
	slices.Sort(axes)
	return axes, nil
}

func inferReduce(l *Layer) error {
	x, err := l.need(0)
	if err != nil {
		return err
	}
	a := l.Attrs.(ReduceAttrs)
	axes, err := a.Resolve(len(x.Dims))
	if err != nil {
		return err
	}
	if x.Type == numeric.Bool && l.Op.Name != "ReduceMax" && l.Op.Name != "ReduceMin" {
		return fmt.Errorf("input %s: not defined for bool", x)
	}
	if x.RealType().IsInteger() && (l.Op.Name == "ReduceLogSum" || l.Op.Name == "ReduceLogSumExp") {
		return fmt.Errorf("input %s: not defined for integers; a Cast is needed", x)
	}
	l.Outputs[0].Type, l.Outputs[0].Dims = x.RealType(), reducedDims(x.Dims, axes, a.KeepDims)
	l.Outputs[0].Value = nil
	if len(x.Dims) == 1 && len(x.Value) > 0 && len(axes) == 1 {
		l.Outputs[0].Value = reducedValue(l.Op.Name, x.Value)
	}
	return nil
}

// reducedValue returns what a reduction makes of known elements; nil where that is not followed.
func reducedValue(name string, x []symbolic.Dim) []symbolic.Dim {
	f, ok := map[string]func(a, b symbolic.Dim) symbolic.Dim{
		"ReduceProd": symbolic.Dim.Mul, "ReduceSum": symbolic.Dim.Add, "ReduceMin": symbolic.Dim.Min, "ReduceMax": symbolic.Dim.Max,
	}[name]
	if !ok {
		return nil
	}
	y := x[0]
	for _, d := range x[1:] {
		y = f(y, d)
	}
	return []symbolic.Dim{y}
}

func reducedDims(dims []symbolic.Dim, axes []int, keep bool) []symbolic.Dim {
	var out []symbolic.Dim
	for i, d := range dims {
		switch {
		case !slices.Contains(axes, i):
			out = append(out, d)
		case keep:
			out = append(out, symbolic.Const(1))
		}
	}
	return out
}

// eachReduced calls f for each place of the reduced shape, in order, with the places of the elements that it reduces.
// It reuses places.
func eachReduced(dims, axes []int, f func(i int, places []int)) {
	s := strides(dims)
	var kept, keptStrides, gone, goneStrides []int
	for i, n := range dims {
		if slices.Contains(axes, i) {
			gone, goneStrides = append(gone, n), append(goneStrides, s[i])
		} else {
			kept, keptStrides = append(kept, n), append(keptStrides, s[i])
		}
	}
	offsets := places(gone, goneStrides)
	list := make([]int, len(offsets))
	for i, base := range places(kept, keptStrides) {
		for j, off := range offsets {
			list[j] = base + off
		}
		f(i, list)
	}
}

// places returns the offsets of all elements of a strided shape, in order.
func places(dims, strides []int) []int {
	if slices.Contains(dims, 0) {
		return nil
	}
	list := []int{0}
	for a, n := range dims {
		next := make([]int, 0, len(list)*n)
		for _, base := range list {
			for i := range n {
				next = append(next, base+i*strides[a])
			}
		}
		list = next
	}
	return list
}

// reduceInts reduces integers and Bools.
func reduceInts(name string, x, y numeric.Value, axes []int) error {
	src, dst := x.Ints(), make([]int64, y.Len())
	unsigned := !x.Type.Signed()
	eachReduced(x.Dims, axes, func(i int, places []int) {
		dst[i] = reduceInt(name, x.Type, unsigned, src, places)
	})
	y.SetInts(dst, unsigned)
	return nil
}

func reduceInt(name string, t numeric.DataType, unsigned bool, src []int64, places []int) int64 {
	acc := int64(0)
	switch name {
	case "ReduceProd":
		acc = 1
	case "ReduceMax", "ReduceMin":
		acc = intLimit(t, name == "ReduceMin")
	}
	less := func(a, b int64) bool {
		if unsigned {
			return uint64(a) < uint64(b)
		}
		return a < b
	}
	for _, p := range places {
		switch v := src[p]; name {
		case "ReduceSum", "ReduceMean":
			acc += v
		case "ReduceProd":
			acc *= v
		case "ReduceMax":
			if less(acc, v) {
				acc = v
			}
		case "ReduceMin":
			if less(v, acc) {
				acc = v
			}
		case "ReduceL1":
			acc += max(v, -v)
		case "ReduceL2", "ReduceSumSquare":
			acc += v * v
		}
	}
	switch name {
	case "ReduceMean":
		if len(places) > 0 && unsigned {
			return int64(uint64(acc) / uint64(len(places)))
		}
		return acc / int64(max(1, len(places)))
	case "ReduceL2":
		return int64(math.Sqrt(float64(acc)))
	}
	return acc
}

// intLimit returns the largest or smallest value of an integer type or Bool, U64's as the bits of an int64.
func intLimit(t numeric.DataType, largest bool) int64 {
	switch {
	case t == numeric.Bool && largest:
		return 1
	case t == numeric.Bool || !t.Signed() && !largest:
		return 0
	case t == numeric.U64:
		return -1
	case t == numeric.I64 && largest:
		return math.MaxInt64
	case t == numeric.I64:
		return math.MinInt64
	}
	lo, hi := t.Limits()
	if largest {
		return int64(hi)
	}
	return int64(lo)
}

func importReduce(n *Node) (any, []*Tensor, error) {
	axes, err := importAxes(n)
	if err != nil {
		return nil, nil, err
	}
	if axes, err = axesIn(axes, len(n.Inputs[0].Dims)); err != nil {
		return nil, nil, err
	}
	a := ReduceAttrs{Axes: axes, KeepDims: n.Flag("keepdims", true), NoopEmpty: n.Flag("noop_with_empty_axes", false)}
	return a, n.Inputs[:1], nil
}
