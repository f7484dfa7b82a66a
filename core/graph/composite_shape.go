package graph

import "github.com/trtui/trtui/core/graph/symbolic"

// axesOf are neighbouring axes of a tensor, whose extents, or their product, are wanted for a shape. No tensor is the one that
// is given the shape.
type axesOf struct {
	t        *Tensor
	from, to int
	join     bool
}

// dims returns the extents.
func (a axesOf) dims() []symbolic.Dim {
	if a.join {
		return []symbolic.Dim{productOf(a.t.Dims[a.from:a.to])}
	}
	return a.t.Dims[a.from:a.to]
}

// reshaped adds a Reshape of x to the given extents, whether these are known or symbols; nothing where x has that shape.
func (d *Definition) reshaped(x *Tensor, parts ...axesOf) *Tensor {
	var list []int
	open, empty, same := 0, false, true
	for i := range parts {
		if parts[i].t == nil {
			parts[i].t = x
		}
		for k, dim := range parts[i].dims() {
			n, known := dim.IsConst()
			kept := parts[i].t == x && parts[i].from+k == len(list) && (!parts[i].join || parts[i].to-parts[i].from == 1)
			switch same = same && kept; {
			case known && n > 0:
			case kept:
				n = 0
			case known:
				empty = true
			default:
				n, open = -1, open+1
			}
			list = append(list, n)
		}
	}
	switch {
	case same && len(list) == len(x.Dims):
		return x
	case !empty && open <= 1:
		return d.Reshape(x, list...)
	}
	return d.Layer(Reshape, ReshapeAttrs{AllowZero: true}, x, d.shapeOf(parts))
}

// shapeOf adds the list of extents, as it is computed from shapes.
func (d *Definition) shapeOf(parts []axesOf) *Tensor {
	var pieces []*Tensor
	for _, p := range parts {
		switch {
		case p.from == p.to && p.join:
			pieces = append(pieces, d.list("Reshape", "one", []int{1}))
			continue
		case p.from == p.to:
			continue
		}
		shape := d.Layer(ShapeOf, ShapeAttrs{p.from, p.to}, p.t)
		if p.join && p.to-p.from > 1 {
			shape = d.Reduce(ReduceProd, shape, true, 0)
		}
		pieces = append(pieces, shape)
	}
	return d.Concat(0, pieces...)
}
