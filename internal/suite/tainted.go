package suite

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Tainted is a layer that computes sums of real numbers, to be given a few that are none: those of its results that do not
// depend on them are what they would be without.
type Tainted struct{ Case }

// TaintedLayers returns the convolutions, matrix products and poolings of the table that compute with real numbers, and more
// convolutions in groups that share the vectors and panels of kernels.
func TaintedLayers() []Tainted {
	m := &maker{rnd: rand.New(rand.NewPCG(9, 9))}
	m.grouped()
	var list []Tainted
	for _, c := range append(m.cases, Layers()...) {
		if taints(c.Layer) {
			list = append(list, Tainted{c})
		}
	}
	return list
}

// grouped are convolutions of few channels a group, ordinary and transposed, of images and volumes, and of a part of a vector.
func (m *maker) grouped() {
	conv := func(pads int, stride ...int) graph.ConvAttrs {
		return graph.ConvAttrs{Strides: stride, Pads: slices.Repeat([]int{pads}, 2*len(stride))}
	}
	for i, s := range []struct {
		x, w  []int
		group int
		a     graph.ConvAttrs
	}{
		{[]int{2, 16, 6, 5}, []int{16, 4, 3, 3}, 4, conv(1, 1, 1)},
		{[]int{1, 24, 5, 5}, []int{12, 12, 1, 1}, 2, conv(0, 1, 1)},
		{[]int{1, 34, 6, 6}, []int{50, 17, 3, 3}, 2, conv(1, 2, 2)},
		{[]int{1, 64, 4, 4}, []int{64, 32, 1, 1}, 2, conv(0, 1, 1)},
		{[]int{1, 9, 3, 4, 5}, []int{6, 3, 2, 3, 3}, 3, conv(1, 1, 1, 1)},
		{[]int{1, 17, 7, 6}, []int{19, 17, 3, 3}, 1, conv(1, 1, 1)},
		{[]int{1, 19, 5, 6}, []int{18, 19, 1, 1}, 1, conv(0, 1, 1)},
	} {
		s.a.Group = s.group
		for _, t := range []numeric.DataType{numeric.F32, numeric.F16} {
			x := func(channels int) *graph.Tensor {
				dims := slices.Clone(s.x)
				dims[1] = channels
				return m.tensor(t, numeric.Range{}, dims...)
			}
			w := m.constant(t, numeric.Range{}, numeric.Count(s.w[1:]), s.w...)
			m.add(fmt.Sprintf("tainted_conv_%s_%d", t, i), m.layer(graph.Conv, s.a, x(s.x[1]), w), Tolerance{Real: 1e-5})
			a := graph.ConvTransposeAttrs{Strides: s.a.Strides, Pads: s.a.Pads, Group: s.group}
			m.add(fmt.Sprintf("tainted_conv_transposed_%s_%d", t, i), m.layer(graph.ConvTranspose, a, x(s.w[0]), w), Tolerance{Real: 1e-5})
		}
	}
}

// taints reports whether a layer of real numbers sums some of them up.
func taints(l *graph.Layer) bool {
	if !l.Op.IsProduct() && l.Op.Class != graph.ClassPooling && l.Op.Class != graph.ClassReduction && l.Op.Class != graph.ClassNorm {
		return false
	}
	for _, t := range append(slices.Clone(l.Inputs), l.Outputs[0]) {
		if t != nil && t.Type != numeric.F32 && t.Type != numeric.F16 {
			return false
		}
	}
	return !l.Inputs[0].IsConst() && numeric.Count(symbolic.Eval(l.Inputs[0].Dims, nil)) > 0 // a constant is as it was bound
}

// References draws inputs that hold NaN or an infinity at one place, or in all of one channel, and evaluates the layer.
func (c Tainted) References(rnd *rand.Rand) ([]Reference, error) {
	var list []Reference
	for _, odd := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, whole := range []bool{false, true} {
			r, err := NewReference(c.Layer, rnd)
			if err != nil {
				return nil, err
			}
			taint(rnd, r.In[0], float32(odd), whole)
			if err := c.Layer.Eval(r.In, r.Out); err != nil {
				return nil, err
			}
			list = append(list, r)
		}
	}
	return list, nil
}

// taint puts a number into one element of a value, or into all with the same index on axis 1.
func taint(rnd *rand.Rand, v numeric.Value, odd float32, whole bool) {
	at, inner := rnd.IntN(v.Len()), 0
	if len(v.Dims) > 1 {
		inner = numeric.Count(v.Dims[2:])
	}
	for i := range v.Len() {
		if i != at && !(whole && inner > 0 && i/inner%v.Dims[1] == at/inner%v.Dims[1]) {
			continue
		}
		if v.Type == numeric.F32 {
			v.F32()[i] = odd
		} else {
			numeric.View[uint16](v.Data)[i] = numeric.F32ToF16(odd)
		}
	}
}
