package networks

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// indices returns indices below an extent, some of them counted from the end.
func (g *generator) indices(extent int, dims ...int) string {
	return g.positions(extent, g.rnd.IntN(3) == 0, dims...)
}

// positions returns places below an extent; where negative, some of them are counted from the end.
func (g *generator) positions(extent int, negative bool, dims ...int) string {
	v := numeric.NewValue(numeric.I64, dims...)
	for i := range v.I64() {
		v.I64()[i] = int64(g.rnd.IntN(max(1, extent)))
		if negative && g.flip() {
			v.I64()[i] -= int64(extent)
		}
	}
	if g.flip() {
		return g.constant(v)
	}
	x := g.input(numeric.I64, dims...)
	copy(x.value.Data, v.Data)
	return x.Name
}

func lookups() map[string]proposal {
	scatter := func(g *generator) *Node {
		x := g.real(1, 4)
		axis := g.axis(len(x.Dims))
		d := x.dims()
		for i := range d {
			d[i] = g.rnd.IntN(d[i] + 1)
		}
		extent := x.dims()[(axis+len(d))%len(d)]
		if extent == 0 {
			return nil
		}
		a := attrs{"axis": intOf(axis)}
		if r := g.reduction(); r != "none" {
			a["reduction"] = stringOf(r)
			return node(a, x.Name, g.indices(extent, d...), g.input(numeric.F32, d...).Name)
		}
		return node(a, x.Name, g.distinct(extent, (axis+len(d))%len(d), d), g.input(numeric.F32, d...).Name)
	}
	return map[string]proposal{
		"Gather": {make: func(g *generator) *Node {
			x := g.any(1, 4)
			axis := g.axis(len(x.Dims))
			return node(attrs{"axis": intOf(axis)}, x.Name, g.indices(x.dims()[(axis+len(x.Dims))%len(x.Dims)], g.shape(g.rnd.IntN(3))...))
		}},
		"GatherElements": {since: 11, make: func(g *generator) *Node {
			x := g.any(1, 4)
			axis := g.axis(len(x.Dims))
			d := x.dims()
			for i := range d {
				d[i] = g.rnd.IntN(d[i] + 1)
			}
			at := (axis + len(d)) % len(d)
			d[at] = 1 + g.rnd.IntN(9)
			return node(attrs{"axis": intOf(axis)}, x.Name, g.indices(x.dims()[at], d...))
		}},
		"GatherND": {since: 11, make: func(g *generator) *Node {
			x := g.any(1, 4)
			return node(nil, x.Name, g.places(x, 1+g.rnd.IntN(len(x.Dims)), 1+g.rnd.IntN(5)))
		}},
		"ScatterElements": {since: 11, make: scatter},
		"Scatter":         {since: 9, until: 10, make: scatter},
		"ScatterND": {since: 11, make: func(g *generator) *Node {
			x := g.real(1, 4)
			r := g.reduction()
			depth, count := 1+g.rnd.IntN(len(x.Dims)), 1
			a := attrs{}
			if r != "none" {
				a["reduction"], count = stringOf(r), 1+g.rnd.IntN(5)
			}
			return node(a, x.Name, g.places(x, depth, count), g.input(numeric.F32, append([]int{count}, x.dims()[depth:]...)...).Name)
		}},
		"TensorScatter": {since: 24, make: func(g *generator) *Node {
			x := g.real(2, 4)
			d := x.dims()
			axis := 1 + g.rnd.IntN(len(d)-1)
			if d[axis] == 0 {
				return nil
			}
			update := slices.Clone(d)
			update[axis] = 1 + g.rnd.IntN(d[axis])
			a := attrs{"axis": intOf(axis)}
			if g.flip() {
				return node(a, x.Name, g.input(numeric.F32, update...).Name)
			}
			return node(a, x.Name, g.input(numeric.F32, update...).Name, g.positions(d[axis]-update[axis]+1, false, d[0]))
		}},
		"OneHot": {since: 9, make: func(g *generator) *Node {
			depth := 1 + g.rnd.IntN(9)
			i := g.indices(depth, g.shape(1+g.rnd.IntN(2))...)
			return node(attrs{"axis": intOf(g.axis(len(g.values[i].Dims) + 1))}, i, g.ints(depth), g.constant(numeric.Values(numeric.F32, []float32{-1, 2}, 2)))
		}},
	}
}

// reduction returns how elements that meet are joined, as far as the operator set knows it.
func (g *generator) reduction() string {
	switch n := g.rnd.IntN(5); {
	case n < 2 && g.model.Opset >= 16:
		return []string{"add", "mul"}[n]
	case n < 4 && g.model.Opset >= 18:
		return []string{"add", "mul", "max", "min"}[n]
	}
	return "none"
}

// distinct returns indices along an axis that do not meet: those in a row.
func (g *generator) distinct(extent, axis int, d []int) string {
	v := numeric.NewValue(numeric.I64, d...)
	inner := numeric.Count(d[axis+1:])
	perm := g.rnd.Perm(extent)
	for i := range v.I64() {
		v.I64()[i] = int64(perm[i/max(1, inner)%max(1, d[axis])])
	}
	return g.constant(v)
}

// places returns count indices of the first depth axes of x.
func (g *generator) places(x tensor, depth, count int) string {
	v := numeric.NewValue(numeric.I64, count, depth)
	for i := range v.I64() {
		v.I64()[i] = int64(g.rnd.IntN(max(1, x.dims()[i%depth])))
	}
	return g.constant(v)
}

// sources are the operators whose results follow from shapes and parameters.
// randoms proposes numbers at random, in the shape of an input or in one of their own.
func randoms(like bool) proposal {
	return proposal{since: 1, make: func(g *generator) *Node {
		a := attrs{"seed": floatOf(float32(g.rnd.IntN(9)))}
		if like {
			return node(a, g.real(1, 4).Name)
		}
		a["shape"] = intsOf(1+g.rnd.IntN(4), 1+g.rnd.IntN(9))
		return node(a)
	}}
}

func sources() map[string]proposal {
	return map[string]proposal{
		"Shape": {make: func(g *generator) *Node {
			x := g.any(0, 5)
			if g.model.Opset >= 15 && g.flip() {
				return node(attrs{"start": intOf(g.axis(len(x.Dims))), "end": intOf(g.axis(len(x.Dims)))}, x.Name)
			}
			return node(nil, x.Name)
		}},
		"Size": {make: func(g *generator) *Node { return node(nil, g.any(0, 5).Name) }},
		"ConstantOfShape": {since: 9, make: func(g *generator) *Node {
			a := attrs{}
			if g.flip() {
				v := g.random([]numeric.DataType{numeric.F32, numeric.I64, numeric.I32}[g.rnd.IntN(3)], 1)
				a["value"] = graph.Attr{Kind: graph.AttrTensor, Tensor: v}
			}
			if g.flip() {
				for _, x := range g.pool {
					if x.Producer != nil && x.Producer.Op == graph.ShapeOf {
						return node(a, x.Name)
					}
				}
			}
			return node(a, g.ints(g.shape(g.rank(0, 4))...))
		}},
		"Range": {since: 11, make: func(g *generator) *Node {
			t := []numeric.DataType{numeric.F32, numeric.I64, numeric.I32}[g.rnd.IntN(3)]
			start, step := float64(g.rnd.IntN(9)-4), float64(g.rnd.IntN(3)+1)
			if t == numeric.F32 && g.flip() {
				step = 0.25
			}
			limit := start + step*float64(g.rnd.IntN(40))
			if g.rnd.IntN(3) == 0 {
				start, limit, step = limit, start, -step
			}
			return node(nil, g.scalar(t, start), g.scalar(t, limit), g.scalar(t, step))
		}},
		"RandomUniform":     randoms(false),
		"RandomUniformLike": randoms(true),
		"RandomNormal":      randoms(false),
		"RandomNormalLike":  randoms(true),
		"EyeLike": {since: 9, make: func(g *generator) *Node {
			a := attrs{}
			if g.flip() {
				a["k"] = intOf(g.rnd.IntN(7) - 3)
			}
			return node(a, g.pick([]numeric.DataType{numeric.F32, numeric.I64, numeric.I32}[g.rnd.IntN(3)], 2, 2).Name)
		}},
	}
}
