package networks

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// centred moves the results of a normalisation by what rounding makes of the means that it takes off. Noise in the input does not
// show it where a group has few elements: of two the results are 1 and -1 whatever they are.
func centred(rnd *rand.Rand, l *graph.Layer, in []numeric.Value, y numeric.Value) {
	x := in[0]
	group, epsilon := groupOf(l, x.Dims)
	if group == nil || x.Type != numeric.F32 || y.Type != numeric.F32 || x.Len() == 0 {
		return
	}
	largest := 1.0 // scale
	if len(in) > 1 {
		for _, f := range in[1].Float64s() {
			largest = max(largest, math.Abs(f))
		}
	}
	type moments struct{ n, sum, squares, moved float64 }
	groups := map[int]*moments{}
	for i, f := range x.F32() {
		g := groups[group(i)]
		if g == nil {
			g = &moments{moved: noise32 / 4 * (2*rnd.Float64() - 1)}
			groups[group(i)] = g
		}
		g.n, g.sum = g.n+1, g.sum+float64(f)
	}
	for i, f := range x.F32() {
		g := groups[group(i)]
		d := float64(f) - g.sum/g.n
		g.squares += d * d
	}
	for i := range y.F32() {
		g := groups[group(i)]
		if deviation := math.Sqrt(g.squares/g.n + epsilon); deviation > 0 {
			y.F32()[i] += float32(largest * g.moved * math.Abs(g.sum/g.n) / deviation)
		}
	}
}

// groupOf returns which elements of x a normalisation takes one mean of, and what it adds to their variance; nil for other layers.
func groupOf(l *graph.Layer, dims []int) (group func(i int) int, epsilon float64) {
	of := func(size int) func(int) int { return func(i int) int { return i / max(1, size) } }
	switch a := l.Attrs.(type) {
	case graph.InstanceNormAttrs:
		return of(numeric.Count(dims[2:])), float64(a.Epsilon)
	case graph.GroupNormAttrs:
		return of(numeric.Count(dims[1:]) / a.Groups), float64(a.Epsilon)
	case graph.LayerNormAttrs:
		if l.Op != graph.LayerNorm {
			return nil, 0
		}
		axis := a.Axis
		if axis < 0 {
			axis += len(dims)
		}
		return of(numeric.Count(dims[axis:])), float64(a.Epsilon)
	case graph.MeanVarianceNormAttrs:
		return func(i int) (id int) {
			for axis := len(dims) - 1; axis >= 0; axis-- {
				if !slices.Contains(a.Axes, axis) && !slices.Contains(a.Axes, axis-len(dims)) {
					id = id*dims[axis] + i%dims[axis]
				}
				i /= dims[axis]
			}
			return id
		}, 0
	}
	return nil, 0
}
