package suite

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// rotations turn heads of odd sizes, whole and in part, by angles of their own, of all items, or of a table.
func (m *maker) rotations() {
	for _, t := range []numeric.DataType{numeric.F32, numeric.F16} {
		add := func(a graph.RotaryAttrs, in ...*graph.Tensor) {
			l := m.layer(graph.Rotary, a, in...)
			m.add(fmt.Sprintf("rotary_%s_%v_%v_%d_%v", t, a, in[0].Dims, len(in), in[1].IsConst()), l, Tolerance{Real: 1e-6})
		}
		x := func(dims ...int) *graph.Tensor { return m.tensor(t, numeric.Range{}, dims...) }
		for _, interleaved := range []bool{false, true} {
			a := graph.RotaryAttrs{Interleaved: interleaved}
			add(a, x(2, 3, 5, 2), x(2, 5, 1), x(2, 5, 1))
			add(a, x(1, 2, 7, 64), x(1, 7, 32), x(1, 7, 32))
			add(a, x(2, 4, 1, 20), m.constant(numeric.F32, numeric.Range{}, 1, 33, 10), m.constant(numeric.F32, numeric.Range{}, 1, 33, 10), m.tensor(numeric.I64, numeric.Range{}, 2, 1))
			if a.Apart = interleaved; a.Apart {
				add(a, x(2, 3, 5, 2), x(2, 5, 1), x(2, 5, 1))
				add(a, x(1, 2, 7, 64), x(1, 7, 32), x(1, 7, 32))
				add(graph.RotaryAttrs{Size: 8, First: 12, Interleaved: true, Apart: true}, x(2, 3, 4, 20), x(2, 4, 4), x(2, 4, 4))
				add(graph.RotaryAttrs{Heads: 3, Size: 10, Interleaved: true, Apart: true}, x(2, 4, 33), x(9, 5), x(9, 5), m.tensor(numeric.I64, numeric.Range{}, 1, 4))
			}
			a.Heads, a.Apart = 3, false
			add(a, x(2, 4, 42), x(1, 4, 7), x(1, 4, 7))
			add(a, x(2, 4, 42), m.constant(numeric.F32, numeric.Range{}, 1, 1, 4, 7), m.constant(numeric.F32, numeric.Range{}, 1, 1, 4, 7))
			a.Size, a.First = 4, 7
			add(a, x(2, 4, 42), x(1, 4, 2), x(1, 4, 2))
			a.Size, a.First = 10, 0
			add(a, x(2, 4, 33), x(9, 5), x(9, 5), m.tensor(numeric.I64, numeric.Range{}, 1, 4))
		}
	}
}

// linearAttentions have states that grow, fade and are corrected.
func (m *maker) linearAttentions() {
	for _, t := range []numeric.DataType{numeric.F32, numeric.F16} {
		x := func(dims ...int) *graph.Tensor { return m.tensor(t, numeric.Range{}, dims...) }
		q, k, v, past := x(2, 5, 24), x(2, 5, 12), x(2, 5, 10), x(2, 2, 6, 5)
		for _, a := range []graph.LinearAttentionAttrs{{}, {Gated: true}, {Delta: true, Scale: 0.3}} {
			a.Heads, a.KVHeads = 4, 2
			in := []*graph.Tensor{q, k, v, past}
			if a.Gated {
				in = append(in, m.constant(numeric.F32, numeric.Range{}, 4, 2, 5, 12))
			}
			if a.Delta {
				in = append(in, nil, m.constant(numeric.F32, numeric.Range{}, 20, 2, 5, 1))
			}
			m.add(fmt.Sprintf("linear_attention_%s_%v", t, a), m.layer(graph.LinearAttention, a, in...), Tolerance{Real: 1e-5})
		}
	}
}

// tensorScatters write over a part of each item, from constant places and given ones.
func (m *maker) tensorScatters() {
	for _, t := range []numeric.DataType{numeric.F32, numeric.F16, numeric.U8} {
		x := func(dims ...int) *graph.Tensor { return m.tensor(t, numeric.Range{}, dims...) }
		for _, circular := range []bool{false, true} {
			a := graph.TensorScatterAttrs{Axis: 2, Circular: circular}
			m.add(fmt.Sprintf("tensor_scatter_%s_%v", t, a), m.layer(graph.TensorScatter, a, x(2, 3, 9, 8), x(2, 3, 1, 8)), Tolerance{})
			m.add(fmt.Sprintf("tensor_scatter_%s_%v_given", t, a), m.layer(graph.TensorScatter, a, x(2, 3, 15, 8), x(2, 3, 4, 8), m.tensor(numeric.I64, numeric.Range{}, 2)), Tolerance{})
			a.Axis = 1
			m.add(fmt.Sprintf("tensor_scatter_%s_%v_known", t, a), m.layer(graph.TensorScatter, a, x(3, 5, 7), x(3, 2, 7), m.integers(3, 0, 1)), Tolerance{})
		}
	}
}
