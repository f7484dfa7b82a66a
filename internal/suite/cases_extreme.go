package suite

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// Extreme are layers whose windows are far larger than those of common networks. A tactic that matches one computes it.
func Extreme() []Case {
	m := &maker{rnd: rand.New(rand.NewPCG(7, 7))}
	m.largePools()
	m.largeConvolutions()
	return m.cases
}

func (m *maker) largePools() {
	global := graph.PoolAttrs{Global: true}
	for i, c := range []struct {
		attrs graph.PoolAttrs
		dims  []int
	}{
		{global, []int{2, 17, 23, 24}},
		{global, []int{1, 3, 130, 130}},
		{global, []int{1, 5, 9, 9, 9}},
		{global, []int{1, 5, 5000}},
		{graph.PoolAttrs{Kernel: []int{32, 32}}, []int{1, 17, 34, 36}},
		{graph.PoolAttrs{Kernel: []int{23, 23}, Strides: []int{3, 2}, Dilations: []int{1, 2}, Pads: []int{5, 6, 7, 8}}, []int{1, 4, 26, 44}},
		{graph.PoolAttrs{Kernel: []int{1, 600}, CountIncludePad: true}, []int{1, 3, 2, 640}},
		{graph.PoolAttrs{Kernel: []int{600}, Strides: []int{50}}, []int{1, 3, 700}},
		{graph.PoolAttrs{Kernel: []int{9, 9, 9}}, []int{1, 3, 9, 10, 10}},
	} {
		for _, op := range []*graph.Op{graph.MaxPool, graph.AveragePool} {
			l := m.layer(op, c.attrs, m.tensor(numeric.F32, numeric.Range{}, c.dims...))
			m.add(fmt.Sprintf("%s_f32_large_%d", op.Name, i), l, Tolerance{Real: 1e-5})
			r := numeric.PerTensor(0.1, 3)
			l = m.layer(op, c.attrs, m.tensor(numeric.I8, r, c.dims...))
			l.Outputs[0].Type, l.Outputs[0].Range = numeric.I8, r
			m.add(fmt.Sprintf("%s_i8_large_%d", op.Name, i), l, Tolerance{Step: 1})
		}
	}
}

func (m *maker) largeConvolutions() {
	for i, c := range []struct {
		attrs graph.ConvAttrs
		x, w  []int
	}{
		{graph.ConvAttrs{Strides: []int{256}, Group: 1}, []int{1, 1, 2048}, []int{33, 1, 1024}}, // a Fourier transform of frames
		{graph.ConvAttrs{Group: 1}, []int{1, 17, 700}, []int{3, 17, 600}},
		{graph.ConvAttrs{Group: 1}, []int{1, 3, 25, 26}, []int{17, 3, 23, 23}},
		{graph.ConvAttrs{Group: 5}, []int{1, 5, 25, 26}, []int{5, 1, 23, 23}},
		{graph.ConvAttrs{Group: 1}, []int{1, 2, 10, 10, 10}, []int{3, 2, 9, 9, 9}},
		{graph.ConvAttrs{Strides: []int{700}, Group: 1}, []int{1, 1, 7000}, []int{18, 1, 5000}},
	} {
		x := m.tensor(numeric.F32, numeric.Range{}, c.x...)
		w := m.constant(numeric.F32, numeric.Range{}, numeric.Count(c.w[1:]), c.w...)
		m.add(fmt.Sprintf("conv_f32_large_%d", i), m.layer(graph.Conv, c.attrs, x, w), Tolerance{Real: 1e-4})
		for j, t := range []numeric.DataType{numeric.I8, numeric.U8} {
			x, w := m.tensor(t, numeric.PerTensor(0.1, int32(3+100*j)), c.x...), m.constant(numeric.I8, numeric.PerTensor(0.01, 0), 1, c.w...)
			l := m.layer(graph.Conv, c.attrs, x, w)
			l.Outputs[0].Type, l.Outputs[0].Range = t, numeric.PerTensor(float32(4*math.Sqrt(float64(numeric.Count(c.w[1:])))), int32(7+100*j))
			m.add(fmt.Sprintf("conv_%s_large_%d", t, i), l, Tolerance{Step: 1})
		}
	}
	for i, w := range [][]int{{1, 1, 1024}, {3, 2, 600}} {
		x := m.tensor(numeric.F32, numeric.Range{}, 1, w[0], 20)
		m.add(fmt.Sprintf("conv_transposed_f32_large_%d", i), m.layer(graph.ConvTranspose, graph.ConvTransposeAttrs{Group: 1}, x,
			m.constant(numeric.F32, numeric.Range{}, numeric.Count(w[1:]), w...)), Tolerance{Real: 1e-4})
	}
}
