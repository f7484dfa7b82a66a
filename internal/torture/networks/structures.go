package networks

// gate makes two products of one tensor of which one, behind an activation, is a factor of the other: which random nodes never
// come together to.
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
		if !g.add(op, node(nil, in...)) {
			g.drop(inputs, consts)
			return false
		}
		last = g.model.Nodes[len(g.model.Nodes)-1].Out[0]
		return g.broken == nil
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
