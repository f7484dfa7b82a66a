package suite

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// moreReductions are those of integers and truth values, over axes that are no neighbours or none, and of exponentials.
func (m *maker) moreReductions() {
	axes := []graph.ReduceAttrs{{Axes: []int{-1}, KeepDims: true}, {Axes: []int{1}}, {Axes: []int{0, 2}}, {}, {NoopEmpty: true}}
	ops := []*graph.Op{
		graph.ReduceMean, graph.ReduceSum, graph.ReduceMax, graph.ReduceMin, graph.ReduceProd, graph.ReduceL1, graph.ReduceL2,
		graph.ReduceSumSquare,
	}
	for i, op := range ops {
		for j, t := range append([]numeric.DataType{numeric.Bool}, integerTypes...) {
			if t == numeric.Bool && op != graph.ReduceMax && op != graph.ReduceMin {
				continue
			}
			for _, a := range []graph.ReduceAttrs{axes[(i+j)%len(axes)], axes[(i+j+2)%len(axes)]} {
				l := m.layer(op, a, m.tensor(t, numeric.Range{}, 3, 5, 43))
				m.add(fmt.Sprintf("%s_%s_%v", op.Name, t, a), l, Tolerance{})
			}
		}
		for j, t := range []numeric.DataType{numeric.F32, numeric.F16, numeric.I8} {
			r := numeric.Range{}
			if t == numeric.I8 {
				r = numeric.PerTensor(0.02, int32(i))
			}
			for k, a := range axes[2:] {
				l := m.layer(op, a, m.tensor(t, r, 3, 4, 5))
				m.fuse(l, epilogues[(i+j+k)%3], l.Outputs[0].Type, numeric.Range{})
				m.add(fmt.Sprintf("%s_%s_%v_apart", op.Name, t, a), l, Tolerance{Real: 1e-5})
			}
		}
	}
	for i, t := range []numeric.DataType{numeric.F32, numeric.F16, numeric.I8} {
		r := numeric.Range{}
		if t == numeric.I8 {
			r = numeric.PerTensor(0.05, 3)
		}
		for j, a := range axes {
			l := m.layer(graph.ReduceLogSumExp, a, m.tensor(t, r, 3, 5, 43))
			m.fuse(l, epilogues[(i+j)%3], l.Outputs[0].Type, numeric.Range{})
			m.add(fmt.Sprintf("%s_%s_%v", l.Op.Name, t, a), l, Tolerance{Real: 1e-5})
		}
	}
	l := m.layer(graph.ReduceMean, graph.ReduceAttrs{Axes: []int{0, 2, 3}}, m.tensor(numeric.F32, numeric.Range{}, 4, 9, 11, 3))
	m.add("mean_by_channel", l, Tolerance{Real: 1e-5})
	for i, axes := range [][]int{{0}, {1}, {-1}, {0, 2}} { // of sums that have a logarithm: no element is negative
		l := m.layer(graph.ReduceLogSum, graph.ReduceAttrs{Axes: axes, KeepDims: i%2 == 0}, m.tensor(numeric.U8, numeric.PerTensor(0.05, 0), 3, 5, 43))
		m.add(fmt.Sprintf("%s_u8_%v", l.Op.Name, axes), l, Tolerance{Real: 1e-5})
	}
}
