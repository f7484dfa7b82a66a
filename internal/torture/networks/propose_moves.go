package networks

import (
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
)

// moved are the types that are moved about.
var moved = []numeric.DataType{numeric.F32, numeric.F32, numeric.F32, numeric.F32, numeric.F32, numeric.F32, numeric.I64, numeric.I32, numeric.U8, numeric.I8, numeric.Bool, numeric.F16}

func (g *generator) any(low, high int) tensor {
	return g.pick(moved[g.rnd.IntN(len(moved))], low, high)
}

// reductions are the operators along axes.
func reductions() map[string]proposal {
	t := map[string]proposal{}
	for _, name := range []string{"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"} {
		t[name] = proposal{make: func(g *generator) *Node {
			x := g.real(0, 5)
			a := attrs{}
			if g.flip() {
				a["keepdims"] = boolOf(g.flip())
			}
			axes := g.axes(len(x.Dims))
			if len(axes) > 0 && g.rnd.IntN(3) == 0 {
				axes[0] -= len(x.Dims)
			}
			inputs := g.model.Opset >= 18 || name == "ReduceSum" && g.model.Opset >= 13
			switch {
			case len(axes) == 0 || g.rnd.IntN(6) == 0:
				if inputs && g.rnd.IntN(3) == 0 {
					a["noop_with_empty_axes"] = intOf(1)
				}
				return node(a, x.Name)
			case inputs:
				return node(a, x.Name, g.ints(axes...))
			}
			a["axes"] = intsOf(axes...)
			return node(a, x.Name)
		}}
	}
	for _, name := range []string{"ArgMax", "ArgMin"} {
		t[name] = proposal{make: func(g *generator) *Node {
			x := g.real(1, 4)
			a := attrs{"axis": intOf(g.axis(len(x.Dims))), "keepdims": boolOf(g.flip())}
			if g.model.Opset >= 12 && g.flip() {
				a["select_last_index"] = intOf(1)
			}
			return node(a, x.Name)
		}}
	}
	t["TopK"] = proposal{since: 10, make: func(g *generator) *Node {
		x := g.real(1, 4)
		axis := g.axis(len(x.Dims))
		a := attrs{"axis": intOf(axis)}
		if g.model.Opset >= 11 && g.flip() {
			a["largest"] = intOf(0)
		}
		extent := x.dims()[(axis+len(x.Dims))%len(x.Dims)]
		n := node(a, x.Name, g.ints(g.rnd.IntN(extent+1)))
		n.Out = make([]string, 2)
		return n
	}}
	for name, since := range map[string]int{"CumSum": 11, "CumProd": 26} {
		t[name] = proposal{since: since, make: func(g *generator) *Node {
			x := g.real(1, 4)
			return node(attrs{"exclusive": boolOf(g.flip()), "reverse": boolOf(g.flip())}, x.Name, g.scalar(numeric.I64, float64(g.axis(len(x.Dims)))))
		}}
	}
	return t
}

func moves() map[string]proposal {
	return map[string]proposal{
		"Concat": {make: func(g *generator) *Node {
			x := g.any(1, 5)
			axis := g.axis(len(x.Dims))
			at := (axis + len(x.Dims)) % len(x.Dims)
			in := []string{x.Name}
			for range g.rnd.IntN(4) {
				d := x.dims()
				d[at] = 1 + g.rnd.IntN(9)
				switch g.rnd.IntN(3) {
				case 0:
					in = append(in, g.constant(g.random(x.Type, d...)))
				case 1:
					in = append(in, g.input(x.Type, d...).Name)
				default:
					in = append(in, g.pickWhere(x.Type, len(d), len(d), func(y tensor) bool { return sameBut(y.value.Dims, d, at) }).Name)
				}
			}
			g.rnd.Shuffle(len(in), func(i, j int) { in[i], in[j] = in[j], in[i] })
			return node(attrs{"axis": intOf(axis)}, in...)
		}},
		"Split": {make: proposeSplit},
		"Transpose": {make: func(g *generator) *Node {
			x := g.any(0, 5)
			if g.rnd.IntN(5) == 0 {
				return node(nil, x.Name)
			}
			return node(attrs{"perm": intsOf(g.rnd.Perm(len(x.Dims))...)}, x.Name)
		}},
		"Reshape": {make: proposeReshape},
		"Flatten": {make: func(g *generator) *Node {
			x := g.any(0, 5)
			return node(attrs{"axis": intOf(g.rnd.IntN(len(x.Dims) + 1))}, x.Name)
		}},
		"Squeeze": {make: func(g *generator) *Node {
			x := g.any(0, 5)
			var ones []int
			for i, d := range x.dims() {
				if d == 1 && g.flip() {
					ones = append(ones, i)
				}
			}
			return g.withAxes(x, ones)
		}},
		"Unsqueeze": {make: func(g *generator) *Node {
			x := g.any(0, 4)
			axes := g.rnd.Perm(len(x.Dims) + 1)[:1]
			return g.withAxes(x, axes)
		}},
		"Expand": {since: 8, make: func(g *generator) *Node {
			x := g.any(0, 4)
			d := x.dims()
			for i := range d {
				if d[i] == 1 && g.flip() {
					d[i] = 1 + g.rnd.IntN(9)
				} else if g.rnd.IntN(4) == 0 {
					d[i] = 1
				}
			}
			if g.rnd.IntN(4) == 0 {
				d = append([]int{1 + g.rnd.IntN(4)}, d...)
			}
			return node(nil, x.Name, g.ints(d...))
		}},
		"Tile": {make: func(g *generator) *Node {
			x := g.any(1, 4)
			var repeats []int
			for range x.Dims {
				repeats = append(repeats, []int{0, 1, 1, 1, 1, 2, 3}[g.rnd.IntN(7)])
			}
			return node(nil, x.Name, g.ints(repeats...))
		}},
		"Slice": {since: 10, make: proposeSlice},
		"Pad":   {since: 11, make: proposePad},
		"DepthToSpace": {make: func(g *generator) *Node {
			x := g.real(4, 4)
			a := attrs{"blocksize": intOf(1 + g.rnd.IntN(3))}
			if g.model.Opset >= 11 && g.flip() {
				a["mode"] = stringOf("CRD")
			}
			return node(a, x.Name)
		}},
		"SpaceToDepth": {make: func(g *generator) *Node { return node(attrs{"blocksize": intOf(1 + g.rnd.IntN(3))}, g.real(4, 4).Name) }},
		"Trilu": {since: 14, make: func(g *generator) *Node {
			in := []string{g.any(2, 4).Name}
			if g.flip() {
				in = append(in, g.scalar(numeric.I64, float64(g.rnd.IntN(9)-4)))
			}
			return node(attrs{"upper": boolOf(g.flip())}, in...)
		}},
		"Resize": {since: 10, make: proposeResize},
		"Upsample": {since: 9, until: 9, make: func(g *generator) *Node {
			x := g.real(4, 4)
			mode := []string{"nearest", "linear"}[g.rnd.IntN(2)]
			return node(attrs{"mode": stringOf(mode)}, x.Name, g.constant(numeric.Values(numeric.F32, []float32{1, 1, g.scale(), g.scale()}, 4)))
		}},
	}
}

func sameBut(a, b []int, axis int) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	a[axis], b[axis] = 0, 0
	return slices.Equal(a, b)
}

// withAxes gives the axes as the operator set wants them: an attribute before 13, an input since.
func (g *generator) withAxes(x tensor, axes []int) *Node {
	switch {
	case len(axes) == 0:
		return node(nil, x.Name)
	case g.model.Opset < 13:
		return node(attrs{"axes": intsOf(axes...)}, x.Name)
	}
	return node(nil, x.Name, g.ints(axes...))
}

func proposeSplit(g *generator) *Node {
	x := g.any(1, 5)
	axis := g.axis(len(x.Dims))
	extent := x.dims()[(axis+len(x.Dims))%len(x.Dims)]
	parts := 1 + g.rnd.IntN(3)
	var sizes []int
	left := extent
	for range parts - 1 {
		n := g.rnd.IntN(left + 1)
		sizes = append(sizes, n)
		left -= n
	}
	sizes = append(sizes, left)
	a := attrs{"axis": intOf(axis)}
	n := node(a, x.Name)
	n.Out = make([]string, parts)
	switch {
	case g.model.Opset >= 18 && g.flip():
		a["num_outputs"] = intOf(parts)
	case g.model.Opset >= 13:
		n.In = append(n.In, g.ints(sizes...))
	default:
		a["split"] = intsOf(sizes...)
	}
	return n
}

func proposeReshape(g *generator) *Node {
	x := g.any(0, 5)
	d := x.dims()
	count := numeric.Count(d)
	var want []int
	for left := count; ; {
		if len(want) == 4 || left <= 1 {
			want = append(want, left)
			break
		}
		k := 1 + g.rnd.IntN(8)
		for left%k != 0 {
			k--
		}
		want = append(want, k)
		left /= k
		if g.rnd.IntN(3) == 0 {
			want = append(want, left)
			break
		}
	}
	if count > 0 && g.flip() {
		want[g.rnd.IntN(len(want))] = -1
	}
	if g.rnd.IntN(3) == 0 && len(d) >= 2 && d[0] > 0 { // the usual: the first axis as it is, the others in one
		want = []int{0, -1}
	}
	return node(nil, x.Name, g.ints(want...))
}

func proposeSlice(g *generator) *Node {
	x := g.any(1, 5)
	axes := g.axes(len(x.Dims))
	if len(axes) == 0 {
		axes = []int{0}
	}
	var starts, ends, steps []int
	for _, a := range axes {
		e := x.dims()[a]
		lo, hi, step := g.rnd.IntN(e+2)-1, g.rnd.IntN(e+3), 1+g.rnd.IntN(3)
		if g.rnd.IntN(4) == 0 {
			lo, hi, step = e-1, -e-1-g.rnd.IntN(2), -1-g.rnd.IntN(2)
		} else if g.rnd.IntN(3) == 0 {
			hi = 1<<31 - 1
		}
		starts, ends, steps = append(starts, lo), append(ends, hi), append(steps, step)
	}
	return node(nil, x.Name, g.ints(starts...), g.ints(ends...), g.ints(axes...), g.ints(steps...))
}

func proposePad(g *generator) *Node {
	x := g.real(1, 5)
	var pads []int
	for range 2 * len(x.Dims) {
		p := []int{0, 0, 0, 0, 1, 1, 2, 3, -1}[g.rnd.IntN(9)]
		pads = append(pads, p)
	}
	mode := []string{"constant", "constant", "reflect", "edge", "wrap"}[g.rnd.IntN(5)]
	if mode == "wrap" && g.model.Opset < 19 {
		mode = "edge"
	}
	in := []string{x.Name, g.ints(pads...)}
	if mode == "constant" && g.flip() {
		in = append(in, g.scalar(numeric.F32, g.rnd.NormFloat64()))
	}
	return node(attrs{"mode": stringOf(mode)}, in...)
}

func (g *generator) scale() float32 {
	return []float32{1, 1, 2, 2, 3, 1.5, 0.5, 0.75, 2.5}[g.rnd.IntN(9)]
}

func proposeResize(g *generator) *Node {
	x := g.real(4, 4)
	mode := []string{"nearest", "linear", "cubic"}[g.rnd.IntN(3)]
	a := attrs{"mode": stringOf(mode)}
	scales := numeric.Values(numeric.F32, []float32{1, 1, g.scale(), g.scale()}, 4)
	if g.model.Opset < 11 {
		if mode == "cubic" {
			return nil
		}
		return node(a, x.Name, g.constant(scales))
	}
	a["coordinate_transformation_mode"] = stringOf([]string{"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"}[g.rnd.IntN(4)])
	if mode == "nearest" {
		a["nearest_mode"] = stringOf([]string{"round_prefer_floor", "floor", "ceil", "round_prefer_ceil"}[g.rnd.IntN(4)])
	}
	if g.model.Opset >= 18 && mode != "nearest" && g.rnd.IntN(4) == 0 {
		a["antialias"] = intOf(1)
	}
	if g.rnd.IntN(3) == 0 {
		d := x.dims()
		return node(a, x.Name, "", "", g.ints(d[0], d[1], 1+g.rnd.IntN(20), 1+g.rnd.IntN(20)))
	}
	return node(a, x.Name, "", g.constant(scales))
}
