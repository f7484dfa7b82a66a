package suite

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// samples are layers that take their input at places which are inputs, or put it there: grids, regions, windows that are moved,
// and what undoes windows.
func (m *maker) samples() {
	for _, dims := range [][]int{{1, 1}, {5, 3, 3}, {2, 17, 17}, {3, 0, 0}} {
		m.add(fmt.Sprintf("det_%v", dims), m.layer(graph.Det, nil, m.sized(numeric.F32, dims)), Tolerance{Real: 1e-4})
	}
	m.grids()
	m.regions()
	m.unpools()
	m.columns()
	m.counted()
}

// counted are layers whose results are as many as their inputs, which are constants, say.
func (m *maker) counted() {
	bits := m.constant(numeric.U8, numeric.Range{}, 1, 3, 17)
	for i, b := range bits.Weights {
		bits.Weights[i] = b & 3
	}
	m.add("nonzero", m.layer(graph.NonZero, graph.NonZeroAttrs{}, bits), Tolerance{})
	m.add("unique", m.layer(graph.Unique, graph.UniqueAttrs{Flat: true, Sorted: true}, bits), Tolerance{})
	m.add("unique_slices", m.layer(graph.Unique, graph.UniqueAttrs{Axis: 1}, bits), Tolerance{})
	boxes, scores := m.constant(numeric.F32, numeric.Range{}, 1, 2, 9, 4), m.constant(numeric.F32, numeric.Range{}, 1, 2, 3, 9)
	most := m.constant(numeric.I64, numeric.Range{}, 1, 1)
	numeric.View[int64](most.Weights)[0] = 4
	m.add("non_max_suppression", m.layer(graph.NonMaxSuppression, graph.NonMaxSuppressionAttrs{}, boxes, scores, most), Tolerance{})
}

// tuples are layers that count tuples of integers, of which some occur.
func (m *maker) tuples() {
	a := graph.TfIdfAttrs{Shortest: 1, Longest: 3, Skips: 2, Mode: "TFIDF", Starts: []int{0, 2, 6}, Pool: []int{0, 1, 1, 1, 0, 1, 0, 0, 0}, Places: []int{4, 0, 2, 2, 9}, Weights: []float32{1, 2, 0.5, 3, -1}}
	for _, dims := range [][]int{{1}, {17}, {3, 5}, {2, 0}, {0, 3}} {
		x := m.constant(numeric.I64, numeric.Range{}, 1, dims...)
		for i := range x.Weights {
			if x.Weights[i] &= 1; i%8 > 0 {
				x.Weights[i] = 0
			}
		}
		m.add(fmt.Sprintf("tfidf_%v", dims), m.layer(graph.TfIdf, a, x), Tolerance{})
	}
}

// sized returns an input, whose elements are up to 1 if it is large, so that determinants stay in bounds.
func (m *maker) sized(t numeric.DataType, dims []int) *graph.Tensor {
	if dims[len(dims)-1] > 4 {
		return m.constant(t, numeric.Range{}, dims[len(dims)-1], dims...)
	}
	return m.tensor(t, numeric.Range{}, dims...)
}

func (m *maker) grids() {
	i := 0
	for _, s := range []struct{ x, grid []int }{
		{[]int{1, 1, 1, 1}, []int{1, 1, 1, 2}},
		{[]int{2, 3, 5, 7}, []int{2, 6, 9, 2}},
		{[]int{1, 17, 9, 8}, []int{1, 13, 33, 2}},
		{[]int{2, 4, 11}, []int{2, 19, 1}},
		{[]int{1, 3, 4, 5, 6}, []int{1, 3, 5, 4, 3}},
	} {
		for _, mode := range []string{"nearest", "linear", "cubic"} {
			for _, padding := range []string{"zeros", "border", "reflection"} {
				a := graph.GridSampleAttrs{Mode: mode, Padding: padding, AlignCorners: i%2 == 0}
				t, grid := numeric.F32, m.tensor(numeric.F32, numeric.Range{}, s.grid...)
				if i%3 == 1 { // most points inside
					grid = m.constant(numeric.F32, numeric.Range{}, 2, s.grid...)
				}
				if i%4 == 3 {
					t = numeric.F16
				}
				l := m.layer(graph.GridSample, a, m.tensor(t, numeric.Range{}, s.x...), grid)
				m.add(fmt.Sprintf("grid_sample_%s_%v_%s_%s_%v", t, s.x, mode, padding, a.AlignCorners), l, Tolerance{Real: 1e-5})
				i++
			}
		}
	}
}

func (m *maker) regions() {
	items := m.tensor(numeric.I64, numeric.Range{}, 6)
	boxes := m.constant(numeric.F32, numeric.Range{}, 1, 6, 4)
	for i, v := 0, numeric.View[float32](boxes.Weights); i < len(v); i++ { // most of them in order, some outside
		v[i] = 4*v[i] + float32(i%4/2*5)
	}
	for _, t := range []numeric.DataType{numeric.F32, numeric.F16} {
		for _, largest := range []bool{false, true} {
			for _, a := range []graph.RoiAlignAttrs{
				{Height: 1, Width: 1, Scale: 1, HalfPixel: true},
				{Height: 3, Width: 5, Scale: 0.5, Samples: 2},
				{Height: 7, Width: 7, Scale: 1.5},
			} {
				a.Max = largest
				l := m.layer(graph.RoiAlign, a, m.tensor(t, numeric.Range{}, 7, 5, 9, 11), boxes, items)
				m.add(fmt.Sprintf("roi_align_%s_%dx%d_%v", t, a.Height, a.Width, largest), l, Tolerance{Real: 1e-5})
			}
		}
	}
	a := graph.RoiAlignAttrs{Height: 2, Width: 3, Scale: 1, HalfPixel: true}
	m.add("roi_align_random", m.layer(graph.RoiAlign, a, m.tensor(numeric.F32, numeric.Range{}, 7, 2, 3, 4), m.tensor(numeric.F32, numeric.Range{}, 6, 4), items), Tolerance{Real: 1e-5})
	list := m.constant(numeric.F32, numeric.Range{}, 1, 6, 5)
	for i, v := 0, numeric.View[float32](list.Weights); i < len(v); i++ {
		v[i] = 4*v[i] + float32(i%5/3*5)
		if i%5 == 0 {
			v[i] = float32(i / 5 % 2)
		}
	}
	m.add("max_roi_pool", m.layer(graph.MaxRoiPool, graph.MaxRoiPoolAttrs{Height: 3, Width: 2, Scale: 0.75}, m.tensor(numeric.F32, numeric.Range{}, 2, 3, 7, 9), list), Tolerance{})
}

// unpools are with indices as a pooling gives them, in order, and with such as meet, of which the last counts.
func (m *maker) unpools() {
	for i, t := range []numeric.DataType{numeric.F32, numeric.F16, numeric.I8} {
		r := numeric.Range{}
		if t == numeric.I8 {
			r = numeric.PerTensor(0.1, 3)
		}
		for _, s := range []struct {
			x []int
			a graph.UnpoolAttrs
		}{
			{[]int{2, 3, 4, 5}, graph.UnpoolAttrs{Kernel: []int{2, 2}, Strides: []int{2, 2}}},
			{[]int{1, 5, 7}, graph.UnpoolAttrs{Kernel: []int{3}, Strides: []int{2}, Pads: []int{1, 1}}},
			{[]int{1, 2, 2, 3, 2}, graph.UnpoolAttrs{Kernel: []int{2, 2, 2}, Strides: []int{2, 1, 2}}},
		} {
			x := m.tensor(t, r, s.x...)
			pooled := s.a.Pooled(s.x)
			order := m.constant(numeric.I64, numeric.Range{}, 1, s.x...)
			each, plane := numeric.Count(s.x[2:]), numeric.Count(pooled[2:])
			for k, v := 0, numeric.View[int64](order.Weights); k < len(v); k++ {
				v[k] = int64(k/each*plane + k%each*(plane/each))
			}
			m.add(fmt.Sprintf("max_unpool_%s_%v", t, s.x), m.layer(graph.MaxUnpool, s.a, x, order), Tolerance{})
			m.add(fmt.Sprintf("max_unpool_%s_%v_meeting", t, s.x), m.layer(graph.MaxUnpool, s.a, x, m.tensor(numeric.I64, numeric.Range{}, s.x...)), Tolerance{})
		}
		if i == 0 {
			shape := m.constant(numeric.I64, numeric.Range{}, 1, 4)
			copy(numeric.View[int64](shape.Weights), []int64{1, 2, 7, 8})
			a := graph.UnpoolAttrs{Kernel: []int{2, 2}, Strides: []int{2, 2}}
			m.add("max_unpool_larger", m.layer(graph.MaxUnpool, a, m.tensor(t, r, 1, 2, 3, 3), m.tensor(numeric.I64, numeric.Range{}, 1, 2, 3, 3), shape), Tolerance{})
		}
	}
}

// columns are the columns of deformable convolutions, and images made of columns.
func (m *maker) columns() {
	for i, s := range []struct {
		x []int
		a graph.DeformAttrs
	}{
		{[]int{1, 1, 1, 1}, graph.DeformAttrs{Kernel: []int{1, 1}, Offsets: 1, Group: 1}},
		{[]int{2, 3, 7, 8}, graph.DeformAttrs{Kernel: []int{3, 2}, Pads: []int{1, 0, 1, 1}, Offsets: 1, Group: 1}},
		{[]int{1, 6, 9, 9}, graph.DeformAttrs{Kernel: []int{3, 3}, Strides: []int{2, 1}, Dilations: []int{1, 2}, Offsets: 3, Group: 2}},
		{[]int{1, 16, 12, 17}, graph.DeformAttrs{Kernel: []int{3, 3}, Pads: []int{1, 1, 1, 1}, Offsets: 2, Group: 1}},
	} {
		for _, t := range []numeric.DataType{numeric.F32, numeric.F16} {
			w := graph.Windows(s.a.Kernel, s.a.Strides, s.a.Dilations, s.a.Pads, graph.AutoPadNone, s.x[2:])
			rows, columns, taps := w[0].Out(s.x[2]), w[1].Out(s.x[3]), numeric.Count(s.a.Kernel)*s.a.Offsets
			offset := m.tensor(numeric.F32, numeric.Range{}, s.x[0], 2*taps, rows, columns)
			var mask *graph.Tensor
			if i%2 == 0 {
				mask = m.tensor(numeric.F32, numeric.Range{}, s.x[0], taps, rows, columns)
			}
			l := m.layer(graph.DeformColumns, s.a, m.tensor(t, numeric.Range{}, s.x...), offset, mask)
			m.add(fmt.Sprintf("deform_columns_%s_%v", t, s.x), l, Tolerance{Real: 1e-5})
		}
	}
	for _, s := range []struct {
		rows  int
		image []int
		a     graph.Col2ImAttrs
	}{
		{1, []int{1}, graph.Col2ImAttrs{Block: []int{1}}},
		{3, []int{5, 7}, graph.Col2ImAttrs{Block: []int{2, 3}, Pads: []int{1, 0, 0, 2}}},
		{17, []int{9, 8}, graph.Col2ImAttrs{Block: []int{3, 3}, Strides: []int{2, 1}, Dilations: []int{1, 2}}},
		{2, []int{4, 3, 5}, graph.Col2ImAttrs{Block: []int{2, 2, 2}, Strides: []int{1, 1, 3}}},
	} {
		places := 1
		for i, w := range s.a.Windows(s.image) {
			places *= w.Out(s.image[i])
		}
		shape := m.constant(numeric.I64, numeric.Range{}, 1, len(s.image))
		for i, n := range s.image {
			numeric.View[int64](shape.Weights)[i] = int64(n)
		}
		for _, t := range []numeric.DataType{numeric.F32, numeric.F16} {
			l := m.layer(graph.Col2Im, s.a, m.tensor(t, numeric.Range{}, 2, s.rows*numeric.Count(s.a.Block), places), shape)
			m.add(fmt.Sprintf("col2im_%s_%v_%v", t, s.image, s.a.Block), l, Tolerance{Real: 1e-5})
		}
	}
}
