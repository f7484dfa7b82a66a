package graph

import (
	"fmt"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Shape arithmetic: the small integer tensors from which models compute shapes are followed symbolically in
// Tensor.Value, so that a Reshape to [batch, -1] that a model computes with Shape, Gather, Mul and Concat is as
// static as one with a constant. Symbols stand for extents and are never negative.

// Ints returns t's elements where all of them are known integers: those of a constant or of shape arithmetic
// without symbols, or of a tensor that has no elements.
func (t *Tensor) Ints() ([]int, bool) {
	if t == nil {
		return nil, false
	}
	if t.Value != nil {
		list := make([]int, len(t.Value))
		for i, d := range t.Value {
			v, ok := d.IsConst()
			if !ok {
				return nil, false
			}
			list[i] = v
		}
		return list, true
	}
	if v, ok := t.Const(); ok && v.Type.IsInteger() {
		list := make([]int, v.Len())
		convertInts(list, v.Ints())
		return list, true
	}
	n, ok := countDims(t.Dims)
	return []int{}, ok && n == 0
}

func convertInts(dst []int, src []int64) {
	for i, v := range src {
		dst[i] = int(v)
	}
}

// countDims returns the number of elements of a shape without symbols, saturating; a negative extent is past all bounds.
func countDims(dims []symbolic.Dim) (int, bool) {
	n := 1
	for _, d := range dims {
		v, ok := d.IsConst()
		if !ok {
			return 0, false
		}
		if v < 0 || v > 0 && n > math.MaxInt/v {
			return math.MaxInt, true
		}
		n *= v
	}
	return n, true
}

// known returns the elements of input i of an imported node where they are known; ok is false if the input is left out.
func (n *Node) known(i int, what string) (list []int, ok bool, err error) {
	t := n.Input(i)
	if t == nil {
		return nil, false, nil
	}
	if list, ok = t.Ints(); !ok {
		return nil, true, fmt.Errorf("%s (input %d, %s) must be constant", what, i, t.Name)
	}
	return list, true, nil
}

// knownScalar is known for an input of one element.
func (n *Node) knownScalar(i int, what string) (v int, ok bool, err error) {
	list, ok, err := n.known(i, what)
	if err != nil || !ok {
		return 0, ok, err
	}
	if len(list) != 1 {
		return 0, true, fmt.Errorf("%s (input %d) has %d elements, want 1", what, i, len(list))
	}
	return list[0], true, nil
}

// rank returns the number of axes of input i, or an error if that is left out.
func (n *Node) rank(i int) (int, error) {
	if t := n.Input(i); t != nil {
		return len(t.Dims), nil
	}
	return 0, fmt.Errorf("input %d is missing", i)
}

// axisIn counts an axis from 0; -1 is the last of rank axes.
func axisIn(axis, rank int) (int, error) {
	if axis < -rank || axis >= rank {
		return 0, fmt.Errorf("axis %d is not one of %d", axis, rank)
	}
	if axis < 0 {
		axis += rank
	}
	return axis, nil
}

// axesIn is axisIn for a list, which must not name an axis twice.
func axesIn(axes []int, rank int) ([]int, error) {
	list := make([]int, len(axes))
	for i, a := range axes {
		var err error
		if list[i], err = axisIn(a, rank); err != nil {
			return nil, err
		}
		if slices.Contains(list[:i], list[i]) {
			return nil, fmt.Errorf("axis %d is named twice", list[i])
		}
	}
	return list, nil
}

// knownBase is the first of the numbers that stand for known elements while an op moves them.
const knownBase = 1 << 48

// moveKnown follows the known elements of l's data inputs through an op that only moves elements. Other inputs must be constant or
// known.
func (l *Layer) moveKnown(data ...int) {
	for _, t := range l.Outputs {
		t.Value = nil
		if n, ok := countDims(t.Dims); !ok || n > maxKnownValue || t.Type != numeric.I64 && t.Type != numeric.I32 && t.Type != numeric.Bool {
			return
		}
	}
	var dims []symbolic.Dim
	for _, i := range data {
		if t := l.Input(i); t != nil {
			if n, ok := countDims(t.Dims); !ok || t.Value == nil || len(t.Value) != n {
				return
			}
			dims = append(dims, t.Value...)
		}
	}
	places, ok := l.moveNumbers(data...)
	if !ok {
		return
	}
	for i, t := range l.Outputs {
		t.Value = make([]symbolic.Dim, len(places[i]))
		for j, v := range places[i] {
			if k := v - knownBase; k >= 0 && k < int64(len(dims)) {
				t.Value[j] = dims[k]
			} else {
				t.Value[j] = symbolic.Const(int(v))
			}
		}
	}
}

// moveNumbers evaluates an op that only moves elements on numbers that stand for those of its data inputs, from knownBase on in their
// order. Other inputs must be constant or known, and shapes have no symbols. It returns the elements of each output.
func (l *Layer) moveNumbers(data ...int) (list [][]int64, ok bool) {
	next := int64(knownBase)
	in := make([]numeric.Value, len(l.OpInputs()))
	for i, t := range l.OpInputs() {
		if t == nil {
			continue
		}
		known, ok := t.Ints()
		if n, few := countDims(t.Dims); !few || n > maxKnownValue || !ok && !slices.Contains(data, i) {
			return nil, false
		}
		in[i] = numeric.NewValue(numeric.I64, symbolic.Eval(t.Dims, nil)...)
		for j := range in[i].I64() {
			if slices.Contains(data, i) {
				in[i].I64()[j], next = next, next+1
			} else {
				in[i].I64()[j] = int64(known[j])
			}
		}
	}
	out := make([]numeric.Value, len(l.Outputs))
	for i, t := range l.Outputs {
		out[i] = numeric.NewValue(numeric.I64, symbolic.Eval(t.Dims, nil)...)
		list = append(list, out[i].I64())
	}
	empty := !slices.ContainsFunc(out, func(v numeric.Value) bool { return v.Len() > 0 })
	return list, empty || l.Op.Eval(l, in, out) == nil
}

// followed is how many layers of real numbers are followed to where these become integers of a shape.
const followed = 64

// truncated returns the integers that a Cast makes of x, where few layers compute it from a few constants and extents: exporters write
// the extents of an image as roots and quotients, and scale them in floating point.
func truncated(x, y *Tensor) []symbolic.Dim {
	left := followed
	v, ok := x.computed(&left, maxKnownValue)
	if !ok {
		left = followed
		list, _ := x.reals(&left)
		var dims []symbolic.Dim
		for _, r := range list {
			dims = append(dims, r.Trunc())
		}
		return dims
	}
	list := numeric.NewValue(y.Type, v.Dims...)
	numeric.Cast(list, v)
	dims := make([]symbolic.Dim, list.Len())
	for i, n := range list.Ints() {
		dims[i] = symbolic.Const(int(n))
	}
	return dims
}

// computed returns t's elements where they are no more than a number and follow from constants alone, by as many layers as are
// left.
func (t *Tensor) computed(left *int, most int) (numeric.Value, bool) {
	if n, ok := countDims(t.Dims); !ok || n > most || t.Type.Size() == 0 {
		return numeric.Value{}, false
	}
	if v, ok := t.Const(); ok {
		return v, true
	}
	if list, ok := t.Ints(); ok && t.Value != nil && (t.Type == numeric.I64 || t.Type == numeric.I32 || t.Type == numeric.Bool) {
		v := numeric.NewValue(t.Type, symbolic.Eval(t.Dims, nil)...)
		if v.Len() != len(list) {
			return numeric.Value{}, false
		}
		elements := make([]int64, len(list))
		for i, n := range list {
			elements[i] = int64(n)
		}
		v.SetInts(elements, false)
		return v, true
	}
	l := t.Producer
	if *left--; l == nil || *left < 0 || len(l.Outputs) != 1 || l.Unsupported() != nil {
		return numeric.Value{}, false
	}
	var in []numeric.Value
	for _, x := range l.Inputs {
		var v numeric.Value
		if x != nil {
			var ok bool
			if v, ok = x.computed(left, most); !ok {
				return numeric.Value{}, false
			}
		}
		in = append(in, v)
	}
	y := []numeric.Value{numeric.NewValue(t.Type, symbolic.Eval(t.Dims, nil)...)}
	err := l.Eval(in, y)
	return y[0], len(in) > 0 && err == nil
}

// reals returns t's elements where they are a few numbers that follow from constants and extents, by as many layers as are left.
func (t *Tensor) reals(left *int) (list []symbolic.Real, ok bool) {
	count, few := countDims(t.Dims)
	v, constant := t.Const()
	l := t.Producer
	switch {
	case !few || count > maxKnownValue:
		return nil, false
	case constant && (t.Type == numeric.F32 || t.Type == numeric.F64):
		for _, f := range v.Float64s() {
			list = append(list, symbolic.RealConst(f))
		}
		return list, true
	case t.Value != nil && len(t.Value) == count:
		for _, d := range t.Value {
			list = append(list, symbolic.RealOf(d))
		}
		return list, true
	case l == nil || *left <= 0 || len(l.Outputs) != 1 || l.Epilogue.Args > 0 || l.Unsupported() != nil || t.Type != numeric.F32 && t.Type != numeric.F64:
		return nil, false
	}
	*left--
	if e, is := l.Attrs.(Elementwise); is {
		return l.realProgram(e.Program, left)
	}
	x := l.Input(0)
	_, reduces := l.Attrs.(ReduceAttrs)
	_, casts := l.Attrs.(CastAttrs)
	switch {
	case casts:
		if list, ok = x.reals(left); !ok || !x.Type.IsFloat() && !x.Type.IsInteger() {
			return nil, false
		}
		for i, r := range list {
			var err error
			if list[i], err = symbolic.Do("float", t.Type == numeric.F64, r); err != nil {
				return nil, false
			}
		}
		return list, true
	case reduces && count == 1:
		name := map[string]string{"ReduceMin": "min", "ReduceMax": "max"}[l.Op.Name]
		if list, ok = x.reals(left); !ok || name == "" || len(list) == 0 {
			return nil, false
		}
		r := list[0]
		for _, next := range list[1:] {
			var err error
			if r, err = symbolic.Do(name, t.Type == numeric.F64, r, next); err != nil {
				return nil, false
			}
		}
		return []symbolic.Real{r}, true
	case l.Movement() >= Moved:
		return ofMoved(l, (*Tensor).reals, left)
	}
	return nil, false
}

// realProgram is reals of an element-wise layer.
func (l *Layer) realProgram(p elementwise.Program, left *int) ([]symbolic.Real, bool) {
	y := l.Outputs[0]
	args, in := make([]numeric.Value, p.Args), make([][]symbolic.Real, p.Args) // of args only their shapes count
	for i, t := range l.OpInputs() {
		var ok bool
		if in[i], ok = t.reals(left); !ok || t.Type != y.Type {
			return nil, false
		}
		args[i] = numeric.Value{Dims: symbolic.Eval(t.Dims, nil)}
	}
	n, _ := countDims(y.Dims)
	list, vals, known := make([]symbolic.Real, n), make([]symbolic.Real, p.Args), true
	err := elementwise.Each(args, numeric.Value{Dims: symbolic.Eval(y.Dims, nil)}, func(i int, places []int) {
		for a, at := range places {
			vals[a] = in[a][at]
		}
		var ok bool
		list[i], ok = p.EvalReals(vals, y.Type == numeric.F64)
		known = known && ok
	})
	return list, known && err == nil
}

// maxDetermined bounds the elements that shapes follow from where they are computed from constants.
const maxDetermined = 1 << 16

// determined returns t's elements where they follow from constants, as those must on which a shape depends.
func (t *Tensor) determined() (numeric.Value, error) {
	if v, ok := t.Const(); ok {
		return v, nil
	}
	if list, ok := t.Ints(); ok && (t.Type == numeric.I64 || t.Type == numeric.I32 || t.Type == numeric.Bool) {
		v, ints := numeric.NewValue(t.Type, symbolic.Eval(t.Dims, nil)...), make([]int64, len(list))
		for i, n := range list {
			ints[i] = int64(n)
		}
		v.SetInts(ints, false)
		return v, nil
	}
	left := followed
	if v, ok := t.computed(&left, maxDetermined); ok {
		return v, nil
	}
	return numeric.Value{}, fmt.Errorf("the shape of the result depends on the elements of %s, which do not follow from constants", t)
}

// determined returns the elements of the op's input i, from which a shape follows.
func (l *Layer) determined(i int) (numeric.Value, error) {
	t, err := l.need(i)
	if err != nil {
		return numeric.Value{}, err
	}
	return t.determined()
}
