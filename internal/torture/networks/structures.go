package networks

import "github.com/trtui/trtui/core/graph/numeric"

// structure makes a few nodes that random ones never come together to.
func (g *generator) structure() {
	switch g.rnd.IntN(3) {
	case 0:
		g.gate()
	case 1:
		g.byteWeights()
	default:
		g.dynamicProduct()
	}
}

// gate makes two products of one tensor of which one, behind an activation, is a factor of the other.
func (g *generator) gate() {
	x := g.real(2, 4)
	d := x.dims()
	k, n := d[len(d)-1], max(1, g.extent())
	last := ""
	made := func(op string, in ...string) bool {
		inputs, consts := len(g.model.Inputs), len(g.model.Consts)
		if op == "MatMul" {
			in = append(in, g.weights(k, k, n))
		}
		y, ok := g.made(inputs, consts, op, node(nil, in...))
		last = y
		return ok
	}
	if !made("MatMul", x.Name) || !made([]string{"Sigmoid", "Relu", "Tanh"}[g.rnd.IntN(3)], last) {
		return
	}
	gate := last
	if !made("MatMul", x.Name) {
		return
	}
	if g.flip() {
		made("Mul", gate, last)
	} else {
		made("Mul", last, gate)
	}
}

// made adds a node and returns the name of its result; what it needed beyond so many inputs and constants goes with it if it fails.
func (g *generator) made(inputs, consts int, op string, n *Node) (result string, ok bool) {
	if !g.add(op, n) {
		g.drop(inputs, consts)
		return "", false
	}
	return g.model.Nodes[len(g.model.Nodes)-1].Out[0], g.broken == nil
}

// byteWeights makes a product of a real tensor by weights of bytes, whose scales are one, or those of columns or rows.
func (g *generator) byteWeights() {
	if g.model.Opset < 13 {
		return
	}
	x := g.real(2, 4)
	d := x.dims()
	k, n, t := d[len(d)-1], max(1, g.extent()), g.byteType()
	inputs, consts := len(g.model.Inputs), len(g.model.Consts)
	a, scale, zero := attrs(nil), "", ""
	if axis := g.rnd.IntN(4); axis < 2 {
		a = attrs{"axis": intOf(axis)}
		scale, zero = g.channelSteps(t, []int{k, n}[axis])
	} else {
		scale, zero = g.scalar(numeric.F32, g.step()), g.zero(t)
	}
	if w, ok := g.made(inputs, consts, "DequantizeLinear", node(a, g.constant(g.random(t, k, n)), scale, zero)); ok {
		inputs, consts = len(g.model.Inputs), len(g.model.Consts)
		g.made(inputs, consts, "MatMul", node(nil, x.Name, w))
	}
}

// dynamicProduct makes a product of integers that a real tensor becomes by its own range, and real numbers of its sums.
func (g *generator) dynamicProduct() {
	if g.model.Opset < 11 {
		return
	}
	x := g.real(2, 4)
	d := x.dims()
	k, n, t := d[len(d)-1], max(1, g.extent()), g.byteType()
	quantize := node(nil, x.Name)
	quantize.Out = make([]string, 3)
	q, ok := g.made(len(g.model.Inputs), len(g.model.Consts), "DynamicQuantizeLinear", quantize)
	if !ok {
		return
	}
	scale, zero := g.model.Nodes[len(g.model.Nodes)-1].Out[1], g.model.Nodes[len(g.model.Nodes)-1].Out[2]
	step := func(op string, a attrs, in func() []string) (string, bool) {
		inputs, consts := len(g.model.Inputs), len(g.model.Consts)
		return g.made(inputs, consts, op, node(a, in()...))
	}
	of := func(in ...string) func() []string { return func() []string { return in } }
	scaled := func(y string) func() []string {
		return func() []string {
			scales, _ := g.channelSteps(t, n)
			return []string{scales, y}
		}
	}
	sums, ok := step("MatMulInteger", nil, func() []string {
		in := []string{q, g.constant(g.random(t, k, n)), zero}
		if g.flip() {
			_, zeros := g.channelSteps(t, n)
			in = append(in, zeros)
		}
		return in
	})
	if !ok {
		return
	}
	y, ok := step("Cast", attrs{"to": intOf(1)}, of(sums))
	if !ok {
		return
	}
	if g.flip() {
		if s, ok := step("Mul", nil, scaled(scale)); ok {
			step("Mul", nil, of(y, s))
		}
	} else if y, ok = step("Mul", nil, of(y, scale)); ok {
		step("Mul", nil, scaled(y))
	}
}
