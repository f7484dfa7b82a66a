package suite

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// rowNormalizations are normalisations by statistics of the input: of rows as long as a warp's, a block's and longer.
func (m *maker) rowNormalizations() {
	for i, t := range []numeric.DataType{numeric.F32, numeric.F16, numeric.I8} {
		r := numeric.Range{}
		if t == numeric.I8 {
			r = numeric.PerTensor(0.05, 3)
		}
		add := func(op *graph.Op, attrs any, dims []int, params ...*graph.Tensor) {
			l := m.layer(op, attrs, append([]*graph.Tensor{m.tensor(t, r, dims...)}, params...)...)
			e := epilogues[(len(dims)+i)%len(epilogues)]
			m.fuse(l, e, l.Outputs[0].Type, numeric.Range{})
			m.add(fmt.Sprintf("%s_%s_%v_%v", op.Name, t, dims, attrs), l, Tolerance{Real: 2e-5})
		}
		c := func(dims ...int) *graph.Tensor { return m.constant(numeric.F32, numeric.Range{}, 1, dims...) }
		for _, n := range []int{1, 5, 32, 768, 1100, 9000} {
			add(graph.LayerNorm, graph.LayerNormAttrs{Axis: -1, Epsilon: 1e-5}, []int{2, 3, n}, c(n), c(n))
			add(graph.RMSNorm, graph.LayerNormAttrs{Axis: -1, Epsilon: 1e-5}, []int{3, n}, c(n))
		}
		add(graph.LayerNorm, graph.LayerNormAttrs{Axis: 1, Epsilon: 1e-3}, []int{2, 3, 7}, c(3, 1), c(7))
		add(graph.LayerNorm, graph.LayerNormAttrs{Axis: 2, Epsilon: 1e-5}, []int{2, 3, 7}, m.tensor(numeric.F32, numeric.Range{}, 7))
		add(graph.InstanceNorm, graph.InstanceNormAttrs{Epsilon: 1e-5}, []int{2, 5, 9, 7}, c(5), c(5))
		add(graph.InstanceNorm, graph.InstanceNormAttrs{Epsilon: 1e-5}, []int{1, 2, 40, 41}, c(2), c(2))
		add(graph.GroupNorm, graph.GroupNormAttrs{Epsilon: 1e-5, Groups: 2}, []int{2, 6, 5}, c(6), c(6))
		add(graph.GroupNorm, graph.GroupNormAttrs{Epsilon: 1e-5, Groups: 3, PerGroup: true}, []int{1, 6, 4, 4}, c(3), c(3))
		add(graph.LpNorm, graph.LpNormAttrs{Axis: -1, P: 1}, []int{4, 50})
		add(graph.LpNorm, graph.LpNormAttrs{Axis: 1, P: 2}, []int{4, 50})
		add(graph.MeanVarianceNorm, graph.MeanVarianceNormAttrs{Axes: []int{2, 3}}, []int{2, 3, 5, 5})
	}
	for _, a := range []graph.TriluAttrs{{Upper: true}, {Upper: true, K: 2}, {K: -1}, {K: 9}, {Upper: true, K: 9}} {
		for _, t := range []numeric.DataType{numeric.F32, numeric.F16, numeric.I64, numeric.Bool} {
			m.add(fmt.Sprintf("trilu_%s_%v", t, a), m.layer(graph.Trilu, a, m.tensor(t, numeric.Range{}, 2, 5, 7)), Tolerance{})
		}
	}
}

// moreNormalizations are over axes that are not the last, and by what lies around in other channels.
func (m *maker) moreNormalizations() {
	for i, t := range []numeric.DataType{numeric.F32, numeric.F16, numeric.I8} {
		r := numeric.Range{}
		if t == numeric.I8 {
			r = numeric.PerTensor(0.05, 3)
		}
		add := func(j int, op *graph.Op, attrs any, dims ...int) {
			l := m.layer(op, attrs, m.tensor(t, r, dims...))
			m.fuse(l, epilogues[(i+j)%len(epilogues)], l.Outputs[0].Type, numeric.Range{})
			m.add(fmt.Sprintf("%s_%s_%v_%v", op.Name, t, dims, attrs), l, Tolerance{Real: 2e-5})
		}
		for j, axes := range [][]int{{0, 2, 3}, {0}, {1, 3}, {-1, 0}, {0, 1, 2, 3}} {
			add(j, graph.MeanVarianceNorm, graph.MeanVarianceNormAttrs{Axes: axes}, 2, 3, 5, 7)
		}
		add(1, graph.MeanVarianceNorm, graph.MeanVarianceNormAttrs{Axes: []int{0, 2, 3}}, 3, 3, 20, 21)
		for j, p := range []int{1, 2} {
			add(j, graph.LpNorm, graph.LpNormAttrs{Axis: 0, P: p}, 50, 4)
			add(j, graph.LpNorm, graph.LpNormAttrs{Axis: -2, P: p}, 2, 3, 5)
		}
		for j, dims := range [][]int{{1, 1, 1, 1}, {2, 17, 5, 3}, {1, 64, 8, 8}, {3, 20}, {2, 16, 9}} {
			for k, size := range []int{1, 4, 5} {
				a := graph.LRNAttrs{Size: size, Alpha: 0.1, Beta: []float32{0.75, 0.5, 1.25}[j%3], Bias: []float32{1, 2}[(j+k)%2]}
				add(j+k, graph.LRN, a, dims...)
			}
		}
	}
}
