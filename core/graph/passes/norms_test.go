package passes

import (
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes/recognise"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// normNet writes normalisations out.
type normNet struct{ *net }

func (n normNet) op(name string, op elementwise.Op, x ...*graph.Tensor) *graph.Tensor {
	return n.elt(name, op, nil, x...)
}

func (n normNet) mean(x *graph.Tensor, axes ...int) *graph.Tensor {
	return n.add("ReduceMean", graph.ReduceMean, graph.ReduceAttrs{Axes: axes, KeepDims: true}, x)
}

func (n normNet) sum(x *graph.Tensor, axes ...int) *graph.Tensor {
	return n.add("ReduceSum", graph.ReduceSum, graph.ReduceAttrs{Axes: axes}, x)
}

func (n normNet) biased(v *graph.Tensor) *graph.Tensor {
	return n.op("Add", elementwise.Add, v, n.scalar(1e-5))
}

// deviation returns the root of the mean of d*d over the last axis.
func (n normNet) deviation(d *graph.Tensor) *graph.Tensor {
	return n.op("Sqrt", elementwise.Sqrt, n.biased(n.mean(n.op("Pow", elementwise.Pow, d, n.scalar(2)), 2)))
}

func (n normNet) centred(x *graph.Tensor) *graph.Tensor {
	return n.op("Sub", elementwise.Sub, x, n.mean(x, 2))
}

// fast returns x's mean, and its variance without centring it, each [3, 8] for x [3, 8, 16].
func (n normNet) fast(x *graph.Tensor) (mean, variance *graph.Tensor) {
	mean = n.op("Mul", elementwise.Mul, n.sum(x, 2), n.scalar(1./16))
	square := n.op("Div", elementwise.Div, n.sum(n.op("Mul", elementwise.Mul, x, x), 2), n.scalar(16))
	v := n.op("Sub", elementwise.Sub, square, n.op("Mul", elementwise.Mul, mean, mean))
	return mean, n.op("Max", elementwise.Max, v, n.scalar(0))
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
			return n.op("Div", elementwise.Div, d, n.deviation(d))
		}},
		{"root mean square of what is centred", layer, func(n normNet, x *graph.Tensor) *graph.Tensor {
			return n.add("RMS", graph.RMSNorm, graph.LayerNormAttrs{Axis: -1, Epsilon: 1e-5}, n.centred(x), n.weights("scale", .5, 1.5, 16))
		}},
		{"scale and bias", layer, func(n normNet, x *graph.Tensor) *graph.Tensor {
			d := n.centred(x)
			y := n.op("Mul", elementwise.Mul, n.weights("scale", .5, 1.5, 16), n.op("Div", elementwise.Div, d, n.deviation(d)))
			return n.op("Add", elementwise.Add, y, n.weights("bias", -1, 1, 1, 1, 16))
		}},
		{"scale and bias of one value", layer, func(n normNet, x *graph.Tensor) *graph.Tensor {
			d := n.centred(x)
			y := n.op("Mul", elementwise.Mul, n.scalar(1.25), n.op("Div", elementwise.Div, d, n.deviation(d)))
			return n.op("Add", elementwise.Add, y, n.weights("bias", -1, 1, 1))
		}},
		{"reciprocal and square", layer, func(n normNet, x *graph.Tensor) *graph.Tensor {
			d := n.centred(x)
			v := n.biased(n.mean(n.op("Mul", elementwise.Mul, d, d), -1))
			r := n.op("Reciprocal", elementwise.Reciprocal, n.op("Sqrt", elementwise.Sqrt, v))
			return n.op("Mul", elementwise.Mul, n.op("Mul", elementwise.Mul, d, r), n.weights("scale", .5, 1.5, 16))
		}},
		{"power", layer, func(n normNet, x *graph.Tensor) *graph.Tensor {
			d := n.centred(x)
			v := n.biased(n.mean(n.op("Mul", elementwise.Mul, d, d), 2))
			return n.op("Mul", elementwise.Mul, n.op("Pow", elementwise.Pow, v, n.scalar(-.5)), d)
		}},
		{"variance of squares", layer, func(n normNet, x *graph.Tensor) *graph.Tensor {
			mean, v := n.fast(x)
			r := n.op("Reciprocal", elementwise.Reciprocal, n.op("Sqrt", elementwise.Sqrt, n.biased(n.rows(v))))
			r = n.op("Mul", elementwise.Mul, r, n.weights("scale", .5, 1.5, 16))
			y := n.op("Mul", elementwise.Mul, n.op("Sub", elementwise.Sub, x, n.rows(mean)), r)
			return n.op("Add", elementwise.Add, y, n.weights("bias", -1, 1, 16))
		}},
		{"tensorflow", layer, func(n normNet, x *graph.Tensor) *graph.Tensor {
			mean := n.mean(x, 2)
			d := n.op("Sub", elementwise.Sub, x, mean)
			r := n.op("Reciprocal", elementwise.Reciprocal, n.deviation(d))
			r = n.op("Mul", elementwise.Mul, r, n.weights("scale", .5, 1.5, 16))
			shift := n.op("Sub", elementwise.Sub, n.weights("bias", -1, 1, 16), n.op("Mul", elementwise.Mul, mean, r))
			return n.op("Add", elementwise.Add, n.op("Mul", elementwise.Mul, x, r), shift)
		}},
		{"keras, by tf2onnx", layer, func(n normNet, x *graph.Tensor) *graph.Tensor {
			mean := n.add("Mean", graph.AveragePool, graph.PoolAttrs{Global: true}, x)
			minus := n.op("Neg", elementwise.Neg, mean)
			d := n.op("Sub", elementwise.Sub, x, mean)
			v := n.add("Variance", graph.AveragePool, graph.PoolAttrs{Global: true}, n.op("Mul", elementwise.Mul, d, d))
			r := n.op("Reciprocal", elementwise.Reciprocal, n.op("Sqrt", elementwise.Sqrt, n.biased(v)))
			r = n.op("Mul", elementwise.Mul, r, n.weights("scale", .5, 1.5, 1, 1, 16))
			shift := n.op("Add", elementwise.Add, n.op("Mul", elementwise.Mul, minus, r), n.weights("bias", -1, 1, 1, 1, 16))
			return n.op("Add", elementwise.Add, n.op("Mul", elementwise.Mul, x, r), shift)
		}},
		{"mean square as a pooling", rms, func(n normNet, x *graph.Tensor) *graph.Tensor {
			v := n.add("MeanSquare", graph.AveragePool, graph.PoolAttrs{Global: true}, n.op("Mul", elementwise.Mul, x, x))
			return n.op("Div", elementwise.Div, x, n.op("Sqrt", elementwise.Sqrt, n.biased(v)))
		}},
		{"mean square", rms, func(n normNet, x *graph.Tensor) *graph.Tensor {
			y := n.op("Mul", elementwise.Mul, x, n.op("Div", elementwise.Div, n.scalar(1), n.deviation(x)))
			return n.op("Mul", elementwise.Mul, n.weights("scale", .5, 1.5, 16), y)
		}},
		{"mean square of two axes", rms, func(n normNet, x *graph.Tensor) *graph.Tensor {
			s := n.op("Sqrt", elementwise.Sqrt, n.biased(n.mean(n.op("Mul", elementwise.Mul, x, x), 1, 2)))
			return n.op("Mul", elementwise.Mul, n.weights("scale", .5, 1.5, 8, 16), n.op("Div", elementwise.Div, x, s))
		}},
		{"deviation of another tensor", "", func(n normNet, x *graph.Tensor) *graph.Tensor {
			return n.op("Div", elementwise.Div, n.centred(x), n.deviation(n.input("z", 3, 8, 16)))
		}},
		{"deviation and epsilon", "", func(n normNet, x *graph.Tensor) *graph.Tensor {
			d := n.centred(x)
			s := n.op("Sqrt", elementwise.Sqrt, n.mean(n.op("Mul", elementwise.Mul, d, d), 2))
			return n.op("Div", elementwise.Div, d, n.biased(s))
		}},
		{"statistics along another axis", "", func(n normNet, _ *graph.Tensor) *graph.Tensor {
			x := n.input("square", 3, 16, 16)
			m := n.add("ReduceMean", graph.ReduceMean, graph.ReduceAttrs{Axes: []int{2}}, n.op("Mul", elementwise.Mul, x, x))
			return n.op("Div", elementwise.Div, x, n.op("Sqrt", elementwise.Sqrt, n.reshape("Reshape", n.biased(m), 3, 1, 16)))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := normNet{newNet(t, c.name)}
			src := n.output(c.build(n, n.input("x", 3, 8, 16)))
			got, _ := runPass(t, src, []pass.Pass{recognise.Norms}, pass.Config{})
			sameMeaning(t, src, got, 1e-5)
			op := ""
			if len(got.Layers) == 1 {
				op = got.Layers[0].Op.Name
			}
			if op != c.want {
				t.Errorf("got %q, want %q:\n%s", op, c.want, got)
			} else if op != "" { // as kernels read them
				l := got.Layers[0]
				for _, k := range l.Inputs[1:] {
					if axis := l.Attrs.(graph.LayerNormAttrs).Axis; !symbolic.Equal(k.Dims, l.Inputs[0].Dims[3+axis:]) {
						t.Errorf("%s has not one value for each element that is normalised", k)
					}
				}
			}
		})
	}
	testPass(t, recognise.Norms, []passCase{
		{"layer-norm", func(n *net) *graph.Network {
			m := normNet{n}
			d := m.centred(n.input("x", 3, 8, 16))
			y := m.op("Mul", elementwise.Mul, m.op("Div", elementwise.Div, d, m.deviation(d)), n.weights("scale", .5, 1.5, 16))
			return n.output(m.op("Add_2", elementwise.Add, y, n.weights("bias", -1, 1, 16)))
		}},
		{"channels", func(n *net) *graph.Network {
			m, x := normNet{n}, n.input("x", 3, 8, 16)
			s := m.op("Sqrt", elementwise.Sqrt, m.biased(m.mean(m.op("Mul", elementwise.Mul, x, x), 1)))
			return n.output(m.op("Div", elementwise.Div, x, s))
		}},
		{"second-consumer", func(n *net) *graph.Network {
			m, x := normNet{n}, n.input("x", 3, 8, 16)
			s := m.deviation(x)
			return n.output(m.op("Div", elementwise.Div, x, s), n.relu("Relu", s))
		}},
		{"symbolic", func(n *net) *graph.Network {
			m := normNet{n}
			x := n.AddInput("x", numeric.F32, symbolic.Symbol("batch"), symbolic.Symbol("seq"), symbolic.Const(16))
			d := m.centred(x)
			return n.output(m.op("Div", elementwise.Div, d, m.deviation(d)))
		}},
	})
}
