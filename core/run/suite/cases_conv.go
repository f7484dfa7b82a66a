package suite

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
)

// oddConvolutions are geometries beside those of square kernels: one spatial axis, groups of any width, channels that are
// multiplied, kernels, strides and pads that differ by axis.
func (m *maker) oddConvolutions() {
	for _, s := range []struct {
		name string
		x, w []int
		a    graph.ConvAttrs
	}{
		{"line", []int{2, 7, 19}, []int{9, 7, 3}, graph.ConvAttrs{Pads: []int{1, 1}, Group: 1}},
		{"line_depthwise", []int{1, 24, 33}, []int{24, 1, 5}, graph.ConvAttrs{Strides: []int{2}, Pads: []int{2, 1}, Group: 24}},
		{"groups_3_to_5", []int{2, 12, 6, 5}, []int{20, 3, 3, 3}, graph.ConvAttrs{Pads: []int{1, 1, 1, 1}, Group: 4}},
		{"groups_5_to_4", []int{1, 15, 6, 5}, []int{12, 5, 2, 2}, graph.ConvAttrs{Group: 3}},
		{"multiplier_2", []int{1, 10, 7, 7}, []int{20, 1, 3, 3}, graph.ConvAttrs{Pads: []int{1, 1, 1, 1}, Group: 10}},
		{"multiplier_4", []int{1, 6, 7, 7}, []int{24, 1, 3, 3}, graph.ConvAttrs{Strides: []int{2, 2}, Group: 6}},
		{"stem", []int{2, 4, 31, 44}, []int{70, 4, 5, 6}, graph.ConvAttrs{
			Strides: []int{3, 2}, Dilations: []int{2, 1}, Pads: []int{2, 3, 1, 2}, Group: 1,
		}},
		{"wide", []int{1, 8, 4, 40}, []int{8, 1, 1, 31}, graph.ConvAttrs{Pads: []int{0, 15, 0, 15}, Group: 8}},
		{"uneven", []int{1, 5, 9, 11}, []int{6, 5, 2, 4}, graph.ConvAttrs{
			Strides: []int{1, 3}, Dilations: []int{3, 1}, Pads: []int{0, 2, 3, 1}, Group: 1,
		}},
	} {
		for i, t := range []graph.DataType{graph.F32, graph.F16, graph.I8, graph.U8} {
			in, wr, wt, tol := graph.Range{}, graph.Range{}, t, Tolerance{Real: 1e-4}
			if t.IsInteger() {
				in, wr, wt, tol = graph.PerTensor(0.03, int32(7*i)), scales(s.w[0]), graph.I8, Tolerance{}
			}
			l := m.layer(graph.Conv, s.a, m.tensor(t, in, s.x...), m.constant(wt, wr, 4, s.w...), m.constant(graph.F32, graph.Range{}, 1, s.w[0]))
			if t.IsInteger() {
				l.Outputs[0].Type, l.Outputs[0].Range = t, graph.PerTensor(0.3, 5)
			}
			m.fuse(l, epilogues[1+i], t, in)
			m.add(fmt.Sprintf("conv_%s_%s_%s", s.name, t, epilogues[1+i].name), l, tol)
		}
	}
}
