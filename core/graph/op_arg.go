package graph

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// ArgAttrs are the attributes of ArgMax and ArgMin.
type ArgAttrs struct {
	Axis     int // Import counts it from 0
	KeepDims bool
	Last     bool // of equal elements the last counts, not the first
}

// ArgMax and ArgMin return the I64 index along an axis of the largest and the smallest element.
var (
	ArgMax = argOp("ArgMax", 1)
	ArgMin = argOp("ArgMin", -1)
)

func argOp(name string, sign int) *Op {
	return &Op{
		Name:  name,
		Attrs: ArgAttrs{},
		Onnx:  []string{name},
		Class: ClassReduction, Inputs: []Role{Data}, Memory: Written,
		Moves: computed,
		FLOPs: reduceFLOPs(func(n int) int { return n - 1 }),
		Infer: func(l *Layer) error {
			x, err := l.need(0)
			if err != nil {
				return err
			}
			a := l.Attrs.(ArgAttrs)
			axis, err := axisIn(a.Axis, len(x.Dims))
			if err != nil {
				return err
			}
			if x.Dims[axis].Is(0) {
				return fmt.Errorf("axis %d of %s is empty", axis, x)
			}
			l.Outputs[0].Type, l.Outputs[0].Dims = numeric.I64, reducedDims(x.Dims, []int{axis}, a.KeepDims)
			return nil
		},
		Eval: func(l *Layer, in, out []numeric.Value) error {
			a := l.Attrs.(ArgAttrs)
			axis, err := axisIn(a.Axis, len(in[0].Dims))
			if err != nil {
				return err
			}
			compare, dst := comparer(in[0]), out[0].I64()
			eachReduced(in[0].Dims, []int{axis}, func(i int, places []int) {
				best := 0
				for k := range places {
					c := sign * compare(places[k], places[best])
					if c > 0 || c == 0 && a.Last {
						best = k
					}
				}
				dst[i] = int64(best)
			})
			return nil
		},
		Export: func(e *Exporter) error {
			a := e.Layer.Attrs.(ArgAttrs)
			return e.Node(name, Attributes{"axis": a.Axis, "keepdims": a.KeepDims, "select_last_index": a.Last})
		},
		Import: func(n *Node) (any, []*Tensor, error) {
			rank, err := n.rank(0)
			if err != nil {
				return nil, nil, err
			}
			a := ArgAttrs{KeepDims: n.Flag("keepdims", true), Last: n.Flag("select_last_index", false)}
			a.Axis, err = axisIn(n.Int("axis", 0), rank)
			return a, n.Inputs, err
		},
	}
}

// comparer returns the comparison of two elements of v, given by place: positive if the first is larger. NaN is smaller
// than all else.
func comparer(v numeric.Value) func(i, j int) int {
	switch {
	case v.Type.IsFloat():
		x := v.Float64s()
		return func(i, j int) int { return cmp.Compare(x[i], x[j]) }
	case v.Type == numeric.U64:
		x := numeric.View[uint64](v.Data)
		return func(i, j int) int { return cmp.Compare(x[i], x[j]) }
	}
	x := v.Ints()
	return func(i, j int) int { return cmp.Compare(x[i], x[j]) }
}

// TopKAttrs are the attributes of TopK. Where K does not follow from constants, the layer keeps ONNX's input 1 instead, and K is 0
// here.
type TopKAttrs struct {
	K        int
	Axis     int  // Import counts it from 0
	Smallest bool // the smallest elements, not the largest
}

// TopK returns the K largest (or smallest) elements along an axis, in order, and their I64 indices; of equal elements
// the lower index comes first. With sorted=0, which leaves the order open, it is the same. A K that follows from data is no more than
// there are.
var TopK = &Op{
	Name:  "TopK",
	Attrs: TopKAttrs{},
	Reals: AsStored,
	Onnx:  []string{"TopK"},
	Class: ClassLookup, Inputs: []Role{Data, Parameter}, Memory: Written,
	Moves: moved,
	FLOPs: orderFLOPs,
	Infer: func(l *Layer) error {
		x, err := l.need(0)
		if err != nil {
			return err
		}
		if len(l.Outputs) != 2 {
			return fmt.Errorf("%d outputs, want 2", len(l.Outputs))
		}
		a := l.Attrs.(TopKAttrs)
		axis, err := axisIn(a.Axis, len(x.Dims))
		if err != nil {
			return err
		}
		dims := slices.Clone(x.Dims)
		if dims[axis], err = l.topK(a, x.Dims[axis]); err != nil {
			return err
		}
		if k, ok := dims[axis].IsConst(); ok {
			if n, ok := x.Dims[axis].IsConst(); k < 0 || ok && k > n {
				return fmt.Errorf("%d elements of axis %d of %s", k, axis, x)
			}
		}
		l.Outputs[1].Type, l.Outputs[1].Dims = numeric.I64, dims
		return l.inferMoved(0, x, dims, -1)
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		a, x := l.Attrs.(TopKAttrs), in[0]
		axis, err := axisIn(a.Axis, len(x.Dims))
		if err != nil {
			return err
		}
		most := out[0].Dims[axis]
		if x.Dims[axis] < most {
			return fmt.Errorf("%d elements of axis %d of extent %d", most, axis, x.Dims[axis])
		}
		compare, size, inner := comparer(x), x.Type.Size(), numeric.Count(x.Dims[axis+1:])
		eachReduced(x.Dims, []int{axis}, func(i int, places []int) {
			order := make([]int, len(places))
			for k := range order {
				order[k] = k
			}
			slices.SortStableFunc(order, func(p, q int) int {
				c := compare(places[p], places[q])
				if a.Smallest {
					return c
				}
				return -c
			})
			for k, from := range order[:most] {
				to := (i/inner*most+k)*inner + i%inner
				copy(out[0].Data[to*size:(to+1)*size], x.Data[places[from]*size:])
				out[1].I64()[to] = int64(from)
			}
		})
		return nil
	},
	Export: func(e *Exporter) error {
		a := e.Layer.Attrs.(TopKAttrs)
		attrs := Attributes{"axis": a.Axis, "largest": !a.Smallest}
		if len(e.Layer.OpInputs()) > 1 {
			return e.Node("TopK", attrs)
		}
		return e.Node("TopK", attrs, e.Input(0), e.list("k", []int{a.K}))
	},
	Import: func(n *Node) (any, []*Tensor, error) {
		rank, err := n.rank(0)
		if err != nil {
			return nil, nil, err
		}
		a := TopKAttrs{K: n.Int("k", -1), Smallest: !n.Flag("largest", true)}
		n.Flag("sorted", true)
		if a.Axis, err = axisIn(n.Int("axis", -1), rank); err != nil {
			return nil, nil, err
		}
		if k := n.Input(1); k != nil {
			if _, ok := k.Ints(); !ok {
				return a, n.Inputs, nil
			}
		}
		k, ok, err := n.knownScalar(1, "k")
		if ok {
			a.K = k
		}
		return a, n.Inputs[:1], err
	},
}

// topK returns how many elements a TopK has of its axis, which x has at least where that follows from data.
func (l *Layer) topK(a TopKAttrs, x symbolic.Dim) (symbolic.Dim, error) {
	if len(l.OpInputs()) < 2 {
		return symbolic.Const(a.K), nil
	}
	list, err := l.knownInput(1, "k")
	if err == nil && len(list) != 1 {
		err = fmt.Errorf("k (input 1) has %d elements, want 1", len(list))
	}
	if err != nil {
		return symbolic.Dim{}, err
	}
	if _, ok := list[0].IsConst(); ok {
		return list[0], nil
	}
	return list[0].Min(x), nil
}
