package graph

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Einsum is imported as what it is made of: diagonals, sums along the axes that one operand alone has, and then products of two
// operands at a time, as matrix products where axes are summed and element by element where none are.

// einsumOperand is a tensor and the labels of its axes, none of them twice.
type einsumOperand struct {
	t      *Tensor
	labels []int
}

func (o einsumOperand) has(label int) bool { return slices.Contains(o.labels, label) }

// named returns the labels of axes.
func (o einsumOperand) named(axes []int) []int {
	labels := make([]int, len(axes), len(axes)+1)
	for i, axis := range axes {
		labels[i] = o.labels[axis]
	}
	return labels
}

// dim returns the extent of the axis of a label.
func (o einsumOperand) dim(label int) symbolic.Dim { return o.t.Dims[slices.Index(o.labels, label)] }

// importEinsum adds the layers of an Einsum.
func importEinsum(d *Definition, n *Node) ([]*Tensor, error) {
	var ranks []int
	for i, t := range n.Inputs {
		if t == nil {
			return nil, fmt.Errorf("input %d is missing", i)
		}
		if t.Type == numeric.Bool || t.Type != n.Inputs[0].Type {
			return nil, fmt.Errorf("input %d is %s: want numbers of one type", i, t.TypeString())
		}
		ranks = append(ranks, len(t.Dims))
	}
	e, err := parseEinsum(n.String("equation", ""), ranks)
	if err != nil {
		return nil, err
	}
	if err := e.checkExtents(n.Inputs); err != nil {
		return nil, err
	}
	var list []einsumOperand
	for i, t := range n.Inputs {
		o, err := d.diagonal(t, e.operands[i])
		if err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	for i := range list {
		list[i] = d.summed(list[i], func(label int) bool { return e.needed(label, list, i) })
	}
	for len(list) > 1 {
		i, j := e.cheapestPair(list)
		product := d.contracted(list[i], list[j], e.result, func(label int) bool { return e.needed(label, list, i, j) })
		list[i], list = product, slices.Delete(list, j, j+1)
	}
	return result(d.arranged(list[0], e.result).t)
}

// checkExtents returns an error where axes of one label have known extents that differ, none of them 1.
func (e einsumEquation) checkExtents(inputs []*Tensor) error {
	known := map[int]int{}
	for i, labels := range e.operands {
		for axis, label := range labels {
			n, ok := inputs[i].Dims[axis].IsConst()
			if !ok || n == 1 {
				continue
			}
			if m, seen := known[label]; seen && m != n {
				name := "an axis of the ellipses"
				if label > 0 {
					name = string(rune(label))
				}
				return fmt.Errorf("%s has the extents %d and %d", name, m, n)
			}
			known[label] = n
		}
	}
	return nil
}

// needed reports whether the result, or an operand other than the given ones, has a label.
func (e einsumEquation) needed(label int, list []einsumOperand, but ...int) bool {
	for i, o := range list {
		if !slices.Contains(but, i) && o.has(label) {
			return true
		}
	}
	return slices.Contains(e.result, label)
}

// diagonal adds what takes the elements of t whose indices on axes of one label are equal.
func (d *Definition) diagonal(t *Tensor, labels []int) (einsumOperand, error) {
	o := einsumOperand{t, labels}
	for i := 0; i < len(o.labels); i++ {
		label := o.labels[i]
		var rest, same []int
		for axis, other := range o.labels {
			if other == label {
				same = append(same, axis)
			} else {
				rest = append(rest, axis)
			}
		}
		if len(same) == 1 {
			continue
		}
		n, ok := o.t.Dims[same[0]].IsConst()
		step, whole := 0, 1
		for _, axis := range same {
			if !ok || !o.t.Dims[axis].Is(n) {
				return o, fmt.Errorf("a diagonal of %s, whose extents on axes %v must be known and equal", t.TypeString(), same)
			}
			if step, whole = step+whole, whole*n; whole > maxExtent {
				return o, fmt.Errorf("a diagonal of %s, whose axes %v are too large", t.TypeString(), same)
			}
		}
		x := o.t
		if perm := slices.Concat(rest, same); !slices.IsSorted(perm) {
			x = d.Transpose(x, perm...)
		}
		x = d.reshaped(x, axesOf{to: len(rest)}, axesOf{from: len(rest), to: len(rest) + len(same), join: true})
		x = d.Slice(x, SliceAttrs{Starts: []int{0}, Ends: []int{whole}, Axes: []int{len(rest)}, Steps: []int{step}})
		o.t, o.labels, i = x, append(o.named(rest), label), -1
	}
	return o, nil
}

// summed adds the sum along the axes whose labels nobody needs.
func (d *Definition) summed(o einsumOperand, needed func(label int) bool) einsumOperand {
	var axes, labels []int
	for axis, label := range o.labels {
		if needed(label) {
			labels = append(labels, label)
		} else {
			axes = append(axes, axis)
		}
	}
	if len(axes) == 0 {
		return o
	}
	return einsumOperand{d.Reduce(ReduceSum, o.t, false, axes...), labels}
}

// arranged adds the transposition that gives an operand's axes an order.
func (d *Definition) arranged(o einsumOperand, labels []int) einsumOperand {
	if slices.Equal(o.labels, labels) {
		return o
	}
	var perm []int
	for _, label := range labels {
		perm = append(perm, slices.Index(o.labels, label))
	}
	return einsumOperand{d.Transpose(o.t, perm...), labels}
}

// cheapestPair returns the two operands whose product has the fewest elements and, among equals, sums the most; an extent
// that is open counts as 1.
func (e einsumEquation) cheapestPair(list []einsumOperand) (first, second int) {
	var best [2]float64
	for j := range list {
		for i := range j {
			size, work := 1.0, 1.0
			for axis, label := range slices.Concat(list[i].labels, list[j].labels) {
				o := list[i]
				if axis >= len(o.labels) {
					if o.has(label) {
						continue
					}
					o = list[j]
				}
				n := float64(o.dim(label).Eval(nil))
				if work *= n; e.needed(label, list, i, j) {
					size *= n
				}
			}
			if cost := [2]float64{size, -work}; second == 0 || slices.Compare(cost[:], best[:]) < 0 {
				first, second, best = i, j, cost
			}
		}
	}
	return first, second
}
