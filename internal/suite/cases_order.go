package suite

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// orders are the layers that compare elements along an axis, of many equal ones among them.
func (m *maker) orders() {
	for _, t := range append([]numeric.DataType{numeric.F32, numeric.F16, numeric.Bool}, integerTypes...) {
		x := func(dims ...int) *graph.Tensor { return m.tensor(t, numeric.Range{}, dims...) }
		for i, op := range []*graph.Op{graph.ArgMax, graph.ArgMin} {
			for _, last := range []bool{false, true} {
				for axis, dims := range [][]int{{3, 1000}, {2, 31, 5}, {2, 3, 33}} {
					a := graph.ArgAttrs{Axis: axis, Last: last, KeepDims: i == 0}
					m.add(fmt.Sprintf("%s_%s_%v_axis%d_last_%v", op.Name, t, dims, axis, last), m.layer(op, a, x(dims...)), Tolerance{})
				}
			}
		}
		for axis, dims := range [][]int{{40}, {2, 17, 3}, {3, 2, 100}} {
			for _, smallest := range []bool{false, true} {
				a := graph.TopKAttrs{K: []int{1, 17, 10}[axis], Axis: axis, Smallest: smallest}
				m.add(fmt.Sprintf("topk_%s_%v_smallest_%v", t, dims, smallest), m.pairOf(graph.TopK, a, x(dims...)), Tolerance{})
			}
		}
	}
}

// pairOf returns a layer of two outputs.
func (m *maker) pairOf(op *graph.Op, attrs any, x *graph.Tensor) *graph.Layer {
	l := &graph.Layer{Name: op.Name, Op: op, Attrs: attrs, From: []string{op.Name}}
	l.AddInput(x)
	for _, name := range []string{"values", "indices"} {
		l.Outputs = append(l.Outputs, &graph.Tensor{Name: name, Producer: l})
	}
	if err := l.Infer(); err != nil {
		panic(fmt.Sprintf("suite: %v", err))
	}
	return l
}

// cumulations are running sums and products, and gathers of single elements.
func (m *maker) cumulations() {
	for i, t := range append([]numeric.DataType{numeric.F32, numeric.F16}, integerTypes...) {
		x := func(dims ...int) *graph.Tensor { return m.tensor(t, numeric.Range{}, dims...) }
		for j, a := range []graph.CumAttrs{{}, {Axis: 1, Exclusive: true}, {Axis: -1, Reverse: true}, {Axis: 1, Exclusive: true, Reverse: true}} {
			m.add(fmt.Sprintf("cumsum_%s_%v", t, a), m.layer(graph.CumSum, a, x(2, 9, 5)), Tolerance{Real: 1e-5})
			if (i+j)%2 == 0 {
				m.add(fmt.Sprintf("cumprod_%s_%v", t, a), m.layer(graph.CumProd, a, x(3, 4, 2)), Tolerance{Real: 1e-5})
			}
		}
		a := graph.GatherAttrs{Axis: i%3 - 1}
		index := []numeric.DataType{numeric.I32, numeric.I64}[i%2]
		m.add(fmt.Sprintf("gather_elements_%s_%v", t, a), m.layer(graph.GatherElements, a, x(9, 8, 7), m.tensor(index, numeric.Range{}, 2, 8, 3)), Tolerance{})
	}
}
