package networks

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// samples are the operators that take a tensor at places that are inputs, or put it there, and what is made of windows.
func samples() map[string]proposal {
	return map[string]proposal{
		"Compress": {since: 11, make: func(g *generator) *Node {
			x := g.any(1, 4)
			axis := g.axis(len(x.Dims))
			return node(attrs{"axis": intOf(axis)}, x.Name, g.constant(g.random(numeric.Bool, x.dims()[(axis+len(x.Dims))%len(x.Dims)])))
		}},
		"NonZero": {since: 13, make: func(g *generator) *Node {
			return node(nil, g.constant(g.random(numeric.I64, g.shape(1+g.rnd.IntN(3))...)))
		}},
		"Unique": {since: 11, make: func(g *generator) *Node {
			n := node(attrs{"sorted": boolOf(g.flip())}, g.constant(g.random(numeric.I64, g.shape(1+g.rnd.IntN(2))...)))
			if g.flip() {
				n.Attrs["axis"] = intOf(0)
			}
			n.Out = make([]string, []int{1, 4}[g.rnd.IntN(2)])
			return n
		}},
		"NonMaxSuppression": {since: 11, make: func(g *generator) *Node {
			n, boxes := 1+g.rnd.IntN(2), 1+g.rnd.IntN(9)
			scores := g.random(numeric.F32, n, 1+g.rnd.IntN(3), boxes)
			return node(attrs{"center_point_box": boolOf(g.flip())}, g.constant(g.random(numeric.F32, n, boxes, 4)), g.constant(scores),
				g.ints(g.rnd.IntN(5)), g.constant(numeric.Values(numeric.F32, []float32{0.25}, 1)))
		}},
		"TfIdfVectorizer": {since: 9, make: func(g *generator) *Node {
			a := attrs{
				"min_gram_length": intOf(1 + g.rnd.IntN(2)), "max_gram_length": intOf(2), "max_skip_count": intOf(g.rnd.IntN(4)),
				"mode": stringOf([]string{"TF", "IDF", "TFIDF"}[g.rnd.IntN(3)]), "ngram_counts": intsOf(0, 2), "ngram_indexes": intsOf(2, 0, 1, 4),
				"pool_int64s": intsOf(0, 1, 1, 0, 1, 1),
			}
			return node(a, g.indices(3, g.shape(1+g.rnd.IntN(2))...))
		}},
		"Det": {since: 11, make: func(g *generator) *Node {
			n := g.rnd.IntN(6)
			return node(nil, g.input(numeric.F32, append(g.shape(g.rnd.IntN(3)), n, n)...).Name)
		}},
		"GridSample": {since: 16, make: proposeGridSample},
		"AffineGrid": {since: 20, make: func(g *generator) *Node {
			k, n := 2+g.rnd.IntN(2), 1+g.rnd.IntN(2)
			size := append([]int{n, 1 + g.rnd.IntN(4)}, g.shape(k)...)
			return node(attrs{"align_corners": boolOf(g.flip())}, g.input(numeric.F32, n, k, k+1).Name, g.ints(size...))
		}},
		"RoiAlign": {since: 10, make: func(g *generator) *Node {
			x := g.real(4, 4)
			if numeric.Count(x.dims()) == 0 {
				return nil
			}
			a := attrs{"output_height": intOf(1 + g.rnd.IntN(4)), "output_width": intOf(1 + g.rnd.IntN(4)), "sampling_ratio": intOf(1 + g.rnd.IntN(3))}
			if g.model.Opset >= 16 && g.flip() {
				a["coordinate_transformation_mode"] = stringOf("output_half_pixel")
			}
			n := g.rnd.IntN(5)
			return node(a, x.Name, g.input(numeric.F32, n, 4).Name, g.positions(x.dims()[0], false, n))
		}},
		"MaxRoiPool": {make: func(g *generator) *Node {
			x := g.real(4, 4)
			if numeric.Count(x.dims()) == 0 {
				return nil
			}
			v := g.random(numeric.F32, g.rnd.IntN(5), 5)
			for i := 0; i < v.Len(); i += 5 {
				v.F32()[i] = float32(g.rnd.IntN(x.dims()[0]))
			}
			return node(attrs{"pooled_shape": intsOf(1+g.rnd.IntN(3), 1+g.rnd.IntN(3))}, x.Name, g.constant(v))
		}},
		"MaxUnpool": {since: 9, make: func(g *generator) *Node {
			x := g.real(3, 5)
			d := x.dims()
			a, pooled := graph.UnpoolAttrs{}, slices.Clone(d)
			for range d[2:] {
				a.Kernel, a.Strides = append(a.Kernel, 1+g.rnd.IntN(3)), append(a.Strides, 1+g.rnd.IntN(3))
			}
			pooled = a.Pooled(pooled)
			return node(attrs{"kernel_shape": intsOf(a.Kernel...), "strides": intsOf(a.Strides...)}, x.Name, g.positions(numeric.Count(pooled), false, d...))
		}},
		"Col2Im": {since: 18, make: func(g *generator) *Node {
			rank := 1 + g.rnd.IntN(3)
			image := g.shape(rank)
			block, a := g.window(image, false)
			delete(a, "auto_pad")
			w := graph.Col2ImAttrs{Block: block, Strides: listOf(a["strides"]), Dilations: listOf(a["dilations"])}
			places := 1
			for i, w := range w.Windows(image) {
				places *= w.Out(image[i])
			}
			channels := 1
			if rank == 2 { // onnxruntime 1.32 mixes up channels of images of one axis
				channels += g.rnd.IntN(3)
			}
			x := g.input(numeric.F32, 1+g.rnd.IntN(2), numeric.Count(block)*channels, places)
			return node(a, x.Name, g.ints(image...), g.ints(block...))
		}},
		"DeformConv": {since: 19, make: proposeDeformConv},
		"CenterCropPad": {since: 18, make: func(g *generator) *Node {
			x := g.any(1, 4)
			axes := g.axes(len(x.Dims))
			if len(axes) == 0 {
				return nil
			}
			return node(attrs{"axes": intsOf(axes...)}, x.Name, g.ints(g.shape(len(axes))...))
		}},
		"LpPool": {since: 11, make: func(g *generator) *Node {
			x := g.real(3, 5)
			kernel, a := g.window(x.dims()[2:], true)
			a["kernel_shape"], a["p"] = intsOf(kernel...), intOf(1+g.rnd.IntN(3))
			if g.model.Opset < 18 {
				delete(a, "dilations")
			}
			return node(a, x.Name)
		}},
		"GlobalLpPool": {make: func(g *generator) *Node { return node(attrs{"p": intOf(1 + g.rnd.IntN(3))}, g.real(3, 5).Name) }},
	}
}

func listOf(a graph.Attr) (list []int) {
	for _, v := range a.Ints {
		list = append(list, int(v))
	}
	return list
}

func proposeGridSample(g *generator) *Node {
	x := g.real(4, 4)
	if g.model.Opset >= 20 && g.rnd.IntN(4) == 0 {
		x = g.real(5, 5)
	}
	d := x.dims()
	k := len(d) - 2
	if numeric.Count(d) == 0 {
		return nil
	}
	modes := []string{"nearest", "bilinear", "bicubic"}
	if g.model.Opset >= 20 {
		modes = []string{"nearest", "linear", "cubic"}
	}
	if k > 2 {
		modes = modes[:2]
	}
	a := attrs{"mode": stringOf(modes[g.rnd.IntN(len(modes))]), "padding_mode": stringOf([]string{"zeros", "border", "reflection"}[g.rnd.IntN(3)]), "align_corners": boolOf(g.flip())}
	grid := append(append([]int{d[0]}, g.shape(k)...), k)
	if g.flip() {
		return node(a, x.Name, g.weights(2, grid...))
	}
	return node(a, x.Name, g.input(numeric.F32, grid...).Name)
}

func proposeDeformConv(g *generator) *Node {
	x := g.real(4, 4)
	d := x.dims()
	kernel, a := g.window(d[2:], true)
	if a["auto_pad"].String != "" || numeric.Count(d) == 0 {
		return nil
	}
	group, offsets := g.group(d[1]), g.group(d[1])
	a["group"], a["offset_group"] = intOf(group), intOf(offsets)
	m := group * min(9, g.perGroup(group))
	ws := graph.Windows(kernel, listOf(a["strides"]), listOf(a["dilations"]), listOf(a["pads"]), graph.AutoPadNone, d[2:])
	rows, columns, taps := ws[0].Out(d[2]), ws[1].Out(d[3]), offsets*numeric.Count(kernel)
	if 2*taps*rows*columns*d[0] > 4*maxElements {
		return nil
	}
	in := []string{x.Name, g.factor(numeric.Count(kernel)*d[1]/group, append([]int{m, d[1] / group}, kernel...)...), g.input(numeric.F32, d[0], 2*taps, rows, columns).Name}
	if g.flip() {
		in = append(in, g.weights(1, m))
	} else if g.flip() {
		in = append(in, "", g.input(numeric.F32, d[0], taps, rows, columns).Name)
	}
	return node(a, in...)
}
