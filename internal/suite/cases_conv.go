package suite

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
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
		for i, t := range []numeric.DataType{numeric.F32, numeric.F16, numeric.I8, numeric.U8} {
			in, wr, wt, tol := numeric.Range{}, numeric.Range{}, t, Tolerance{Real: 1e-4}
			if t.IsInteger() {
				in, wr, wt, tol = numeric.PerTensor(0.03, int32(7*i)), scales(s.w[0]), numeric.I8, Tolerance{}
			}
			l := m.layer(graph.Conv, s.a, m.tensor(t, in, s.x...), m.constant(wt, wr, 4, s.w...), m.constant(numeric.F32, numeric.Range{}, 1, s.w[0]))
			if t.IsInteger() {
				l.Outputs[0].Type, l.Outputs[0].Range = t, numeric.PerTensor(0.3, 5)
			}
			m.fuse(l, epilogues[1+i], t, in)
			m.add(fmt.Sprintf("conv_%s_%s_%s", s.name, t, epilogues[1+i].name), l, tol)
		}
	}
}

// volumes are convolutions in three spatial axes.
func (m *maker) volumes() {
	for i, s := range []struct {
		x, w []int
		a    graph.ConvAttrs
	}{
		{[]int{1, 1, 1, 1, 1}, []int{1, 1, 1, 1, 1}, graph.ConvAttrs{Group: 1}},
		{[]int{2, 3, 4, 5, 7}, []int{9, 3, 3, 3, 3}, graph.ConvAttrs{Pads: []int{1, 1, 1, 1, 1, 1}, Group: 1}},
		{[]int{1, 17, 5, 6, 5}, []int{8, 17, 2, 3, 1}, graph.ConvAttrs{Strides: []int{2, 1, 2}, Pads: []int{0, 1, 0, 1, 2, 0}, Group: 1}},
		{[]int{2, 8, 7, 3, 9}, []int{12, 2, 3, 2, 3}, graph.ConvAttrs{Strides: []int{1, 1, 3}, Dilations: []int{2, 1, 1}, Pads: []int{3, 0, 1, 0, 0, 1}, Group: 4}},
	} {
		for j, t := range []numeric.DataType{numeric.F32, numeric.F16, numeric.I8, numeric.U8} {
			e := epilogues[(i+2*j)%len(epilogues)]
			r, wt, wr := numeric.Range{}, numeric.F32, numeric.Range{}
			if t.IsInteger() {
				r, wt, wr = numeric.PerTensor(0.02, int32(2*i)), numeric.I8, numeric.PerTensor(0.01, int32(j-2))
			}
			l := m.layer(graph.Conv, s.a, m.tensor(t, r, s.x...), m.constant(wt, wr, 1+numeric.Count(s.w[1:])/4, s.w...),
				m.constant(numeric.F32, numeric.Range{}, 1, s.w[0]))
			m.fuse(l, e, l.Outputs[0].Type, numeric.Range{})
			m.add(fmt.Sprintf("conv_volume_%s_%v_%v_%s", t, s.x, s.w, e.name), l, Tolerance{Real: 1e-5, Step: 1})
		}
	}
}

// transposedConvolutions are transposed convolutions of all strides, dilations, groups and output paddings; the last has sums
// that are long enough to be split.
func (m *maker) transposedConvolutions() {
	for i, s := range []struct {
		x, w []int
		a    graph.ConvTransposeAttrs
	}{
		{[]int{1, 1, 1, 1}, []int{1, 1, 1, 1}, graph.ConvTransposeAttrs{}},
		{[]int{2, 17, 5, 7}, []int{17, 20, 2, 2}, graph.ConvTransposeAttrs{Strides: []int{2, 2}}},
		{[]int{1, 16, 4, 5}, []int{16, 24, 4, 4}, graph.ConvTransposeAttrs{Strides: []int{2, 2}, Pads: []int{1, 1, 1, 1}}},
		{[]int{1, 3, 6, 5}, []int{3, 5, 3, 3}, graph.ConvTransposeAttrs{Strides: []int{2, 3}, Pads: []int{1, 0, 0, 1}, OutputPadding: []int{1, 2}}},
		{[]int{2, 8, 5, 5}, []int{8, 4, 3, 2}, graph.ConvTransposeAttrs{Strides: []int{1, 2}, Dilations: []int{2, 3}, Group: 2}},
		{[]int{1, 6, 3, 4}, []int{6, 1, 3, 3}, graph.ConvTransposeAttrs{Strides: []int{2, 2}, Dilations: []int{2, 1}, Group: 6}},
		{[]int{2, 4, 9}, []int{4, 6, 5}, graph.ConvTransposeAttrs{Strides: []int{3}, Pads: []int{2, 1}}},
		{[]int{1, 40, 3, 4}, []int{40, 12, 2, 3}, graph.ConvTransposeAttrs{Strides: []int{3, 2}, Dilations: []int{1, 2}}}, // rows and columns that no tap meets
		{[]int{2, 24, 3, 5}, []int{24, 33, 3, 3}, graph.ConvTransposeAttrs{Strides: []int{2, 2}, OutputShape: []int{6, 9}}},
		{[]int{1, 464, 2, 3}, []int{464, 8, 3, 3}, graph.ConvTransposeAttrs{Pads: []int{1, 1, 1, 1}}},
	} {
		for j, t := range []numeric.DataType{numeric.F32, numeric.F16, numeric.I8, numeric.U8} {
			e := epilogues[(i+j)%len(epilogues)]
			r, wt, wr := numeric.Range{}, numeric.F32, numeric.Range{}
			if t.IsInteger() {
				r, wt, wr = numeric.PerTensor(0.02, int32(i)), numeric.I8, numeric.PerTensor(0.01, int32(j-2))
			}
			fan := s.x[1] * numeric.Count(s.w[2:])
			w := m.constant(wt, wr, 1+fan/4, s.w...)
			attrs := s.a
			attrs.Group = max(1, attrs.Group)
			l := m.layer(graph.ConvTranspose, attrs, m.tensor(t, r, s.x...), w, m.constant(numeric.F32, numeric.Range{}, 1, s.w[1]*attrs.Group))
			m.fuse(l, e, l.Outputs[0].Type, numeric.Range{})
			m.add(fmt.Sprintf("conv_transposed_%s_%v_%v_%s", t, s.x, s.w, e.name), l, Tolerance{Real: 1e-5, Step: 1})
		}
	}
}

// givenWeights are convolutions whose weights, and bias, are no constants.
func (m *maker) givenWeights() {
	for i, s := range []struct {
		x, w []int
		a    graph.ConvAttrs
	}{
		{[]int{1, 1, 3, 3}, []int{1, 1, 1, 1}, graph.ConvAttrs{Group: 1}},
		{[]int{2, 7, 9, 8}, []int{21, 7, 3, 3}, graph.ConvAttrs{Pads: []int{1, 1, 1, 1}, Group: 1}},
		{[]int{1, 8, 6, 5}, []int{12, 2, 2, 3}, graph.ConvAttrs{Strides: []int{2, 1}, Group: 4}},
		{[]int{2, 6, 17}, []int{6, 1, 4}, graph.ConvAttrs{Dilations: []int{2}, Group: 6}},
	} {
		for j, t := range []numeric.DataType{numeric.F32, numeric.F16} {
			r := numeric.Range{}
			in := []*graph.Tensor{m.tensor(t, r, s.x...), m.tensor(t, r, s.w...)}
			switch (i + j) % 3 {
			case 1:
				in = append(in, m.tensor(t, r, s.w[0]))
			case 2:
				in = append(in, m.constant(numeric.F32, r, 1, s.w[0]))
			}
			e := epilogues[(i+2*j)%len(epilogues)]
			l := m.layer(graph.Conv, s.a, in...)
			m.fuse(l, e, t, r)
			m.add(fmt.Sprintf("conv_given_%s_%v_%v_%s", t, s.x, s.w, e.name), l, Tolerance{Real: 1e-5})
			// Turned around: from the output's channels to the input's.
			a := graph.ConvTransposeAttrs{Strides: s.a.Strides, Dilations: s.a.Dilations, Pads: s.a.Pads, Group: s.a.Group}
			in[0] = m.tensor(t, r, append([]int{s.x[0], s.w[0]}, s.x[2:]...)...)
			if len(in) > 2 {
				in[2] = m.tensor(t, r, s.x[1])
			}
			l = m.layer(graph.ConvTranspose, a, in...)
			m.fuse(l, e, t, r)
			m.add(fmt.Sprintf("conv_transposed_given_%s_%v_%v_%s", t, s.x, s.w, e.name), l, Tolerance{Real: 1e-5})
		}
	}
}

// channelZeros are products of bytes with weights that have a zero point for every output channel.
func (m *maker) channelZeros() {
	zeros := func(n, axis int) numeric.Range {
		r := scales(n)
		r.Axis, r.Zero = axis, nil
		for i := range n {
			r.Zero = append(r.Zero, int32(i*5%11))
		}
		return r
	}
	for i, s := range []struct {
		x, w []int
		a    graph.ConvAttrs
	}{
		{[]int{1, 3, 5, 5}, []int{8, 3, 3, 3}, graph.ConvAttrs{Pads: []int{1, 1, 1, 1}, Group: 1}},
		{[]int{2, 20, 4, 6}, []int{17, 20, 1, 1}, graph.ConvAttrs{Group: 1}},
		{[]int{1, 12, 6, 6}, []int{12, 1, 3, 3}, graph.ConvAttrs{Pads: []int{1, 1, 1, 1}, Group: 12}},
		{[]int{1, 32, 7, 5}, []int{24, 16, 3, 3}, graph.ConvAttrs{Strides: []int{2, 1}, Pads: []int{1, 1, 1, 1}, Group: 2}},
		{[]int{1, 3, 9, 11}, []int{16, 3, 3, 3}, graph.ConvAttrs{Strides: []int{2, 2}, Pads: []int{1, 1, 1, 1}, Group: 1}},
	} {
		for j, t := range []numeric.DataType{numeric.I8, numeric.U8} {
			l := m.layer(graph.Conv, s.a, m.tensor(t, numeric.PerTensor(0.02, int32(3*i)), s.x...), m.constant(numeric.I8, zeros(s.w[0], 0), 1, s.w...))
			l.Outputs[0].Type, l.Outputs[0].Range = t, numeric.PerTensor(0.3, int32(j))
			m.add(fmt.Sprintf("conv_zeros_%s_%v", t, s.w), l, Tolerance{})
		}
	}
	for _, t := range []numeric.DataType{numeric.I8, numeric.U8} {
		l := m.layer(graph.MatMul, nil, m.tensor(t, numeric.PerTensor(0.02, 5), 3, 40), m.constant(t, zeros(21, 1), 1, 40, 21))
		m.add(fmt.Sprintf("matmul_zeros_%s", t), l, Tolerance{Real: 1e-6, Step: 1})
		a := graph.GemmAttrs{Alpha: 1, Beta: 1, TransB: true}
		l = m.layer(graph.Gemm, a, m.tensor(t, numeric.PerTensor(0.02, 5), 3, 40), m.constant(t, zeros(21, 0), 1, 21, 40))
		m.add(fmt.Sprintf("gemm_zeros_%s", t), l, Tolerance{Real: 1e-6, Step: 1})
		up := graph.ConvTransposeAttrs{Strides: []int{2, 2}, Pads: []int{1, 1, 0, 0}, Group: 1}
		l = m.layer(graph.ConvTranspose, up, m.tensor(t, numeric.PerTensor(0.02, 7), 1, 20, 3, 5), m.constant(t, zeros(13, 1), 1, 20, 13, 3, 3))
		l.Outputs[0].Type, l.Outputs[0].Range = t, numeric.PerTensor(0.3, 4)
		m.add(fmt.Sprintf("conv_transposed_zeros_%s", t), l, Tolerance{})
	}
}
