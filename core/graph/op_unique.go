package graph

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// UniqueAttrs are the attributes of Unique.
type UniqueAttrs struct {
	Axis   int    // of the slices that are compared; Import counts it from 0
	Flat   bool   // elements are compared, whatever their places
	Sorted bool   // the results are in rising order, not in that in which they first occur
	Count  string // the symbol of how many they are, where that does not follow from constants; "" if it must
}

// Unique has the elements of x that differ, or the slices along an axis; and I64 lists: where each first occurs, which of them each
// element or slice of x is, and how often each occurs. NaN is equal to NaN and larger than numbers. How many they
// are is counted on output 1, where it does not follow from constants.
var Unique = &Op{
	Name:  "Unique",
	Attrs: UniqueAttrs{},
	Reals: AsStored, Strings: StringsOrdered,
	Onnx:  []string{"Unique"},
	Class: ClassReduction, Inputs: []Role{Data}, Memory: Written,
	Moves: computed,
	FLOPs: noFLOPs,
	Counted: func(l *Layer) []Counting {
		a, x := l.Attrs.(UniqueAttrs), l.Inputs[0]
		if x == nil || a.Count == "" || len(l.Outputs) < 2 {
			return nil
		}
		if _, err := x.determined(); err == nil {
			return nil
		}
		most := productOf(x.Dims)
		if !a.Flat {
			axis, err := axisIn(a.Axis, len(x.Dims))
			if err != nil {
				return nil
			}
			most = x.Dims[axis]
		}
		return []Counting{{Symbol: a.Count, Output: 1, Most: most}}
	},
	Infer: func(l *Layer) error {
		x, err := l.need(0)
		if err != nil {
			return err
		}
		a := l.Attrs.(UniqueAttrs)
		axis, err := axisIn(a.Axis, len(x.Dims))
		if err != nil && !a.Flat {
			return err
		}
		many, all := symbolic.Dim{}, productOf(x.Dims)
		if !a.Flat {
			all = x.Dims[axis]
		}
		if l.Counts() {
			many = symbolic.Symbol(a.Count)
		} else {
			v, err := l.determined(0)
			if err != nil && a.Count != "" && len(l.Outputs) < 2 {
				return fmt.Errorf("how many elements it gives is counted on output 1, which the layer does not have: %w", err)
			} else if err != nil {
				return err
			}
			u := a.find(v)
			many, all = symbolic.Const(len(u.first)), symbolic.Const(len(u.index))
		}
		dims := []symbolic.Dim{many}
		if !a.Flat {
			dims = slices.Clone(x.Dims)
			dims[axis] = many
		}
		for i, t := range l.Outputs[1:] {
			t.Type, t.Dims = numeric.I64, []symbolic.Dim{[]symbolic.Dim{many, all, many}[i]}
		}
		if err := l.inferMoved(0, x, dims, x.Range.Axis); err != nil || !a.Flat || !x.Range.PerChannel() {
			return err
		}
		return fmt.Errorf("elements of %s, which has a scale for each channel", x)
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		a, x := l.Attrs.(UniqueAttrs), in[0]
		u := a.find(x)
		rows, row, inner := a.slices(x.Dims)
		if n := numeric.Count(out[0].Dims); n < len(u.first)*row || n > len(u.first)*row && !l.Counts() {
			return fmt.Errorf("%d elements are found, the shape of the result is %v", len(u.first)*row, out[0].Dims)
		}
		size := x.Type.Size()
		for k, at := range u.first {
			for i := range row { // element i of slice k, of which inner lie side by side
				from, to := (i/inner*rows+at)*inner+i%inner, (i/inner*len(u.first)+k)*inner+i%inner
				copy(out[0].Data[to*size:(to+1)*size], x.Data[from*size:])
			}
		}
		clear(out[0].Data[len(u.first)*row*size:])
		for i, list := range [][]int{u.first, u.index, u.counts} {
			if i+1 < len(out) {
				dst := out[i+1].I64()
				for k := range dst {
					if dst[k] = -1; k < len(list) {
						dst[k] = int64(list[k])
					}
				}
			}
		}
		return nil
	},
	Import: func(n *Node) (any, []*Tensor, error) {
		rank, err := n.rank(0)
		if err != nil {
			return nil, nil, err
		}
		a := UniqueAttrs{Sorted: n.Flag("sorted", true), Flat: !n.Has("axis"), Count: countSymbol(n.Name)}
		if !a.Flat {
			a.Axis, err = axisIn(n.Int("axis", 0), rank)
		}
		return a, n.Inputs, err
	},
	Export: func(e *Exporter) error {
		a := e.Layer.Attrs.(UniqueAttrs)
		attrs := Attributes{"sorted": a.Sorted}
		if !a.Flat {
			attrs["axis"] = a.Axis
		}
		return e.Node("Unique", attrs)
	},
}

// uniques are slices that differ: where each first occurs, how often, and which of them each slice is.
type uniques struct{ first, index, counts []int }

// slices returns how many slices there are, the elements of each, and how many of these lie side by side.
func (a UniqueAttrs) slices(dims []int) (rows, row, inner int) {
	if a.Flat {
		return numeric.Count(dims), 1, 1
	}
	axis, _ := axisIn(a.Axis, len(dims))
	inner = numeric.Count(dims[axis+1:])
	return dims[axis], numeric.Count(dims[:axis]) * inner, inner
}

// find returns the slices of v that differ.
func (a UniqueAttrs) find(v numeric.Value) uniques {
	rows, row, inner := a.slices(v.Dims)
	compare := ascending(v)
	slice := func(p, q int) int {
		for i := range row {
			if c := compare((i/inner*rows+p)*inner+i%inner, (i/inner*rows+q)*inner+i%inner); c != 0 {
				return c
			}
		}
		return 0
	}
	order := make([]int, rows)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, slice)
	u := uniques{index: make([]int, rows)}
	for k, at := range order { // of equal ones the first comes first
		if k == 0 || slice(order[k-1], at) != 0 {
			u.first, u.counts = append(u.first, at), append(u.counts, 0)
		}
		u.index[at] = len(u.first) - 1
		u.counts[len(u.first)-1]++
	}
	if a.Sorted {
		return u
	}
	occurs := make([]int, len(u.first))
	for i := range occurs {
		occurs[i] = i
	}
	slices.SortFunc(occurs, func(p, q int) int { return cmp.Compare(u.first[p], u.first[q]) })
	place, sorted := make([]int, len(occurs)), uniques{index: u.index}
	for k, i := range occurs {
		place[i] = k
		sorted.first, sorted.counts = append(sorted.first, u.first[i]), append(sorted.counts, u.counts[i])
	}
	for i, k := range sorted.index {
		sorted.index[i] = place[k]
	}
	return sorted
}

// ascending returns the comparison of two elements of v, given by place, NaN being the largest.
func ascending(v numeric.Value) func(i, j int) int {
	compare := comparer(v)
	if !v.Type.IsFloat() {
		return compare
	}
	x := v.Float64s()
	return func(i, j int) int {
		if a, b := x[i] != x[i], x[j] != x[j]; a != b {
			return -compare(i, j)
		}
		return compare(i, j)
	}
}
