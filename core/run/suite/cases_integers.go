package suite

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
)

var integerTypes = []graph.DataType{
	graph.I8, graph.U8, graph.I16, graph.U16, graph.I32, graph.U32, graph.I64, graph.U64,
}

// integerPointwise are element-wise layers of integers: small ones in, and constants of any bits.
func (m *maker) integerPointwise() {
	for i, t := range integerTypes {
		add := func(name string, p graph.Program, in ...*graph.Tensor) {
			m.add(fmt.Sprintf("integers_%s_%s", name, t), m.layer(graph.Pointwise, graph.Elementwise{Program: p}, in...), Tolerance{})
		}
		x := func(dims ...int) *graph.Tensor { return m.tensor(t, graph.Range{}, dims...) }
		any := func(dims ...int) *graph.Tensor { return m.constant(t, graph.Range{}, 1, dims...) }
		binary := []graph.EltOp{
			graph.EltAdd, graph.EltSub, graph.EltMul, graph.EltDiv, graph.EltMod, graph.EltMax, graph.EltMin, graph.EltPow,
			graph.EltPRelu, graph.EltEqual, graph.EltLess, graph.EltLessEqual, graph.EltGreater, graph.EltGreaterEqual,
			graph.EltAnd, graph.EltOr, graph.EltXor,
		}
		for j, op := range binary {
			dims := [][]int{{2, 3, 5}, {2, 1, 1}, {5}, {1, 3, 1}}[(i+j)%4]
			add(op.String(), graph.Binary(op), any(2, 3, 5), x(dims...))
			add(op.String()+"_by_constant", graph.Binary(op), x(dims...), any(2, 3, 5))
		}
		for _, op := range []graph.EltOp{graph.EltNeg, graph.EltAbs, graph.EltSign, graph.EltRelu, graph.EltNot} {
			add(op.String(), graph.Unary(op).Then(graph.Binary(graph.EltMul), 0), any(300), x(300))
		}
		add("clamp", graph.Unary(graph.EltClamp, 2, 5), x(7, 1))
		add("select", graph.Program{Args: 3, Code: []graph.Instr{{Op: graph.EltSelect, Arg: [3]int{0, 1, 2}}}},
			m.tensor(graph.Bool, graph.Range{}, 4, 1), x(1, 9), any(4, 9))
		add("mask", graph.Binary(graph.EltLess).Then(graph.Unary(graph.EltNot), 0), x(1, 17), x(17, 1))
		for _, op := range []*graph.Op{graph.BitwiseAnd, graph.BitwiseOr, graph.BitwiseXor} {
			m.add(fmt.Sprintf("%s_%s", op.Name, t), m.layer(op, nil, any(3, 7), x(3, 1)), Tolerance{})
		}
		m.add(fmt.Sprintf("BitwiseNot_%s", t), m.layer(graph.BitwiseNot, nil, x(11)), Tolerance{})
		for _, left := range []bool{true, false} {
			m.add(fmt.Sprintf("BitShift_%s_%v", t, left), m.layer(graph.BitShift, graph.ShiftAttrs{Left: left}, any(3, 7), x(7)), Tolerance{})
		}
	}
}

// casts are conversions among all types but the widest reals.
func (m *maker) casts() {
	all := append([]graph.DataType{graph.F32, graph.F16, graph.Bool}, integerTypes...)
	for _, from := range all {
		for _, to := range all {
			l := m.layer(graph.Cast, graph.CastAttrs{To: to}, m.tensor(from, graph.Range{}, 3, 7, 5))
			m.add(fmt.Sprintf("cast_%s_%s", from, to), l, Tolerance{})
		}
	}
}
