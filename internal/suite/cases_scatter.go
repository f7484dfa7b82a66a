package suite

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// scatters bring updates to places that are drawn, several of them to one, and gather by tuples.
func (m *maker) scatters() {
	types := append([]numeric.DataType{numeric.F32, numeric.F16, numeric.Bool}, integerTypes...)
	for i, t := range types {
		x := func(dims ...int) *graph.Tensor { return m.tensor(t, numeric.Range{}, dims...) }
		index := []numeric.DataType{numeric.I64, numeric.I32}[i%2]
		places := func(dims ...int) *graph.Tensor { return m.tensor(index, numeric.Range{}, dims...) }
		for j, reduction := range []string{"none", "add", "mul", "max", "min"} {
			if t == numeric.Bool && reduction != "none" {
				continue
			}
			add := func(op *graph.Op, axis int, in ...*graph.Tensor) {
				a := graph.ScatterAttrs{Axis: axis, Reduction: reduction}
				m.add(fmt.Sprintf("%s_%s_%v_%v", op.Name, t, a, len(in[1].Weights) > 0), m.layer(op, a, in...), Tolerance{Real: 1e-5})
			}
			switch axis := (i + j) % 3; axis {
			case 0:
				add(graph.ScatterElements, 0, x(7, 4, 5), places(9, 3, 5), x(9, 3, 5))
				add(graph.ScatterND, 0, x(7, 9), m.integers2(7, 40, 1), x(40, 9))
			case 1:
				add(graph.ScatterElements, 1, x(3, 8, 5), places(3, 20, 2), x(3, 20, 2))
				add(graph.ScatterND, 0, x(7, 8, 16), places(2, 30, 1), x(2, 30, 8, 16))
			case 2:
				add(graph.ScatterElements, -1, m.constant(t, numeric.Range{}, 1, 3, 7), places(2, 300), x(2, 300))
				add(graph.ScatterND, 0, m.constant(t, numeric.Range{}, 1, 8, 7), places(300, 2), x(300))
			}
		}
		m.add(fmt.Sprintf("gather_nd_%s", t), m.layer(graph.GatherND, graph.GatherNDAttrs{}, x(7, 8, 4), places(3, 5, 2)), Tolerance{})
		m.add(fmt.Sprintf("gather_nd_batch_%s", t), m.layer(graph.GatherND, graph.GatherNDAttrs{BatchDims: 1}, x(3, 7, 7, 3), places(3, 5, 2)), Tolerance{})
	}
	r := numeric.PerTensor(0.1, 3)
	l := m.layer(graph.ScatterND, graph.ScatterAttrs{Reduction: "none"}, m.tensor(numeric.I8, r, 7, 16), m.tensor(numeric.I64, numeric.Range{}, 3, 1), m.tensor(numeric.I8, r, 3, 16))
	m.add("scatter_quantised", l, Tolerance{})
	l = m.layer(graph.ScatterND, graph.ScatterAttrs{Reduction: "add"}, m.tensor(numeric.F32, numeric.Range{}, 7, 3), m.tensor(numeric.I64, numeric.Range{}, 0, 1), m.tensor(numeric.F32, numeric.Range{}, 0, 3))
	m.add("scatter_nothing", l, Tolerance{})
}

// integers2 returns a constant matrix of numbers below n.
func (m *maker) integers2(n, rows, columns int) *graph.Tensor {
	list := make([]int64, rows*columns)
	for i := range list {
		list[i] = int64(m.rnd.IntN(n))
	}
	t := m.integers(list...)
	t.Dims, t.Value = symbolic.Shape(rows, columns), nil
	return t
}

// marks are layers that mark one place along an axis, and triangles.
func (m *maker) marks() {
	for i, t := range append([]numeric.DataType{numeric.F32, numeric.F16}, integerTypes...) {
		x := func(dims ...int) *graph.Tensor { return m.tensor(t, numeric.Range{}, dims...) }
		values := m.constant(numeric.I64, numeric.Range{}, 1, 2)
		if i%2 == 0 {
			values = m.tensor(t, numeric.Range{}, 2)
		}
		for _, axis := range []int{0, 1, -1} {
			m.add(fmt.Sprintf("onehot_%s_%d", t, axis), m.layer(graph.OneHot, graph.OneHotAttrs{Axis: axis, Depth: 5}, x(3, 17), values), Tolerance{})
		}
	}
	for _, t := range []numeric.DataType{numeric.F32, numeric.F16} {
		for axis, dims := range [][]int{{3, 1000}, {2, 31, 5}, {2, 3, 33}} {
			l := m.layer(graph.Hardmax, graph.HardmaxAttrs{Axis: axis}, m.tensor(t, numeric.Range{}, dims...))
			m.add(fmt.Sprintf("hardmax_%s_%v", t, dims), l, Tolerance{})
		}
		m.add("hardmax_flat_"+t.String(), m.layer(graph.Hardmax, graph.HardmaxAttrs{Axis: 1, Flatten: true}, m.tensor(t, numeric.Range{}, 2, 3, 33)), Tolerance{})
	}
	for _, upper := range []bool{true, false} {
		l := m.layer(graph.Trilu, graph.TriluAttrs{Upper: upper}, m.tensor(numeric.F32, numeric.Range{}, 2, 5, 7), m.tensor(numeric.I64, numeric.Range{}))
		m.add(fmt.Sprintf("trilu_given_%v", upper), l, Tolerance{})
	}
}
