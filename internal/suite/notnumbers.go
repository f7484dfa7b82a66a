package suite

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
)

// Comparing is a layer that only compares real numbers, to be given some that are none.
type Comparing struct{ Case }

// ComparingLayers returns the layers of the table that only compare real numbers, and more: maxima and minima of windows, along
// axes and of two tensors, their places, and clamps.
func ComparingLayers() []Comparing {
	m := &maker{rnd: rand.New(rand.NewPCG(8, 8))}
	m.comparing()
	var list []Comparing
	for _, c := range append(m.cases, Layers()...) {
		if compares(c.Layer) {
			c.Tolerance = Tolerance{}
			list = append(list, Comparing{c})
		}
	}
	return list
}

// comparing are layers on either side of where kernels change their ways: rows shorter than a vector and longer than a block,
// tiles that are not whole, windows of one tap and of all of the input.
func (m *maker) comparing() {
	relu, clamp := elementwise.Unary(elementwise.Relu), elementwise.Unary(elementwise.Clamp, -0.5, 0.75)
	chain := elementwise.Binary(elementwise.Max).Then(elementwise.Binary(elementwise.Min), 0).Then(relu, 0)
	for _, t := range []numeric.DataType{numeric.F32, numeric.F16} {
		for _, dims := range [][]int{{1, 1, 3, 7}, {2, 17, 9, 11}, {1, 33, 16, 16}} {
			x := func() *graph.Tensor { return m.tensor(t, numeric.Range{}, dims...) }
			name := func(op string) string { return fmt.Sprintf("comparing_%s_%s_%v", op, t, dims) }
			for i, p := range []elementwise.Program{relu, clamp, elementwise.Binary(elementwise.Max), elementwise.Binary(elementwise.Min), chain} {
				in := make([]*graph.Tensor, p.Args)
				for a := range in {
					in[a] = x()
				}
				m.add(name(fmt.Sprintf("program%d", i)), m.layer(graph.Pointwise, graph.Elementwise{Program: p}, in...), Tolerance{})
			}
			for i, a := range []graph.PoolAttrs{
				{Kernel: []int{1, 1}}, {Kernel: []int{2, 2}, Strides: []int{2, 2}}, {Kernel: []int{3, 3}, Pads: []int{1, 1, 1, 1}},
				{Kernel: []int{3, 5}, Strides: []int{1, 2}, Dilations: []int{1, 1}, Pads: []int{2, 2, 2, 2}}, {Kernel: dims[2:]},
			} {
				m.add(name(fmt.Sprintf("pool%d", i)), m.layer(graph.MaxPool, a, x()), Tolerance{})
			}
			for _, axes := range [][]int{{1}, {2, 3}, {0, 1, 2, 3}} {
				for _, op := range []*graph.Op{graph.ReduceMax, graph.ReduceMin} {
					m.add(name(fmt.Sprintf("%s%v", op.Name, axes)), m.layer(op, graph.ReduceAttrs{Axes: axes}, x()), Tolerance{})
				}
			}
		}
	}
	wide := m.tensor(numeric.F32, numeric.Range{}, 1, 40, 30, 41) // more pixels than a window of one call has
	m.add("comparing_global_f32", m.layer(graph.MaxPool, graph.PoolAttrs{Kernel: []int{30, 41}}, wide), Tolerance{})
}

// compares reports whether a layer of real numbers only compares them.
func compares(l *graph.Layer) bool {
	if !slices.Contains([]*graph.Op{graph.MaxPool, graph.ReduceMax, graph.ReduceMin, graph.ArgMax, graph.ArgMin, graph.Pointwise}, l.Op) {
		return false
	}
	for _, t := range l.Inputs {
		if t == nil || t.Type != numeric.F32 && t.Type != numeric.F16 {
			return false
		}
	}
	y := l.Outputs[0].Type
	if y != numeric.F32 && y != numeric.F16 && y != numeric.I64 {
		return false
	}
	programs := []elementwise.Program{l.Epilogue}
	if e, ok := l.Attrs.(graph.Elementwise); ok {
		programs = append(programs, e.Program)
	}
	for _, p := range programs {
		for _, in := range p.Code {
			if !slices.Contains([]elementwise.Op{elementwise.Relu, elementwise.Clamp, elementwise.Max, elementwise.Min}, in.Op) {
				return false
			}
		}
	}
	return true
}

// Reference draws inputs, a few of which are NaN or infinite, and evaluates the layer.
func (c Comparing) Reference(rnd *rand.Rand) (Reference, error) {
	r, err := NewReference(c.Layer, rnd)
	if err != nil {
		return r, err
	}
	odd := []float32{float32(math.NaN()), math.Float32frombits(0xffc00000), float32(math.Inf(1)), float32(math.Inf(-1))}
	for i, v := range r.In {
		if c.Layer.Inputs[i].IsConst() {
			continue
		}
		for j := range v.Len() {
			if rnd.IntN(12) > 0 {
				continue
			}
			if x := odd[rnd.IntN(len(odd))]; v.Type == numeric.F32 {
				v.F32()[j] = x
			} else {
				numeric.View[uint16](v.Data)[j] = numeric.F32ToF16(x)
			}
		}
	}
	return r, c.Layer.Eval(r.In, r.Out)
}
