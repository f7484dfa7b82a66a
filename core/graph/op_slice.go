package graph

import (
	"fmt"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// SliceAttrs are the attributes of Slice. Where they do not follow from constants, the layer keeps ONNX's inputs 1 to 4
// (starts, ends, axes, steps) instead, and the lists here are nil.
type SliceAttrs struct {
	Starts, Ends []int // negative: from the end; out of range: clamped
	Axes         []int // Import counts them from 0
	Steps        []int // not 0; nil is all 1
}

// Slice takes every step-th index from start up to (with a negative step down to) end, without it, on each of the
// axes. Bounds that are symbolic must not be negative, and need steps of 1 or more.
var Slice = &Op{
	Name:  "Slice",
	Attrs: SliceAttrs{},
	Reals: AsStored,
	Onnx:  []string{"Slice"},
	Class: ClassMove, Inputs: []Role{Data, Parameter}, Memory: Parted,
	Moves: sliceMovement,
	FLOPs: noFLOPs,
	Infer: inferSlice,
	Eval: func(l *Layer, in, out []numeric.Value) error {
		x := in[0]
		a := l.Attrs.(SliceAttrs)
		for i, list := range []*[]int{&a.Starts, &a.Ends, &a.Axes, &a.Steps} {
			if i+1 < len(in) && in[i+1].Dims != nil {
				*list = make([]int, in[i+1].Len())
				convertInts(*list, in[i+1].Ints())
			}
		}
		axes, err := a.axes(len(x.Dims))
		if err != nil {
			return err
		}
		tables := wholeTables(x.Dims)
		s := strides(x.Dims)
		for i, axis := range axes {
			step := at(a.Steps, i, 1)
			start, count := clampSlice(a.Starts[i], a.Ends[i], step, x.Dims[axis])
			if count != out[0].Dims[axis] {
				return fmt.Errorf("slice of %d on axis %d, inferred %d", count, axis, out[0].Dims[axis])
			}
			tables[axis] = table(count, s[axis], func(i int) int { return start + i*step })
		}
		move(out[0], x, tables)
		return nil
	},
	Import: importSlice,
	Export: exportSlice,
}

// sliceMovement: a slice as long as its axis is all of it, unless it runs backwards.
func sliceMovement(l *Layer) Movement {
	steps, known := l.Attrs.(SliceAttrs).Steps, true
	if t := l.Input(4); t != nil && len(l.OpInputs()) > 4 {
		steps, known = t.Ints()
	}
	back := slices.ContainsFunc(steps, func(s int) bool { return s < 0 })
	return keptIf(known && !back, Moved)
}

func exportSlice(e *Exporter) error {
	a := e.Layer.Attrs.(SliceAttrs)
	if len(e.Layer.OpInputs()) > 1 {
		return e.Node("Slice", nil)
	}
	axes, steps := "", ""
	if a.Axes != nil {
		axes = e.list("axes", a.Axes)
	}
	if a.Steps != nil {
		steps = e.list("steps", a.Steps)
	}
	return e.Node("Slice", nil, e.Input(0), e.list("starts", a.Starts), e.list("ends", a.Ends), axes, steps)
}

func importSlice(n *Node) (any, []*Tensor, error) {
	rank, err := n.rank(0)
	if err != nil {
		return nil, nil, err
	}
	a := SliceAttrs{Starts: n.Ints("starts"), Ends: n.Ints("ends"), Axes: n.Ints("axes")}
	for i, list := range []*[]int{&a.Starts, &a.Ends, &a.Axes, &a.Steps} {
		if t := n.Input(i + 1); t != nil {
			v, ok := t.Ints()
			if !ok {
				return SliceAttrs{}, n.Inputs, nil
			}
			*list = v
		}
	}
	a.Axes, err = a.axes(rank)
	return a, n.Inputs[:1], err
}

// axes returns the axes, counted from 0, after checking that the lists are equally long.
func (a SliceAttrs) axes(rank int) ([]int, error) {
	axes := a.Axes
	if axes == nil {
		for i := range a.Starts {
			axes = append(axes, i)
		}
	}
	if len(a.Ends) != len(a.Starts) || len(axes) != len(a.Starts) || a.Steps != nil && len(a.Steps) != len(a.Starts) {
		return nil, fmt.Errorf("%d starts, %d ends, %d axes and %d steps", len(a.Starts), len(a.Ends), len(axes), len(a.Steps))
	}
	if slices.Contains(a.Steps, 0) {
		return nil, fmt.Errorf("a step is 0")
	}
	return axesIn(axes, rank)
}

// clampSlice returns the first index and the number of indices of a slice of n elements.
func clampSlice(start, end, step, n int) (first, count int) {
	from := func(i, lo, hi int) int {
		if i < 0 {
			i = max(i, -n-1) + n
		}
		return max(lo, min(hi, i))
	}
	if step > 0 {
		start, end = from(start, 0, n), from(end, 0, n)
		if end <= start {
			return start, 0
		}
		return start, (end-start-1)/step + 1
	}
	start, end = from(start, -1, n-1), from(end, -1, n-1)
	if start <= end {
		return start, 0
	}
	step = -max(step, -math.MaxInt)
	return start, (start-end-1)/step + 1
}

func inferSlice(l *Layer) error {
	x, err := l.need(0)
	if err != nil {
		return err
	}
	a := l.Attrs.(SliceAttrs)
	starts, ends := symbolic.Shape(a.Starts...), symbolic.Shape(a.Ends...)
	if len(l.OpInputs()) > 1 {
		if starts, err = l.knownInput(1, "starts"); err != nil {
			return err
		}
		if ends, err = l.knownInput(2, "ends"); err != nil {
			return err
		}
		a.Starts, a.Ends = make([]int, len(starts)), make([]int, len(ends))
		for i, list := range []*[]int{&a.Axes, &a.Steps} {
			if t := l.Input(i + 3); t != nil {
				v, ok := t.Ints()
				if !ok {
					return fmt.Errorf("input %d (%s) must be constant", i+3, t.Name)
				}
				*list = v
			}
		}
	}
	axes, err := a.axes(len(x.Dims))
	if err != nil {
		return err
	}
	dims := slices.Clone(x.Dims)
	for i, axis := range axes {
		if dims[axis], err = sliceDim(x.Dims[axis], starts[i], ends[i], at(a.Steps, i, 1)); err != nil {
			return fmt.Errorf("axis %d: %w", axis, err)
		}
		if end := ends[i]; dims[axis].Equal(end.AtLeast0()) && !dims[axis].Equal(end) && l.readsExtent(end) { // as far as another tensor goes
			dims[axis] = end
		}
		if x.Range.PerChannel() && x.Range.Axis == axis && (at(a.Steps, i, 1) != 1 || !dims[axis].Equal(x.Dims[axis])) {
			return fmt.Errorf("input %s is quantised per channel on the axis that is sliced", x)
		}
	}
	if err := l.inferMoved(0, x, dims, x.Range.Axis); err != nil {
		return err
	}
	l.moveKnown(0)
	return nil
}

// knownInput returns the known, maybe symbolic, elements of input i, a list.
func (l *Layer) knownInput(i int, what string) ([]symbolic.Dim, error) {
	t, err := l.need(i)
	if err != nil {
		return nil, err
	}
	if t.Value != nil {
		return t.Value, nil
	}
	if list, ok := t.Ints(); ok {
		return symbolic.Shape(list...), nil
	}
	return nil, fmt.Errorf("%s (input %d, %s) does not follow from constants and the inputs' shapes", what, i, t.Name)
}

// endless is the bound from which on exporters mean the end of an axis; no axis of symbolic extent is as long.
const endless = 1_000_000_000

// sliceDim returns the extent of a slice of an axis of extent n.
func sliceDim(n, start, end symbolic.Dim, step int) (symbolic.Dim, error) {
	c, ok := n.IsConst()
	s, ok2 := start.IsConst()
	e, ok3 := end.IsConst()
	if ok && ok2 && ok3 {
		_, count := clampSlice(s, e, step, c)
		return symbolic.Const(count), nil
	}
	if step < 0 {
		if ok2 && ok3 && (s == -1 || s >= endless) && e <= -endless {
			return n.AddN(-step - 1).DivN(-step), nil
		}
		return symbolic.Dim{}, fmt.Errorf("slice [%s:%s:%d] of the extent %s is not supported: only a whole axis can be reversed", start, end, step, n)
	}
	stop := n // the end, clamped
	switch {
	case neverAbove0(end):
		stop = n.Add(end).AtLeast0()
	case ok3 && e >= endless || end.Equal(n):
	default:
		stop = end.Min(n)
	}
	var length symbolic.Dim
	switch {
	case ok2 && (s <= -endless || s == 0 && stop.Equal(n)): // all of it: the extent of a tensor is not negative
		length = stop
	case neverAbove0(start) && stop.Equal(n): // the last -start
		length = n.Min(start.MulN(-1))
	case neverAbove0(start):
		length = stop.Sub(n.Add(start).AtLeast0()).AtLeast0()
	default: // where start is beyond the extent, the difference is negative
		length = stop.Sub(start).AtLeast0()
	}
	return length.AddN(step - 1).DivN(step), nil
}

// neverAbove0 reports whether a bound counts from the end of the axis. One with symbols may be 0 for some, and would count from the
// start then: such extents do not fit, and are refused.
func neverAbove0(d symbolic.Dim) bool {
	if c, ok := d.IsConst(); ok {
		return c < 0
	}
	return d.MulN(-1).NonNegative()
}
