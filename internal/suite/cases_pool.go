package suite

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// morePools are poolings over three spatial axes, of bytes that are not quantised, and with the places of the maxima.
func (m *maker) morePools() {
	for i, t := range []numeric.DataType{numeric.F32, numeric.F16, numeric.I8, numeric.U8} {
		for j, a := range []graph.PoolAttrs{
			{Kernel: []int{2, 2, 2}, Strides: []int{2, 1, 2}, Pads: []int{1, 1, 0, 0, 1, 1}},
			{Kernel: []int{3, 2, 1}, Dilations: []int{2, 1, 1}, Pads: []int{0, 0, 0, 1, 0, 0}, CountIncludePad: true},
			{Kernel: []int{3, 3, 3}, Strides: []int{2, 2, 2}, CeilMode: true},
		} {
			for _, op := range []*graph.Op{graph.MaxPool, graph.AveragePool} {
				r := numeric.Range{}
				if t.IsInteger() && (op == graph.AveragePool || j == 0) {
					r = numeric.PerTensor(0.1, int32(j)*3)
				}
				l := m.layer(op, a, m.tensor(t, r, 2, 3, 7, 6, 5))
				if op == graph.AveragePool && t.IsInteger() {
					l.Outputs[0].Type, l.Outputs[0].Range = t, r
				} else if op == graph.AveragePool {
					m.fuse(l, epilogues[(i+j)%3], t, numeric.Range{})
				}
				m.add(fmt.Sprintf("%s_%s_3d_%d", op.Name, t, j), l, Tolerance{Real: 1e-5, Step: 1})
			}
		}
		m.paddedPools(t)
		for _, column := range []bool{false, true} {
			a := graph.PoolAttrs{Kernel: []int{3, 2}, Strides: []int{1, 2}, Pads: []int{1, 1, 1, 0}, ColumnMajor: column}
			m.add(fmt.Sprintf("maxpool_indices_%s_%v", t, column), m.pairOf(graph.MaxPool, a, m.tensor(t, numeric.Range{}, 2, 3, 5, 7)), Tolerance{})
		}
		if t.IsInteger() {
			a := graph.PoolAttrs{Kernel: []int{3, 3}, Strides: []int{2, 2}, Pads: []int{1, 1, 1, 1}}
			m.add(fmt.Sprintf("maxpool_plain_%s", t), m.layer(graph.MaxPool, a, m.tensor(t, numeric.Range{}, 2, 17, 9, 8)), Tolerance{})
		}
	}
}

// paddedPools are averages over windows of which some lie wholly in the padding: beyond a corner, an edge, and with both of its
// taps on either side of the input.
func (m *maker) paddedPools(t numeric.DataType) {
	r := numeric.Range{}
	if t.IsInteger() {
		r = numeric.PerTensor(0.1, 3)
	}
	for i, c := range []struct {
		attrs graph.PoolAttrs
		dims  []int
	}{
		{graph.PoolAttrs{Kernel: []int{2, 2}, Pads: []int{3, 2, 2, 3}}, []int{2, 17, 3, 4}},
		{graph.PoolAttrs{Kernel: []int{2}, Dilations: []int{2}, Pads: []int{1, 1}}, []int{1, 3, 1}},
		{graph.PoolAttrs{Kernel: []int{1, 2, 1}, Pads: []int{1, 2, 0, 0, 1, 1}}, []int{1, 2, 2, 3, 2}},
	} {
		l := m.layer(graph.AveragePool, c.attrs, m.tensor(t, r, c.dims...))
		l.Outputs[0].Type, l.Outputs[0].Range = t, r
		m.add(fmt.Sprintf("averagepool_%s_padded_%d", t, i), l, Tolerance{Real: 1e-5, Step: 1})
	}
}

func (m *maker) pooling() {
	for i, s := range [][4]int{{1, 1, 1, 1}, {1, 16, 7, 7}, {2, 17, 9, 8}, {1, 64, 12, 12}} {
		for j, a := range []graph.PoolAttrs{
			{Global: true},
			{Kernel: []int{2, 2}, Strides: []int{2, 2}, Pads: []int{1, 1, 1, 1}},
			{Kernel: []int{3, 3}, Strides: []int{2, 2}, Pads: []int{1, 1, 1, 1}, CountIncludePad: true},
			{Kernel: []int{3, 3}, Strides: []int{1, 1}, Pads: []int{1, 1, 1, 1}, CeilMode: true},
		} {
			for _, op := range []*graph.Op{graph.MaxPool, graph.AveragePool} {
				l := m.layer(op, a, m.tensor(numeric.F32, numeric.Range{}, s[:]...))
				m.add(fmt.Sprintf("%s_f32_%d_%d", op.Name, i, j), l, Tolerance{Real: 1e-5})
				l = m.layer(op, a, m.tensor(numeric.F16, numeric.Range{}, s[:]...))
				m.add(fmt.Sprintf("%s_f16_%d_%d", op.Name, i, j), l, Tolerance{Real: 1e-5})
				for _, t := range []numeric.DataType{numeric.I8, numeric.U8} {
					r := numeric.PerTensor(0.1, int32(j)*3)
					l = m.layer(op, a, m.tensor(t, r, s[:]...))
					l.Outputs[0].Type, l.Outputs[0].Range = t, r
					m.add(fmt.Sprintf("%s_%s_%d_%d", op.Name, t, i, j), l, Tolerance{Step: 1})
				}
			}
		}
	}
}
