package suite

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// plainConvolutions are those of plain kernels: over three axes, transposed with weights that are computed, and of integers
// whose scales and zero points are inputs.
func (m *maker) plainConvolutions() {
	for i, t := range []numeric.DataType{numeric.F32, numeric.F16} {
		x := func(dims ...int) *graph.Tensor { return m.tensor(t, numeric.Range{}, dims...) }
		c := func(fan int, dims ...int) *graph.Tensor {
			return m.constant(numeric.F32, numeric.Range{}, fan, dims...)
		}
		add := func(j int, op *graph.Op, attrs any, in ...*graph.Tensor) {
			l := m.layer(op, attrs, in...)
			m.fuse(l, epilogues[(i+2*j)%len(epilogues)], t, numeric.Range{})
			m.add(fmt.Sprintf("%s_%s_plain_%d", op.Name, t, j), l, Tolerance{Real: 2e-5})
		}
		add(0, graph.Conv, graph.ConvAttrs{Group: 1, Strides: []int{1, 2, 1}, Pads: []int{1, 0, 1, 1, 1, 0}}, x(2, 3, 4, 5, 6), c(4, 5, 3, 3, 2, 3), c(1, 5))
		add(1, graph.Conv, graph.ConvAttrs{Group: 2, Dilations: []int{1, 2, 1}}, x(1, 4, 3, 7, 3), c(2, 6, 2, 2, 3, 1))
		add(2, graph.ConvTranspose, graph.ConvTransposeAttrs{Group: 1, Strides: []int{2, 1, 2}, Pads: []int{1, 0, 1, 0, 1, 0}}, x(1, 3, 2, 3, 4), c(4, 3, 4, 3, 2, 3), c(1, 4))
		add(3, graph.ConvTranspose, graph.ConvTransposeAttrs{Group: 2, Strides: []int{2, 3}, OutputPadding: []int{1, 0}}, x(2, 4, 3, 5), x(4, 3, 3, 2), x(6))
		add(4, graph.ConvTranspose, graph.ConvTransposeAttrs{Group: 1, Dilations: []int{2}, Strides: []int{2}, Pads: []int{2, 1}}, x(2, 7, 9), x(7, 5, 4))
	}
	for i, t := range []numeric.DataType{numeric.U8, numeric.I8} {
		other := []numeric.DataType{numeric.I8, numeric.U8}[i]
		p := m.parameters
		x := func(t numeric.DataType, dims ...int) *graph.Tensor { return m.tensor(t, numeric.Range{}, dims...) }
		add := func(op *graph.Op, attrs any, in ...*graph.Tensor) {
			m.add(fmt.Sprintf("%s_%s_%d", op.Name, t, len(in)), m.layer(op, attrs, in...), Tolerance{})
		}
		a := graph.ConvAttrs{Group: 1, Strides: []int{2, 1}, Pads: []int{1, 1, 1, 1}}
		add(graph.ConvInteger, a, x(t, 2, 3, 7, 6), x(other, 5, 3, 3, 3))
		add(graph.ConvInteger, a, x(t, 2, 3, 7, 6), m.constant(other, numeric.Range{}, 1, 5, 3, 3, 3), p(t, 1), p(other, 5))
		for j, c := range []struct {
			a    graph.ConvAttrs
			x, w []int
		}{
			{graph.ConvAttrs{Group: 1, Pads: []int{1, 0, 1, 2}}, []int{1, 150, 5, 4}, []int{40, 150, 3, 3}}, // more than float32 holds of a sum
			{graph.ConvAttrs{Group: 1}, []int{3, 17, 9, 9}, []int{33, 17, 1, 1}},
			{graph.ConvAttrs{Group: 6, Dilations: []int{2}, Pads: []int{2, 2}}, []int{2, 6, 70}, []int{12, 1, 3}},
			{graph.ConvAttrs{Group: 2, Strides: []int{1, 2, 1}}, []int{1, 4, 3, 5, 4}, []int{6, 2, 2, 3, 2}},
		} {
			w := m.constant(other, numeric.Range{}, 1, c.w...)
			l := m.layer(graph.ConvInteger, c.a, []*graph.Tensor{x(t, c.x...), w, x(t), p(other, 1+j%2*(c.w[0]-1))}[:3+j%2]...)
			m.add(fmt.Sprintf("conv_integer_%s_%d", t, j), l, Tolerance{})
		}
		add(graph.QLinearConv, graph.ConvAttrs{Group: 3}, x(t, 1, 6, 9), p(numeric.F32, 1), p(t, 1), x(other, 9, 2, 3), p(numeric.F32, 9), p(other, 1), p(numeric.F32, 1), p(t, 1), p(numeric.I32, 9))
	}
}

// vectorProducts are matrix products with a vector on a side, and those of integers whose zero points are inputs.
func (m *maker) vectorProducts() {
	for i, s := range []struct{ x, y []int }{
		{[]int{9}, []int{9}}, {[]int{9}, []int{9, 40}}, {[]int{8}, []int{2, 3, 8, 16}}, {[]int{40, 9}, []int{9}}, {[]int{2, 3, 7, 8}, []int{8}},
		{[]int{3, 70, 33}, []int{33, 66}}, {[]int{2, 1, 5, 6}, []int{3, 6, 7}},
	} {
		for j, t := range []numeric.DataType{numeric.F32, numeric.F16, numeric.I8} {
			r, out := numeric.Range{}, t
			if t == numeric.I8 {
				r, out = numeric.PerTensor(0.02, 5), numeric.F32
			}
			l := m.layer(graph.MatMul, nil, m.tensor(t, r, s.x...), m.tensor(t, r, s.y...))
			m.fuse(l, epilogues[(i+2*j)%len(epilogues)], out, numeric.Range{})
			m.add(fmt.Sprintf("matmul_vector_%s_%v_%v", t, s.x, s.y), l, Tolerance{Real: 1e-5, Step: 1})
		}
		n := 1
		if len(s.y) > 1 {
			n = s.y[len(s.y)-1]
		}
		for j, t := range []numeric.DataType{numeric.U8, numeric.I8} {
			x, p := m.tensor, m.parameters
			w, scale := []numeric.DataType{numeric.I8, numeric.U8}[(i+j)%2], []numeric.DataType{numeric.F32, numeric.F16}[i%2]
			in := []*graph.Tensor{x(t, numeric.Range{}, s.x...), x(w, numeric.Range{}, s.y...), p(t, 1), p(w, n)}
			m.add(fmt.Sprintf("matmul_integer_%s_%v_%v", t, s.x, s.y), m.layer(graph.MatMulInteger, nil, in[:2+2*j]...), Tolerance{})
			l := m.layer(graph.QLinearMatMul, nil, in[0], p(scale, 1), in[2], in[1], p(scale, n), in[3], p(scale, 1), p(t, 1))
			m.add(fmt.Sprintf("qlinear_matmul_%s_%v_%v", t, s.x, s.y), l, Tolerance{})
		}
	}
}

// scalings are changes between reals and integers of all types, by one scale or several, constant or computed.
func (m *maker) scalings() {
	for i, t := range []numeric.DataType{numeric.I8, numeric.U8, numeric.I16, numeric.U16, numeric.I32} {
		real := []numeric.DataType{numeric.F32, numeric.F16}[i%2]
		for _, axis := range []int{-1, 0, 1, 2} {
			dims, n := []int{3, 17, 5}, 1
			r := numeric.PerTensor(0.07, 3)
			if axis >= 0 {
				n = dims[axis]
				r = numeric.Range{Axis: axis}
				for c := range n {
					r.Scale, r.Zero = append(r.Scale, 0.01*float32(c+1)), append(r.Zero, int32(c%5))
				}
			}
			x := m.tensor(real, numeric.Range{}, dims...)
			m.add(fmt.Sprintf("quantize_%s_%d", t, axis), m.layer(graph.Quantize, graph.QuantAttrs{Range: r, Type: t}, x), Tolerance{})
			l := m.layer(graph.Dequantize, graph.QuantAttrs{Range: r, Type: real}, m.tensor(t, numeric.Range{}, dims...))
			m.add(fmt.Sprintf("dequantize_%s_%d", t, axis), l, Tolerance{Real: 1e-7})
			a := graph.QuantAttrs{Range: numeric.Range{Axis: max(0, axis)}, Type: t}
			zero := m.parameters(t, n)
			if t.Size() > 1 {
				zero = m.tensor(t, numeric.Range{}, n)
			}
			m.add(fmt.Sprintf("quantize_given_%s_%d", t, axis), m.layer(graph.Quantize, a, x, m.parameters(real, n), zero), Tolerance{})
			a.Type = real
			l = m.layer(graph.Dequantize, a, m.tensor(t, numeric.Range{}, dims...), m.parameters(real, n), zero)
			m.add(fmt.Sprintf("dequantize_given_%s_%d", t, axis), l, Tolerance{Real: 1e-7})
		}
	}
	for i, n := range []int{1, 31, 5000, 40000} {
		t := []numeric.DataType{numeric.F32, numeric.F16}[i%2]
		l := &graph.Layer{Name: "DynamicQuantize", Op: graph.DynamicQuantize, From: []string{"DynamicQuantize"}}
		l.AddInput(m.tensor(t, numeric.Range{}, n))
		for range 3 {
			l.Outputs = append(l.Outputs, &graph.Tensor{Name: fmt.Sprintf("y%d", len(l.Outputs)), Producer: l})
		}
		if err := l.Infer(); err != nil {
			panic(fmt.Sprintf("suite: %v", err))
		}
		m.add(fmt.Sprintf("quantize_dynamic_%d", n), l, Tolerance{})
	}
}

// givenAxes are running sums and products whose axis is an input, a dropout with its mask, and crops that reach beyond the
// input.
func (m *maker) givenAxes() {
	for i, t := range []numeric.DataType{numeric.F32, numeric.F16, numeric.I32} {
		dims := [][]int{{2, 3, 4, 5, 1, 1, 2}, {9}, {3, 8}}[i] // as many as an index that is drawn may name
		if len(dims) < 7 {
			dims = append(dims, 2, 1, 3, 1, 2, 1)[:7]
		}
		for _, op := range []*graph.Op{graph.CumSum, graph.CumProd} {
			axis := m.tensor([]numeric.DataType{numeric.I64, numeric.I32}[i%2], numeric.Range{})
			l := m.layer(op, graph.CumAttrs{Exclusive: i == 1, Reverse: i > 0}, m.tensor(t, numeric.Range{}, dims...), axis)
			m.add(fmt.Sprintf("%s_given_%s", op.Name, t), l, Tolerance{Real: 1e-5})
		}
		m.add("dropout_mask_"+t.String(), m.pairOf(graph.Identity, nil, m.tensor(t, numeric.Range{}, 3, 5)), Tolerance{})
	}
	for _, mode := range []string{"nearest", "linear"} {
		a := graph.ResizeAttrs{
			Mode: mode, Sizes: []int{1, 2, 7, 6}, Coordinates: "tf_crop_and_resize", Nearest: "round_prefer_floor", CubicA: -0.75,
			Region: []float32{0, 0, 0.4, 0.6, 1, 1, 1.3, 0.8}, Extrapolation: 10,
		}
		m.add("resize_crop_"+mode, m.layer(graph.Resize, a, m.tensor(numeric.F32, numeric.Range{}, 1, 2, 5, 8)), Tolerance{Real: 1e-5})
	}
}

// parameters returns constant scales around 0.1, or zero points, of bytes around 0 or 128.
func (m *maker) parameters(t numeric.DataType, dims ...int) *graph.Tensor {
	p := m.constant(t, numeric.Range{}, 1, dims...)
	switch t {
	case numeric.F32:
		for i := range numeric.View[float32](p.Weights) {
			numeric.View[float32](p.Weights)[i] = 0.05 + float32(m.rnd.IntN(100))/1000
		}
	case numeric.F16:
		for i := range numeric.View[uint16](p.Weights) {
			numeric.View[uint16](p.Weights)[i] = numeric.F32ToF16(0.05 + float32(m.rnd.IntN(100))/1000)
		}
	case numeric.I32:
		for i := range numeric.View[int32](p.Weights) {
			numeric.View[int32](p.Weights)[i] = int32(m.rnd.IntN(2000) - 1000)
		}
	default:
		for i := range p.Weights {
			p.Weights[i] = byte(m.rnd.IntN(20))
			if t == numeric.U8 {
				p.Weights[i] += 118
			}
		}
	}
	return p
}
