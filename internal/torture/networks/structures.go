package networks

import "github.com/trtui/trtui/core/graph"

// structure makes a few nodes that random ones never come together to.
func (g *generator) structure() {
	if g.flip() {
		g.gate()
	} else {
		g.byteWeights()
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
		scale, zero = g.scalar(graph.F32, g.step()), g.zero(t)
	}
	if w, ok := g.made(inputs, consts, "DequantizeLinear", node(a, g.constant(g.random(t, k, n)), scale, zero)); ok {
		inputs, consts = len(g.model.Inputs), len(g.model.Consts)
		g.made(inputs, consts, "MatMul", node(nil, x.Name, w))
	}
}
