package suite

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
)

var integerTypes = []numeric.DataType{
	numeric.I8, numeric.U8, numeric.I16, numeric.U16, numeric.I32, numeric.U32, numeric.I64, numeric.U64,
}

// integerPointwise are element-wise layers of integers: small ones in, and constants of any bits.
func (m *maker) integerPointwise() {
	for i, t := range integerTypes {
		add := func(name string, p elementwise.Program, in ...*graph.Tensor) {
			m.add(fmt.Sprintf("integers_%s_%s", name, t), m.layer(graph.Pointwise, graph.Elementwise{Program: p}, in...), Tolerance{})
		}
		x := func(dims ...int) *graph.Tensor { return m.tensor(t, numeric.Range{}, dims...) }
		any := func(dims ...int) *graph.Tensor { return m.constant(t, numeric.Range{}, 1, dims...) }
		binary := []elementwise.Op{
			elementwise.Add, elementwise.Sub, elementwise.Mul, elementwise.Div, elementwise.Mod, elementwise.Max, elementwise.Min, elementwise.Pow,
			elementwise.PRelu, elementwise.Equal, elementwise.Less, elementwise.LessEqual, elementwise.Greater, elementwise.GreaterEqual,
			elementwise.And, elementwise.Or, elementwise.Xor,
		}
		for j, op := range binary {
			dims := [][]int{{2, 3, 5}, {2, 1, 1}, {5}, {1, 3, 1}}[(i+j)%4]
			add(op.String(), elementwise.Binary(op), any(2, 3, 5), x(dims...))
			add(op.String()+"_by_constant", elementwise.Binary(op), x(dims...), any(2, 3, 5))
		}
		for _, op := range []elementwise.Op{elementwise.Neg, elementwise.Abs, elementwise.Sign, elementwise.Relu, elementwise.Not} {
			add(op.String(), elementwise.Unary(op).Then(elementwise.Binary(elementwise.Mul), 0), any(300), x(300))
		}
		add("clamp", elementwise.Unary(elementwise.Clamp, 2, 5), x(7, 1))
		add("select", elementwise.Program{Args: 3, Code: []elementwise.Instr{{Op: elementwise.Select, Arg: [3]int{0, 1, 2}}}},
			m.tensor(numeric.Bool, numeric.Range{}, 4, 1), x(1, 9), any(4, 9))
		if t == numeric.I64 || t == numeric.U8 { // nothing is broadcast: any input may be where the output is
			add("select_all", elementwise.Program{Args: 3, Code: []elementwise.Instr{{Op: elementwise.Select, Arg: [3]int{0, 1, 2}}}}, x(700), x(700), x(700))
			add("prelu_all", elementwise.Binary(elementwise.PRelu), x(700), x(700))
			add("divided_all", elementwise.Binary(elementwise.Div), x(700), x(700))
		}
		add("mask", elementwise.Binary(elementwise.Less).Then(elementwise.Unary(elementwise.Not), 0), x(1, 17), x(17, 1))
		for _, op := range []*graph.Op{graph.BitwiseAnd, graph.BitwiseOr, graph.BitwiseXor} {
			m.add(fmt.Sprintf("%s_%s", op.Name, t), m.layer(op, nil, any(3, 7), x(3, 1)), Tolerance{})
		}
		m.add(fmt.Sprintf("BitwiseNot_%s", t), m.layer(graph.BitwiseNot, nil, x(11)), Tolerance{})
		for _, left := range []bool{true, false} {
			m.add(fmt.Sprintf("BitShift_%s_%v", t, left), m.layer(graph.BitShift, graph.ShiftAttrs{Left: left}, any(3, 7), x(7)), Tolerance{})
		}
	}
}

// signedShifts are by any numbers, of which many are negative or more than there are bits; and channels in the other order.
func (m *maker) signedShifts() {
	for _, t := range []numeric.DataType{numeric.I8, numeric.I64} {
		for _, left := range []bool{true, false} {
			x, by := m.constant(t, numeric.Range{}, 1, 3, 7), m.constant(t, numeric.Range{}, 1, 3, 7)
			numeric.View[int8](by.Weights)[0] = 7
			m.add(fmt.Sprintf("BitShift_constants_%s_%v", t, left), m.layer(graph.BitShift, graph.ShiftAttrs{Left: left}, x, by), Tolerance{})
		}
	}
	m.add("space_to_depth_crd", m.layer(graph.SpaceToDepth, graph.BlockAttrs{Size: 3, CRD: true}, m.tensor(numeric.F32, numeric.Range{}, 1, 2, 6, 9)), Tolerance{})
}

// casts are conversions among all types but the widest reals.
func (m *maker) casts() {
	all := append([]numeric.DataType{numeric.F32, numeric.F16, numeric.Bool}, integerTypes...)
	for _, from := range all {
		for _, to := range all {
			l := m.layer(graph.Cast, graph.CastAttrs{To: to}, m.tensor(from, numeric.Range{}, 3, 7, 5))
			m.add(fmt.Sprintf("cast_%s_%s", from, to), l, Tolerance{})
		}
	}
}

// castPrograms are conversions to real numbers with which something is computed.
func (m *maker) castPrograms() {
	for _, from := range []numeric.DataType{numeric.I64, numeric.U8, numeric.Bool} {
		for _, dims := range [][]int{{1}, {3, 7, 5}, {2, 8191}} {
			l := m.layer(graph.Cast, graph.CastAttrs{To: numeric.F32}, m.tensor(from, numeric.Range{}, dims...))
			l.Fuse(elementwise.Binary(elementwise.Mul), 0, m.tensor(numeric.F32, numeric.Range{}, dims[len(dims)-1]))
			m.add(fmt.Sprintf("cast_program_%s_%v", from, dims), l, Tolerance{Real: 1e-6})
		}
	}
}

// casts8 are conversions from and to 8-bit floats, of numbers about every step of their ranges.
func (m *maker) casts8() {
	small := []numeric.DataType{numeric.F8E4M3FN, numeric.F8E4M3FNUZ, numeric.F8E5M2, numeric.F8E5M2FNUZ}
	for _, t := range small {
		for _, other := range []numeric.DataType{numeric.F32, numeric.F16, numeric.I32, numeric.Bool} {
			l := m.layer(graph.Cast, graph.CastAttrs{To: other}, m.tensor(t, numeric.Range{}, 300))
			m.add(fmt.Sprintf("cast_%s_%s", t, other), l, Tolerance{})
			for _, overflow := range []bool{false, true} {
				a := graph.CastAttrs{To: t, Overflow: overflow}
				m.add(fmt.Sprintf("cast_%s_%s_%v", other, t, overflow), m.layer(graph.Cast, a, m.tensor(other, numeric.Range{}, 300)), Tolerance{})
			}
		}
		for _, to := range small {
			l := m.layer(graph.Cast, graph.CastAttrs{To: to}, m.tensor(t, numeric.Range{}, 300))
			m.add(fmt.Sprintf("cast_%s_%s", t, to), l, Tolerance{})
		}
	}
}

// powers are those of operands of two kinds.
func (m *maker) powers() {
	p := graph.Elementwise{Program: elementwise.Binary(elementwise.Pow)}
	for i, t := range integerTypes {
		real := []numeric.DataType{numeric.F32, numeric.F16}[i%2]
		l := m.layer(graph.Pointwise, p, m.tensor(real, numeric.Range{}, 2, 3, 5), m.small(t, 5))
		m.add(fmt.Sprintf("power_%s_%s", real, t), l, Tolerance{Real: 1e-5})
		l = m.layer(graph.Pointwise, p, m.small(t, 3, 1), m.wholes(real, 2, 3, 5))
		m.add(fmt.Sprintf("power_%s_%s", t, real), l, Tolerance{})
	}
}

// small returns a constant of integers from 1 to 3.
func (m *maker) small(t numeric.DataType, dims ...int) *graph.Tensor {
	c := m.constant(t, numeric.Range{}, 1, dims...)
	for i := range c.Weights {
		if c.Weights[i] = 0; i%t.Size() == 0 {
			c.Weights[i] = byte(1 + m.rnd.IntN(3))
		}
	}
	return c
}

// wholes returns a constant of whole numbers from 0 to 4 as reals.
func (m *maker) wholes(t numeric.DataType, dims ...int) *graph.Tensor {
	c := m.constant(t, numeric.Range{}, 1, dims...)
	v, _ := c.Const()
	list := make([]float32, v.Len())
	for i := range list {
		list[i] = float32(m.rnd.IntN(5))
	}
	numeric.FromReal(v, list, numeric.Range{})
	return c
}
