package quant

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
)

// equalizedSuffix is what the name of a tensor ends in whose channels are scaled.
const equalizedSuffix = "_equalized"

// Scaled is a tensor whose channels were divided.
type Scaled struct {
	Name, Before string // now, and what it was
	Axis         int    // of the channels
	Dims         []int  // the extents of Scales where channels lie along several axes, 1 along the others; nil where Axis has them all
	Scales       []float64
}

// Scale divides the channels of the link's tensor by scales, and gives the tensors that are other ones now names of their own,
// which it returns. Channels that are one channel of what gives them are divided by the largest of their scales.
func (k *Link) Scale(n *graph.Network, scales []float64) ([]Scaled, error) {
	if len(scales) != k.Channels {
		return nil, fmt.Errorf("it has %d channels, and %d scales are known", k.Channels, len(scales))
	}
	for _, s := range scales {
		if !(s > 1e-9 && s < 1e9) {
			return nil, fmt.Errorf("a channel cannot be divided by %g", s)
		}
	}
	scales = slices.Clone(scales)
	k.tie(scales)
	given := k.given(scales)
	inverse := make([]float64, len(given))
	for c, s := range given {
		inverse[c] = 1 / s
	}
	if err := k.divide(n, inverse); err != nil {
		return nil, err
	}
	for _, u := range k.users {
		v, _ := u.Inputs[1].Const()
		at := channelsOf(u, v.Dims)
		u.SetInput(1, scaledConst(n, u.Inputs[1], v, func(i int) float64 { _, c := at.of(i); return scales[c] }))
	}
	list, err := k.rename(n, scales)
	n.Prune()
	return list, err
}

// given returns the scales of the maker's channels; those that are not the link's are divided by 1.
func (k *Link) given(scales []float64) []float64 {
	if k.of == nil {
		return scales
	}
	list := slices.Repeat([]float64{1}, len(k.spots[0].of))
	for c, o := range k.of {
		list[o] = scales[c]
	}
	return list
}

// tie gives channels that are one channel of what gives them the largest number of theirs.
func (k *Link) tie(x []float64) {
	most := map[int]float64{}
	for c, o := range k.of {
		most[o] = max(most[o], x[c])
	}
	for c, o := range k.of {
		x[c] = most[o]
	}
}

// divide makes the maker give its channels times inverse.
func (k *Link) divide(n *graph.Network, inverse []float64) error {
	l, axis, rank := k.maker, k.axis, len(k.Tensor.Dims)
	if k.of != nil {
		axis, rank = outputAxis(l), len(l.Outputs[0].Dims)
	}
	if !k.absorbs {
		dims := []int{len(inverse)}
		for range rank - 1 - axis {
			dims = append(dims, 1)
		}
		x := make([]float32, len(inverse))
		for c, v := range inverse {
			x[c] = float32(v)
		}
		l.Fuse(elementwise.Binary(elementwise.Mul), 0, n.AddConst(k.Tensor.Name+"_inverse", numeric.Values(numeric.F32, x, dims...)))
		return nil
	}
	arguments, _ := k.scaledArguments()
	for _, i := range k.coefficients() {
		v, _ := l.Inputs[i].Const()
		if i == 1 && l.Op.IsProduct() {
			at := channelsOf(l, v.Dims)
			l.SetInput(1, scaledConst(n, l.Inputs[1], v, func(i int) float64 { o, _ := at.of(i); return inverse[o] }))
			continue
		}
		from, of := axis, rank
		if l.Op.Class == graph.ClassConvolution { // a bias has one axis
			from, of = 0, 1
		}
		t, err := along(n, l.Inputs[i], v, from, of, inverse)
		if err != nil {
			return err
		}
		l.SetInput(i, t)
	}
	first := len(l.OpInputs()) - 1
	for _, i := range arguments {
		v, _ := l.Inputs[first+i].Const()
		t, err := along(n, l.Inputs[first+i], v, axis, rank, inverse)
		if err != nil {
			return err
		}
		l.SetInput(first+i, t)
	}
	return nil
}

// along returns a constant times by, along an axis of a tensor of that rank to which it broadcasts.
func along(n *graph.Network, t *graph.Tensor, v numeric.Value, axis, rank int, by []float64) (*graph.Tensor, error) {
	dims := append([]int(nil), v.Dims...)
	for len(dims) < rank-axis {
		dims = append([]int{1}, dims...)
	}
	at := len(dims) - (rank - axis)
	x := v.Floats()
	inner := numeric.Count(dims[at+1:])
	switch dims[at] {
	case len(by):
	case 1:
		wide := make([]float32, 0, len(x)*len(by))
		for from := 0; from < len(x); from += inner {
			for range by {
				wide = append(wide, x[from:from+inner]...)
			}
		}
		x, dims[at] = wide, len(by)
	default:
		return nil, fmt.Errorf("%s has %d elements along %d channels", t.Name, dims[at], len(by))
	}
	return scaledConst(n, t, numeric.Values(numeric.F32, x, dims...), func(i int) float64 { return by[i/inner%len(by)] }), nil
}

// scaledConst adds a constant whose elements are those of v times by.
func scaledConst(n *graph.Network, t *graph.Tensor, v numeric.Value, by func(i int) float64) *graph.Tensor {
	x := v.Floats()
	y := make([]float32, len(x))
	for i, f := range x {
		y[i] = float32(float64(f) * by(i))
	}
	return n.AddConst(t.Name, numeric.Values(numeric.F32, y, v.Dims...))
}

// rename gives what the layers of the link make names of their own, and the other readers what they read before.
func (k *Link) rename(n *graph.Network, scales []float64) ([]Scaled, error) {
	if k.of != nil {
		return k.renameSpots(n, scales)
	}
	var list []Scaled
	fresh := func(l *graph.Layer) (old, t *graph.Tensor) {
		old = l.Outputs[0]
		t = n.NewTensor(old.Name+equalizedSuffix, old.Type, old.Dims)
		l.SetOutput(0, t)
		list = append(list, Scaled{Name: t.Name, Before: old.Name, Axis: k.axis, Scales: scales})
		return old, t
	}
	old, t := fresh(k.maker)
	for _, u := range append(append([]*graph.Layer(nil), k.users...), k.passing...) {
		for i, in := range u.Inputs {
			if in == old {
				u.SetInput(i, t)
			}
		}
	}
	for _, l := range k.passing {
		n.Redirect(fresh(l))
	}
	if len(k.others) > 0 {
		x := make([]float32, len(scales))
		for c, s := range scales {
			x[c] = float32(s)
		}
		l := &graph.Layer{Name: k.maker.Name + "_restored", Op: graph.Pointwise, Attrs: graph.Elementwise{Program: elementwise.Binary(elementwise.Mul)}, From: k.maker.From,
			Inputs: []*graph.Tensor{t, n.AddConst(old.Name+"_scales", numeric.Values(numeric.F32, x, len(x)))}, Outputs: []*graph.Tensor{old}}
		n.Insert(l)
	}
	return list, n.Sort()
}

// renameSpots is rename for a link through an attention, of which every tensor on the way is another one.
func (k *Link) renameSpots(n *graph.Network, scales []float64) ([]Scaled, error) {
	given := k.given(scales)
	var list []Scaled
	for _, p := range k.spots {
		old := p.tensor
		t := n.NewTensor(old.Name+equalizedSuffix, old.Type, old.Dims)
		old.Producer.SetOutput(slices.Index(old.Producer.Outputs, old), t)
		n.Redirect(old, t)
		s := Scaled{Name: t.Name, Before: old.Name, Axis: p.axis()}
		if s.Axis < 0 {
			s.Dims = p.dims
		}
		for _, c := range p.of {
			s.Scales = append(s.Scales, given[c])
		}
		list = append(list, s)
	}
	return list, n.Sort()
}

// Tensors returns the names of the tensors that Scale renames, in its order.
func (k *Link) Tensors() []string {
	var names []string
	for _, p := range k.spots {
		names = append(names, p.tensor.Name)
	}
	if k.of != nil {
		return names
	}
	names = []string{k.Tensor.Name}
	for _, l := range k.passing {
		names = append(names, l.Outputs[0].Name)
	}
	return names
}
