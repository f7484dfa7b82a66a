package suite

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

var narrowTypes = []numeric.DataType{
	numeric.U4, numeric.I4, numeric.U2, numeric.I2, numeric.F4E2M1, numeric.F6E2M3, numeric.F6E3M2, numeric.F8E8M0,
	numeric.F8E4M3FN, numeric.F8E4M3FNUZ, numeric.F8E5M2, numeric.F8E5M2FNUZ,
}

// narrow are conversions from and to types of 8 bits and fewer, moves of their elements, and scales of blocks.
func (m *maker) narrow() {
	for i, t := range narrowTypes {
		real := []numeric.DataType{numeric.F32, numeric.F16}[i%2]
		x := func(dims ...int) *graph.Tensor { return m.tensor(t, numeric.Range{}, dims...) }
		if !t.IsFloat8() { // casts8 has those
			m.add(fmt.Sprintf("narrow_cast_%s_%s", t, real), m.layer(graph.Cast, graph.CastAttrs{To: real}, x(37)), Tolerance{})
			m.add(fmt.Sprintf("narrow_cast_%s_%s", real, t), m.layer(graph.Cast, graph.CastAttrs{To: t}, m.tensor(real, numeric.Range{}, 37)), Tolerance{})
			m.add(fmt.Sprintf("narrow_cast_%s_i32", t), m.layer(graph.Cast, graph.CastAttrs{To: numeric.I32}, x(5, 3)), Tolerance{})
		}
		if t.Bits() != 6 { // ONNX moves all others
			m.add(fmt.Sprintf("narrow_transpose_%s", t), m.layer(graph.Transpose, graph.TransposeAttrs{Perm: []int{1, 0, 2}}, x(5, 3, 7)), Tolerance{})
			m.add(fmt.Sprintf("narrow_flatten_%s", t), m.layer(graph.Flatten, graph.FlattenAttrs{Axis: 1}, x(3, 2, 2)), Tolerance{})
		}
		if t == numeric.F8E8M0 {
			continue
		}
		by := graph.QuantAttrs{Range: numeric.PerTensor(0.7, 0), Type: t}
		m.add(fmt.Sprintf("narrow_quantize_%s", t), m.layer(graph.Quantize, by, m.tensor(real, numeric.Range{}, 3, 17)), Tolerance{})
		by.Type = numeric.F32
		m.add(fmt.Sprintf("narrow_dequantize_%s", t), m.layer(graph.Dequantize, by, x(3, 17)), Tolerance{Real: 1e-7})
		m.blocks(t, real)
	}
	for _, types := range [][2]numeric.DataType{
		{numeric.F32, numeric.I32}, {numeric.I64, numeric.U64}, {numeric.U16, numeric.F16}, {numeric.U8, numeric.I8}, {numeric.I8, numeric.Bool}, {numeric.I4, numeric.U4}, {numeric.U4, numeric.F4E2M1}, {numeric.U8, numeric.F8E8M0},
	} {
		l := m.layer(graph.BitCast, graph.BitCastAttrs{To: types[1]}, m.tensor(types[0], numeric.Range{}, 3, 11))
		m.add(fmt.Sprintf("bitcast_%s_%s", types[0], types[1]), l, Tolerance{})
	}
	for i, t := range []numeric.DataType{numeric.I8, numeric.U8, numeric.I16} {
		m.blocks(t, []numeric.DataType{numeric.F32, numeric.F16}[i%2])
	}
}

// blocks have a scale for each 4 elements of axis 1, of which the last block has fewer.
func (m *maker) blocks(t, real numeric.DataType) {
	const extent, block = 9, 4
	scales := []int{2, (extent + block - 1) / block, 3}
	a := graph.QuantAttrs{Range: numeric.Range{Axis: 1}, Block: block, Type: t}
	x := m.tensor(real, numeric.Range{}, 2, extent, 3)
	m.add(fmt.Sprintf("blocks_quantize_%s", t), m.layer(graph.Quantize, a, x, m.parameters(real, scales...)), Tolerance{})
	a.Type = real
	l := m.layer(graph.Dequantize, a, m.tensor(t, numeric.Range{}, 2, extent, 3), m.parameters(real, scales...), m.zeros(t, scales...))
	m.add(fmt.Sprintf("blocks_dequantize_%s", t), l, Tolerance{Real: 1e-7})
}

// zeros returns constant zero points: 1 for integers, 0 for floats.
func (m *maker) zeros(t numeric.DataType, dims ...int) *graph.Tensor {
	c := m.constant(t, numeric.Range{}, 1, dims...)
	zero := byte(1)
	switch t {
	case numeric.U4, numeric.I4, numeric.U2, numeric.I2, numeric.I8, numeric.U8, numeric.I16:
	default:
		zero = 0
	}
	for i := range c.Weights {
		if c.Weights[i] = 0; i%t.Size() == 0 {
			c.Weights[i] = zero
		}
	}
	return c
}
