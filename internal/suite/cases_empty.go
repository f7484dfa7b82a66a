package suite

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
)

// empty are layers of tensors without elements: outputs of none, outputs that follow from inputs of none, and pieces of none
// among others. Constants among the pieces are here, too.
func (m *maker) empty() {
	x := func(dims ...int) *graph.Tensor { return m.tensor(numeric.F32, numeric.Range{}, dims...) }
	for _, op := range []*graph.Op{graph.ReduceSum, graph.ReduceProd, graph.ReduceMax, graph.ReduceLogSumExp} {
		l := m.layer(op, graph.ReduceAttrs{Axes: []int{1}}, x(2, 0, 300))
		m.add("empty_"+op.Name, l, Tolerance{})
	}
	m.add("empty_sum_outside", m.layer(graph.ReduceSum, graph.ReduceAttrs{Axes: []int{1}}, x(0, 3)), Tolerance{})
	l := m.layer(graph.MatMul, nil, x(3, 0), x(0, 5))
	m.fuse(l, epilogues[1], numeric.F32, numeric.Range{})
	m.add("empty_matmul", l, Tolerance{})
	m.add("empty_matmul_batch", m.layer(graph.MatMul, nil, x(3, 1), x(0, 2, 1, 5)), Tolerance{})
	m.add("empty_pad", m.layer(graph.Pad, graph.PadAttrs{Mode: "constant", Pads: []int{0, 1, 0, 2}, Value: 2}, x(3, 0)), Tolerance{})
	m.add("empty_relu", m.layer(graph.Pointwise, graph.Elementwise{Program: elementwise.Unary(elementwise.Relu)}, x(2, 0)), Tolerance{})
	m.add("empty_slice", m.layer(graph.Slice, graph.SliceAttrs{Starts: []int{9}, Ends: []int{20}}, x(4, 3)), Tolerance{})
	m.add("empty_reshape", m.layer(graph.Reshape, graph.ReshapeAttrs{AllowZero: true}, x(0, 4), m.integers(2, 0, 3)), Tolerance{})
	m.add("scalar_reshape", m.layer(graph.Reshape, graph.ReshapeAttrs{}, x(1, 1), m.integers()), Tolerance{})
	for axis, sizes := range [][]int{{0, 2, 2}, {17, 0, 16, 3}, {4, 0}} {
		m.add(fmt.Sprintf("empty_split_%d", axis), m.split(graph.SplitAttrs{Axis: axis, Sizes: sizes}, x(4, 36, 4)), Tolerance{})
	}
	for _, t := range []numeric.DataType{numeric.F32, numeric.F16, numeric.I64} {
		x := func(dims ...int) *graph.Tensor { return m.tensor(t, numeric.Range{}, dims...) }
		m.add("concat_empty_"+t.String(), m.layer(graph.Concat, graph.ConcatAttrs{Axis: 1}, x(2, 8, 5), x(2, 0, 5), x(2, 3, 5)), Tolerance{})
		for _, axis := range []int{1, 2} {
			l := m.layer(graph.Concat, graph.ConcatAttrs{Axis: axis}, m.constant(t, numeric.Range{}, 1, 2, 16, 5), x(2, 16, 5), m.constant(t, numeric.Range{}, 1, 2, 16, 5))
			m.add(fmt.Sprintf("concat_constants_%s_%d", t, axis), l, Tolerance{})
		}
	}
}
