package suite

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// integers returns a constant list.
func (m *maker) integers(list ...int64) *graph.Tensor {
	v := numeric.Values(numeric.I64, list, len(list))
	t := &graph.Tensor{Name: "list", Type: numeric.I64, Dims: symbolic.Shape(len(list)), Weights: v.Data}
	for _, n := range list {
		t.Value = append(t.Value, symbolic.Const(int(n)))
	}
	return t
}

// moreMoves are the ops beside those of moves whose elements only change places, views among them.
func (m *maker) moreMoves() {
	for _, t := range []numeric.DataType{numeric.F32, numeric.F16, numeric.I8, numeric.I64} {
		r := numeric.Range{}
		if t == numeric.I8 {
			r = numeric.PerTensor(0.1, 3)
		}
		x := func(dims ...int) *graph.Tensor { return m.tensor(t, r, dims...) }
		add := func(name string, op *graph.Op, attrs any, in ...*graph.Tensor) {
			m.add(fmt.Sprintf("%s_%s", name, t), m.layer(op, attrs, in...), Tolerance{})
		}
		add("reshape", graph.Reshape, graph.ReshapeAttrs{}, x(2, 17, 3, 5), m.integers(2, -1))
		add("flatten", graph.Flatten, graph.FlattenAttrs{Axis: 1}, x(2, 16, 3, 4))
		add("squeeze", graph.Squeeze, graph.SqueezeAttrs{Axes: []int{2}}, x(2, 3, 1, 5))
		add("unsqueeze", graph.Unsqueeze, graph.UnsqueezeAttrs{Axes: []int{0}}, x(7))
		add("identity", graph.Identity, nil, x(1))
		add("expand", graph.Expand, nil, x(3, 1, 4), m.integers(2, 3, 5, 4))
		add("expand_constant", graph.Expand, nil, m.constant(t, r, 1, 3, 1, 4), m.integers(2, 3, 5, 4))
		add("tile", graph.Tile, graph.TileAttrs{Repeats: []int{1, 2, 3}}, x(2, 3, 4))
		add("tile_all", graph.Tile, graph.TileAttrs{Repeats: []int{2, 2, 3}}, x(2, 3, 5))
		add("depth_to_space", graph.DepthToSpace, graph.BlockAttrs{Size: 2}, x(2, 8, 3, 5))
		add("depth_to_space_crd", graph.DepthToSpace, graph.BlockAttrs{Size: 3, CRD: true}, x(1, 9, 2, 4))
		add("space_to_depth", graph.SpaceToDepth, graph.BlockAttrs{Size: 2}, x(2, 3, 4, 6))
		add("gather_rows", graph.Gather, graph.GatherAttrs{}, x(5, 8), m.integers(4, 0, -2, 4))
		add("gather_columns", graph.Gather, graph.GatherAttrs{Axis: 2}, x(2, 3, 7), m.integers(6, 1))
		add("gather_dynamic", graph.Gather, graph.GatherAttrs{Axis: 1}, x(2, 7, 3), m.tensor(numeric.I64, numeric.Range{}, 2, 3))
		for _, mode := range []string{"reflect", "edge", "wrap"} {
			add("pad_"+mode, graph.Pad, graph.PadAttrs{Mode: mode, Pads: []int{0, 1, 2, 0, 0, 1}}, x(2, 4, 6))
		}
		for _, axis := range []int{0, 1, 2, -1} {
			add(fmt.Sprintf("concat_axis%d", axis), graph.Concat, graph.ConcatAttrs{Axis: axis}, x(2, 8, 3, 4), x(2, 8, 3, 4))
		}
		for axis, sizes := range [][]int{{1, 3}, {16, 17, 3}, {2, 2}} {
			dims := []int{4, 36, 4}
			m.add(fmt.Sprintf("split_axis%d_%s", axis, t), m.split(graph.SplitAttrs{Axis: axis, Sizes: sizes}, x(dims...)), Tolerance{})
		}
	}
}

// splits are of channels in whole blocks.
func (m *maker) splits() {
	for _, t := range []numeric.DataType{numeric.F32, numeric.F16} {
		x := m.tensor(t, numeric.Range{}, 2, 53, 3, 4)
		m.add(fmt.Sprintf("split_blocks_%s", t), m.split(graph.SplitAttrs{Axis: 1, Sizes: []int{32, 16, 5}}, x), Tolerance{})
	}
}

// split returns a Split layer of as many outputs as it has sizes.
func (m *maker) split(a graph.SplitAttrs, x *graph.Tensor) *graph.Layer {
	l := &graph.Layer{Name: "Split", Op: graph.Split, Attrs: a, From: []string{"Split"}}
	l.AddInput(x)
	for i := range a.Sizes {
		l.Outputs = append(l.Outputs, &graph.Tensor{Name: fmt.Sprintf("y%d", i), Producer: l})
	}
	if err := l.Infer(); err != nil {
		panic(fmt.Sprintf("runtest: %v", err))
	}
	return l
}

// reductions are all reductions over rows, columns and everything, and softmax over rows and columns of all lengths.
func (m *maker) reductions() {
	ops := []*graph.Op{
		graph.ReduceMean, graph.ReduceSum, graph.ReduceMax, graph.ReduceMin, graph.ReduceProd, graph.ReduceL1, graph.ReduceL2,
		graph.ReduceSumSquare,
	}
	for i, op := range ops {
		for _, t := range []numeric.DataType{numeric.F32, numeric.F16, numeric.I8} {
			r, tol := numeric.Range{}, Tolerance{Real: 1e-5}
			if t == numeric.I8 {
				r = numeric.PerTensor(0.02, int32(i))
			}
			for _, a := range []graph.ReduceAttrs{{Axes: []int{-1}, KeepDims: true}, {Axes: []int{1}}, {Axes: []int{1, 2}}, {}} {
				l := m.layer(op, a, m.tensor(t, r, 3, 5, 7))
				m.add(fmt.Sprintf("%s_%s_%v_%v", op.Name, t, a.Axes, a.KeepDims), l, tol)
			}
		}
	}
	for _, op := range ops[:3] {
		l := m.layer(op, graph.ReduceAttrs{Axes: []int{2, 3}}, m.tensor(numeric.F32, numeric.Range{}, 2, 36, 13, 11))
		m.add(op.Name+"_pixels", l, Tolerance{Real: 1e-5})
	}
	for _, dims := range [][]int{{2, 5, 5}, {1, 9000}, {2, 3, 5, 7}} {
		for _, a := range []graph.SoftmaxAttrs{{Axis: 1}, {Axis: -1}, {Axis: -1, Log: true}, {Axis: 0}} {
			m.add(fmt.Sprintf("softmax_%v_%v", dims, a), m.layer(graph.Softmax, a, m.tensor(numeric.F32, numeric.Range{}, dims...)), Tolerance{Real: 1e-5})
		}
	}
}

// resizes are resamplings by all that decides on what coordinates are.
func (m *maker) resizes() {
	for _, t := range []numeric.DataType{numeric.F32, numeric.F16, numeric.I8} {
		r := numeric.Range{}
		if t == numeric.I8 {
			r = numeric.PerTensor(0.1, 3)
		}
		for i, a := range []graph.ResizeAttrs{
			{Mode: "nearest", Scales: []float32{1, 1, 2, 2}, Coordinates: "asymmetric", Nearest: "floor"},
			{Mode: "nearest", Sizes: []int{2, 17, 4, 13}, Coordinates: "half_pixel", Nearest: "round_prefer_floor"},
			{Mode: "linear", Sizes: []int{2, 17, 10, 12}, Coordinates: "half_pixel", Nearest: "floor"},
			{Mode: "linear", Scales: []float32{1, 1, 0.6, 3}, Coordinates: "align_corners", Nearest: "floor"},
			{Mode: "cubic", Scales: []float32{1, 1, 2, 1.5}, Coordinates: "pytorch_half_pixel", Nearest: "floor", CubicA: -0.75},
			{Mode: "nearest", Scales: []float32{1, 1, 0.6, 2.5}, Coordinates: "asymmetric", Nearest: graph.ByDirection},
		} {
			l := m.layer(graph.Resize, a, m.tensor(t, r, 2, 17, 5, 6))
			if t == numeric.I8 {
				l.Outputs[0].Type, l.Outputs[0].Range = t, r
			}
			m.add(fmt.Sprintf("resize_%s_%d", t, i), l, Tolerance{Real: 1e-5, Step: 1})
		}
	}
	for i, c := range []struct {
		x     []int
		sizes []int
	}{
		{[]int{2, 3, 4}, []int{2, 3, 9}},          // one axis, the last
		{[]int{2, 20, 4, 5}, []int{2, 20, 7, 5}},  // one axis, not the last
		{[]int{1, 4, 5, 3}, []int{1, 8, 10, 3}},   // channels last
		{[]int{1, 18, 70, 3}, []int{1, 18, 1, 1}}, // to one pixel
	} {
		for _, mode := range []string{"nearest", "linear"} {
			a := graph.ResizeAttrs{Mode: mode, Sizes: c.sizes, Coordinates: "half_pixel", Nearest: "round_prefer_floor"}
			m.add(fmt.Sprintf("resize_%s_axes_%d", mode, i), m.layer(graph.Resize, a, m.tensor(numeric.F32, numeric.Range{}, c.x...)), Tolerance{Real: 1e-5})
			l := m.layer(graph.Resize, a, m.tensor(numeric.U8, numeric.PerTensor(0.1, 120), c.x...)) // to another range
			l.Outputs[0].Type, l.Outputs[0].Range = numeric.I8, numeric.PerTensor(0.13, -3)
			m.add(fmt.Sprintf("resize_bytes_%s_axes_%d", mode, i), l, Tolerance{Real: 1e-5, Step: 1})
		}
	}
}

// known are layers whose output follows from shapes and constants.
func (m *maker) known() {
	x := m.tensor(numeric.F32, numeric.Range{}, 2, 3, 5)
	m.add("shape", m.layer(graph.ShapeOf, graph.ShapeAttrs{Start: 1, End: 3}, x), Tolerance{})
	m.add("size", m.layer(graph.SizeOf, nil, x), Tolerance{})
	m.add("eye_like", m.layer(graph.EyeLike, graph.EyeAttrs{Type: numeric.F16, K: -1}, m.tensor(numeric.I32, numeric.Range{}, 5, 4)), Tolerance{})
	m.add("places", m.layer(graph.Places, graph.PlacesAttrs{Most: 9, Count: "n"}, m.integers(6)), Tolerance{})
	m.add("random_uniform", m.layer(graph.RandomUniform, graph.RandomAttrs{Type: numeric.F32, A: -2, B: 3, Seed: 5}, m.integers(2, 3, 5)), Tolerance{})
	m.add("random_normal", m.layer(graph.RandomNormal, graph.RandomAttrs{Type: numeric.F16, A: 1, B: 2, Seed: 6}, m.integers(7, 3)), Tolerance{})
	m.add("constant_of_shape", m.layer(graph.ConstantOfShape, graph.FillAttrs{Type: numeric.I64, Value: []byte{7, 0, 0, 0, 0, 0, 0, 1}}, m.integers(3, 5)), Tolerance{})
	scalar := func(n int64) *graph.Tensor {
		t := m.integers(n)
		t.Dims = nil
		return t
	}
	m.add("sequence", m.layer(graph.Sequence, nil, scalar(3), scalar(-20), scalar(-4)), Tolerance{})
}
