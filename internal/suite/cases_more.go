package suite

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
)

// gated are gated products of odd shapes, of few and of many rows, with each activation that they are known with, with and without biases.
func (m *maker) gated() {
	for i, s := range [][3]int{{1, 1, 1}, {5, 3, 7}, {7, 64, 172}, {33, 17, 32}, {70, 1024, 130}} {
		for _, t := range []numeric.DataType{numeric.F32, numeric.F16} {
			act := []elementwise.Op{elementwise.Silu, elementwise.Gelu, elementwise.Sigmoid, elementwise.Relu, elementwise.GeluTanh}[i]
			bias := func(given bool) *graph.Tensor {
				if !given {
					return nil
				}
				return m.constant(t, numeric.Range{}, s[1], s[2])
			}
			l := m.layer(graph.GatedMatMul, graph.GatedAttrs{Activation: act}, m.tensor(t, numeric.Range{}, 1, s[0], s[1]),
				m.constant(t, numeric.Range{}, s[1], s[1], s[2]), m.constant(t, numeric.Range{}, s[1], s[1], s[2]), bias(i%2 == 1), bias(i >= 2))
			if i%2 == 1 {
				m.fuse(l, epilogues[1], t, numeric.Range{})
			}
			m.add(fmt.Sprintf("gated_%s_%v_%s", t, s, act), l, Tolerance{Real: 1e-4})
		}
	}
}

// fewBits are products with weights of few bits: blocks that end within a column and not, with and without zero points, a bias
// and an epilogue, of few and of many rows.
func (m *maker) fewBits() {
	for i, s := range [][4]int{{1, 16, 1, 16}, {1, 64, 40, 32}, {3, 40, 17, 16}, {9, 200, 33, 128}, {33, 96, 70, 64}, {1, 70, 130, 4096}} {
		for _, bits := range []int{2, 4, 8} {
			for _, t := range []numeric.DataType{numeric.F32, numeric.F16} {
				a, e := graph.NBitsAttrs{K: s[1], Bits: bits, Block: s[3]}, epilogues[i%len(epilogues)]
				blocks := (s[1] + s[3] - 1) / s[3]
				list := []*graph.Tensor{m.tensor(t, numeric.Range{}, 1, s[0], s[1]), m.constant(numeric.U8, numeric.Range{}, 1, s[2], blocks, s[3]*bits/8),
					m.constant(t, numeric.Range{}, s[1]<<bits, s[2], blocks)}
				if i%2 == 1 {
					list = append(list, m.constant(numeric.U8, numeric.Range{}, 1, s[2], (blocks*bits+7)/8), m.constant(t, numeric.Range{}, 1, s[2]))
				}
				l := m.layer(graph.MatMulNBits, a, list...)
				m.fuse(l, e, t, numeric.Range{})
				m.add(fmt.Sprintf("few_bits_%s_%d_%v_%s", t, bits, s, e.name), l, Tolerance{Real: 1e-4})
			}
		}
	}
}

// dynamicProducts quantise their rows as they come: of odd shapes, with weights of either sign, with zero points of all or of each
// column, and epilogues, of which some are more than registers hold.
func (m *maker) dynamicProducts() {
	for i, s := range [][3]int{{1, 1, 1}, {1, 64, 40}, {5, 17, 33}, {200, 96, 64}, {7, 2500, 130}} {
		for j, e := range epilogues {
			if (i+j)%2 == 1 && i > 0 {
				continue
			}
			t, w := []numeric.DataType{numeric.F32, numeric.F32, numeric.F16}[(i+j)%3], []numeric.DataType{numeric.I8, numeric.U8}[j%2]
			list := []*graph.Tensor{m.tensor(t, numeric.Range{}, 1, s[0], s[1]), m.constant(w, numeric.Range{}, 1, s[1], s[2]), m.parameters(numeric.F32, s[2])}
			switch (i + j) % 3 {
			case 0:
				list = append(list, m.constant(w, numeric.Range{}, 1, s[2]))
			case 1:
				list[graph.DynamicScales] = m.parameters(numeric.F32, 1)
				list = append(list, m.constant(w, numeric.Range{}, 1))
			}
			l := m.layer(graph.DynamicQuantizeMatMul, graph.DynamicAttrs{}, list...)
			m.fuse(l, e, t, numeric.Range{})
			m.add(fmt.Sprintf("matmul_dynamic_%s%s_%v_%s", t, w, s, e.name), l, Tolerance{Real: 1e-5})
		}
	}
}

// rowProducts are dynamic products whose rows have ranges of their own, also such as give bytes, and rows that are rounded alone.
func (m *maker) rowProducts() {
	for i, s := range [][3]int{{1, 1, 1}, {1, 64, 40}, {5, 17, 33}, {200, 96, 64}, {7, 2500, 130}} {
		by := []graph.RowRange{graph.RowsWithZero, graph.RowsSymmetric}
		for j, e := range epilogues {
			if (i+j)%2 == 0 && i > 0 {
				continue
			}
			w := []numeric.DataType{numeric.I8, numeric.U8}[j%2]
			list := []*graph.Tensor{m.tensor(numeric.F32, numeric.Range{}, 1, s[0], s[1]), m.constant(w, numeric.Range{}, 1, s[1], s[2]), m.parameters(numeric.F32, s[2])}
			if (i+j)%3 == 0 {
				list = append(list, m.constant(w, numeric.Range{}, 1, s[2]))
			}
			l := m.layer(graph.DynamicQuantizeMatMul, graph.DynamicAttrs{Rows: by[(i+j)%2]}, list...)
			out := []numeric.DataType{numeric.F32, numeric.I8}[j%3%2]
			if y := l.Outputs[0]; out != numeric.F32 {
				y.Type, y.Range = out, numeric.PerTensor(0.4, 7)
			}
			m.fuse(l, e, numeric.F32, numeric.Range{})
			m.add(fmt.Sprintf("matmul_rows_%s%s_%v_%s", w, out, s, e.name), l, Tolerance{Real: 1e-5, Step: 1})
		}
		l := m.layer(graph.RoundRows, graph.RoundRowsAttrs{Rows: by[i%2]}, m.tensor(numeric.F32, numeric.Range{}, s[0], s[1]))
		m.add(fmt.Sprintf("round_rows_%v", s[:2]), l, Tolerance{Real: 1e-6})
	}
}

// quantizedProducts are matrix products of bytes with all kinds of outputs and epilogues.
func (m *maker) quantizedProducts() {
	for i, s := range [][3]int{{1, 1, 1}, {1, 64, 10}, {3, 17, 33}, {16, 128, 64}, {7, 96, 40}} {
		for j, e := range epilogues {
			in := []numeric.DataType{numeric.I8, numeric.U8}[(i+j)%2]
			out := []numeric.DataType{numeric.I8, numeric.F32, numeric.U8}[(i+j)%3]
			l := m.layer(graph.MatMul, nil, m.tensor(in, numeric.PerTensor(0.02, 5), 2, s[0], s[1]), m.constant(numeric.I8, numeric.PerTensor(0.01, 0), 1, s[1], s[2]))
			if y := l.Outputs[0]; out != numeric.F32 {
				y.Type, y.Range = out, numeric.PerTensor(0.4, 7)
			}
			m.fuse(l, e, in, numeric.PerTensor(0.05, -3+int32(i)))
			m.add(fmt.Sprintf("matmul_%s%s_%v_%s", in, out, s, e.name), l, Tolerance{Real: 1e-6, Step: 1})
		}
	}
}

// biasedProducts are products of bytes behind which a constant row is added and an activation follows, that registers hold or not.
func (m *maker) biasedProducts() {
	for i, s := range [][3]int{{1, 64, 10}, {3, 17, 33}, {190, 64, 64}} {
		for j, act := range []elementwise.Op{elementwise.Gelu, elementwise.Silu, elementwise.Tanh, elementwise.GeluTanh} {
			in, out := []numeric.DataType{numeric.I8, numeric.U8}[(i+j)%2], []numeric.DataType{numeric.I8, numeric.F32, numeric.U8, numeric.F32}[j]
			l := m.layer(graph.MatMul, nil, m.tensor(in, numeric.PerTensor(0.02, 5), 1, s[0], s[1]), m.constant(numeric.I8, numeric.PerTensor(0.01, 0), 1, s[1], s[2]))
			if y := l.Outputs[0]; out != numeric.F32 {
				y.Type, y.Range = out, numeric.PerTensor(0.02, 7)
			}
			l.Fuse(elementwise.Binary(elementwise.Add).Then(elementwise.Unary(act), 0), 0, m.constant(numeric.F32, numeric.Range{}, 1, s[2]))
			m.add(fmt.Sprintf("matmul_biased_%s%s_%v_%s", in, out, s, act), l, Tolerance{Real: 1e-6, Step: 1})
		}
	}
}

// means are averages over the spatial axes.
func (m *maker) means() {
	for _, s := range [][4]int{{1, 1, 1, 1}, {2, 17, 9, 8}, {1, 64, 7, 7}} {
		for _, keep := range []bool{true, false} {
			a := graph.ReduceAttrs{Axes: []int{2, 3}, KeepDims: keep}
			for _, t := range []numeric.DataType{numeric.F32, numeric.F16} {
				l := m.layer(graph.ReduceMean, a, m.tensor(t, numeric.Range{}, s[:]...))
				m.add(fmt.Sprintf("mean_%s_%v_%v", t, s, keep), l, Tolerance{Real: 1e-5})
			}
			for _, out := range []numeric.DataType{numeric.I8, numeric.F32} {
				l := m.layer(graph.ReduceMean, a, m.tensor(numeric.I8, numeric.PerTensor(0.1, 3), s[:]...))
				if y := l.Outputs[0]; out == numeric.I8 {
					y.Type, y.Range = out, numeric.PerTensor(0.03, -7)
				}
				m.add(fmt.Sprintf("mean_i8%s_%v_%v", out, s, keep), l, Tolerance{Real: 1e-5, Step: 1})
			}
		}
	}
}

// mixedPointwise are programs over quantised tensors, gates, constants of every reach and results of every type.
func (m *maker) mixedPointwise() {
	dims := []int{2, 24, 5, 5}
	for i, t := range []numeric.DataType{numeric.I8, numeric.U8, numeric.F16, numeric.F32} {
		r, r2, gate := numeric.PerTensor(0.05, int32(i)*100), numeric.PerTensor(0.02, 3), numeric.PerTensor(0.004, -128)
		gt := numeric.I8
		if !t.IsInteger() {
			r, r2, gate, gt = numeric.Range{}, numeric.Range{}, numeric.Range{}, t
		}
		add := func(name string, p elementwise.Program, in ...*graph.Tensor) {
			l := m.layer(graph.Pointwise, graph.Elementwise{Program: p}, in...)
			l.Outputs[0].Type, l.Outputs[0].Range = t, r
			m.add(fmt.Sprintf("pointwise_%s_%s", name, t), l, Tolerance{Real: 1e-5, Step: 1})
		}
		x := func() *graph.Tensor { return m.tensor(t, r, dims...) }
		add("add_relu", addThen(elementwise.Unary(elementwise.Relu)), x(), m.tensor(t, r2, dims...))
		add("gate", elementwise.Binary(elementwise.Mul), x(), m.tensor(gt, gate, 2, 24, 1, 1))
		add("gate_f32", elementwise.Binary(elementwise.Mul), x(), m.tensor(numeric.F32, numeric.Range{}, 2, 24, 1, 1))
		add("mask", elementwise.Binary(elementwise.Mul), x(), m.tensor(numeric.F32, numeric.Range{}, 2, 1, 5, 5))
		add("batch", elementwise.Binary(elementwise.Mul), x(), m.tensor(numeric.F32, numeric.Range{}, 2, 1, 1, 1))
		add("hsigmoid_gate", elementwise.Unary(elementwise.HardSigmoid, 0.2, 0.5).Then(elementwise.Binary(elementwise.Mul), 0), x(), m.tensor(gt, gate, 2, 24, 1, 1))
		for _, c := range [][]int{{}, {1}, {24, 1, 1}, {1, 24, 1, 1}, {5}, {1, 1, 5, 5}, {2, 24, 5, 5}, {1, 24, 5, 5}, {2, 1, 1, 1}} {
			add(fmt.Sprintf("const%v", c), elementwise.Binary(elementwise.Add), x(), m.constant(numeric.F32, numeric.Range{}, 1, c...))
		}
		add("silu", elementwise.Unary(elementwise.Silu), x())
	}
}

// normalization are unfused batch normalisations.
func (m *maker) normalization() {
	for i, dims := range [][]int{{1, 1, 1, 1}, {2, 17, 5, 3}, {1, 64, 8, 8}, {3, 20}, {2, 16, 9}} {
		for _, t := range []numeric.DataType{numeric.F32, numeric.F16} {
			c := dims[1]
			variance := m.constant(numeric.F32, numeric.Range{}, 1, c)
			for k, v := range numeric.View[float32](variance.Weights) {
				numeric.View[float32](variance.Weights)[k] = v*v + 0.1
			}
			l := m.layer(graph.BatchNorm, graph.BatchNormAttrs{Epsilon: 1e-5}, m.tensor(t, numeric.Range{}, dims...),
				m.constant(numeric.F32, numeric.Range{}, 1, c), m.constant(numeric.F32, numeric.Range{}, 1, c), m.constant(numeric.F32, numeric.Range{}, 1, c), variance)
			e := epilogues[i%len(epilogues)]
			m.fuse(l, e, t, numeric.Range{})
			m.add(fmt.Sprintf("batchnorm_%s_%v_%s", t, dims, e.name), l, Tolerance{Real: 1e-5})
		}
	}
}

// constants are layers whose first input is a constant, as where folding was stopped.
func (m *maker) constants() {
	r := numeric.PerTensor(0.1, 3)
	m.add("dequantize_constant", m.layer(graph.Dequantize, graph.QuantAttrs{Range: r, Type: numeric.F32}, m.constant(numeric.I8, r, 1, 2, 17, 3, 3)), Tolerance{Real: 1e-7})
	m.add("relu_constant", m.layer(graph.Pointwise, graph.Elementwise{Program: elementwise.Unary(elementwise.Relu)}, m.constant(numeric.F32, numeric.Range{}, 1, 2, 17, 3, 3)), Tolerance{})
	s := convShapes[5]
	m.add("conv_constant", m.layer(graph.Conv, s.attrs(), m.constant(numeric.F32, numeric.Range{}, 1, s.n, s.c, s.h, s.w), m.constant(numeric.F32, numeric.Range{}, 3, s.m, s.c, s.k, s.k)), Tolerance{Real: 1e-5})
	m.add("maxpool_constant", m.layer(graph.MaxPool, graph.PoolAttrs{Global: true}, m.constant(numeric.F32, numeric.Range{}, 1, 1, 3, 4, 4)), Tolerance{})
}

// quantizedConstants are constants that are quantised, and brought from one range to another.
func (m *maker) quantizedConstants() {
	r := numeric.PerTensor(0.1, 3)
	requantized := m.layer(graph.Reformat, nil, m.constant(numeric.I8, r, 1, 2, 17))
	requantized.Outputs[0].Type, requantized.Outputs[0].Range = numeric.U8, numeric.PerTensor(0.2, 9)
	m.add("reformat_constant", requantized, Tolerance{Step: 1})
	m.add("quantize_constant", m.layer(graph.Quantize, graph.QuantAttrs{Range: r, Type: numeric.U8}, m.constant(numeric.F32, numeric.Range{}, 1, 2, 17, 3, 3)), Tolerance{Step: 1})
}

// moves are layers that move or convert elements.
func (m *maker) moves() {
	for _, t := range []numeric.DataType{numeric.F32, numeric.F16, numeric.I8, numeric.I64} {
		r := numeric.Range{}
		if t == numeric.I8 {
			r = numeric.PerTensor(0.1, 3)
		}
		for _, perm := range [][]int{{0, 2, 3, 1}, {0, 3, 1, 2}, {3, 2, 1, 0}, {0, 1, 3, 2}, {1, 0, 2, 3}, {2, 0, 3, 1}} {
			m.add(fmt.Sprintf("transpose_%s_%v", t, perm), m.layer(graph.Transpose, graph.TransposeAttrs{Perm: perm}, m.tensor(t, r, 2, 17, 5, 9)), Tolerance{})
		}
		m.add(fmt.Sprintf("slice_%s", t), m.layer(graph.Slice, graph.SliceAttrs{Starts: []int{1, -2}, Ends: []int{9, -9}, Axes: []int{1, 3}, Steps: []int{3, -1}}, m.tensor(t, r, 2, 17, 5, 9)), Tolerance{})
		for _, pads := range [][]int{{0, 0, 1, 2, 0, 0, 3, 0}, {1, 0, 0, 0, 0, 2, 0, -1}} {
			m.add(fmt.Sprintf("pad_%s_%v", t, pads), m.layer(graph.Pad, graph.PadAttrs{Mode: "constant", Pads: pads, Value: 2}, m.tensor(t, r, 2, 3, 5, 9)), Tolerance{})
		}
	}
	for _, dims := range [][]int{{1}, {2, 17, 3, 5}} {
		m.add(fmt.Sprintf("cast_f16_f32_%v", dims), m.layer(graph.Cast, graph.CastAttrs{To: numeric.F32}, m.tensor(numeric.F16, numeric.Range{}, dims...)), Tolerance{})
		m.add(fmt.Sprintf("cast_f32_f16_%v", dims), m.layer(graph.Cast, graph.CastAttrs{To: numeric.F16}, m.tensor(numeric.F32, numeric.Range{}, dims...)), Tolerance{})
	}
	for i, from := range []numeric.DataType{numeric.F32, numeric.F16, numeric.I8, numeric.U8} {
		for j, to := range []numeric.DataType{numeric.F32, numeric.F16, numeric.I8, numeric.U8} {
			x, r := m.tensor(from, numeric.Range{}, 2, 17, 3, 5), numeric.Range{}
			if from.IsInteger() {
				x.Range = numeric.PerTensor(0.05, int32(i))
			}
			if to.IsInteger() {
				r = numeric.PerTensor(0.07, int32(j))
			}
			l := m.layer(graph.Reformat, nil, x)
			l.Outputs[0].Type, l.Outputs[0].Range = to, r
			m.add(fmt.Sprintf("convert_%s_%s", from, to), l, Tolerance{})
		}
	}
}

// batchedProducts are products of two activations: one of a batch, all of it, broadcast.
func (m *maker) batchedProducts() {
	for i, s := range []struct{ x, y []int }{
		{[]int{1, 8}, []int{8, 8}},
		{[]int{33, 40}, []int{40, 72}},
		{[]int{2, 3, 70, 64}, []int{2, 3, 64, 136}},
		{[]int{5, 1, 17, 200}, []int{2, 200, 16}},
		{[]int{130, 24}, []int{3, 24, 264}},
		{[]int{2, 9, 7}, []int{2, 7, 5}},
	} {
		for j, t := range []numeric.DataType{numeric.F16, numeric.F32} {
			e := epilogues[(i+2*j)%len(epilogues)]
			l := m.layer(graph.MatMul, nil, m.tensor(t, numeric.Range{}, s.x...), m.tensor(t, numeric.Range{}, s.y...))
			m.fuse(l, e, t, numeric.Range{})
			m.add(fmt.Sprintf("matmul_batched_%s_%v_%v_%s", t, s.x, s.y, e.name), l, Tolerance{Real: 1e-4})
		}
	}
	for _, t := range []numeric.DataType{numeric.F16, numeric.F32} {
		a := graph.GemmAttrs{Alpha: 0.5, Beta: 2}
		l := m.layer(graph.Gemm, a, m.tensor(t, numeric.Range{}, 66, 80), m.tensor(t, numeric.Range{}, 80, 24), m.tensor(t, numeric.Range{}, 24))
		m.add(fmt.Sprintf("gemm_batched_%s", t), l, Tolerance{Real: 1e-4})
	}
}
