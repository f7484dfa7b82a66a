package pass

import (
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// normNet writes normalisations out.
type normNet struct{ *net }

func (n normNet) op(name string, op graph.EltOp, x ...*graph.Tensor) *graph.Tensor {
	return n.elt(name, op, nil, x...)
}

func (n normNet) mean(x *graph.Tensor, axes ...int) *graph.Tensor {
	return n.add("ReduceMean", graph.ReduceMean, graph.ReduceAttrs{Axes: axes, KeepDims: true}, x)
}

func (n normNet) sum(x *graph.Tensor, axes ...int) *graph.Tensor {
	return n.add("ReduceSum", graph.ReduceSum, graph.ReduceAttrs{Axes: axes}, x)
}

func (n normNet) biased(v *graph.Tensor) *graph.Tensor {
	return n.op("Add", graph.EltAdd, v, n.scalar(1e-5))
}

// deviation returns the root of the mean of d*d over the last axis.
func (n normNet) deviation(d *graph.Tensor) *graph.Tensor {
	return n.op("Sqrt", graph.EltSqrt, n.biased(n.mean(n.op("Pow", graph.EltPow, d, n.scalar(2)), 2)))
}

func (n normNet) centred(x *graph.Tensor) *graph.Tensor {
	return n.op("Sub", graph.EltSub, x, n.mean(x, 2))
}

// fast returns x's mean, and its variance without centring it, each [3, 8] for x [3, 8, 16].
func (n normNet) fast(x *graph.Tensor) (mean, variance *graph.Tensor) {
	mean = n.op("Mul", graph.EltMul, n.sum(x, 2), n.scalar(1./16))
	square := n.op("Div", graph.EltDiv, n.sum(n.op("Mul", graph.EltMul, x, x), 2), n.scalar(16))
	v := n.op("Sub", graph.EltSub, square, n.op("Mul", graph.EltMul, mean, mean))
	return mean, n.op("Max", graph.EltMax, v, n.scalar(0))
}

// rows returns a statistic [3, 8] as one that broadcasts along rows of 16.
func (n normNet) rows(t *graph.Tensor) *graph.Tensor {
	return n.add("Expand", graph.Expand, nil, n.reshape("Reshape", t, 3, 8, 1), n.ints(3, 8, 16))
}

// TestRecogniseNorms checks each way in which exporters spell a normalisation out, and what looks like one.
func TestRecogniseNorms(t *testing.T) {
	layer, rms := graph.LayerNorm.Name, graph.RMSNorm.Name
	for _, c := range []struct {
		name, want string // the op of the only layer left; empty if there are several
		build      func(n normNet, x *graph.Tensor) *graph.Tensor
	}{
		{"plain", layer, func(n normNet, x *graph.Tensor) *graph.Tensor {
			d := n.centred(x)
			return n.op("Div", graph.EltDiv, d, n.deviation(d))
		}},
		{"root mean square of what is centred", layer, func(n normNet, x *graph.Tensor) *graph.Tensor {
			return n.add("RMS", graph.RMSNorm, graph.LayerNormAttrs{Axis: -1, Epsilon: 1e-5}, n.centred(x), n.weights("scale", .5, 1.5, 16))
		}},
		{"scale and bias", layer, func(n normNet, x *graph.Tensor) *graph.Tensor {
			d := n.centred(x)
			y := n.op("Mul", graph.EltMul, n.weights("scale", .5, 1.5, 16), n.op("Div", graph.EltDiv, d, n.deviation(d)))
			return n.op("Add", graph.EltAdd, y, n.weights("bias", -1, 1, 1, 1, 16))
		}},
		{"reciprocal and square", layer, func(n normNet, x *graph.Tensor) *graph.Tensor {
			d := n.centred(x)
			v := n.biased(n.mean(n.op("Mul", graph.EltMul, d, d), -1))
			r := n.op("Reciprocal", graph.EltReciprocal, n.op("Sqrt", graph.EltSqrt, v))
			return n.op("Mul", graph.EltMul, n.op("Mul", graph.EltMul, d, r), n.weights("scale", .5, 1.5, 16))
		}},
		{"power", layer, func(n normNet, x *graph.Tensor) *graph.Tensor {
			d := n.centred(x)
			v := n.biased(n.mean(n.op("Mul", graph.EltMul, d, d), 2))
			return n.op("Mul", graph.EltMul, n.op("Pow", graph.EltPow, v, n.scalar(-.5)), d)
		}},
		{"variance of squares", layer, func(n normNet, x *graph.Tensor) *graph.Tensor {
			mean, v := n.fast(x)
			r := n.op("Reciprocal", graph.EltReciprocal, n.op("Sqrt", graph.EltSqrt, n.biased(n.rows(v))))
			r = n.op("Mul", graph.EltMul, r, n.weights("scale", .5, 1.5, 16))
			y := n.op("Mul", graph.EltMul, n.op("Sub", graph.EltSub, x, n.rows(mean)), r)
			return n.op("Add", graph.EltAdd, y, n.weights("bias", -1, 1, 16))
		}},
		{"tensorflow", layer, func(n normNet, x *graph.Tensor) *graph.Tensor {
			mean := n.mean(x, 2)
			d := n.op("Sub", graph.EltSub, x, mean)
			r := n.op("Reciprocal", graph.EltReciprocal, n.deviation(d))
			r = n.op("Mul", graph.EltMul, r, n.weights("scale", .5, 1.5, 16))
			shift := n.op("Sub", graph.EltSub, n.weights("bias", -1, 1, 16), n.op("Mul", graph.EltMul, mean, r))
			return n.op("Add", graph.EltAdd, n.op("Mul", graph.EltMul, x, r), shift)
		}},
		{"mean square", rms, func(n normNet, x *graph.Tensor) *graph.Tensor {
			y := n.op("Mul", graph.EltMul, x, n.op("Div", graph.EltDiv, n.scalar(1), n.deviation(x)))
			return n.op("Mul", graph.EltMul, n.weights("scale", .5, 1.5, 16), y)
		}},
		{"mean square of two axes", rms, func(n normNet, x *graph.Tensor) *graph.Tensor {
			s := n.op("Sqrt", graph.EltSqrt, n.biased(n.mean(n.op("Mul", graph.EltMul, x, x), 1, 2)))
			return n.op("Mul", graph.EltMul, n.weights("scale", .5, 1.5, 8, 16), n.op("Div", graph.EltDiv, x, s))
		}},
		{"deviation of another tensor", "", func(n normNet, x *graph.Tensor) *graph.Tensor {
			return n.op("Div", graph.EltDiv, n.centred(x), n.deviation(n.input("z", 3, 8, 16)))
		}},
		{"deviation and epsilon", "", func(n normNet, x *graph.Tensor) *graph.Tensor {
			d := n.centred(x)
			s := n.op("Sqrt", graph.EltSqrt, n.mean(n.op("Mul", graph.EltMul, d, d), 2))
			return n.op("Div", graph.EltDiv, d, n.biased(s))
		}},
		{"statistics along another axis", "", func(n normNet, _ *graph.Tensor) *graph.Tensor {
			x := n.input("square", 3, 16, 16)
			m := n.add("ReduceMean", graph.ReduceMean, graph.ReduceAttrs{Axes: []int{2}}, n.op("Mul", graph.EltMul, x, x))
			return n.op("Div", graph.EltDiv, x, n.op("Sqrt", graph.EltSqrt, n.reshape("Reshape", n.biased(m), 3, 1, 16)))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := normNet{newNet(t, c.name)}
			src := n.output(c.build(n, n.input("x", 3, 8, 16)))
			got, _ := runPass(t, src, []Pass{recogniseNorms}, Config{})
			sameMeaning(t, src, got, 1e-5)
			op := ""
			if len(got.Layers) == 1 {
				op = got.Layers[0].Op.Name
			}
			if op != c.want {
				t.Errorf("got %q, want %q:\n%s", op, c.want, got)
			}
		})
	}
	testPass(t, recogniseNorms, []passCase{
		{"layer-norm", func(n *net) *graph.Network {
			m := normNet{n}
			d := m.centred(n.input("x", 3, 8, 16))
			y := m.op("Mul", graph.EltMul, m.op("Div", graph.EltDiv, d, m.deviation(d)), n.weights("scale", .5, 1.5, 16))
			return n.output(m.op("Add_2", graph.EltAdd, y, n.weights("bias", -1, 1, 16)))
		}},
		{"channels", func(n *net) *graph.Network {
			m, x := normNet{n}, n.input("x", 3, 8, 16)
			s := m.op("Sqrt", graph.EltSqrt, m.biased(m.mean(m.op("Mul", graph.EltMul, x, x), 1)))
			return n.output(m.op("Div", graph.EltDiv, x, s))
		}},
		{"second-consumer", func(n *net) *graph.Network {
			m, x := normNet{n}, n.input("x", 3, 8, 16)
			s := m.deviation(x)
			return n.output(m.op("Div", graph.EltDiv, x, s), n.relu("Relu", s))
		}},
		{"symbolic", func(n *net) *graph.Network {
			m := normNet{n}
			x := n.AddInput("x", numeric.F32, symbolic.Symbol("batch"), symbolic.Symbol("seq"), symbolic.Const(16))
			d := m.centred(x)
			return n.output(m.op("Div", graph.EltDiv, d, m.deviation(d)))
		}},
	})
}
