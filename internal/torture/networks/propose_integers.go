package networks

import "github.com/trtui/trtui/core/graph/numeric"

var bytesTypes = []numeric.DataType{numeric.U8, numeric.I8}

func (g *generator) byteType() numeric.DataType { return bytesTypes[g.rnd.IntN(2)] }

// step returns a scale.
func (g *generator) step() float64 { return []float64{1. / 64, 1. / 32, 0.05, 0.1, 1}[g.rnd.IntN(5)] }

// zero returns the name of a zero point.
func (g *generator) zero(t numeric.DataType) string {
	z := g.rnd.IntN(20)
	if t == numeric.I8 && g.flip() {
		z = 0
	}
	return g.scalar(t, float64(z))
}

// channelSteps returns a scale and a zero point of 0 for each of so many channels.
func (g *generator) channelSteps(t numeric.DataType, n int) (scale, zero string) {
	v := numeric.NewValue(numeric.F32, n)
	for i := range v.F32() {
		v.F32()[i] = float32(g.step())
	}
	return g.constant(v), g.constant(numeric.NewValue(t, n))
}

func integers() map[string]proposal {
	return map[string]proposal{
		"QuantizeLinear": {since: 10, make: func(g *generator) *Node {
			x := g.real(0, 5)
			t := g.byteType()
			if g.model.Opset >= 13 && len(x.Dims) > 0 && g.rnd.IntN(4) == 0 {
				axis := g.rnd.IntN(len(x.Dims))
				scale, zero := g.channelSteps(t, x.dims()[axis])
				return node(attrs{"axis": intOf(axis)}, x.Name, scale, zero)
			}
			return node(nil, x.Name, g.scalar(numeric.F32, g.step()), g.zero(t))
		}},
		"DequantizeLinear": {since: 10, make: func(g *generator) *Node {
			t := g.byteType()
			x := g.pick(t, 0, 5)
			if g.model.Opset >= 13 && len(x.Dims) > 0 && g.rnd.IntN(4) == 0 {
				axis := g.rnd.IntN(len(x.Dims))
				scale, zero := g.channelSteps(t, x.dims()[axis])
				return node(attrs{"axis": intOf(axis)}, x.Name, scale, zero)
			}
			return node(nil, x.Name, g.scalar(numeric.F32, g.step()), g.zero(t))
		}},
		"DynamicQuantizeLinear": {since: 11, make: func(g *generator) *Node {
			n := node(nil, g.real(0, 4).Name)
			n.Out = make([]string, 3)
			return n
		}},
		"ConvInteger": {since: 10, make: func(g *generator) *Node {
			x := g.pick(g.byteType(), 3, 4)
			w, a := g.byteKernel(x)
			in := []string{x.Name, w}
			if g.flip() {
				in = append(in, g.zero(x.Type))
			}
			return node(a, in...)
		}},
		"QLinearConv": {since: 10, make: func(g *generator) *Node {
			x := g.pick(g.byteType(), 3, 4)
			w, a := g.byteKernel(x)
			t := g.values[w].Type
			in := []string{x.Name, g.scalar(numeric.F32, g.step()), g.zero(x.Type), w}
			m := g.values[w].dims()[0]
			if g.flip() {
				scale, zero := g.channelSteps(t, m)
				in = append(in, scale, zero)
			} else {
				in = append(in, g.scalar(numeric.F32, g.step()), g.zero(t))
			}
			in = append(in, g.scalar(numeric.F32, g.step()*8), g.zero(x.Type))
			if g.flip() {
				in = append(in, g.constant(g.random(numeric.I32, m)))
			}
			return node(a, in...)
		}},
		"MatMulInteger": {since: 10, make: func(g *generator) *Node {
			x := g.pick(g.byteType(), 2, 4)
			in := []string{x.Name, g.constant(g.random(g.byteType(), g.secondFactor(x)...))}
			if g.flip() {
				in = append(in, g.zero(x.Type))
			}
			return node(nil, in...)
		}},
		"QLinearMatMul": {since: 10, make: func(g *generator) *Node {
			x := g.pick(g.byteType(), 2, 4)
			t := g.byteType()
			return node(nil, x.Name, g.scalar(numeric.F32, g.step()), g.zero(x.Type), g.constant(g.random(t, g.secondFactor(x)...)),
				g.scalar(numeric.F32, g.step()), g.zero(t), g.scalar(numeric.F32, g.step()*8), g.zero(x.Type))
		}},
	}
}

// byteKernel returns weights of integers for a convolution of x, and its attributes.
func (g *generator) byteKernel(x tensor) (string, attrs) {
	d := x.dims()
	kernel, a := g.window(d[2:], true)
	group := g.group(d[1])
	a["group"] = intOf(group)
	return g.constant(g.random(g.byteType(), append([]int{group * min(5, g.perGroup(group)), d[1] / group}, kernel...)...)), a
}
