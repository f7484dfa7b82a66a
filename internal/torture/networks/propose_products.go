package networks

import "github.com/trtui/trtui/core/graph/numeric"

// window returns kernel, and attributes for it: strides, dilations, and paddings that are smaller than the kernel.
func (g *generator) window(extents []int, padded bool) (kernel []int, a attrs) {
	a = attrs{}
	var strides, dilations, before, after []int
	for _, e := range extents {
		k := []int{1, 1, 2, 3, 3, 3, 4, 5, 7}[g.rnd.IntN(9)]
		d := 1
		if g.rnd.IntN(6) == 0 {
			d = 2 + g.rnd.IntN(2)
		}
		for k > 1 && (k-1)*d+1 > e+2*(k-1) {
			k--
		}
		kernel, dilations = append(kernel, k), append(dilations, d)
		strides = append(strides, []int{1, 1, 1, 2, 3}[g.rnd.IntN(5)])
		before, after = append(before, g.rnd.IntN(k)), append(after, g.rnd.IntN(k))
	}
	if g.flip() {
		a["strides"] = intsOf(strides...)
	}
	if g.rnd.IntN(4) == 0 {
		a["dilations"] = intsOf(dilations...)
	}
	switch {
	case !padded || g.rnd.IntN(3) == 0:
	case g.rnd.IntN(5) == 0:
		a["auto_pad"] = stringOf([]string{"SAME_UPPER", "SAME_LOWER", "VALID"}[g.rnd.IntN(3)])
		delete(a, "dilations")
	case g.flip(): // the usual: half of the kernel
		for i, k := range kernel {
			before[i], after[i] = k/2, k/2
		}
		a["pads"] = intsOf(append(before, after...)...)
	default:
		a["pads"] = intsOf(append(before, after...)...)
	}
	return kernel, a
}

// group returns a divisor of the channels: 1, all of them, or another.
func (g *generator) group(channels int) int {
	switch g.rnd.IntN(4) {
	case 0:
		return max(1, channels)
	case 1:
		for d := 2; d < channels; d++ {
			if channels%d == 0 {
				return d
			}
		}
	}
	return 1
}

// perGroup returns a number of output channels for each group.
func (g *generator) perGroup(group int) int {
	n := []int{1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 33}[g.rnd.IntN(11)]
	return max(1, min(n, 72/group))
}

func products() map[string]proposal {
	return map[string]proposal{
		"Conv": {make: func(g *generator) *Node {
			x := g.real(3, 5)
			d := x.dims()
			kernel, a := g.window(d[2:], true)
			group := g.group(d[1])
			m := group * g.perGroup(group)
			if group > 1 || g.flip() {
				a["group"] = intOf(group)
			}
			if g.flip() {
				a["kernel_shape"] = intsOf(kernel...)
			}
			w := append([]int{m, d[1] / group}, kernel...)
			in := []string{x.Name, g.factor(numeric.Count(kernel)*d[1]/group, w...)}
			if g.flip() {
				in = append(in, g.weights(1, m))
			}
			return node(a, in...)
		}},
		"ConvTranspose": {make: func(g *generator) *Node {
			x := g.real(3, 4)
			d := x.dims()
			kernel, a := g.window(d[2:], false)
			group := g.group(d[1])
			per := min(9, g.perGroup(group))
			a["group"] = intOf(group)
			if g.rnd.IntN(3) == 0 {
				var pads []int
				for range 2 {
					for _, k := range kernel {
						pads = append(pads, g.rnd.IntN(k))
					}
				}
				a["pads"] = intsOf(pads...)
			}
			in := []string{x.Name, g.factor(d[1], append([]int{d[1], per}, kernel...)...)}
			if g.flip() {
				in = append(in, g.weights(1, per*group))
			}
			return node(a, in...)
		}},
		"Gemm": {make: func(g *generator) *Node {
			x := g.real(2, 2)
			d := x.dims()
			a := attrs{}
			rows, depth := d[0], d[1]
			if g.rnd.IntN(4) == 0 {
				a["transA"] = intOf(1)
				rows, depth = depth, rows
			}
			columns := max(1, g.extent())
			w := []int{depth, columns}
			if g.flip() {
				a["transB"] = intOf(1)
				w = []int{columns, depth}
			}
			if g.rnd.IntN(4) == 0 {
				a["alpha"], a["beta"] = floatOf(0.5), floatOf(2)
			}
			in := []string{x.Name, g.factor(depth, w...)}
			if g.flip() || g.model.Opset < 11 {
				c := [][]int{{columns}, {1, columns}, {rows, 1}, {rows, columns}, {}, {1}}[g.rnd.IntN(6)]
				in = append(in, g.weights(1, c...))
			}
			return node(a, in...)
		}},
		"Einsum": {since: 12, make: proposeEinsum},
		"MatMul": {make: func(g *generator) *Node {
			x := g.real(1, 5)
			w := g.secondFactor(x)
			return node(nil, x.Name, g.factor(w[max(0, len(w)-2)], w...))
		}},
	}
}

// secondFactor returns the shape of a matrix, or matrices, that x can be multiplied with.
func (g *generator) secondFactor(x tensor) []int {
	d := x.dims()
	depth := d[len(d)-1]
	switch {
	case g.rnd.IntN(8) == 0:
		return []int{depth}
	case g.flip() || len(d) < 3:
		return []int{depth, max(1, g.extent())}
	}
	batch := d[:len(d)-2]
	for i := range batch {
		if g.rnd.IntN(3) == 0 {
			batch[i] = 1
		}
	}
	return append(batch[g.rnd.IntN(len(batch)):], depth, max(1, g.extent()))
}

// factor returns weights, now and then as an input or as what is computed.
func (g *generator) factor(fan int, dims ...int) string {
	if numeric.Count(dims) > 8*maxElements {
		return ""
	}
	if g.rnd.IntN(8) > 0 || numeric.Count(dims) > maxElements {
		return g.weights(fan, dims...)
	}
	return g.input(numeric.F32, dims...).Name
}

func pools() map[string]proposal {
	pool := func(max bool) func(g *generator) *Node {
		return func(g *generator) *Node {
			x := g.real(3, 5)
			kernel, a := g.window(x.dims()[2:], true)
			a["kernel_shape"] = intsOf(kernel...)
			if g.model.Opset < 10 || !max && g.model.Opset < 19 {
				delete(a, "dilations")
			}
			if g.model.Opset >= 10 && g.rnd.IntN(4) == 0 {
				a["ceil_mode"] = intOf(1)
			}
			if !max && g.flip() {
				a["count_include_pad"] = intOf(1)
			}
			n := node(a, x.Name)
			if max && g.rnd.IntN(6) == 0 {
				n.Out = make([]string, 2)
				if g.flip() {
					a["storage_order"] = intOf(1)
				}
			}
			return n
		}
	}
	return map[string]proposal{"MaxPool": {make: pool(true)}, "AveragePool": {make: pool(false)}}
}

func norms() map[string]proposal {
	perChannel := func(g *generator, x tensor, n int) []string {
		in := []string{x.Name}
		for range n {
			in = append(in, g.weights(1, x.dims()[1]))
		}
		return in
	}
	epsilon := func(g *generator) attrs {
		a := attrs{}
		if g.flip() {
			a["epsilon"] = floatOf(1e-3)
		}
		return a
	}
	return map[string]proposal{
		"BatchNormalization": {since: 9, make: func(g *generator) *Node {
			x := g.real(2, 5)
			variance := g.random(numeric.F32, x.dims()[1])
			for i, f := range variance.F32() {
				variance.F32()[i] = f*f + 0.1
			}
			return node(epsilon(g), append(perChannel(g, x, 3), g.constant(variance))...)
		}},
		"InstanceNormalization": {make: func(g *generator) *Node { return node(epsilon(g), perChannel(g, g.real(3, 5), 2)...) }},
		"GroupNormalization": {since: 18, make: func(g *generator) *Node {
			x := g.real(3, 5)
			group := g.group(x.dims()[1])
			n := x.dims()[1]
			if g.model.Opset < 21 {
				n = group
			}
			a := epsilon(g)
			a["num_groups"] = intOf(group)
			return node(a, x.Name, g.weights(1, n), g.weights(1, n))
		}},
		"LayerNormalization": {since: 17, make: func(g *generator) *Node {
			n := g.rowNorm()
			if n != nil && g.flip() {
				n.In = append(n.In, g.weights(1, g.values[n.In[1]].dims()...))
			}
			if n != nil && g.rnd.IntN(6) == 0 {
				n.Out = make([]string, 1+g.rnd.IntN(3))
			}
			return n
		}},
		"RMSNormalization": {since: 23, make: func(g *generator) *Node { return g.rowNorm() }},
		"Attention": {since: 23, make: func(g *generator) *Node {
			x := g.real(3, 3)
			d := x.dims()
			heads := g.group(d[2])
			a := attrs{"q_num_heads": intOf(heads), "kv_num_heads": intOf(heads), "is_causal": intOf(g.rnd.IntN(2))}
			if g.flip() {
				return node(a, x.Name, x.Name, x.Name, g.weights(1, d[1], d[1]))
			}
			return node(a, x.Name, x.Name, x.Name)
		}},
		"LinearAttention": {since: 27, make: func(g *generator) *Node {
			kv, size, b, t := 1+g.rnd.IntN(2), 1+g.rnd.IntN(4), 1+g.rnd.IntN(2), g.extent()
			heads := kv * (1 + g.rnd.IntN(2))
			a := attrs{"q_num_heads": intOf(heads), "kv_num_heads": intOf(kv), "update_rule": stringOf("linear")}
			k := g.input(numeric.F32, b, t, kv*size).Name
			return node(a, g.input(numeric.F32, b, t, heads*size).Name, k, k)
		}},
		"RotaryEmbedding": {since: 23, make: func(g *generator) *Node { return g.rotary() }},
		"LRN": {make: func(g *generator) *Node {
			a := attrs{"size": intOf(1 + 2*g.rnd.IntN(4))}
			if g.flip() {
				a["alpha"], a["beta"], a["bias"] = floatOf(0.1), floatOf(0.5), floatOf(2)
			}
			return node(a, g.real(3, 4).Name)
		}},
		"LpNormalization": {make: func(g *generator) *Node {
			x := g.real(1, 4)
			return node(attrs{"axis": intOf(g.axis(len(x.Dims))), "p": intOf(1 + g.rnd.IntN(2))}, x.Name)
		}},
		"MeanVarianceNormalization": {since: 9, make: func(g *generator) *Node {
			x := g.real(4, 4)
			if g.flip() {
				return node(nil, x.Name)
			}
			return node(attrs{"axes": intsOf(append(g.axes(3), 3)...)}, x.Name)
		}},
		"Softmax": {make: proposeSoftmax}, "LogSoftmax": {make: proposeSoftmax}, "Hardmax": {make: proposeSoftmax},
	}
}

func proposeSoftmax(g *generator) *Node {
	x := g.real(1, 5)
	a := attrs{}
	if g.rnd.IntN(4) > 0 {
		a["axis"] = intOf(g.axis(len(x.Dims)))
	}
	return node(a, x.Name)
}

// rotary returns a rotary embedding, of heads in an axis of their own or in the last one, with or without positions.
func (g *generator) rotary() *Node {
	heads, size, length := 1+g.rnd.IntN(3), 2*(1+g.rnd.IntN(5)), g.extent()
	x := g.input(numeric.F32, 1, heads, length, size)
	a := attrs{"interleaved": intOf(g.rnd.IntN(2))}
	if g.flip() {
		x = g.input(numeric.F32, 1, length, heads*size)
		a["num_heads"] = intOf(heads)
	}
	if g.rnd.IntN(3) == 0 {
		a["rotary_embedding_dim"], a["num_heads"] = intOf(2), intOf(heads)
		size = 2
	}
	if g.flip() {
		return node(a, x.Name, g.weights(1, 9, size/2), g.weights(1, 9, size/2), g.positions(9, false, 1, length))
	}
	return node(a, x.Name, g.weights(1, 1, length, size/2), g.weights(1, 1, length, size/2))
}

// rowNorm returns a normalisation over the last axes, with a scale.
func (g *generator) rowNorm() *Node {
	x := g.real(1, 4)
	d := x.dims()
	axis := len(d) - 1
	a := attrs{}
	if g.rnd.IntN(3) == 0 {
		axis = g.rnd.IntN(len(d))
		a["axis"] = intOf(axis - len(d)*g.rnd.IntN(2))
	}
	return node(a, x.Name, g.weights(1, d[axis:]...))
}
